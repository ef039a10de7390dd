//! Makes a failing program small: drops threads, claims and statements, and replaces blocks by
//! what is in them, for as long as the failure stays.

use super::{RandomProgram, Tree};

/// The smallest program found for which `still_fails` holds of its source text. The predicate must
/// say `false` to a text that does not compile: a reduction may lose what a later line needs.
///
/// ```
/// use fencepost_testkit::programs::{Profile, program, shrink};
///
/// let large = program(Profile::Straight, 3);
/// let small = shrink(&large, |source| source.contains("thread t1"));
/// assert!(small.to_string().lines().count() < large.to_string().lines().count());
/// ```
pub fn shrink(program: &RandomProgram, mut still_fails: impl FnMut(&str) -> bool) -> RandomProgram {
    let mut smallest = program.clone();
    while let Some(smaller) =
        reductions(&smallest).into_iter().find(|candidate| still_fails(&candidate.to_string()))
    {
        smallest = smaller;
    }
    smallest
}

/// Every program that is one reduction smaller, large reductions first.
fn reductions(program: &RandomProgram) -> Vec<RandomProgram> {
    let mut all = Vec::new();
    let droppable = if program.threads.len() > 1 { program.threads.len() } else { 0 };
    for at in 0..droppable {
        let mut smaller = program.clone();
        smaller.threads.remove(at);
        all.push(smaller);
    }
    for at in 0..program.claims.len() {
        let mut smaller = program.clone();
        smaller.claims.remove(at);
        all.push(smaller);
    }
    for init in smaller_bodies(&program.init) {
        all.push(RandomProgram { init, ..program.clone() });
    }
    for (at, (_, body)) in program.threads.iter().enumerate() {
        for body in smaller_bodies(body) {
            let mut smaller = program.clone();
            smaller.threads[at].1 = body;
            all.push(smaller);
        }
    }
    all
}

fn smaller_bodies(body: &[Tree]) -> Vec<Vec<Tree>> {
    let mut all = Vec::new();
    for at in 0..body.len() {
        all.push(replaced(body, at, Vec::new()));
    }
    for (at, tree) in body.iter().enumerate() {
        let Tree::Block { arms, tail } = tree else {
            continue;
        };
        for (arm, (_, inner)) in arms.iter().enumerate() {
            all.push(replaced(body, at, inner.clone()));
            if arm > 0 {
                let mut arms = arms.clone();
                arms.remove(arm);
                all.push(replaced(body, at, vec![Tree::Block { arms, tail: tail.clone() }]));
            }
            for inner in smaller_bodies(inner) {
                let mut arms = arms.clone();
                arms[arm].1 = inner;
                all.push(replaced(body, at, vec![Tree::Block { arms, tail: tail.clone() }]));
            }
        }
    }
    all
}

fn replaced(body: &[Tree], at: usize, by: Vec<Tree>) -> Vec<Tree> {
    let mut body = body.to_vec();
    body.splice(at..=at, by);
    body
}

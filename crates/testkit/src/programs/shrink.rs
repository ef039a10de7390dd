//! Minimises a failing program.
//!
//! A reduction drops a thread, a property or a statement, or replaces a block by its body. The
//! shrinker applies reductions as long as the failure remains.

use super::{RandomProgram, Statement};

/// Returns the smallest program found whose source text satisfies `still_fails`. The predicate must
/// return `false` for a text that does not compile: a reduction may remove a statement that a later
/// one needs.
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

/// Returns every program that is one reduction smaller, large reductions first.
fn reductions(program: &RandomProgram) -> Vec<RandomProgram> {
    let mut all = Vec::new();
    let droppable = if program.threads.len() > 1 { program.threads.len() } else { 0 };
    for at in 0..droppable {
        let mut smaller = program.clone();
        smaller.threads.remove(at);
        all.push(smaller);
    }
    for at in 0..program.properties.len() {
        let mut smaller = program.clone();
        smaller.properties.remove(at);
        all.push(smaller);
    }
    for init in smaller_bodies(&program.init) {
        all.push(RandomProgram { init, ..program.clone() });
    }
    for finally in smaller_bodies(&program.finally) {
        all.push(RandomProgram { finally, ..program.clone() });
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

fn smaller_bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for at in 0..body.len() {
        all.push(replace_at(body, at, Vec::new()));
    }
    for (at, statement) in body.iter().enumerate() {
        let Statement::Block { arms, tail } = statement else {
            continue;
        };
        for (arm, (_, inner)) in arms.iter().enumerate() {
            all.push(replace_at(body, at, inner.clone()));
            if arm > 0 {
                let mut arms = arms.clone();
                arms.remove(arm);
                all.push(replace_at(body, at, vec![Statement::Block { arms, tail: tail.clone() }]));
            }
            for inner in smaller_bodies(inner) {
                let mut arms = arms.clone();
                arms[arm].1 = inner;
                all.push(replace_at(body, at, vec![Statement::Block { arms, tail: tail.clone() }]));
            }
        }
    }
    all
}

fn replace_at(body: &[Statement], at: usize, replacement: Vec<Statement>) -> Vec<Statement> {
    let mut body = body.to_vec();
    body.splice(at..=at, replacement);
    body
}

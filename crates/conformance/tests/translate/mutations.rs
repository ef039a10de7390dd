//! Mutation tests of the translation. A rule of the translation is a condition in the translated
//! program. Each mutation removes the conditions for one kind of statement and must be detected.

use super::compare::{Scope, Tally, compare_by};
use fencepost_ir::{Op, Problem};
use fencepost_testkit::problem;
use fencepost_testkit::programs::{Profile, bounded, program};
use fencepost_translate::contexts::contexts;
use fencepost_translate::{Origin, Translation};

const SCOPE: Scope = Scope { k: 1, states: 6_000, translated: 20_000 };

/// A kind of statement whose conditions are removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Load,
    Store,
    Update,
    Fence,
    Context,
}

impl Rule {
    /// Returns whether a statement of the translation with this origin belongs to the rule.
    fn covers(self, original: &Problem, thread: usize, origin: Origin) -> bool {
        let Origin::Statement(pc) = origin else {
            return self == Rule::Context && matches!(origin, Origin::Context(_));
        };
        let op = &original.program.threads[thread].code[pc.index()].op;
        match self {
            Rule::Load => matches!(op, Op::Load { .. }),
            Rule::Store => matches!(op, Op::Store { .. }),
            Rule::Update => matches!(op, Op::Update { .. }),
            Rule::Fence => matches!(op, Op::Fence(_) | Op::Drain(_)),
            Rule::Context => false,
        }
    }
}

/// Returns the translation without the conditions of a rule.
fn without_conditions(rule: Rule, original: &Problem, mut translation: Translation) -> Translation {
    let threads = &mut translation.problem.program.threads;
    for (t, (thread, origins)) in threads.iter_mut().zip(&translation.origins).enumerate() {
        let mut current = Origin::Nothing;
        for (stmt, origin) in thread.code.iter_mut().zip(origins) {
            // Only the first statement of a block has the origin of the block.
            if *origin != Origin::Nothing {
                current = *origin;
            }
            if matches!(stmt.op, Op::Assume(_)) && rule.covers(original, t, current) {
                stmt.op = Op::Skip;
            }
        }
    }
    translation
}

#[test]
fn every_removed_rule_is_detected() {
    let straight = (0..20).map(|seed| program(Profile::Straight, seed));
    let drawn = (0..20).map(bounded).chain(straight);
    let problems: Vec<Problem> = drawn.map(|drawn| problem(&drawn.to_string())).collect();
    for rule in [Rule::Load, Rule::Store, Rule::Update, Rule::Fence, Rule::Context] {
        let is_detected = problems.iter().any(|original| {
            let translate = |problem: &_, model, bound| {
                Ok(without_conditions(rule, problem, contexts(problem, model, bound)?))
            };
            !compare_by(translate, original, SCOPE, &mut Tally::default()).is_empty()
        });
        assert!(is_detected, "{rule:?} is not detected");
    }
}

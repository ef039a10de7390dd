//! What a cache remembers about waiting threads agrees with a check from scratch.

use crate::common::{lower, report_comparisons};
use fencepost_ir::Problem;
use fencepost_models::bits::Writer;
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::hang::{HangCheck, WaitCache};
use fencepost_models::mutation::Mutated;
use fencepost_models::tso::Tso;
use fencepost_models::{Machine, Reductions, StepResult};
use fencepost_testkit::corpus;
use std::collections::BTreeSet;

/// The maximal number of compared states of a program.
const MAX_STATES: usize = 3_000;

/// Compares both kinds of caches with a check without a cache in the first states of a depth-first
/// search. Returns the numbers of hangs and of other states.
fn compare(name: &str, problem: &Problem) -> [u64; 2] {
    let machine =
        Machine::new(problem, Buffered(Tso { bound: 2, mutated: Mutated::NONE }), Reductions::ALL);
    let mut state = machine.blank();
    let started = machine.start(&mut state, &mut Choices::default(), &mut ());
    assert_eq!(started, Ok(true), "{name}");
    let mut caches = [WaitCache::default(), WaitCache::sequential()];
    let mut writer = Writer::default();
    let mut seen = BTreeSet::from([machine.encode(&state, &mut writer).to_vec()]);
    let mut open = vec![state];
    let mut counts = [0; 2];
    while let Some(state) = open.pop()
        && seen.len() < MAX_STATES
    {
        let expected = machine.check_hang(&state, &mut WaitCache::default());
        assert_ne!(expected, HangCheck::Undecided, "{name}");
        for cache in &mut caches {
            assert_eq!(machine.check_hang(&state, cache), expected, "{name}: {state:?}");
        }
        counts[usize::from(expected == HangCheck::No)] += 1;
        let taken = machine.attempt_steps(&state).into_iter();
        for attempt in taken.filter(|attempt| attempt.taken == Ok(StepResult::Taken)) {
            if seen.insert(machine.encode(&attempt.after, &mut writer).to_vec()) {
                open.push(attempt.after);
            }
        }
    }
    counts
}

#[test]
fn cached_checks_for_hangs_agree_with_uncached_ones() {
    let mut programs = corpus::sources("waiting");
    programs.push((
        "a long loop".into(),
        "shared int(0..2) x, y;
         thread p { do { for (int k = 0; k < 20; k++) { _r = x; } } while (y == 0); x = 0; }
         thread q { x = 1; if (choose(0..=1) == 1) { y = 1; } }"
            .into(),
    ));
    programs.push((
        "a last thread".into(),
        "shared int x, y;
         thread p { x = 2; while (x == 0) skip; y = 1; }
         thread q { x = 0; }
         finally { y = 2; }"
            .into(),
    ));
    let mut counts = [0; 2];
    for (name, source) in &programs {
        for problem in &lower(source).expect("the program compiles") {
            let [hangs, others] = compare(name, problem);
            counts = [counts[0] + hangs, counts[1] + others];
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    report_comparisons("cached checks for hangs", counts.iter().sum());
}

//! Full fences instead of store-load fences (`translate/src/strengthen.rs`) change neither outcomes
//! nor verdicts under TSO and PSO.

use crate::common::{check_with, model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::{Auto, Explicit, Settings};
use fencepost_ir::{FenceKinds, Op, Problem, StoreBuffers};
use fencepost_search::Limits;
use fencepost_testkit::programs::{
    Profile, critical_sections, deadlocks, invariants, program, spin_loops, turn_taking,
};
use fencepost_testkit::{Random, problem};
use fencepost_translate::strengthen::strengthened;

/// The usual number of random programs of each kind.
const PROGRAMS: u64 = 150;

const MODELS: [StoreBuffers; 2] = [StoreBuffers::Tso, StoreBuffers::Pso];

/// Returns the problem with store-load fences instead of its fences, and of some of its statements
/// without effect.
fn with_weak_fences(mut problem: Problem, random: &mut Random) -> Problem {
    for stmt in problem.program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        let is_fence = matches!(stmt.op, Op::Fence(_));
        if is_fence || matches!(stmt.op, Op::Skip) && random.below(3) == 0 {
            stmt.op = Op::Fence(FenceKinds::STORE_LOAD);
        }
    }
    problem
}

/// Compares a problem with the strengthened one. Returns the number of comparisons.
fn compare(weak: &Problem) -> u64 {
    let limits = Limits { states: 30_000, ..Limits::default() };
    let settings = Settings { limits, shortest: false, ..settings(1) };
    let mut compared = 0;
    for buffers in MODELS {
        let Some(strong) = strengthened(weak, buffers) else { continue };
        let model = model(buffers.name());
        let all = [weak, &strong].map(|problem| outcomes(problem, &model, settings));
        if all.iter().all(|answer| answer.outcomes_complete) {
            assert_eq!(all[0].outcomes, all[1].outcomes, "{}:\n{weak:#?}", model.name);
            compared += 1;
        }
        let verdicts =
            [weak, &strong].map(|problem| check_with(&Explicit, problem, &model, settings).verdict);
        if verdicts.iter().all(|verdict| verdict.inconclusive().is_none()) {
            let [weak_verdict, strong_verdict] = verdicts.each_ref().map(|v| v.word());
            assert_eq!(weak_verdict, strong_verdict, "{}:\n{weak:#?}", model.name);
            compared += 1;
        }
        // The portfolio replays what it finds with full fences.
        let found = check_with(&Auto, weak, &model, settings).verdict;
        if found.inconclusive().is_none() && verdicts[0].inconclusive().is_none() {
            assert_eq!(found.word(), verdicts[0].word(), "{}:\n{weak:#?}", model.name);
            compared += 1;
        }
    }
    compared
}

#[test]
fn random_programs_behave_the_same_with_full_fences() {
    let mut compared = 0;
    let profiles = [Profile::Straight, Profile::Loops, Profile::Mixed];
    for seed in seeds(PROGRAMS) {
        let mut random = Random::new(seed);
        let plain = profiles.map(|profile| program(profile, seed));
        let locks = [critical_sections(seed), turn_taking(seed), invariants(seed)];
        let waits = [deadlocks(seed), spin_loops(seed)];
        for program in plain.into_iter().chain(locks).chain(waits) {
            compared += compare(&with_weak_fences(problem(&program.to_string()), &mut random));
        }
    }
    report_comparisons("programs with full fences instead of weaker ones", compared);
    assert!(compared > 500 || seeds(PROGRAMS).count() < 150, "only {compared} comparisons");
}

/// Returns whether the fence of the first thread is strengthened under TSO and PSO. The text replaces
/// the statements behind the fence.
fn is_strengthened(behind: &str) -> [bool; 2] {
    let text = format!(
        "const N = 2;
         shared int(0..3) x, y, z[N];
         thread p {{ x = 1; fence store_load; {behind} }}
         thread q {{ r = y; s = x; }}"
    );
    MODELS.map(|model| strengthened(&problem(&text), model).is_some())
}

#[test]
fn a_fence_is_strengthened_if_a_load_follows_without_an_observable_statement() {
    assert_eq!(is_strengthened("a = y;"), [true, true]);
    assert_eq!(is_strengthened("b = 1; a = y;"), [true, true]);
    assert_eq!(is_strengthened("b = fetch_add(y, 1);"), [true, true]);
    // The other thread may see y before x under PSO.
    assert_eq!(is_strengthened("y = 1; a = x;"), [true, false]);
    assert_eq!(is_strengthened("critical { skip; } a = y;"), [false, false]);
    assert_eq!(is_strengthened("assert(true); a = y;"), [false, false]);
    assert_eq!(is_strengthened(""), [false, false]);
    // The first iteration loads.
    let scan = "for (j = 0; j < N; j++) { if (j != 0) a = z[j]; } critical { skip; }";
    assert_eq!(is_strengthened(scan), [true, true]);
    let none = "for (j = 0; j < N; j++) { if (j > 1) a = z[0]; } critical { skip; }";
    assert_eq!(is_strengthened(none), [false, false]);
    let unknown = "a = y; fence store_load; if (a != 0) b = x; critical { skip; }";
    assert_eq!(is_strengthened(unknown), [true, true], "the first fence, not the second one");
}

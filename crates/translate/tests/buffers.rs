//! Compares explicit store buffers with the memory models: the translation under SC has the
//! outcomes and the verdict of the original with the same bound, for the corpus and for random
//! programs.
//!
//! A random program with a difference is shrunk and printed as a `.fp` file.

use fencepost_engines::{
    Answer, Budget, Engine, Explicit, InconclusiveReason, Settings, Task, Verdict,
};
use fencepost_ir::Violation;
use fencepost_ir::validate::validate;
use fencepost_ir::{Expr, Fault, Op, Problem, StoreBuffers};
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::programs::{Profile, program, shrink};
use fencepost_testkit::{corpus, is_campaign, lower, report_comparisons, seeds};
use fencepost_translate::buffers::buffers;
use fencepost_translate::{Origin, Translation};

/// Programs with more states are skipped.
const STATES: u64 = 30_000;
/// The number of random programs of each profile.
const PROGRAMS: u64 = 20;

/// Returns the kind of verdict, without a trace.
///
/// With a fixed buffer bound that matters, the engine concludes nothing about the original. The
/// translation decides the bounded program, so both count as verified. Returns `None` for a
/// truncated search, which may lack outcomes.
fn conclusion(answer: &Answer) -> Option<String> {
    if answer.statistics.states >= STATES {
        return None;
    }
    match &answer.verdict {
        Verdict::Verified(_) => Some("verified".into()),
        Verdict::Violated(violated) => Some(match violated.evidence().violation() {
            Violation::NoWitness(_) => "no witness".into(),
            _ => "violated".into(),
        }),
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Bound { witness_missing: false, .. } => Some("verified".into()),
            InconclusiveReason::Bound { witness_missing: true, .. } => Some("no witness".into()),
            _ => None,
        },
    }
}

fn run_engine(
    problem: &Problem,
    model: &str,
    capacity: Option<u32>,
    partial_order: bool,
) -> Answer {
    let model = ModelSpec::by_name(model).expect("a built-in model");
    let settings = Settings {
        limits: Limits { states: STATES, ..Limits::default() },
        reductions: Reductions { partial_order, ..Reductions::ALL },
        fixed_buffer: capacity,
        ..Settings::default()
    };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    Explicit.outcomes(Task { problem, model: &model }, settings, budget)
}

/// Returns a defect in the form of a translation, if there is one.
fn find_malformation(problem: &Problem, translation: &Translation) -> Option<String> {
    if let Err(error) = validate(&translation.problem) {
        return Some(format!("not well-formed: {error:?}"));
    }
    let program = &translation.problem.program;
    if translation.owners.len() != program.locations.len() {
        return Some("the owners do not cover all locations".into());
    }
    let lengths = translation.origins.iter().map(Vec::len);
    if !lengths.eq(program.threads.iter().map(|thread| thread.code.len())) {
        return Some("the origins do not cover all statements".into());
    }
    let locations = &problem.program.locations;
    if program.locations[..locations.len()] != locations[..] {
        return Some("the first locations differ from the original".into());
    }
    for (thread, origins) in program.threads.iter().zip(&translation.origins) {
        // Steps begin at blocks and at statements outside of blocks. All of them except `Halt` have
        // an origin.
        let mut inside = false;
        let mut stored = false;
        for (stmt, origin) in thread.code.iter().zip(origins) {
            match stmt.op {
                Op::AtomicBegin if *origin == Origin::Nothing => {
                    return Some(format!("{}: a block has no origin", thread.name));
                }
                Op::AtomicBegin => (inside, stored) = (true, false),
                Op::AtomicEnd => inside = false,
                Op::Store { .. } | Op::Update { .. } if inside => stored = true,
                // Code is emitted in program order, except for loops of the original.
                Op::Assume(_) if inside && stored && *origin == Origin::Nothing => {
                    return Some(format!("{}: a block waits after a store", thread.name));
                }
                _ => {}
            }
        }
    }
    None
}

/// Compares one program under both models, with each capacity. Returns the number of comparisons
/// that were small enough, or the first difference.
fn compare(source: &str, capacities: &[u32]) -> Result<u32, String> {
    compare_changed(source, capacities, |_, _| {})
}

/// Compares like [`compare`], after a change to the translation.
fn compare_changed(
    source: &str,
    capacities: &[u32],
    change: impl Fn(&Problem, &mut Translation),
) -> Result<u32, String> {
    let Ok(problems) = lower(source) else { return Ok(0) };
    let mut compared = 0;
    for problem in &problems {
        for (model, capacity) in [StoreBuffers::Tso, StoreBuffers::Pso]
            .iter()
            .flat_map(|m| capacities.iter().map(move |r| (*m, *r)))
        {
            let frees = (problem.program.threads.iter().flat_map(|thread| &thread.code))
                .any(|stmt| matches!(stmt.op, Op::Free { .. }));
            let translation = match buffers(problem, model, capacity) {
                Ok(mut translation) if !frees => {
                    change(problem, &mut translation);
                    translation
                }
                Ok(_) => return Err("the translation accepted a program that frees records".into()),
                Err(_) if frees => continue,
                Err(unsupported) => return Err(format!("translation failed: {unsupported}")),
            };
            let place = format!("{} {capacity}", model.name());
            if let Some(wrong) = find_malformation(problem, &translation) {
                return Err(format!("{place}: {wrong}"));
            }
            let original = run_engine(problem, model.name(), Some(capacity), false);
            let translated = run_engine(&translation.problem, "sc", None, compared % 2 == 0);
            let (Some(expected), Some(found)) = (conclusion(&original), conclusion(&translated))
            else {
                continue;
            };
            if expected != found {
                return Err(format!("{place}: {found} instead of {expected}"));
            }
            let missing: Vec<_> = original.outcomes.difference(&translated.outcomes).collect();
            let extra: Vec<_> = translated.outcomes.difference(&original.outcomes).collect();
            if !missing.is_empty() || !extra.is_empty() {
                return Err(format!("{place}: missing {missing:?}, extra {extra:?}"));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

fn check_profile(profile: Profile) {
    let capacities: &[&[u32]] = &[&[1], &[2], &[3], &[1, 2]];
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(PROGRAMS) {
        drawn += 1;
        let drawn = program(profile, seed);
        let capacities = capacities[seed as usize % capacities.len()];
        match compare(&drawn.to_string(), capacities) {
            Ok(fine) => same += u64::from(fine),
            Err(_) => {
                let small =
                    shrink(&drawn, |source| compare(source, capacities).is_err()).to_string();
                let difference = compare(&small, capacities);
                panic!("{profile:?} seed {seed}: {difference:?}\n{small}");
            }
        }
    }
    report_comparisons(&format!("programs of {profile:?}: explicit buffers"), same);
    // Each program is compared under two models, except programs that free records or are too
    // large.
    assert!(same * 2 > drawn, "too few programs were small enough to compare");
}

#[test]
fn random_straight_line_programs() {
    check_profile(Profile::Straight);
}

#[test]
fn random_loops() {
    check_profile(Profile::Loops);
}

#[test]
fn random_records() {
    check_profile(Profile::Records);
}

#[test]
fn random_everything() {
    check_profile(Profile::Mixed);
}

#[test]
fn random_many_stores() {
    check_profile(Profile::Buffers);
}

/// A mutation of the translation: one of its rules is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mutation {
    /// A store does not wait for a free entry in its queue.
    StoresNeverWait,
    /// An update does not wait for pending stores.
    UpdatesNeverWait,
    /// A fence neither waits nor marks the stores before it.
    FencesIgnored,
    /// A commit does not wait for its turn.
    CommitsNeverWait,
    /// A load reads memory although the thread has a pending store to the location.
    NoForwarding,
    /// A commit forgets the store instead of writing it to memory.
    LostCommits,
}

impl Mutation {
    const ALL: [Mutation; 6] = [
        Mutation::StoresNeverWait,
        Mutation::UpdatesNeverWait,
        Mutation::FencesIgnored,
        Mutation::CommitsNeverWait,
        Mutation::NoForwarding,
        Mutation::LostCommits,
    ];

    /// Returns whether the mutation applies to a block for this operation; `None` is a commit.
    fn applies_to(self, op: Option<&Op>) -> bool {
        match self {
            Mutation::StoresNeverWait => matches!(op, Some(Op::Store { .. })),
            Mutation::UpdatesNeverWait => matches!(op, Some(Op::Update { .. })),
            Mutation::FencesIgnored => matches!(op, Some(Op::Fence(_) | Op::Drain(_))),
            Mutation::CommitsNeverWait | Mutation::LostCommits => op.is_none(),
            Mutation::NoForwarding => matches!(op, Some(Op::Load { .. })),
        }
    }

    /// Applies the mutation to a statement of such a block.
    fn change(self, op: &mut Op, original: &Problem) {
        match (self, &mut *op) {
            (Mutation::NoForwarding, Op::Branch { cond, .. }) => *cond = Expr::Const(0),
            (Mutation::LostCommits, Op::Store { to, .. })
                if to.base.index() < original.program.locations.len() =>
            {
                *op = Op::Skip;
            }
            (Mutation::NoForwarding | Mutation::LostCommits, _) => {}
            (Mutation::FencesIgnored, Op::Store { .. }) | (_, Op::Assume(_)) => *op = Op::Skip,
            _ => {}
        }
    }

    fn apply(self, original: &Problem, translation: &mut Translation) {
        let threads = translation.problem.program.threads.iter_mut().enumerate();
        for ((t, thread), origins) in threads.zip(&translation.origins) {
            let mut applies = false;
            for (stmt, origin) in thread.code.iter_mut().zip(origins) {
                // Only the first statement of a block has an origin.
                match origin {
                    Origin::Statement(pc) => {
                        let op = &original.program.threads[t].code[pc.index()].op;
                        applies = self.applies_to(Some(op));
                    }
                    Origin::Commit(_) => applies = self.applies_to(None),
                    Origin::Context(_) => applies = false,
                    Origin::Nothing => {}
                }
                if applies {
                    self.change(&mut stmt.op, original);
                }
            }
        }
    }
}

#[test]
fn every_mutation_is_detected() {
    let drawn = (0..30).map(|seed| program(Profile::Straight, seed).to_string());
    let drawn: Vec<String> =
        drawn.chain((0..10).map(|seed| program(Profile::Buffers, seed).to_string())).collect();
    for mutation in Mutation::ALL {
        let change = |problem: &_, translation: &mut _| mutation.apply(problem, translation);
        let detected = drawn.iter().any(|source| compare_changed(source, &[1, 2], change).is_err());
        assert!(detected, "{mutation:?} is not detected");
    }
}

#[test]
fn the_corpus_has_equal_outcomes_campaign() {
    let mut compared = 0;
    for folder in ["litmus", "mutex", "papers", "regress"] {
        for (name, source) in corpus::sample(folder, 3) {
            match compare(&source, &[1, 2]) {
                Ok(fine) => compared += fine,
                Err(difference) => panic!("{folder}/{name}: {difference}"),
            }
        }
    }
    println!("{compared} comparisons");
    let most = if is_campaign() { 400 } else { 150 };
    assert!(compared > most, "only {compared} comparisons were small enough");
}

/// Compares a program written for one rule, with every capacity.
fn check_equal(source: &str) {
    assert_eq!(compare(source, &[1, 2, 3]), Ok(6), "{source}");
}

#[test]
fn any_location_of_an_array_may_be_committed_first() {
    check_equal(
        "shared int a[3];
        thread p { int i; i = 0; while (i < 3) { a[i] = i + 1; i = i + 1; } }
        thread q { r0 = a[0]; r1 = a[1]; r2 = a[2]; }
        thread s { r2 = a[2]; r1 = a[1]; r0 = a[0]; }",
    );
}

#[test]
fn updates_wait_for_stores_before_a_barrier() {
    check_equal(
        "shared int x, z;
        thread p { x = 1; fence store_load; swap(z, 1); }
        thread q { r1 = z; r2 = x; }",
    );
}

#[test]
fn an_element_is_forwarded_only_to_loads_of_it() {
    check_equal(
        "shared int a[2];
        thread p { int i; a[1] = 7; i = choose(0..=1); r = a[i]; drain a[i]; r2 = fetch_add(a[1 - i], 1); }
        thread q { a[0] = 5; r = a[1]; }",
    );
}

/// A value that does not fit its location faults when it is stored, not when it is committed.
#[test]
fn values_are_checked_when_they_are_stored() {
    let source = "shared int(0..=1) x; shared int(0..=9) y;
        thread p { int r; r = choose(0..=2); y = 9; x = r; }";
    check_equal(source);
    let problem = &lower(source).expect("a program")[0];
    for model in [StoreBuffers::Tso, StoreBuffers::Pso] {
        let translation = buffers(problem, model, 2).expect("the program can be translated");
        let answer = run_engine(&translation.problem, "sc", None, false);
        let violation = answer.verdict.evidence().expect("2 does not fit").violation();
        let Violation::Fault(Fault::OutOfRange, Some(thread), _) = violation else {
            panic!("{violation:?}")
        };
        assert_eq!(thread.index(), 0, "the storing thread faults, not the committer");
    }
}

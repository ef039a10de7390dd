//! Explicit store buffers compared with the memory models: the translation under SC has the outcomes and the
//! verdict of the original with the same bound, for the corpus and for random programs.
//!
//! A random program on which they differ is shrunk and printed as a `.fp` file.

use fencepost_engines::{
    Answer, Budget, Engine, Explicit, InconclusiveReason, Settings, Task, Verdict,
};
use fencepost_ir::Violation;
use fencepost_ir::validate::validate;
use fencepost_ir::{Expr, Fault, Op, Problem, StoreBuffers};
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::programs::{Profile, program, shrink};
use fencepost_testkit::{compared, corpus, is_campaign, lower, seeds};
use fencepost_translate::buffers::buffers;
use fencepost_translate::{Origin, Translation};

/// Programs with more states than this are passed over.
const STATES: u64 = 30_000;
/// Random programs of each profile.
const PROGRAMS: u64 = 20;

/// What happens, without a trace: the kind of verdict and, where one is violated, what is.
///
/// Up to a fixed bound nothing is concluded about the original where the bound matters. The translation says
/// of the bounded program what is so. None for a search that was cut short: it may lack outcomes.
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

fn ask(problem: &Problem, model: &str, room: Option<u32>, partial_order: bool) -> Answer {
    let model = ModelSpec::by_name(model).expect("a built-in model");
    let settings = Settings {
        limits: Limits { states: STATES, ..Limits::default() },
        reductions: Reductions { partial_order, ..Reductions::ALL },
        fixed_buffer: room,
        ..Settings::default()
    };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    Explicit.outcomes(Task { problem, model: &model }, settings, budget)
}

/// What is wrong with the form of a translation, if anything.
fn malformed(problem: &Problem, translation: &Translation) -> Option<String> {
    if let Err(broken) = validate(&translation.problem) {
        return Some(format!("not well-formed: {broken:?}"));
    }
    let program = &translation.problem.program;
    if translation.owners.len() != program.locations.len() {
        return Some("not every location says whose it is".into());
    }
    let lengths = translation.origins.iter().map(Vec::len);
    if !lengths.eq(program.threads.iter().map(|thread| thread.code.len())) {
        return Some("not every statement has an origin".into());
    }
    let locations = &problem.program.locations;
    if program.locations[..locations.len()] != locations[..] {
        return Some("the first locations are others".into());
    }
    for (thread, origins) in program.threads.iter().zip(&translation.origins) {
        // Steps begin at blocks and at statements outside of blocks; all but the halting have an origin.
        let mut inside = false;
        let mut stored = false;
        for (stmt, origin) in thread.code.iter().zip(origins) {
            match stmt.op {
                Op::AtomicBegin if *origin == Origin::Nothing => {
                    return Some(format!("{}: a block from nowhere", thread.name));
                }
                Op::AtomicBegin => (inside, stored) = (true, false),
                Op::AtomicEnd => inside = false,
                Op::Store { .. } | Op::Update { .. } if inside => stored = true,
                // Code is written in order, but for loops of the original.
                Op::Assume(_) if inside && stored && *origin == Origin::Nothing => {
                    return Some(format!("{}: waits after it has stored", thread.name));
                }
                _ => {}
            }
        }
    }
    None
}

/// Compares one program under both models, with each room. Tells how many were small enough, or the first
/// difference.
fn compare(source: &str, rooms: &[u32]) -> Result<u32, String> {
    compare_changed(source, rooms, |_, _| {})
}

/// The same with a change of the translation.
fn compare_changed(
    source: &str,
    rooms: &[u32],
    change: impl Fn(&Problem, &mut Translation),
) -> Result<u32, String> {
    let Ok(problems) = lower(source) else { return Ok(0) };
    let mut compared = 0;
    for problem in &problems {
        for (model, room) in [StoreBuffers::Tso, StoreBuffers::Pso]
            .iter()
            .flat_map(|m| rooms.iter().map(move |r| (*m, *r)))
        {
            let frees = (problem.program.threads.iter().flat_map(|thread| &thread.code))
                .any(|stmt| matches!(stmt.op, Op::Free { .. }));
            let translation = match buffers(problem, model, room) {
                Ok(mut translation) if !frees => {
                    change(problem, &mut translation);
                    translation
                }
                Ok(_) => return Err("freeing records is not supported".into()),
                Err(_) if frees => continue,
                Err(unsupported) => return Err(format!("not translated: {unsupported}")),
            };
            let place = format!("{} {room}", model.name());
            if let Some(wrong) = malformed(problem, &translation) {
                return Err(format!("{place}: {wrong}"));
            }
            let original = ask(problem, model.name(), Some(room), false);
            let ours = ask(&translation.problem, "sc", None, compared % 2 == 0);
            let (Some(expected), Some(found)) = (conclusion(&original), conclusion(&ours)) else {
                continue;
            };
            if expected != found {
                return Err(format!("{place}: {found} instead of {expected}"));
            }
            let missing: Vec<_> = original.outcomes.difference(&ours.outcomes).collect();
            let extra: Vec<_> = ours.outcomes.difference(&original.outcomes).collect();
            if !missing.is_empty() || !extra.is_empty() {
                return Err(format!("{place}: missing {missing:?}, too many {extra:?}"));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

fn run(profile: Profile) {
    let rooms: &[&[u32]] = &[&[1], &[2], &[3], &[1, 2]];
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(PROGRAMS) {
        drawn += 1;
        let drawn = program(profile, seed);
        let rooms = rooms[seed as usize % rooms.len()];
        match compare(&drawn.to_string(), rooms) {
            Ok(fine) => same += u64::from(fine),
            Err(_) => {
                let small = shrink(&drawn, |source| compare(source, rooms).is_err()).to_string();
                let difference = compare(&small, rooms);
                panic!("{profile:?} seed {seed}: {difference:?}\n{small}");
            }
        }
    }
    compared(&format!("programs of {profile:?}: explicit buffers"), same);
    // Two models for each program, but for those that free and those that are too large.
    assert!(same * 2 > drawn, "most programs are small enough to compare");
}

#[test]
fn random_straight_line_programs() {
    run(Profile::Straight);
}

#[test]
fn random_loops() {
    run(Profile::Loops);
}

#[test]
fn random_records() {
    run(Profile::Records);
}

#[test]
fn random_everything() {
    run(Profile::Kitchen);
}

#[test]
fn random_many_stores() {
    run(Profile::Buffers);
}

/// A rule of the translation that is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Broken {
    /// A store does not wait for room in its buffer.
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

impl Broken {
    const ALL: [Broken; 6] = [
        Broken::StoresNeverWait,
        Broken::UpdatesNeverWait,
        Broken::FencesIgnored,
        Broken::CommitsNeverWait,
        Broken::NoForwarding,
        Broken::LostCommits,
    ];

    /// Whether the rule is about a block of the translation that stands for this operation; for a commit if there
    /// is none.
    fn is_about(self, op: Option<&Op>) -> bool {
        match self {
            Broken::StoresNeverWait => matches!(op, Some(Op::Store { .. })),
            Broken::UpdatesNeverWait => matches!(op, Some(Op::Update { .. })),
            Broken::FencesIgnored => matches!(op, Some(Op::Fence(_) | Op::Drain(_))),
            Broken::CommitsNeverWait | Broken::LostCommits => op.is_none(),
            Broken::NoForwarding => matches!(op, Some(Op::Load { .. })),
        }
    }

    /// Breaks the rule in a statement of such a block.
    fn change(self, op: &mut Op, original: &Problem) {
        match (self, &mut *op) {
            (Broken::NoForwarding, Op::Branch { cond, .. }) => *cond = Expr::Const(0),
            (Broken::LostCommits, Op::Store { to, .. })
                if to.base.index() < original.program.locations.len() =>
            {
                *op = Op::Skip;
            }
            (Broken::NoForwarding | Broken::LostCommits, _) => {}
            (Broken::FencesIgnored, Op::Store { .. }) | (_, Op::Assume(_)) => *op = Op::Skip,
            _ => {}
        }
    }

    fn apply(self, original: &Problem, translation: &mut Translation) {
        let threads = translation.problem.program.threads.iter_mut().enumerate();
        for ((t, thread), origins) in threads.zip(&translation.origins) {
            let mut about = false;
            for (stmt, origin) in thread.code.iter_mut().zip(origins) {
                // Only the first statement of a block has an origin.
                match origin {
                    Origin::Statement(pc) => {
                        let op = &original.program.threads[t].code[pc.index()].op;
                        about = self.is_about(Some(op));
                    }
                    Origin::Commit(_) => about = self.is_about(None),
                    Origin::Context(_) => about = false,
                    Origin::Nothing => {}
                }
                if about {
                    self.change(&mut stmt.op, original);
                }
            }
        }
    }
}

#[test]
fn every_broken_rule_is_noticed() {
    let drawn = (0..30).map(|seed| program(Profile::Straight, seed).to_string());
    let drawn: Vec<String> =
        drawn.chain((0..10).map(|seed| program(Profile::Buffers, seed).to_string())).collect();
    for broken in Broken::ALL {
        let change = |problem: &_, translation: &mut _| broken.apply(problem, translation);
        let noticed = drawn.iter().any(|source| compare_changed(source, &[1, 2], change).is_err());
        assert!(noticed, "{broken:?} goes unnoticed");
    }
}

#[test]
fn the_corpus_campaign() {
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
    assert!(compared > most, "most of the corpus is small: {compared}");
}

/// Compares a program that is written for one rule, with every room.
fn agree(source: &str) {
    assert_eq!(compare(source, &[1, 2, 3]), Ok(6), "{source}");
}

#[test]
fn any_location_of_an_array_may_be_committed_first() {
    agree(
        "shared int a[3];
        thread p { int i; i = 0; while (i < 3) { a[i] = i + 1; i = i + 1; } }
        thread q { r0 = a[0]; r1 = a[1]; r2 = a[2]; }
        thread s { r2 = a[2]; r1 = a[1]; r0 = a[0]; }",
    );
}

#[test]
fn an_update_waits_for_what_is_before_a_barrier() {
    agree(
        "shared int x, z;
        thread p { x = 1; fence store_load; swap(z, 1); }
        thread q { r1 = z; r2 = x; }",
    );
}

#[test]
fn an_element_is_forwarded_only_to_loads_of_it() {
    agree(
        "shared int a[2];
        thread p { int i; a[1] = 7; i = choose(0..=1); r = a[i]; drain a[i]; r2 = fetch_add(a[1 - i], 1); }
        thread q { a[0] = 5; r = a[1]; }",
    );
}

/// A value that does not fit faults when it is stored, not when it is committed.
#[test]
fn values_are_checked_when_they_are_stored() {
    let source = "shared int(0..=1) x; shared int(0..=9) y;
        thread p { int r; r = choose(0..=2); y = 9; x = r; }";
    agree(source);
    let problem = &lower(source).expect("a program")[0];
    for model in [StoreBuffers::Tso, StoreBuffers::Pso] {
        let translation = buffers(problem, model, 2).expect("it can be translated");
        let answer = ask(&translation.problem, "sc", None, false);
        let violation = answer.verdict.evidence().expect("2 does not fit").violation();
        let Violation::Fault(Fault::OutOfRange, Some(thread), _) = violation else {
            panic!("{violation:?}")
        };
        assert_eq!(thread.index(), 0, "the thread that stores, not the one that commits");
    }
}

//! Valid certificates of optimality are accepted. Forged ones are rejected.
//!
//! The certificates come from a naive search with the checker's own steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;

use fencepost_ir::{Atom, Barrier, Op, Pc, PlaceId, Placement, Problem, WrittenFences, placement};
use fencepost_testkit::{Random, lower_with_places};

use super::{closure, rules, write_certificate};
use crate::buffer::Rules;
use crate::format::{CertState, Domain, Model};
use crate::optimality::{
    Clause, KindCost, OPTIMALITY_VERSION, Optimal, OptimalityHeader, PlacedFence, RunStep,
    check_optimality, repaired_problem,
};
use crate::optimality::{format::parse_kinds, run::check_violating_run};
use crate::rejection::{Rejection, RejectionReason};
use crate::semantics::{Event, Semantics};
use crate::{hang, property};

/// Store buffering. The places are 0 to 2 in `p` and 3 to 5 in `q`.
const SB: &str = "shared int x, y;
thread p { x = 1; a = y; }
thread q { y = 1; b = x; }
final forall p.a == 1 || q.b == 1;";

/// Message passing. Place 1 is between the stores, and 3 between the loads.
const MP: &str = "shared int x, y;
thread p { x = 1; y = 1; }
thread q { a = y; b = x; assert(!(a == 1 && b == 0)); }";

fn problem(source: &str) -> Problem {
    lower_with_places(source).expect("the program must be valid").remove(0)
}

/// A claim with its clauses, before it is written.
#[derive(Clone)]
struct Draft {
    header: OptimalityHeader,
    clauses: Vec<Clause>,
}

fn fence(place: u32, kind: &str) -> PlacedFence {
    PlacedFence(place, kind.into())
}

impl Draft {
    /// A claim whose clauses get shortest runs.
    fn new(
        problem: &Problem,
        model: Model,
        fences: &[(&str, u32)],
        placement: &[PlacedFence],
        clauses: &[&[PlacedFence]],
    ) -> Draft {
        let cost = |kind: &str| fences.iter().find(|(name, _)| *name == kind).map_or(0, |f| f.1);
        let header = OptimalityHeader {
            optimality: OPTIMALITY_VERSION,
            model,
            cost: placement.iter().map(|fence| u64::from(cost(&fence.1))).sum(),
            fences: fences.iter().map(|(kind, cost)| KindCost((*kind).into(), *cost)).collect(),
            keeps_written: true,
            forbidden_lines: Vec::new(),
            only_in: Vec::new(),
            may_hang: false,
            clients: vec![String::new()],
            placement: placement.to_vec(),
            clauses: clauses.len() as u64,
        };
        let mut draft = Draft { header, clauses: Vec::new() };
        for members in clauses {
            let kinds = fences.iter().map(|(kind, _)| *kind);
            let all = (0..problem.program.places.len() as u32)
                .flat_map(|place| kinds.clone().map(move |kind| fence(place, kind)));
            let others: Vec<PlacedFence> = all.filter(|fence| !members.contains(fence)).collect();
            let (init, steps) = violating_run(&with_fences(problem, &others), model)
                .expect("the program without the clause must be violated");
            draft.clauses.push(Clause { client: 0, clause: members.to_vec(), init, steps });
        }
        draft
    }

    /// Returns the text, with a proof of the repaired program.
    fn text(&self, problem: &Problem) -> String {
        self.text_with_proof(&proof(problem, self.header.model, &self.header.placement))
    }

    fn text_with_proof(&self, proof: &str) -> String {
        let clauses = self.clauses.iter().map(Clause::to_line);
        let lines = std::iter::once(self.header.to_line()).chain(clauses);
        lines.map(|line| line + "\n").chain([proof.into()]).collect()
    }
}

/// Returns the placement of fences.
fn placed(fences: &[PlacedFence]) -> Placement {
    let kinds = |name: &str| parse_kinds(name).expect("the kind must exist");
    fences
        .iter()
        .map(|PlacedFence(place, kind)| Atom {
            place: PlaceId(*place),
            barrier: Barrier::Fence(kinds(kind)),
        })
        .collect()
}

fn with_fences(problem: &Problem, fences: &[PlacedFence]) -> Problem {
    let program = placement::fenced(&problem.program, &placed(fences), WrittenFences::Kept);
    Problem { program, ..problem.clone() }
}

/// Returns the certificate of the program with fences: all reachable states.
fn proof(problem: &Problem, model: Model, fences: &[PlacedFence]) -> String {
    let repaired = repaired_problem(problem, &placed(fences), WrittenFences::Kept);
    let rules = rules(model, Domain::Fd, 2);
    write_certificate(&repaired, rules, &closure(&repaired, rules).0)
}

/// Returns the choices in `init` and the steps of a shortest violating run. The programs in these
/// tests make no choice in `init`.
fn violating_run(problem: &Problem, model: Model) -> Option<(Vec<u32>, Vec<RunStep>)> {
    let semantics = Semantics::new(&problem.program, Rules::exact(model));
    let mut parents: BTreeMap<CertState, Option<(CertState, RunStep)>> = BTreeMap::new();
    let mut queue = VecDeque::new();
    let Ok(()) = semantics.for_each_initial(&mut |state| {
        let state = state.expect("`init` must not fail");
        parents.insert(state.clone(), None);
        queue.push_back(state);
        Ok::<(), Infallible>(())
    });
    while let Some(state) = queue.pop_front() {
        let mut fails = false;
        let Ok(()) = semantics.for_each_step(&state, &mut |event, after| {
            match after {
                Ok(after) if !parents.contains_key(&after) => {
                    let step = run_step(problem, event);
                    parents.insert(after.clone(), Some((state.clone(), step)));
                    queue.push_back(after);
                }
                Ok(_) => {}
                Err(_) => fails = true,
            }
            Ok::<(), Infallible>(())
        });
        let is_violation = fails
            || property::violated_property(problem, &state).is_some()
            || hang::is_forbidden_hang(problem, &semantics, &state) == Some(true);
        if is_violation {
            let mut steps = Vec::new();
            let mut at = &state;
            while let Some(Some((before, step))) = parents.get(at) {
                steps.push(step.clone());
                at = before;
            }
            steps.reverse();
            return Some((Vec::new(), steps));
        }
    }
    None
}

fn run_step(problem: &Problem, event: Event) -> RunStep {
    match event {
        Event::Commit { thread, loc, .. } => RunStep::Commit(thread.0.into(), loc.0),
        Event::Statement { thread, pc, chosen } => {
            let op = &problem.program.thread(thread).stmt(pc).op;
            match (op, chosen) {
                (Op::Choose { lo, .. }, Some(value)) => {
                    RunStep::Choices(thread.0.into(), vec![value.abs_diff(*lo) as u32])
                }
                _ => RunStep::Statement((thread.0.into(),)),
            }
        }
    }
}

fn sb() -> (Problem, Draft) {
    let problem = problem(SB);
    let (p, q) = (fence(1, "store_load"), fence(4, "store_load"));
    let clauses: [&[PlacedFence]; 2] =
        [&[p.clone(), fence(1, "full")], &[q.clone(), fence(4, "full")]];
    let kinds = [("store_load", 4), ("full", 5)];
    let draft = Draft::new(&problem, Model::Tso, &kinds, &[p, q], &clauses);
    (problem, draft)
}

fn mp() -> (Problem, Draft) {
    let problem = problem(MP);
    let between = fence(1, "store_store");
    let clauses: [&[PlacedFence]; 1] = [&[between.clone(), fence(1, "full")]];
    let kinds = [("store_store", 2), ("store_load", 4), ("full", 5)];
    let draft = Draft::new(&problem, Model::Pso, &kinds, &[between], &clauses);
    (problem, draft)
}

fn accepted(problem: &Problem, text: impl AsRef<[u8]>) -> Optimal {
    check_optimality(std::slice::from_ref(problem), &mut text.as_ref())
        .unwrap_or_else(|rejected| panic!("{rejected}"))
}

fn rejected(problem: &Problem, text: impl AsRef<[u8]>) -> Rejection {
    match check_optimality(std::slice::from_ref(problem), &mut text.as_ref()) {
        Ok(optimal) => panic!("accepted: {:?}", optimal.header),
        Err(rejected) => rejected,
    }
}

#[test]
fn valid_certificates_are_accepted() {
    for (problem, draft) in [sb(), mp()] {
        let optimal = accepted(&problem, draft.text(&problem));
        assert_eq!(optimal.header, draft.header);
        assert_eq!(optimal.placement, placed(&draft.header.placement));
        assert_eq!(optimal.places, problem.program.places.len());
    }
}

#[test]
fn runs_end_in_every_kind_of_violation() {
    let sources = [
        "shared int x, y; thread p { x = 1; a = y; } thread q { y = 1; b = x; }
         final never p.a == 0 && q.b == 0;",
        "shared int x; thread p { x = 1; } invariant x == 0;",
        "shared int x; thread p { r = choose(0..3); assert(r != 2); }",
        "shared int(0..1) x; thread p { r = x; r = r + 2; x = r; }",
        "shared int x; thread p { critical { skip; } } thread q { critical { x = 1; } }
         property mutual_exclusion;",
        "shared int x; thread p { do { r = x; } while (r == 0); }",
    ];
    for source in sources {
        let problem = problem(source);
        // The run of a claim without permitted fences is a run of the program itself.
        let (init, steps) = violating_run(&problem, Model::Tso).expect("there must be a violation");
        let clause = Clause { client: 0, clause: Vec::new(), init, steps };
        let checked = check_violating_run(&problem, Model::Tso, &clause);
        assert!(checked.is_ok(), "{source}: {checked:?}");
        let mut shorter = clause.clone();
        if shorter.steps.pop().is_some() {
            let checked = check_violating_run(&problem, Model::Tso, &shorter);
            assert!(checked.is_err(), "{source}: a shorter run is accepted");
        }
    }
}

#[test]
fn choices_in_init_and_in_blocks_are_followed() {
    let problem = problem(
        "shared int x, y;
        init { x = choose(0..2); y = choose(0..2); }
        thread p { atomic { a = choose(1..4); b = choose(1..4); } r = x; s = y;
          assert(!(a == 2 && b == 3 && r == 0 && s == 1)); }",
    );
    let steps = |choices: [u32; 2]| {
        let mut steps = vec![RunStep::Choices(0, choices.to_vec())];
        // The places are statements, too.
        let statements = problem.program.threads[0].code.len();
        let before = problem.program.threads[0].code.iter().take_while(|s| s.op != Op::AtomicBegin);
        (0..before.count()).for_each(|_| steps.insert(0, RunStep::Statement((0,))));
        (0..statements).map(|_| RunStep::Statement((0,))).for_each(|step| steps.push(step));
        steps
    };
    let follow = |init: [u32; 2], choices: [u32; 2]| {
        // The number of statements to the assertion is found by trying.
        let all = steps(choices);
        (0..=all.len()).any(|length| {
            let steps = all[..length].to_vec();
            let clause = Clause { client: 0, clause: Vec::new(), init: init.to_vec(), steps };
            check_violating_run(&problem, Model::Tso, &clause).is_ok()
        })
    };
    assert!(follow([0, 1], [1, 2]));
    for (init, choices) in [
        ([0, 0], [1, 2]),
        ([1, 1], [1, 2]),
        ([0, 1], [1, 1]),
        ([0, 1], [2, 1]),
        ([0, 9], [1, 2]),
        ([0, 1], [1, 9]),
    ] {
        assert!(!follow(init, choices), "{init:?} {choices:?}");
    }
}

#[test]
fn order_of_stores_is_exact_behind_many_fences() {
    // The abstraction loses the order of stores behind more than three fences. The run must not use
    // this.
    let problem = problem(
        "shared int a, b, c, d, e, f;
        thread p { a = 1; fence store_store; b = 1; fence store_store; c = 1; fence store_store;
          d = 1; fence store_store; e = 1; fence store_store; f = 1; }
        thread q { r = f; s = e; assert(!(r == 1 && s == 0)); }",
    );
    let coarse = closure(&problem, rules(Model::Pso, Domain::Fd, 9));
    assert!(!coarse.1, "the abstraction has a spurious failure");
    assert_eq!(violating_run(&problem, Model::Pso), None);
}

#[test]
fn dropped_clauses_are_detected() {
    for (problem, draft) in [sb(), mp()] {
        for dropped in 0..draft.clauses.len() {
            let mut forged = draft.clone();
            forged.clauses.remove(dropped);
            let text = forged.text(&problem);
            // The header still counts the clause.
            let reason = rejected(&problem, &text).reason;
            assert!(matches!(reason, RejectionReason::Format | RejectionReason::Truncated));
            forged.header.clauses -= 1;
            assert_eq!(rejected(&problem, forged.text(&problem)).reason, RejectionReason::Bound);
        }
    }
}

#[test]
fn clauses_with_too_few_fences_are_detected() {
    for (problem, draft) in [sb(), mp()] {
        for clause in 0..draft.clauses.len() {
            for member in 0..draft.clauses[clause].clause.len() {
                let mut forged = draft.clone();
                forged.clauses[clause].clause.remove(member);
                assert_eq!(rejected(&problem, forged.text(&problem)).reason, RejectionReason::Run);
            }
        }
    }
}

#[test]
fn changed_runs_are_detected() {
    for (problem, draft) in [sb(), mp()] {
        for clause in 0..draft.clauses.len() {
            for step in 0..draft.clauses[clause].steps.len() {
                let mut removed = draft.clone();
                removed.clauses[clause].steps.remove(step);
                let mut doubled = draft.clone();
                let copy = doubled.clauses[clause].steps[step].clone();
                doubled.clauses[clause].steps.insert(step, copy);
                let mut invalid = draft.clone();
                invalid.clauses[clause].steps[step] = RunStep::Commit(u32::MAX, u32::MAX);
                let mut choosing = draft.clone();
                choosing.clauses[clause].steps[step] = RunStep::Choices(0, vec![0]);
                let mut all = vec![removed, invalid, choosing];
                // In the second program, the additional step may be the assertion that fails.
                all.extend(Some(doubled).filter(|_| draft.header.model == Model::Tso));
                for forged in all {
                    let text = forged.text(&problem);
                    assert_eq!(rejected(&problem, text).reason, RejectionReason::Run);
                }
            }
        }
        let mut choosing = draft.clone();
        choosing.clauses[0].init.push(0);
        assert_eq!(rejected(&problem, choosing.text(&problem)).reason, RejectionReason::Run);
    }
}

#[test]
fn runs_and_certificates_of_another_program_are_detected() {
    let ((sb, sb_draft), (_, mp_draft)) = (sb(), mp());
    let mut forged = sb_draft.clone();
    forged.clauses[0].steps = mp_draft.clauses[0].steps.clone();
    assert_eq!(rejected(&sb, forged.text(&sb)).reason, RejectionReason::Run);
    // The same threads, but one of them has a fence already.
    let other = problem(&SB.replace("x = 1; a", "x = 1; fence; a"));
    assert_eq!(rejected(&other, sb_draft.text(&sb)).reason, RejectionReason::Run);
    // The same code with another property.
    let other = problem(&SB.replace("p.a == 1", "p.a >= 0"));
    assert_eq!(rejected(&other, sb_draft.text(&sb)).reason, RejectionReason::Run);
}

#[test]
fn cheaper_and_other_placements_are_detected() {
    let (problem, draft) = sb();
    // One fence is missing: the repaired program is not correct.
    let mut cheaper = draft.clone();
    cheaper.header.placement.pop();
    let reason = rejected(&problem, cheaper.text(&problem)).reason;
    assert_eq!(reason, RejectionReason::Placement, "the cost is still that of two fences");
    cheaper.header.cost = 4;
    assert_eq!(rejected(&problem, cheaper.text(&problem)).reason, RejectionReason::Violated);
    // The proof is that of a placement which is sufficient, but not the one of the header.
    let both = proof(&problem, Model::Tso, &draft.header.placement);
    let reason = rejected(&problem, cheaper.text_with_proof(&both)).reason;
    assert_eq!(reason, RejectionReason::NotClosed);
    let full = [fence(1, "full"), fence(4, "full")];
    let reason =
        rejected(&problem, draft.text_with_proof(&proof(&problem, Model::Tso, &full))).reason;
    assert_eq!(reason, RejectionReason::NotClosed);
    // An expensive placement is not the cheapest.
    let mut expensive = draft.clone();
    expensive.header.placement = full.to_vec();
    expensive.header.cost = 10;
    assert_eq!(rejected(&problem, expensive.text(&problem)).reason, RejectionReason::Bound);
}

#[test]
fn changed_claims_are_detected() {
    let (problem, draft) = sb();
    let forged = |change: &dyn Fn(&mut OptimalityHeader)| {
        let mut forged = draft.clone();
        change(&mut forged.header);
        let proof = proof(&problem, Model::Tso, &draft.header.placement);
        rejected(&problem, forged.text_with_proof(&proof)).reason
    };
    use RejectionReason::{Bound, Client, Format, Placement, Problem, Run, Truncated};
    // Costs.
    assert_eq!(forged(&|h| h.cost = 9), Placement);
    assert_eq!(forged(&|h| h.cost = u64::MAX), Placement);
    assert_eq!(forged(&|h| h.fences[0].1 = u32::MAX), Placement);
    assert_eq!(forged(&|h| h.fences[1].1 = 3), Bound);
    assert_eq!(forged(&|h| h.fences[1].1 = 0), Format);
    // Kinds and places.
    assert_eq!(forged(&|h| h.fences.truncate(1)), Placement);
    assert_eq!(forged(&|h| h.fences.push(KindCost("full".into(), 1))), Format);
    assert_eq!(forged(&|h| h.fences.push(KindCost("drain".into(), 1))), Format);
    assert_eq!(forged(&|h| h.fences.clear()), Placement);
    assert_eq!(forged(&|h| h.only_in = vec!["p".into()]), Placement);
    assert_eq!(forged(&|h| h.only_in = vec!["none".into()]), Placement);
    assert_eq!(forged(&|h| h.forbidden_lines = vec![3]), Placement);
    assert_eq!(forged(&|h| h.placement[0].0 = u32::MAX), Placement);
    assert_eq!(forged(&|h| h.placement[0].1 = "drain".into()), Placement);
    assert_eq!(forged(&|h| h.placement[1] = h.placement[0].clone()), Placement);
    // Program and model.
    assert_eq!(forged(&|h| h.clients = vec!["a|b".into()]), Client);
    assert_eq!(forged(&|h| h.clients.clear()), Client);
    assert_eq!(forged(&|h| h.may_hang = true), Problem);
    assert_eq!(forged(&|h| h.model = Model::Sc), Run);
    // Under PSO all fences outside the clauses still allow the runs. The proof is about TSO.
    assert_eq!(forged(&|h| h.model = Model::Pso), Format);
    // Numbers of lines.
    assert_eq!(forged(&|h| h.optimality = 2), Format);
    assert_eq!(forged(&|h| h.clauses = u64::MAX), Format);
    assert_eq!(forged(&|h| h.clauses = 10_000), Format);
    let last = Draft { clauses: Vec::new(), ..draft.clone() };
    assert_eq!(rejected(&problem, last.text_with_proof("")).reason, Truncated);
}

#[test]
fn claims_about_a_required_control_point_are_rejected() {
    let draft = |invariant: &str| {
        let source = SB.replace("a = y;", "A: a = y;") + invariant;
        let problem = problem(&source);
        let (p, q) = (fence(1, "full"), fence(5, "full"));
        let behind = fence(2, "full");
        let clauses = [&[p.clone(), behind][..], std::slice::from_ref(&q)];
        let placement = [p, q.clone()];
        let draft = Draft::new(&problem, Model::Tso, &[("full", 5)], &placement, &clauses);
        (draft.text(&problem), problem)
    };
    let (text, problem) = draft("invariant x >= 0 || !(p at A);");
    accepted(&problem, text);
    // Fences may add violations, so the runs of the clauses prove nothing.
    let (text, problem) = draft("invariant x >= 0 || p at A;");
    assert_eq!(rejected(&problem, text).reason, RejectionReason::Problem);
}

#[test]
fn truncated_and_damaged_files_are_rejected() {
    let (problem, draft) = sb();
    let text = draft.text(&problem);
    for end in (0..text.len() - 1).step_by(11) {
        rejected(&problem, &text[..end]);
    }
    assert_eq!(rejected(&problem, format!("{text}[]\n")).reason, RejectionReason::Format);
    assert_eq!(rejected(&problem, b"\xff\xfe\n").reason, RejectionReason::Format);
    // A damaged file must not cause a panic. A few changes, such as a larger k, leave it valid.
    let mut random = Random::new(3);
    for _ in 0..2_000 {
        let mut damaged = text.clone().into_bytes();
        for _ in 0..=random.below(2) {
            let at = random.below(damaged.len().min(1_500));
            damaged[at] = b"0123456789[],-\"xe\n"[random.below(18)];
        }
        let _ = check_optimality(std::slice::from_ref(&problem), &mut &damaged[..]);
    }
    for number in ["-1", "4294967296", "99999999999999999999", "1e99", "null", "[]"] {
        let line = draft.clauses[0].to_line();
        for part in ["\"client\":0", "[[0]", "[[1,"] {
            let replaced = part.trim_end_matches(|c: char| c.is_ascii_digit() || ",]".contains(c));
            let forged = line.replacen(part, &format!("{replaced}{number},"), 1);
            assert_ne!(forged, line, "{part}");
            rejected(&problem, text.replacen(&line, &forged, 1));
        }
    }
}

#[test]
fn removing_empty_places_keeps_the_behaviour() {
    let sources = [
        SB,
        MP,
        "shared bool want[2]; thread p(i in 0..2) {
           want[i] = true; w = want[1 - i];
           if (!w) { critical { skip; } skip; }
           want[i] = false;
         }
         property mutual_exclusion;",
        "shared int x; thread p { x = 1; loop { skip; } } thread q { while (x == 0) skip; x = 2; }",
        "shared int x; thread p { critical { x = 1; } critical { r = x; } }
         thread q { critical { x = 2; } } property mutual_exclusion;",
    ];
    for source in sources {
        let problem = problem(source);
        for fences in [&[][..], &[fence(1, "full")], &[fence(2, "store_load"), fence(0, "full")]] {
            for model in [Model::Tso, Model::Pso] {
                let rules = rules(model, Domain::Fd, 4);
                let with_places = with_fences(&problem, fences);
                let without = repaired_problem(&problem, &placed(fences), WrittenFences::Kept);
                // Everything except the program counters; separately for errors.
                let behaviour = |problem: &Problem| {
                    let semantics = Semantics::new(&problem.program, rules);
                    let (states, sound) = closure(problem, rules);
                    let (mut all, mut errors) = (BTreeSet::new(), BTreeSet::new());
                    for state in &states {
                        let mut visible = state.clone();
                        visible.threads.iter_mut().for_each(|thread| thread.pc = Pc(0));
                        if property::violated_property(problem, state).is_some()
                            || hang::is_forbidden_hang(problem, &semantics, state) == Some(true)
                        {
                            errors.insert(visible.clone());
                        }
                        all.insert(visible);
                    }
                    ((all, errors, sound), states.len())
                };
                let (kept, removed) = (behaviour(&with_places), behaviour(&without));
                assert_eq!(kept.0, removed.0, "{source}");
                assert!(removed.1 < kept.1, "{source}: {} states", removed.1);
            }
        }
    }
}

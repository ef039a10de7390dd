//! Repairs get a certificate of optimality, and the independent checker accepts it. Without one of
//! its clauses the certificate is rejected, unless the other clauses give the same bound. A repair
//! that is not the cheapest gets no certificate.

use super::{problem, small_limits};
use crate::common::{model, report_comparisons, seeds};
use fencepost_certify::{OptimalityHeader, RejectionReason, check_optimality};
use fencepost_engines::certificate::NoCertificate;
use fencepost_engines::{Auto, Automata, Budget, Engine, Explicit, Settings};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::lazy::{Query, infer};
use fencepost_infer::optimality::{NoOptimalityCertificate, write_optimality_certificate};
use fencepost_infer::repair::{Inference, Repair, Sufficiency};
use fencepost_ir::{Atom, Barrier, FenceKinds, PlaceId, Problem, WrittenFences, placement};
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::programs::{Profile, program};
use fencepost_testkit::{corpus, lower_with_places};

/// The numbers of certificates.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    /// Accepted certificates of programs that need fences.
    needed: usize,
    /// Repairs without a certificate: the search for the proof reached a limit, or the abstraction
    /// of the proof is too coarse.
    none: usize,
}

/// A repair with its query.
struct Case<'a> {
    problem: &'a Problem,
    model: ModelSpec,
    engine: &'a (dyn Engine + Sync),
    settings: Settings,
    written: WrittenFences,
}

impl Case<'_> {
    /// Infers fences and changes the repair. Returns a verified repair with its certificate, or why it has none. Returns
    /// `None` if there is no verified repair.
    fn run(
        &self,
        change: &dyn Fn(&mut Repair),
    ) -> Option<(Repair, Result<Vec<u8>, NoOptimalityCertificate>)> {
        let problems = std::slice::from_ref(self.problem);
        let (costs, anywhere) = (FenceCosts::for_model(&self.model), Restrictions::default());
        let candidates = Candidates::new(problems, &costs, &anywhere, self.written);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let query = Query {
            problems,
            model: &self.model,
            candidates: &candidates,
            engine: self.engine,
            settings: self.settings,
            all: false,
            abstraction: None,
        };
        let Inference::Repaired(mut repair) = infer(query, budget) else { return None };
        if repair.sufficiency != Sufficiency::Verified {
            return None;
        }
        change(&mut repair);
        let mut text = Vec::new();
        let claim = (&costs, &anywhere);
        let written = write_optimality_certificate(query, claim, &repair, budget, &mut text);
        Some((repair, written.map(|()| text)))
    }

    /// Checks the certificate of a repair, and the certificates without one of its clauses.
    fn check(&self, tally: &mut Tally) -> Result<(), String> {
        let Some((repair, written)) = self.run(&|_| {}) else { return Ok(()) };
        let text = match written {
            Ok(text) => text,
            // The limit on states is small, and another method than that of the certificate may have
            // verified the repair.
            Err(
                NoOptimalityCertificate::NoRun
                | NoOptimalityCertificate::Program(
                    NoCertificate::Stopped(_)
                    | NoCertificate::Spurious
                    | NoCertificate::NotVerified,
                ),
            ) => {
                tally.none += 1;
                return Ok(());
            }
            Err(reason) => return Err(format!("no certificate: {reason}")),
        };
        let problems = std::slice::from_ref(self.problem);
        let optimal = check_optimality(problems, &mut &text[..]).map_err(|e| e.to_string())?;
        // Single kinds may replace a full fence of the repair.
        let code = |placement| placement::fenced(&self.problem.program, placement, self.written);
        let is_same = code(&optimal.placement).threads == code(&repair.placements[0]).threads;
        if optimal.header.cost != u64::from(repair.cost) || !is_same {
            return Err(format!("{:?} instead of {:?}", optimal.header, repair.placements[0]));
        }
        tally.accepted += 1;
        tally.needed += usize::from(repair.cost > 0);
        let text = String::from_utf8(text).expect("a certificate is text");
        let lines: Vec<&str> = text.lines().collect();
        for dropped in 1..=optimal.header.clauses as usize {
            let clauses = optimal.header.clauses - 1;
            let header = OptimalityHeader { clauses, ..optimal.header.clone() }.to_line();
            let others = (1..lines.len()).filter(|at| *at != dropped).map(|at| lines[at]);
            let forged: String =
                [&header[..]].into_iter().chain(others).map(|line| format!("{line}\n")).collect();
            match check_optimality(problems, &mut forged.as_bytes()) {
                Ok(_) => {}
                Err(rejected) if rejected.reason == RejectionReason::Bound => {}
                Err(rejected) => return Err(format!("without line {dropped}: {rejected}")),
            }
        }
        Ok(())
    }
}

#[test]
fn repairs_of_the_corpus_get_accepted_certificates_campaign() {
    let limits = Limits { states: 4_000, ..Limits::default() };
    let settings = Settings { limits, ..small_limits() };
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    let programs = corpus::sample("mutex", 5).into_iter().chain(corpus::sample("waiting", 4));
    for (file, source) in programs {
        let Ok(problems) = lower_with_places(&source) else { panic!("{file} compiles") };
        for name in ["tso", "pso"] {
            for (engine, written) in [
                (&Auto as &(dyn Engine + Sync), WrittenFences::Kept),
                (&Explicit, WrittenFences::Dropped),
                (&Automata::DEFAULT, WrittenFences::Kept),
            ] {
                // Automata of programs that loop forever are slow.
                if engine.name() == "automata" && !file.ends_with("-once") {
                    continue;
                }
                let (problem, model) = (&problems[0], model(name));
                let case = Case { problem, model, engine, settings, written };
                if let Err(message) = case.check(&mut tally) {
                    wrong.push(format!("{file} {name} {}: {message}", engine.name()));
                }
            }
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.accepted > tally.none, "most repairs have a certificate: {tally:?}");
    assert!(tally.needed > 3, "some repairs have fences: {tally:?}");
}

/// Calls `visit` for random programs under TSO and PSO.
fn for_each_random(first: u64, visit: &mut impl FnMut(&Case<'_>, &str)) {
    for seed in seeds(6) {
        for profile in Profile::ALL {
            let source = program(profile, first + seed).to_string();
            let Some(problem) = problem(&source) else { continue };
            for name in ["tso", "pso"] {
                let case = Case {
                    problem: &problem,
                    model: model(name),
                    engine: &Explicit,
                    settings: small_limits(),
                    written: WrittenFences::Kept,
                };
                visit(&case, &format!("{name}, seed {}\n{source}", first + seed));
            }
        }
    }
}

#[test]
fn repairs_of_random_programs_get_accepted_certificates() {
    let mut tally = Tally::default();
    for_each_random(500, &mut |case, about| {
        if let Err(message) = case.check(&mut tally) {
            panic!("{message}\n{about}");
        }
    });
    report_comparisons("certificates of optimality", tally.accepted as u64);
    assert!(tally.needed > 0, "some programs need fences: {tally:?}");
    assert!(tally.accepted > tally.none, "{tally:?}");
}

#[test]
fn expensive_repairs_of_random_programs_get_no_certificate() {
    let mut refused = 0;
    for_each_random(900, &mut |case, about| {
        let Some((repair, _)) = case.run(&|_| {}) else { return };
        let program = &case.problem.program;
        let last = PlaceId::from_index(program.places.len() - 1);
        let redundant = Atom { place: last, barrier: Barrier::Fence(FenceKinds::FULL) };
        if repair.placements[0].atoms.contains(&redundant) || program.place(last).written.is_some()
        {
            return;
        }
        let (_, written) = case
            .run(&|repair| {
                repair.placements[0].atoms.insert(redundant);
                repair.cost += FenceKinds::FULL.default_cost();
            })
            .expect("inference is deterministic");
        assert!(
            matches!(written, Err(NoOptimalityCertificate::NotOptimal)),
            "{written:?}\n{about}"
        );
        refused += 1;
    });
    assert!(refused > 0, "some repairs get a redundant fence");
}

//! Certificates of optimality: no cheaper placement of fences is sufficient.
//!
//! A certificate states a placement and its cost, for a program, a memory model, fence kinds with
//! costs, and restrictions on places. It is accepted when
//!
//! 1. the program with the placement is verified: for each client a certificate ([`mod@crate::check`])
//!    proves the repaired program (`repaired`),
//! 2. each clause is justified: its run is a violating run of the program with *all* permitted fences
//!    that are not in the clause (`run`, `candidates`),
//! 3. every set of fences that has a member of each clause costs at least as much as the placement
//!    (`hitting_set`).
//!
//! Why the placement is cheapest: a fence only removes behaviour. Each state and step of a run with a
//! fence is also a state and step without it: a full fence waits, other fences forbid loads, updates
//! and commits, and none of them changes memory or registers. A state of the run without pending
//! stores is a hang in both programs, because fences have no effect if nothing is pending. So by 2,
//! every placement without a member of the clause has the violating run. A sufficient placement
//! therefore has a member of every clause, and by 3 it costs at least as much.
//!
//! Drains are not supported. A drain can fault, so it may add a violation.
//!
//! The permitted fences are computed from the program and the claim. They are not read from the
//! certificate, so a certificate cannot leave some out.
//!
//! Direction: an accepted certificate proves its claim. A rejected certificate proves nothing.

mod candidates;
pub(crate) mod format;
mod hitting_set;
mod repaired;
pub(crate) mod run;

use std::io::BufRead;

use fencepost_ir::{Atom, Barrier, Placement, Problem, WrittenFences, placement};

pub use format::{Clause, KindCost, OPTIMALITY_VERSION, OptimalityHeader, PlacedFence, RunStep};
pub use repaired::repaired_problem;

use crate::check::{Certified, check_problem, check_states};
use crate::format::Model;
use crate::limits::Limits;
use crate::lines::{Line, Lines};
use crate::rejection::{Rejection, RejectionReason};
use candidates::Candidates;
use hitting_set::{Bound, cheaper_hitting_set};

/// The result of an accepted certificate of optimality.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Optimal {
    /// The claim.
    pub header: OptimalityHeader,
    /// The fences of the placement.
    pub placement: Placement,
    /// The number of places that may get a fence.
    pub places: usize,
    /// By client: the result of the certificate of the repaired program.
    pub clients: Vec<Certified>,
}

/// Checks that a certificate proves its claim about the problems of one file. The problems must be
/// compiled with places. Does not panic for any input bytes.
pub fn check_optimality(
    problems: &[Problem],
    text: &mut impl BufRead,
) -> Result<Optimal, Rejection> {
    check_optimality_within(problems, text, &Limits::NONE)
}

/// Checks a certificate as [`check_optimality`] does, within limits. A check that is stopped ends in
/// a rejection with the reason [`RejectionReason::Stopped`].
pub fn check_optimality_within(
    problems: &[Problem],
    text: &mut impl BufRead,
    limits: &Limits<'_>,
) -> Result<Optimal, Rejection> {
    let mut lines = Lines::new(text);
    let header = read_header(&mut lines)?;
    check_claim(problems, &header)?;
    let first = &problems[0];
    let at_header = |reason, detail: String| Rejection::new(reason, detail).at_line(HEADER_LINE);
    let candidates = Candidates::new(first, &header)
        .map_err(|detail| at_header(RejectionReason::Format, detail))?;
    let placed = candidates
        .positions(&header.placement)
        .map_err(|detail| at_header(RejectionReason::Placement, detail))?;
    let cost: u64 = placed.iter().map(|at| candidates.costs[*at]).sum();
    if cost != header.cost {
        let detail = format!("the placement costs {cost}, but the header says {}", header.cost);
        return Err(at_header(RejectionReason::Placement, detail));
    }
    let placement: Placement = placed.iter().map(|at| candidates.atoms[*at]).collect();
    let written = if header.keeps_written { WrittenFences::Kept } else { WrittenFences::Dropped };
    let clauses = read_clauses(problems, &header, &candidates, written, &mut lines, limits)?;
    check_bound(first, &header, &candidates, &clauses)?;
    let mut clients = Vec::new();
    for problem in problems {
        let repaired = repaired_problem(problem, &placement, written);
        let line = lines.read() + 1;
        let certified = check_states(&repaired, &mut lines, limits)?;
        if certified.model != header.model {
            let (theirs, ours) = (certified.model.name(), header.model.name());
            let detail = format!("the proof is about {theirs}, but the claim is about {ours}");
            return Err(Rejection::new(RejectionReason::Format, detail).at_line(line));
        }
        clients.push(certified);
    }
    if let Some(line) = lines.next_line()? {
        let detail = "the file continues after its last proof";
        return Err(Rejection::new(RejectionReason::Format, detail).at_line(line.number));
    }
    Ok(Optimal { header, placement, places: candidates.places, clients })
}

/// The maximum number of clauses.
const MAX_CLAUSES: u64 = 10_000;

/// The line of the header.
const HEADER_LINE: u64 = 1;

fn read_header(lines: &mut Lines<'_, impl BufRead>) -> Result<OptimalityHeader, Rejection> {
    let Some(line) = lines.next_line()? else {
        return Err(Rejection::new(RejectionReason::Truncated, "the file is empty"));
    };
    let format = |detail| Rejection::new(RejectionReason::Format, detail).at_line(HEADER_LINE);
    let header = OptimalityHeader::parse(&line.bytes)
        .map_err(|error| format(format!("the first line is not a header: {error}")))?;
    if header.optimality != OPTIMALITY_VERSION {
        let version = header.optimality;
        return Err(format(format!(
            "format version {version} is not supported; the supported version is \
             {OPTIMALITY_VERSION}"
        )));
    }
    if header.clauses > MAX_CLAUSES {
        return Err(format(format!("there are more than {MAX_CLAUSES} clauses")));
    }
    Ok(header)
}

/// Checks that a claim is about these problems.
fn check_claim(problems: &[Problem], header: &OptimalityHeader) -> Result<(), Rejection> {
    problems.iter().try_for_each(check_problem)?;
    let ours: Vec<&str> = problems.iter().map(|problem| problem.name.as_str()).collect();
    let reject = |reason, detail| Err(Rejection::new(reason, detail).at_line(HEADER_LINE));
    if ours != header.clients || ours.is_empty() {
        let detail = format!(
            "the certificate is for the clients {:?}, but the program has {ours:?}",
            header.clients
        );
        return reject(RejectionReason::Client, detail);
    }
    if let Some(problem) = problems.iter().find(|p| p.may_hang != header.may_hang) {
        let word = |may_hang| if may_hang { "allows" } else { "forbids" };
        let detail = format!(
            "the certificate {} hangs, but the program {} them",
            word(header.may_hang),
            word(problem.may_hang)
        );
        return reject(RejectionReason::Problem, detail);
    }
    // Elsewhere fences only remove behaviour. Here, a fence before a label adds a violation.
    if problems.iter().any(Problem::requires_control_points) {
        let detail = "an invariant holds because a thread is at a label".to_string();
        return reject(RejectionReason::Problem, detail);
    }
    // Clauses and placements number the places of the file.
    if problems.iter().any(|problem| problem.program.places != problems[0].program.places) {
        return reject(RejectionReason::Problem, "the clients have different places".into());
    }
    Ok(())
}

/// Reads the clauses and checks that their runs justify them. Returns for each clause the sorted
/// positions of its members.
fn read_clauses(
    problems: &[Problem],
    header: &OptimalityHeader,
    candidates: &Candidates,
    written: WrittenFences,
    lines: &mut Lines<'_, impl BufRead>,
    limits: &Limits<'_>,
) -> Result<Vec<Vec<usize>>, Rejection> {
    let mut clauses = Vec::new();
    let expected = header.clauses;
    while (clauses.len() as u64) < expected {
        limits.check_stop()?;
        let Some(line) = lines.next_line()? else {
            let detail = format!("the file ends after {} of {expected} clauses", clauses.len());
            return Err(Rejection::new(RejectionReason::Truncated, detail));
        };
        clauses.push(check_clause(problems, header.model, candidates, written, &line)?);
    }
    Ok(clauses)
}

/// Checks that the run of a clause is a violating run of the program with all other candidates.
/// Returns the sorted positions of the members.
fn check_clause(
    problems: &[Problem],
    model: Model,
    candidates: &Candidates,
    written: WrittenFences,
    line: &Line,
) -> Result<Vec<usize>, Rejection> {
    let reject = |reason, detail: String| Rejection::new(reason, detail).at_line(line.number);
    let clause = Clause::parse(&line.bytes).map_err(|error| {
        let reason = if line.ended { RejectionReason::Format } else { RejectionReason::Truncated };
        reject(reason, format!("the line is not a clause: {error}"))
    })?;
    let members = candidates
        .positions(&clause.clause)
        .map_err(|detail| reject(RejectionReason::Placement, detail))?;
    let problem = usize::try_from(clause.client).ok().and_then(|at| problems.get(at));
    let Some(problem) = problem else {
        let detail = format!("there is no client with the number {}", clause.client);
        return Err(reject(RejectionReason::Client, detail));
    };
    let others = candidates.all_except(&members);
    let program = placement::fenced(&problem.program, &others, written);
    let fenced = Problem { program, ..problem.clone() };
    run::check_violating_run(&fenced, model, &clause)
        .map_err(|rejection| rejection.at_line(line.number))?;
    Ok(members)
}

/// Checks that no set of fences that has a member of every clause is cheaper than the placement.
fn check_bound(
    problem: &Problem,
    header: &OptimalityHeader,
    candidates: &Candidates,
    clauses: &[Vec<usize>],
) -> Result<(), Rejection> {
    let cost = header.cost;
    match cheaper_hitting_set(clauses, &candidates.costs, cost) {
        Bound::Proved => Ok(()),
        Bound::Cheaper(set) => {
            let cheaper: u64 = set.iter().map(|at| candidates.costs[*at]).sum();
            let fences: Vec<String> =
                set.iter().map(|at| fence_text(problem, candidates.atoms[*at])).collect();
            let fences = if fences.is_empty() { "no fence".into() } else { fences.join(", ") };
            let detail = format!(
                "the clauses do not exclude a placement of cost {cheaper}, cheaper than {cost}: \
                 {fences}"
            );
            Err(Rejection::new(RejectionReason::Bound, detail))
        }
        Bound::TooHard => {
            let detail = "the search for a cheaper set of fences was too long";
            Err(Rejection::new(RejectionReason::Bound, detail))
        }
    }
}

/// Returns a fence and its place as text, such as ``store_load at line 2, before `a = y` in p``.
pub fn fence_text(problem: &Problem, atom: Atom) -> String {
    let place = problem.program.place(atom.place);
    let info = problem.program.label(place.label);
    let kind = match atom.barrier {
        Barrier::Fence(kinds) => kinds.name(),
        Barrier::Drain(store) => format!("drain of {store}"),
        Barrier::Order(_) => "memory order".into(),
    };
    let side = if place.at_end { "at the end" } else { "before" };
    let (line, text, function) = (info.span.line, &info.text, &info.function);
    format!("{kind} at line {line}, {side} `{text}` in {function}")
}

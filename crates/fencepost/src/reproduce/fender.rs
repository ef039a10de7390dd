//! `reproduce fender`: the experiments of \[KVY10\], Tables II and III, and its fences.
//!
//! For each client and model the paper's own method ([`fixpoint`]) gives states, edges and the fewest constraints
//! that keep the client right. For each algorithm and model the cheapest fences for all clients
//! together are found from counterexamples ([`lazy`]) and verified, and the formulas of all clients are
//! conjoined.
//!
//! States and edges need not agree: the programs are our own readings of the algorithms, local statements run
//! with the access before them, and reductions leave states out that the paper's tool visits.
//! What must agree is how many constraints and fences there are, and, for Fig. 1, where. A difference has a
//! reason in [`notes`], or the row says that there is none.
//!
//! DIVERGENCE: a bound on execution buffers in the paper is a bound on windows here that is larger by one, for a
//! window also holds the access that is just being performed.

mod notes;
mod paper;

use super::{Broken, Runner, lowered, model, number, place_name, placed};
use crate::reproduce::ended_by;
use fencepost_engines::{Explicit, Settings, Task};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fixpoint::{self, Avoidance, avoidance, conjoin};
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::menu::Menu;
use fencepost_infer::repair::{Inference, Repair, Sufficiency};
use fencepost_ir::{Problem, Written};
use fencepost_report::reproduction::{Figure, Figures, Row};
use fencepost_report::verdict_line::{shown, stopped_by};
use paper::{CLIENTS, Client, FENCES, Fences, MODELS, Place};
use std::collections::BTreeSet;

/// What an algorithm's rows are computed from.
struct Program {
    algorithm: &'static str,
    /// For the rows of the tables.
    clients: &'static str,
    /// For the fences.
    library: &'static str,
}

macro_rules! structure {
    ($name:literal) => {
        include_str!(concat!("../../../../corpus/structures/", $name))
    };
}

const DEKKER_ONCE: &str = include_str!("../../../../corpus/mutex/dekker-data0-once.fp");
const DEKKER: &str = include_str!("../../../../corpus/mutex/dekker-data0.fp");

/// The programs, in the order of the tables.
#[rustfmt::skip]
const PROGRAMS: [Program; 6] = [
    Program { algorithm: "MSN", clients: structure!("msn-queue.fp"), library: structure!("msn-queue.fp") },
    Program { algorithm: "Chase-Lev", clients: structure!("chase-lev.fp"), library: structure!("chase-lev.fp") },
    Program { algorithm: "LIFO WSQ", clients: structure!("lifo-wsq.fp"), library: structure!("lifo-wsq.fp") },
    Program { algorithm: "Dekker", clients: DEKKER_ONCE, library: DEKKER },
    Program { algorithm: "Treiber", clients: structure!("treiber.fp"), library: structure!("treiber.fp") },
    Program { algorithm: "VYSet", clients: structure!("vyset.fp"), library: structure!("vyset.fp") },
];

/// Computes the rows.
pub(super) fn run(runner: &mut Runner) -> Result<(), Broken> {
    for (program, fences) in PROGRAMS.iter().zip(&FENCES) {
        if !runner.wants(program.algorithm) {
            continue;
        }
        let problems = lowered(program.clients);
        // By model: the formulas of all clients.
        let mut formulas: [Vec<Option<Avoidance>>; 4] = Default::default();
        for client in CLIENTS.iter().filter(|client| client.algorithm == program.algorithm) {
            for (at, found) in formulas.iter_mut().enumerate() {
                found.push(client_row(runner, &problems, client, at)?);
            }
        }
        let library = lowered(program.library);
        // The last model is SC, where no fence is needed.
        for (at, found) in formulas.into_iter().enumerate().take(MODELS.len() - 1) {
            let found: Option<Vec<Avoidance>> = found.into_iter().collect();
            let constraints = found.and_then(|all| conjoin(&all).fewest());
            fences_row(runner, (program.library, &library), fences, at, constraints)?;
        }
    }
    Ok(())
}

/// A bound on windows that no client without loops that spin reaches.
const ROOMY: u32 = 32;

/// What a client of the tables is called in our programs.
fn client_name(client: &Client) -> String {
    match client.initial {
        "2/2" => format!("pp({})", client.client),
        "1/1" => format!("p({})", client.client),
        "-" => String::new(),
        _ => client.client.into(),
    }
}

/// What a client's row is called.
fn row_name(client: &Client) -> String {
    let name = client_name(client);
    match client.bound {
        Some(bound) if name.is_empty() => format!("buffer {bound}"),
        Some(bound) => format!("{name} buffer {bound}"),
        None => name,
    }
}

/// One client under one model. Returns its formula.
fn client_row(
    runner: &mut Runner,
    problems: &[Problem],
    client: &Client,
    at: usize,
) -> Result<Option<Avoidance>, Broken> {
    let name = client_name(client);
    let problem = problems.iter().find(|problem| problem.name == name);
    let problem = problem.expect("the programs have the clients of the tables");
    let model = model(MODELS[at]);
    let row = format!("{} {}", client.algorithm, row_name(client));
    // Where the paper needs no bound, one search with a roomy one is faster than several that grow.
    let own = runner.settings.fixed_buffer.unwrap_or(ROOMY);
    let fixed_buffer = Some(client.bound.map_or(own, |bound| bound + 1));
    let settings = Settings { fixed_buffer, ..runner.settings };
    let what = format!("{row}  {}", shown(&model));
    let task = Task { problem, model: &model };
    let done = runner.work(&what, |budget| avoidance(task, settings, budget))?;
    let Some((found, seconds)) = done else { return Ok(None) };
    let (states, edges, constraints) = client.figures[at];
    let relaxed = MODELS[at] != "sc";
    let paper = Figures::new()
        .with("states", Figure::Number(states))
        .with("edges", Figure::Number(edges))
        .with("constraints", constraints.map(Figure::Number))
        .with("seconds", (at == 0).then_some(Figure::Seconds(client.seconds)));
    let (ours, met) = match &found {
        // Without a bound in the paper, one of ours is a limit.
        Ok(found) if found.bound.is_some() && client.bound.is_none() => {
            (None, "Windows can hold more accesses than could be looked at.")
        }
        Ok(found) => (Some(found), ""),
        Err(fixpoint::GaveUp::Stopped(stop)) => (None, stopped_by(*stop)),
        Err(fixpoint::GaveUp::Constraints(_)) => (None, "There are too many constraints."),
    };
    let fewest = ours.and_then(Avoidance::fewest);
    let agrees = ours.is_some()
        && constraints.is_none_or(|paper| fewest.is_some_and(|ours| ours as u64 == paper));
    let figures = ours.map_or(Figures::new(), |found| {
        Figures::new()
            .with("states", Figure::Number(found.states))
            .with("edges", Figure::Number(found.edges))
            .with("constraints", fewest.filter(|_| relaxed).map(number))
            .with("seconds", Figure::Seconds(seconds))
    });
    let note = match ours {
        None => met,
        Some(_) if agrees => notes::remark(client.algorithm, "client"),
        Some(_) => notes::reason(client.algorithm, client.client, MODELS[at], fewest),
    };
    runner.rows.push(Row {
        group: client.algorithm.into(),
        part: "client",
        row,
        column: shown(&model),
        paper,
        ours: figures,
        ran: ours.is_some(),
        agrees,
        note: note.into(),
    });
    let complete = ours.is_some();
    Ok(found.ok().filter(|_| complete))
}

/// The fences of one algorithm under one model.
fn fences_row(
    runner: &mut Runner,
    (source, problems): (&str, &[Problem]),
    fences: &Fences,
    at: usize,
    constraints: Option<usize>,
) -> Result<(), Broken> {
    let model = model(MODELS[at]);
    let candidates =
        Candidates::new(problems, &Menu::of(&model), &Restrictions::default(), Written::Kept);
    let row = format!("{} all clients", fences.algorithm);
    let what = format!("{row}  {}", shown(&model));
    let settings = runner.settings;
    let (all, engine) = (false, &Explicit);
    let (candidates, abstraction) = (&candidates, None);
    let question =
        Question { problems, model: &model, candidates, engine, settings, all, abstraction };
    let done = runner.work(&what, |budget| lazy::infer(question, budget))?;
    let Some((inference, seconds)) = done else { return Ok(()) };
    let (repair, met) = match &inference {
        Inference::Repaired(repair) => (Some(repair), ""),
        Inference::GaveUp(gave_up) => (
            None,
            gave_up.undecided.first().map_or("A limit was met.", |(_, why)| ended_by(why.reason())),
        ),
        Inference::Unrepairable(_) => (None, "No fences help."),
    };
    let found = repair.map(|repair| Found::new(source, &problems[0], repair));
    let verified = repair.is_some_and(|repair| repair.sufficiency == Sufficiency::Verified);
    let ran = found.is_some() && constraints.is_some();
    let same = |paper: Option<u64>, ours: Option<usize>| {
        paper.is_none_or(|paper| ours.is_some_and(|ours| ours as u64 == paper))
    };
    let here = |paper: &[Place]| found.as_ref().is_some_and(|found| found.is_at(paper));
    let agrees = ran
        && verified
        && same(fences.fences[at], found.as_ref().map(|found| found.places.len()))
        && same(fences.constraints[at], constraints)
        && fences.places[at].is_none_or(here);
    let in_figure = |(place, kind): &Place| format!("{} {kind}", place.replace(' ', ":"));
    let in_figure = fences.places[at].map(|places| places.iter().map(in_figure).collect());
    let paper = Figures::new()
        .with("fences", fences.fences[at].map(Figure::Number))
        .with("constraints", fences.constraints[at].map(Figure::Number))
        .with("places", in_figure.map(Figure::List));
    let ours = found.filter(|_| ran).map_or(Figures::new(), |found| {
        Figures::new()
            .with("fences", number(found.places.len()))
            .with("cost", repair.map(|repair| Figure::Number(u64::from(repair.price))))
            .with("constraints", constraints.map(number))
            .with("verified", Figure::Flag(verified))
            .with("seconds", Figure::Seconds(seconds))
            .with("places", Figure::List(found.places))
    });
    let note = match ran {
        false if met.is_empty() => "A client met a limit, so the conjunction is not known.",
        false => met,
        true if agrees => notes::remark(fences.algorithm, "fences"),
        true => notes::reason(fences.algorithm, "", MODELS[at], constraints),
    };
    runner.rows.push(Row {
        group: fences.algorithm.into(),
        part: "fences",
        row,
        column: shown(&model),
        paper,
        ours,
        ran,
        agrees,
        note: note.into(),
    });
    Ok(())
}

/// The fences of a repair.
struct Found {
    /// Function, line and kind of each, in the order of the source.
    places: Vec<String>,
    /// The comment on the line of each, which gives the line of the paper's figure, and its kind.
    figure: BTreeSet<(String, String)>,
}

impl Found {
    fn new(source: &str, problem: &Problem, repair: &Repair) -> Self {
        let lines: Vec<&str> = source.lines().collect();
        let mut found = Found { places: Vec::new(), figure: BTreeSet::new() };
        for atom in &repair.placements[0].atoms {
            let (info, kind) = placed(problem, atom);
            let line = lines.get(info.span.line as usize - 1).copied().unwrap_or_default();
            let comment = line.split_once("//").map_or("", |(_, comment)| comment.trim());
            found.places.push(place_name(problem, atom));
            found.figure.insert((comment.into(), kind));
        }
        found
    }

    /// Whether these are the fences of the figure.
    fn is_at(&self, paper: &[Place]) -> bool {
        let paper = paper.iter().map(|(place, kind)| (place.to_string(), kind.to_string()));
        self.figure == paper.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_has_its_program() {
        let of = |algorithm| CLIENTS.iter().filter(|c| c.algorithm == algorithm).collect();
        let mut lines = 0;
        for (program, fences) in PROGRAMS.iter().zip(&FENCES) {
            assert_eq!(program.algorithm, fences.algorithm);
            let clients: Vec<&Client> = of(program.algorithm);
            lines += clients.len();
            let problems = lowered(program.clients);
            for client in clients {
                let name = client_name(client);
                assert!(problems.iter().any(|problem| problem.name == name), "{name}");
            }
        }
        assert_eq!(lines, 27);
    }

    /// The sums of the columns of Table III, and of the seconds of Table II.
    #[test]
    fn the_figures_are_those_of_the_paper() {
        let sum = |at: usize, of: fn((u64, u64, Option<u64>)) -> u64| -> u64 {
            CLIENTS.iter().map(|client| of(client.figures[at])).sum()
        };
        let states: Vec<u64> = (0..4).map(|at| sum(at, |(states, _, _)| states)).collect();
        let edges: Vec<u64> = (0..4).map(|at| sum(at, |(_, edges, _)| edges)).collect();
        let constraints: Vec<u64> = (0..4).map(|at| sum(at, |(_, _, c)| c.unwrap_or(0))).collect();
        assert_eq!(states, [4_074_478, 953_861, 106_764, 47_225]);
        assert_eq!(edges, [11_409_131, 2_468_721, 160_266, 62_734]);
        assert_eq!(constraints, [52, 43, 4, 0]);
        let seconds: f64 = CLIENTS.iter().map(|client| client.seconds).sum();
        assert!((seconds - 958.71).abs() < 0.001, "{seconds}");
    }

    #[test]
    fn every_reason_is_about_a_line_of_the_tables() {
        for reason in notes::REASONS {
            let clients = CLIENTS.iter().filter(|c| c.algorithm == reason.algorithm);
            let known = clients.map(|c| c.client).chain([""]).any(|c| c == reason.client);
            assert!(known, "{} {}", reason.algorithm, reason.client);
            assert!(reason.models.iter().all(|model| MODELS.contains(model)));
        }
    }
}

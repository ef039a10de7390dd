//! Table 2 of \[KVY11\]: programs that miss fences, and what is found for them.
//!
//! For each program the fewest full fences, with a proof for store buffers of any length
//! ([`lazy`] with [`Auto`] as its verifier); then, for each abstraction, the paper's method: the avoid formula
//! ([`abstract_avoidance`]) and the fewest full fences that enforce it. Those are *optimal* if they are as few as the
//! former. An abstraction under which no fences are enough, because it reaches an error without any
//! reordering, calls the program *unfixable*.
//!
//! DIVERGENCE: the paper puts a fence for each ordering, next to one of its two statements; ours may stand anywhere
//! between them, and one may keep several orderings. So ours can be optimal where the paper's are not.

use super::super::{Broken, Runner, lowered, model, number, place_name};
use super::paper::{Cell, Line, MEMORY, OPTIMAL, SUB_OPTIMAL, UNFIXABLE};
use super::{column, notes, row_name, source};
use crate::reproduce::ended_by;
use fencepost_engines::{Auto, Budget, Engine, Settings, Task, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::enforce::enforce;
use fencepost_infer::fixpoint::{GaveUp, abstract_avoidance};
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{FenceKinds, Placement, Problem, Written, placement};
use fencepost_models::ModelSpec;
use fencepost_report::reproduction::{Figure, Figures, Row};
use fencepost_report::verdict_line::{shown, stopped_by};
use fencepost_search::{Limits, Stop};
use std::cmp::Ordering;

/// How many bytes the paper's method may hold.
const BYTES: u64 = 8 << 30;

/// What fences are looked for in.
struct Subject {
    model: ModelSpec,
    problems: Vec<Problem>,
    candidates: Candidates,
}

/// The rows of one program: the fewest fences, then the paper's method under each abstraction.
pub(super) fn rows(runner: &mut Runner, line: &Line) -> Result<(), Broken> {
    let model = model(line.model);
    let problems = lowered(source(line.program));
    let menu = Menu::only(&[Dish::Fence(FenceKinds::FULL)]);
    let candidates = Candidates::new(&problems, &menu, &Restrictions::default(), Written::Kept);
    let subject = Subject { model, problems, candidates };
    let fewest = fewest_row(runner, line, &subject)?;
    for cell in line.cells {
        method_row(runner, line, &subject, cell, fewest)?;
    }
    Ok(())
}

/// The fewest fences. Returns how many.
fn fewest_row(
    runner: &mut Runner,
    line: &Line,
    subject: &Subject,
) -> Result<Option<usize>, Broken> {
    let Subject { model, problems, candidates } = subject;
    let settings = runner.settings;
    let (engine, all, abstraction) = (&Auto, false, None);
    let question = Question { problems, model, candidates, engine, settings, all, abstraction };
    let (row, column) = (row_name(line), format!("{} lazy", shown(model)));
    let what = format!("{row}  {column}");
    let done = runner.work(&what, |budget| lazy::infer(question, budget))?;
    let Some((inference, seconds)) = done else { return Ok(None) };
    let (repair, met) = match inference {
        Inference::Repaired(repair) => match &repair.sufficiency {
            Sufficiency::Verified => (Some(repair), ""),
            Sufficiency::Bounded(_) => (None, notes::UNPROVED),
        },
        Inference::GaveUp(gave_up) => {
            let why = gave_up.undecided.first().map(|(_, why)| ended_by(why.reason()));
            (None, why.unwrap_or("a limit was met"))
        }
        Inference::Unrepairable(_) => (None, "no fences help"),
    };
    let fewest = repair.as_ref().map(|repair| repair.placements[0].atoms.len());
    let agrees = fewest.is_some_and(|ours| line.fences.is_none_or(|paper| paper == ours as u64));
    let ours = repair.map_or(Figures::new(), |repair| {
        let atoms = &repair.placements[0].atoms;
        let places = atoms.iter().map(|atom| place_name(&problems[0], atom)).collect();
        Figures::new()
            .with("result", Figure::Word(OPTIMAL))
            .with("fences", number(atoms.len()))
            .with("proved", Figure::Flag(true))
            .with("states", Figure::Number(repair.statistics[0].states))
            .with("seconds", Figure::Seconds(seconds))
            .with("places", Figure::List(places))
    });
    let note = match fewest {
        None => met,
        Some(_) if agrees => "",
        Some(ours) if line.fences.is_some_and(|paper| paper > ours as u64) => notes::FEWER,
        Some(_) => notes::UNKNOWN,
    };
    runner.rows.push(Row {
        group: line.algorithm.into(),
        part: "fences",
        row,
        column,
        paper: Figures::new().with("fences", line.fences.map(Figure::Number)),
        ours,
        ran: fewest.is_some(),
        agrees,
        note: note.into(),
    });
    Ok(fewest)
}

/// What the paper's method finds under one abstraction.
fn method_row(
    runner: &mut Runner,
    line: &Line,
    subject: &Subject,
    cell: &Cell,
    fewest: Option<usize>,
) -> Result<(), Broken> {
    let (row, column) = (row_name(line), column(&subject.model, cell));
    let limits = runner.settings.limits;
    let limits = Limits { bytes: limits.bytes.min(BYTES), ..limits };
    let settings = Settings { limits, ..runner.settings };
    let what = format!("{row}  {column}");
    let work = |budget: Budget<'_>| method(subject, cell, fewest, settings, budget);
    let done = runner.work(&what, work)?;
    let Some((found, seconds)) = done else { return Ok(()) };
    let out_of_memory = cell.word == Some(MEMORY);
    let agrees = found
        .as_ref()
        .is_ok_and(|found| out_of_memory || cell.word.is_none_or(|word| word == found.word));
    let note = match &found {
        Err(met) if out_of_memory => format!("{met}; the paper's tool ran out of memory"),
        Err(met) => met.clone(),
        Ok(_) if out_of_memory => "the paper's tool ran out of memory".into(),
        Ok(_) if agrees => String::new(),
        Ok(found) if found.shares() => notes::SHARED.into(),
        Ok(found) => notes::reason(line, cell, found.word).into(),
    };
    let paper = Figures::new()
        .with("result", cell.word.map(Figure::Word))
        .with("states", cell.states.map(Figure::Number));
    let ours = found.as_ref().map_or(Figures::new(), |found| {
        Figures::new()
            .with("result", Figure::Word(found.word))
            .with("fences", found.placement.as_ref().map(|p| number(p.atoms.len())))
            .with("proved", found.placement.as_ref().map(|_| Figure::Flag(true)))
            .with("constraints", found.constraints.map(number))
            .with("states", Figure::Number(found.states))
            .with("seconds", Figure::Seconds(seconds))
    });
    runner.rows.push(Row {
        group: line.algorithm.into(),
        part: "fences",
        row,
        column,
        paper,
        ours,
        ran: found.is_ok(),
        agrees,
        note,
    });
    Ok(())
}

/// What the method found.
struct Found {
    word: &'static str,
    /// The fences; none if there are none that are enough.
    placement: Option<Placement>,
    /// The fewest orderings that satisfy the formula.
    constraints: Option<usize>,
    states: u64,
}

impl Found {
    /// Whether the fences are optimal only because one of them keeps several orderings.
    fn shares(&self) -> bool {
        let fences = self.placement.as_ref().map(|placement| placement.atoms.len());
        self.word == OPTIMAL && self.constraints > fences
    }
}

/// The paper's method under one abstraction; else what it met.
fn method(
    subject: &Subject,
    cell: &Cell,
    fewest: Option<usize>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Found, String> {
    let Subject { model, problems, candidates } = subject;
    let fewest = fewest.ok_or("the fewest fences are not known")?;
    let task = Task { problem: &problems[0], model };
    let abstracted = model.abstracted(cell.domain, cell.k, true);
    let abstracted = abstracted.expect("the models of the tables have abstractions");
    let avoidance =
        abstract_avoidance(task, abstracted, settings, budget).map_err(|why| match why {
            GaveUp::Stopped(Stop::Memory) => "more than 8 GiB, or than there is".into(),
            GaveUp::Stopped(stop) => stopped_by(stop).into(),
            GaveUp::Constraints(count) => format!("{count} orderings are too many"),
        })?;
    let (states, constraints) = (avoidance.states, avoidance.fewest());
    let unfixable = Found { word: UNFIXABLE, placement: None, constraints, states };
    if avoidance.unavoidable {
        return Ok(unfixable);
    }
    let Ok(enforced) = enforce(problems, &avoidance, candidates, 1) else { return Ok(unfixable) };
    let placement = enforced.placements.into_iter().next().expect("one was asked for");
    let program = placement::fenced(&problems[0].program, &placement, candidates.written);
    let fenced = Problem { program, ..problems[0].clone() };
    let answer = Auto.run(Task { problem: &fenced, model }, settings, budget);
    match answer.verdict {
        Verdict::Verified(_) => {}
        Verdict::Violated(_) => unreachable!("a formula that is kept keeps the abstraction right"),
        Verdict::Inconclusive(_) => {
            return Err(notes::UNPROVED.into());
        }
    }
    let word = match placement.atoms.len().cmp(&fewest) {
        Ordering::Equal => OPTIMAL,
        Ordering::Greater => SUB_OPTIMAL,
        Ordering::Less => unreachable!("fewer than the fewest fences are not enough"),
    };
    Ok(Found { word, placement: Some(placement), constraints, states })
}

//! The smallest bound within which something shows: a violation of mutual exclusion, or the relaxed outcome of a
//! litmus test.
//!
//! Bounds are tried in ascending order, each searched to its end or until it shows. With at most k context switches of
//! a thread no store is pending for more of them, so that the bound on context switches is tried from the smallest bound on
//! delays on, and not at all where there is none. The explicit engine says whether it is possible at all; what is not must
//! not show.

use super::super::{Broken, Runner, lowered, model};
use crate::reproduce::ended_by;
use fencepost_engines::{
    Answer, Budget, Engine, Explicit, InconclusiveReason, Settings, Task, Translate, Verdict,
};
use fencepost_report::reproduction::{Figure, Figures, Row};
use fencepost_translate::contexts::Bound;

/// The largest bound that is tried.
pub(super) const MOST: u32 = 3;

/// A program in which something may show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) group: &'static str,
    /// Its name in the corpus.
    pub(super) name: &'static str,
    pub(super) source: &'static str,
}

macro_rules! programs {
    ($folder:literal: $($group:literal $name:literal),+ $(,)?) => {
        &[$(Program {
            group: $group,
            name: $name,
            source: include_str!(concat!("../../../../../corpus/", $folder, "/", $name, ".fp")),
        }),+]
    };
}

/// Algorithms with fewer fences than they need, at least under PSO.
#[rustfmt::skip]
pub(super) const BUGS: &[Program] = programs!["mutex":
    "Dekker" "dekker0",
    "Dekker" "dekker-data0",
    "Dekker" "dekker-data1-tso",
    "Peterson" "peterson0",
    "Peterson" "peterson1-tso",
    "Lamport's fast mutex" "fast0",
    "Lamport's fast mutex" "fast2-tso",
    "Lamport's bakery" "bakery0",
    "Lamport's bakery" "bakery2-tso",
    "Szymanski" "szymanski0",
    "Burns" "burns0",
    "Dijkstra" "dijkstra0",
    "Ticket lock" "ticket-lock",
    "CLH lock" "clh0",
    "Sense barrier" "sense0",
];

/// Litmus tests: first those that TSO allows, then those that only PSO allows, then those that neither does.
#[rustfmt::skip]
pub(super) const SHAPES: &[Program] = programs!["litmus":
    "Litmus" "SB", "Litmus" "3.SB", "Litmus" "R", "Litmus" "RWC", "Litmus" "W+RWC", "Litmus" "Z6.0", "Litmus" "n6",
    "Litmus" "MP", "Litmus" "S", "Litmus" "2+2W", "Litmus" "3.2W", "Litmus" "ISA2",
    "Litmus" "LB", "Litmus" "WRC", "Litmus" "IRIW", "Litmus" "CoRR", "Litmus" "SB+full+full", "Litmus" "MP+ss+po",
];

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sought {
    /// A violation.
    Violation,
    /// A final state that satisfies a `final exists`.
    Witness,
}

impl Sought {
    /// Whether it was found, or what ended the search.
    fn is_found(self, answer: &Answer) -> Result<bool, &'static str> {
        match (&answer.verdict, self) {
            (Verdict::Violated(violated), Sought::Violation) => {
                Ok(violated.evidence().run().is_some())
            }
            (Verdict::Violated(_), Sought::Witness) => Ok(false),
            (Verdict::Verified(_), Sought::Violation) => Ok(false),
            (Verdict::Verified(_), Sought::Witness) => Ok(true),
            (Verdict::Inconclusive(inconclusive), _) => match inconclusive.reason() {
                InconclusiveReason::Bound { witness_missing, .. } => {
                    Ok(matches!(self, Sought::Witness) && !witness_missing)
                }
                reason => Err(ended_by(reason)),
            },
        }
    }
}

/// What was found out about a program.
struct Found {
    /// Whether it is possible under the model.
    possible: bool,
    /// The smallest bound on context switches.
    contexts: Option<u32>,
    /// The smallest bound on how long stores are pending.
    delay: Option<u32>,
}

/// Tries the bounds.
fn look(
    task: Task<'_>,
    sought: Sought,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Found, &'static str> {
    let smallest = |bound: fn(u32) -> Bound, from| -> Result<Option<u32>, &'static str> {
        for k in from..=MOST {
            let engine = Translate { bound: bound(k) };
            if sought.is_found(&engine.run(task, settings, budget))? {
                return Ok(Some(k));
            }
        }
        Ok(None)
    };
    let possible = sought.is_found(&Explicit.run(task, settings, budget))?;
    let delay = smallest(Bound::Ages, 0)?;
    let contexts = delay.map_or(Ok(None), |k| smallest(Bound::Switches, k))?;
    Ok(Found { possible, contexts, delay })
}

/// The rows of a program, one for each model.
pub(super) fn rows(runner: &mut Runner, program: &Program, sought: Sought) -> Result<(), Broken> {
    for name in ["tso", "pso"] {
        row(runner, program, sought, name)?;
    }
    Ok(())
}

fn row(runner: &mut Runner, program: &Program, sought: Sought, name: &str) -> Result<(), Broken> {
    let row = format!("{} {}", program.group, program.name);
    let problem = lowered(program.source).swap_remove(0);
    let task = Task { problem: &problem, model: &model(name) };
    let settings = runner.settings;
    let column = name.to_uppercase();
    let what = format!("{row}  {column}");
    let done = runner.work(&what, |budget| look(task, sought, settings, budget))?;
    let Some((found, seconds)) = done else { return Ok(()) };
    let k = |smallest: Option<u32>| {
        smallest.map_or(Figure::Word("none"), |k| Figure::Number(u64::from(k)))
    };
    let mut ours = Figures::new();
    let (mut agrees, mut note) = (false, "");
    match &found {
        Ok(found) => {
            ours = ours
                .with("possible", Figure::Flag(found.possible))
                .with("contexts", k(found.contexts))
                .with("delay", k(found.delay))
                .with("seconds", Figure::Seconds(seconds));
            let shows = found.contexts.is_some() || found.delay.is_some();
            agrees = found.possible || !shows;
            if !agrees {
                note = "it is not possible under the model, and must not show";
            }
        }
        Err(met) => note = met,
    }
    runner.rows.push(Row {
        group: program.group.into(),
        part: "smallest k",
        row,
        column,
        paper: Figures::new(),
        ours,
        ran: found.is_ok(),
        agrees,
        note: note.into(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_search::{Cancel, Progress};

    fn found(programs: &[Program], name: &str, sought: Sought, by: &str) -> Found {
        let program = programs.iter().find(|program| program.name == name).expect("it is listed");
        let problem = lowered(program.source).swap_remove(0);
        let task = Task { problem: &problem, model: &model(by) };
        let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
        look(task, sought, Settings::default(), budget).expect("it is small")
    }

    /// A final state has no pending store, so that a relaxed outcome takes a second context; a violation may leave stores
    /// pending for good.
    #[test]
    fn bounds_are_as_small_as_they_can_be() {
        for (name, tso, pso) in
            [("SB", Some(1), Some(1)), ("MP", None, Some(1)), ("LB", None, None)]
        {
            for (by, k) in [("tso", tso), ("pso", pso)] {
                let found = found(SHAPES, name, Sought::Witness, by);
                assert_eq!(found.possible, k.is_some(), "{name} {by}");
                assert_eq!((found.contexts, found.delay), (k, k), "{name} {by}");
            }
        }
        let dekker = found(BUGS, "dekker0", Sought::Violation, "tso");
        assert_eq!((dekker.possible, dekker.contexts, dekker.delay), (true, Some(0), Some(0)));
        // The thread that waits at the barrier must run again when the other has passed.
        let sense = found(BUGS, "sense0", Sought::Violation, "pso");
        assert_eq!((sense.possible, sense.contexts, sense.delay), (true, Some(1), Some(0)));
        let ticket = found(BUGS, "ticket-lock", Sought::Violation, "tso");
        assert_eq!((ticket.possible, ticket.contexts, ticket.delay), (false, None, None));
    }

    /// That nothing shows with a bound on delays is taken to mean that nothing does with one on context switches.
    #[test]
    fn fewer_context_switches_show_no_more() {
        let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
        for name in ["MP", "LB", "SB+full+full", "CoRR"] {
            let program = SHAPES.iter().find(|shape| shape.name == name).expect("it is listed");
            let problem = lowered(program.source).swap_remove(0);
            let task = Task { problem: &problem, model: &model("tso") };
            let engine = Translate { bound: Bound::Switches(MOST) };
            let answer = engine.run(task, Settings::default(), budget);
            assert_eq!(Sought::Witness.is_found(&answer), Ok(false), "{name}");
        }
    }
}

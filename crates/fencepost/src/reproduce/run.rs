//! Computes the figures of a row: one function for each command of the data.
//!
//! Only this file and [`fences`] call engines and inference. Each function returns all figures that its
//! command finds out ([`Command`] says which), or the limit that it met.

mod fences;

use super::paper::{
    CheckBy, Command, ControlPoint, Entry, Extent, Interleavings, SearchOrder, Sought,
};
use fencepost_engines::automata::{Looked, Order, Until};
use fencepost_engines::concretise::{self, Suspect};
use fencepost_engines::stateless::{Census, Schedules, census};
use fencepost_engines::verdict;
use fencepost_engines::{
    Abstraction, Answer, Automata, Budget, Engine, Explicit, InconclusiveReason, Robust, RobustBy,
    Settings, Task, Translate, Verdict,
};
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::fixpoint::{Avoidance, conjoin};
use fencepost_ir::{Diagnostics, Loc, Problem, Program, ThreadId, Value};
use fencepost_models::ModelSpec;
use fencepost_models::replay::{Moment, Pending};
use fencepost_monitor::Model;
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_report::verdict_line::{ended_by, stopped_by};
use fencepost_report::wording;
use fencepost_search::{Coverage, Limits, Stop};
use fencepost_translate::contexts::Bound;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Instant;

/// A limit that ended a row, as a sentence.
#[derive(Debug)]
pub(super) struct Limit(pub(super) String);

impl From<&str> for Limit {
    fn from(text: &str) -> Self {
        Limit(text.into())
    }
}

impl From<&InconclusiveReason> for Limit {
    fn from(reason: &InconclusiveReason) -> Self {
        Limit(ended_by(reason).into_owned())
    }
}

impl From<Stop> for Limit {
    fn from(stop: Stop) -> Self {
        stopped_by(stop).into()
    }
}

/// Overhead is told where a row takes this many seconds at least.
const MEASURABLE: f64 = 0.02;
/// How often times are taken.
const REPEATS: usize = 5;

/// Computes rows one after the other. Some rows need what earlier ones found.
#[derive(Debug)]
pub(super) struct Runner {
    settings: Settings,
    /// By group and model: the formulas of all clients; none where one met a limit.
    formulas: BTreeMap<(String, String), Option<Vec<Avoidance>>>,
    /// By program and model: how many fences are enough.
    fewest: BTreeMap<(String, String), usize>,
}

impl Runner {
    pub(super) fn new(settings: Settings) -> Self {
        Runner { settings, formulas: BTreeMap::new(), fewest: BTreeMap::new() }
    }

    /// The figures of a row.
    pub(super) fn run(&mut self, entry: &Entry<'_>, budget: Budget<'_>) -> Result<Figures, Limit> {
        let source = entry.source();
        let subject = Subject {
            entry,
            source: &source,
            problems: lowered(&source),
            model: entry.model(),
            settings: self.settings,
            budget,
        };
        match entry.part.command {
            Command::Check(CheckBy::Abstraction) => subject.check_abstraction(),
            Command::Check(CheckBy::Automata(extent)) => subject.check_automata(extent),
            Command::Check(CheckBy::Translate { contexts }) => {
                let engine = Translate { bound: Bound::Switches(contexts) };
                subject.answered(&engine.run(subject.task(), self.settings, budget))
            }
            Command::Formula => {
                let found = subject.formula();
                let key = (entry.row.group.clone(), subject.model.name.to_string());
                let formulas = self.formulas.entry(key).or_insert_with(|| Some(Vec::new()));
                let figures = found.as_ref().map(|found| subject.formula_figures(found));
                let figures = figures.map_err(|Limit(met)| Limit(met.clone()));
                match (found, formulas.as_mut()) {
                    (Ok(found), Some(all)) => all.push(found),
                    (Ok(_), None) => {}
                    (Err(_), _) => *formulas = None,
                }
                figures
            }
            Command::Infer { engine, fences } => {
                let key = (entry.row.group.clone(), subject.model.name.to_string());
                let formulas = self.formulas.get(&key);
                let constraints =
                    formulas.map(|all| all.as_ref().and_then(|all| conjoin(all).fewest()));
                let figures = subject.infer(engine, fences, constraints)?;
                if let Some(Figure::Number(fewest)) = figures.get("fences") {
                    self.fewest.insert(subject.key(), *fewest as usize);
                }
                Ok(figures)
            }
            Command::Enforce { gibibytes } => {
                let fewest = self.fewest.get(&subject.key());
                let fewest = fewest.ok_or("the fewest fences are not known")?;
                subject.enforce(gibibytes, *fewest)
            }
            Command::SleepSets { order, states } => subject.sleep_sets(order, states),
            Command::Contents => subject.contents(),
            Command::Interleavings(which) => subject.interleavings(which),
            Command::SmallestBound { of, most } => subject.smallest_bound(of, most),
        }
    }
}

/// What a row is about.
struct Subject<'a> {
    entry: &'a Entry<'a>,
    source: &'a str,
    /// All clients.
    problems: Vec<Problem>,
    model: ModelSpec,
    settings: Settings,
    budget: Budget<'a>,
}

/// The problems of a program of the corpus, with places.
pub(super) fn lowered(source: &str) -> Vec<Problem> {
    let frontend = by_extension("fp").expect("our own language");
    let request = Request { places: true, ..Request::default() };
    let problems = frontend.lower_for(source, &request, &mut Diagnostics::new());
    problems.expect("the programs of the corpus are right")
}

fn number(count: usize) -> Figure {
    Figure::Number(count as u64)
}

impl Subject<'_> {
    /// The client of the row, else the first.
    fn problem(&self) -> &Problem {
        match &self.entry.row.client {
            Some(name) => {
                let client = self.problems.iter().find(|problem| problem.name == *name);
                client.expect("the files of the papers name clients of their programs")
            }
            None => &self.problems[0],
        }
    }

    fn task(&self) -> Task<'_> {
        Task { problem: self.problem(), model: &self.model }
    }

    fn key(&self) -> (String, String) {
        (self.entry.row.program.clone(), self.model.name.to_string())
    }

    /// Settings with a smaller number of states.
    fn at_most(&self, states: u64) -> Settings {
        let limits = self.settings.limits;
        let limits = Limits { states: states.min(limits.states), ..limits };
        Settings { limits, ..self.settings }
    }

    /// The verdict, in the words of the paper, and the number of states.
    fn answered(&self, answer: &Answer) -> Result<Figures, Limit> {
        let verdict = match &answer.verdict {
            Verdict::Verified(_) => "verified",
            Verdict::Violated(_) => "violated",
            Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
                InconclusiveReason::Bound {
                    bound: verdict::Bound::Contexts(_),
                    witness_missing: false,
                } => "verified",
                InconclusiveReason::Spurious => "spurious",
                reason => return Err(reason.into()),
            },
        };
        let word = self.entry.part.word(verdict);
        Ok(Figures::new()
            .with("result", Figure::Word(word.into()))
            .with("states", Figure::Number(answer.statistics.states)))
    }

    fn check_abstraction(&self) -> Result<Figures, Limit> {
        let (domain, k) = self.entry.abstraction();
        let answer = Abstraction { domain, k }.run(self.task(), self.settings, self.budget);
        let because = answer.suspect.as_ref().map(|s| vec![departure(&self.problem().program, s)]);
        Ok(self.answered(&answer)?.with("because", because.map(Figure::List)))
    }

    fn check_automata(&self, extent: Extent) -> Result<Figures, Limit> {
        let until = match extent {
            Extent::End => Until::End,
            Extent::Errors => Until::Errors,
        };
        let looked = finished(self.explore(in_order(Order::Statements), until, u64::MAX))?;
        let rounds = self.entry.part.shows("rounds").then(|| self.rounds(&looked.answer));
        let is_violated = matches!(looked.answer.verdict, Verdict::Violated(_));
        Ok(self
            .answered(&looked.answer)?
            .with("possible", Figure::Flag(!is_violated))
            .with("visited", Figure::Number(looked.visited))
            .with("depth", Figure::Number(looked.answer.statistics.depth.into()))
            .with("errors", Figure::Number(looked.errors))
            .with("rounds", rounds.map(number)))
    }

    /// A search with buffer automata; SC has no buffers, so the explicit engine answers.
    fn explore(&self, engine: Automata, until: Until, states: u64) -> Looked {
        let settings = self.at_most(states);
        let looked = engine.look(self.task(), settings, self.budget, until);
        looked.unwrap_or_else(|| {
            let answer = Explicit.outcomes(self.task(), settings, self.budget);
            let visited = answer.statistics.states;
            Looked { answer, visited, errors: 0, reached: Vec::new(), widest: Vec::new() }
        })
    }

    /// How many rounds all buffers hold at once in the run of a witness.
    fn rounds(&self, answer: &Answer) -> usize {
        let witness = match &answer.verdict {
            Verdict::Verified(verified) => verified.witness(),
            Verdict::Violated(_) | Verdict::Inconclusive(_) => None,
        };
        let moments = witness.iter().flat_map(|witness| &witness.run().moments);
        moments.map(rounds_held).max().unwrap_or(0)
    }

    fn sleep_sets(&self, order: SearchOrder, states: u64) -> Result<Figures, Limit> {
        let order = match order {
            SearchOrder::Statements => Order::Statements,
            SearchOrder::Commits => Order::Commits,
        };
        let with = finished(self.explore(in_order(order), Until::End, u64::MAX))?;
        let engine = Automata { sleep: false, ..in_order(order) };
        let without = self.explore(engine, Until::End, states);
        let stored = |looked: &Looked| looked.answer.statistics.states;
        let (ours, theirs, visited) = (stored(&with), stored(&without), without.visited);
        let end = finished(without);
        let ends = end.is_ok();
        // That it does not end is an answer, unless the user allows no more states.
        if theirs < states {
            end?;
        }
        Ok(Figures::new()
            .with("fewer", Figure::Flag(ours < theirs))
            .with("stored", Figure::Number(ours))
            .with("visited", Figure::Number(with.visited))
            .with("stored without", Figure::Number(theirs))
            .with("visited without", Figure::Number(visited))
            .with("ends without", Figure::Flag(ends)))
    }

    fn contents(&self) -> Result<Figures, Limit> {
        let looked = finished(self.explore(in_order(Order::Statements), Until::Noted, u64::MAX))?;
        let Some(ControlPoint { thread, before }) = &self.entry.row.at else {
            let endless = looked.widest.iter().filter(|contents| !contents.is_finite);
            let endless: Vec<String> = endless.map(|found| found.expression.clone()).collect();
            return Ok(Figures::new()
                .with("buffers", number(endless.len()))
                .with("contents", Figure::List(endless)));
        };
        let program = &self.problem().program;
        let line = self.source.lines().position(|text| text.trim().starts_with(before.as_str()));
        let line = line.expect("the program has the statement") as u32 + 1;
        let here = looked.reached.iter().filter(|point| {
            let label = program.thread(point.thread).stmt(point.pc).label;
            program.thread(point.thread).name == *thread && program.label(label).span.line == line
        });
        let (finite, contents): (Vec<bool>, Vec<String>) =
            here.map(|point| (point.is_finite, point.contents.clone())).unzip();
        Ok(Figures::new()
            .with("bounded", Figure::Flag(finite.into_iter().all(|finite| finite)))
            .with("contents", Figure::List(contents)))
    }

    fn interleavings(&self, which: Interleavings) -> Result<Figures, Limit> {
        let (schedules, by) = match which {
            Interleavings::Preemptions => {
                let most = self.entry.row.preemptions.unwrap_or(u32::MAX);
                (Schedules::Preemptions(most), RobustBy::Preemptions(most))
            }
            Interleavings::Traces => (Schedules::Traces, RobustBy::Stateless),
        };
        let settings = Settings { threads: NonZeroUsize::MIN, ..self.settings };
        let fixed = lowered(self.entry.fixed_source()).swap_remove(0);
        let count = |problem: &Problem, watch| {
            let started = Instant::now();
            let census = census(problem, schedules, watch, settings, self.budget);
            (census, started.elapsed().as_secs_f64())
        };
        let started = Instant::now();
        let answer = Robust { by }.run(self.task(), settings, self.budget);
        let is_violated = matches!(answer.verdict, Verdict::Violated(_));
        let first = is_violated.then(|| started.elapsed().as_secs_f64());
        let (original, _) = count(self.problem(), Some(Model::Tso));
        let (clean, mut with) = count(&fixed, Some(Model::Tso));
        let (_, mut without) = count(&fixed, None);
        for _ in 1..REPEATS {
            with = with.min(count(&fixed, Some(Model::Tso)).1);
            without = without.min(count(&fixed, None).1);
        }
        whole(&original)?;
        whole(&clean)?;
        let overhead = (with / without - 1.0) * 100.0;
        let overhead = (without >= MEASURABLE).then(|| overhead.round().max(0.0) as u64);
        let robust = match which {
            Interleavings::Preemptions => None,
            Interleavings::Traces => {
                let task = Task { problem: &fixed, model: &self.model };
                let attack = Robust { by: RobustBy::Attack };
                let answer = attack.run(task, self.settings, self.budget);
                Some(Figure::Flag(matches!(answer.verdict, Verdict::Verified(_))))
            }
        };
        Ok(Figures::new()
            .with("total", Figure::Number(original.complete + original.stuck))
            .with("borderline", Figure::Number(original.borderline))
            .with("first", first.map(Figure::Seconds))
            .with("fixed: borderline", Figure::Number(clean.borderline))
            .with("with", Figure::Seconds(with))
            .with("without", Figure::Seconds(without))
            .with("overhead", overhead.map(Figure::Number))
            .with("robust", robust))
    }

    /// Bounds are tried in ascending order, each searched to its end or until it shows. With at most k context switches of a
    /// thread no store is pending for more of them. So the bound on context switches is tried from the smallest bound on
    /// delays on, and not at all where there is none. The explicit engine says whether it is possible without bounds.
    fn smallest_bound(&self, sought: Sought, most: u32) -> Result<Figures, Limit> {
        let shows = |engine: &dyn Engine| {
            is_found(&engine.run(self.task(), self.settings, self.budget), sought)
        };
        let smallest = |bound: fn(u32) -> Bound, from| -> Result<Option<u32>, Limit> {
            for k in from..=most {
                if shows(&Translate { bound: bound(k) })? {
                    return Ok(Some(k));
                }
            }
            Ok(None)
        };
        let possible = shows(&Explicit)?;
        let delay = smallest(Bound::Ages, 0)?;
        let contexts = delay.map_or(Ok(None), |k| smallest(Bound::Switches, k))?;
        let figure = |smallest: Option<u32>| {
            smallest.map_or(Figure::Word("none".into()), |k| Figure::Number(k.into()))
        };
        Ok(Figures::new()
            .with("possible", Figure::Flag(possible))
            .with("contexts", figure(contexts))
            .with("delay", figure(delay)))
    }
}

/// The engine with this order.
fn in_order(order: Order) -> Automata {
    Automata { order: Some(order), ..Automata::default() }
}

/// A search that came to its end.
fn finished(looked: Looked) -> Result<Looked, Limit> {
    match &looked.answer.verdict {
        Verdict::Inconclusive(inconclusive) => Err(inconclusive.reason().into()),
        Verdict::Verified(_) | Verdict::Violated(_) if looked.answer.outcomes_complete => {
            Ok(looked)
        }
        Verdict::Verified(_) | Verdict::Violated(_) => {
            Err("a limit was reached before the end".into())
        }
    }
}

/// How many whole rounds of Fig. 4 of \[LW10\] both buffers hold: each thread stores 1, then 0, to a location of its own.
fn rounds_held(moment: &Moment) -> usize {
    let of = |thread: ThreadId| {
        let pending = &moment.pending[thread.index()];
        let is = |store: &Pending, value: Value| {
            store.loc == Some(Loc(thread.0.into())) && store.value == Some(value)
        };
        let rounds = pending.rchunks_exact(2);
        rounds.take_while(|round| is(&round[0], 1) && is(&round[1], 0)).count()
    };
    of(ThreadId(0)).min(of(ThreadId(1)))
}

/// The step of a run that no store buffer takes.
fn departure(program: &Program, suspect: &Suspect) -> String {
    let thread = &program.thread(suspect.departure.thread).name;
    let cell = |loc, value| wording::cell(program, loc, " = ", value);
    match suspect.departure.why {
        concretise::Broken::Again(loc, value) => {
            format!("{thread} commits {} a second time", cell(loc, value))
        }
        concretise::Broken::Order(loc, value) => {
            format!("{thread} commits {} before an older store", cell(loc, value))
        }
        concretise::Broken::Waits => format!("{thread} does not wait for its pending stores"),
        concretise::Broken::Fine => "no step; nothing is wrong at the end".into(),
    }
}

/// Whether all interleavings within the bound were counted.
fn whole(census: &Census) -> Result<(), Limit> {
    match census.coverage {
        Coverage::Exhaustive | Coverage::Bounded => Ok(()),
        Coverage::Cut(stop) => Err(stop.into()),
        Coverage::Found => unreachable!("a census does not end at a violation"),
    }
}

/// Whether something shows.
pub(super) fn is_found(answer: &Answer, sought: Sought) -> Result<bool, Limit> {
    match (&answer.verdict, sought) {
        (Verdict::Violated(violated), Sought::Violation) => Ok(violated.evidence().run().is_some()),
        (Verdict::Violated(_), Sought::Witness) => Ok(false),
        (Verdict::Verified(_), Sought::Violation) => Ok(false),
        (Verdict::Verified(_), Sought::Witness) => Ok(true),
        (Verdict::Inconclusive(inconclusive), _) => match inconclusive.reason() {
            InconclusiveReason::Bound { witness_missing, .. } => {
                Ok(matches!(sought, Sought::Witness) && !witness_missing)
            }
            reason => Err(reason.into()),
        },
    }
}

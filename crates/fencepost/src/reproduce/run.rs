//! Computes the figures of a row, with one function for each [`Command`].
//!
//! Only this file and [`fences`] call engines and inference. Each function returns all figures of
//! its command, or the limit that stopped it.

mod fences;

use super::paper::{
    CheckEngine, Command, ControlPoint, Entry, Extent, Interleavings, SearchOrder, Target,
};
use fencepost_engines::automata::{AutomataAnswer, Order, SearchExtent};
use fencepost_engines::concretise::{self, SpuriousRun};
use fencepost_engines::stateless::{ExecutionCounts, Schedules, count_executions};
use fencepost_engines::verdict;
use fencepost_engines::{
    Abstraction, Answer, Automata, Budget, Engine, Explicit, InconclusiveReason, Robust,
    RobustMethod, Settings, Task, Translate, Verdict,
};
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::fixpoint::{Avoidance, conjoin};
use fencepost_ir::{Diagnostics, Loc, Problem, Program, Property, ThreadId, Value};
use fencepost_models::ModelSpec;
use fencepost_models::replay::{PendingAccess, ReplayedStep};
use fencepost_monitor::Model;
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_report::verdict_line::{limit_text, reason_text};
use fencepost_report::wording;
use fencepost_search::{Coverage, Limits, Stop};
use fencepost_translate::contexts::Bound;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Instant;

/// A limit that stopped a row, as text.
#[derive(Debug)]
pub(super) struct Limit(pub(super) String);

impl From<&str> for Limit {
    fn from(text: &str) -> Self {
        Limit(text.into())
    }
}

impl From<&InconclusiveReason> for Limit {
    fn from(reason: &InconclusiveReason) -> Self {
        Limit(reason_text(reason).into_owned())
    }
}

impl From<Stop> for Limit {
    fn from(stop: Stop) -> Self {
        limit_text(stop).into()
    }
}

/// The shortest time, in seconds, for which an overhead is reported.
const MIN_MEASURED_SECONDS: f64 = 0.02;
/// The number of time measurements.
const REPEATS: usize = 5;

/// Computes rows one after the other. Some rows use results of earlier rows.
#[derive(Debug)]
pub(super) struct Runner {
    settings: Settings,
    /// The formulas of all clients by group and model. `None` if a limit stopped one of them.
    formulas: BTreeMap<(String, String), Option<Vec<Avoidance>>>,
    /// The smallest sufficient number of fences by program and model.
    fewest: BTreeMap<(String, String), usize>,
}

impl Runner {
    pub(super) fn new(settings: Settings) -> Self {
        Runner { settings, formulas: BTreeMap::new(), fewest: BTreeMap::new() }
    }

    /// Computes the figures of a row.
    pub(super) fn run(&mut self, entry: &Entry<'_>, budget: Budget<'_>) -> Result<Figures, Limit> {
        let source = entry.source();
        let subject = Subject {
            entry,
            source: &source,
            problems: lower(&source),
            model: entry.model(),
            settings: self.settings,
            budget,
        };
        match entry.part.command {
            Command::Check(CheckEngine::Abstraction) => subject.check_abstraction(),
            Command::Check(CheckEngine::Automata(extent)) => subject.check_automata(extent),
            Command::Check(CheckEngine::Translate { contexts }) => {
                let engine = Translate { bound: Bound::Switches(contexts) };
                subject.verdict_figures(&engine.run(subject.task(), self.settings, budget))
            }
            Command::Formula => {
                let found = subject.formula();
                let key = (entry.row.group.clone(), subject.model.name.to_string());
                let formulas = self.formulas.entry(key).or_insert_with(|| Some(Vec::new()));
                let figures = match &found {
                    Ok(found) => subject.formula_figures(found),
                    Err(Limit(limit)) => Err(Limit(limit.clone())),
                };
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
                let fewest = |all: &Vec<Avoidance>| conjoin(all).fewest(subject.budget.cancel);
                let constraints = formulas.map(|all| all.as_ref().map(fewest).transpose());
                let constraints = constraints.transpose()?.map(Option::flatten);
                let figures = subject.infer(engine, fences, constraints)?;
                if let Some(Figure::Number(fewest)) = figures.get("fences") {
                    self.fewest.insert(subject.key(), *fewest as usize);
                }
                Ok(figures)
            }
            Command::Enforce { gibibytes } => {
                let fewest = self.fewest.get(&subject.key());
                let fewest = fewest.ok_or("the smallest number of fences is unknown")?;
                subject.enforce(gibibytes, *fewest)
            }
            Command::SleepSets { order, states } => subject.sleep_sets(order, states),
            Command::Contents => subject.contents(),
            Command::Interleavings(which) => subject.interleavings(which),
            Command::SmallestBound { target, max } => subject.smallest_bound(target, max),
        }
    }
}

/// The program, the model and the settings of a row.
struct Subject<'a> {
    entry: &'a Entry<'a>,
    source: &'a str,
    /// The programs of all clients.
    problems: Vec<Problem>,
    model: ModelSpec,
    settings: Settings,
    budget: Budget<'a>,
}

/// Lowers a program of the corpus, with places for fences. Hangs are allowed unless the program
/// requires `deadlock_free`: the papers do not check for them.
pub(super) fn lower(source: &str) -> Vec<Problem> {
    let frontend = by_extension("fp").expect("`.fp` is a known language");
    let request = Request { places: true, ..Request::default() };
    let problems = frontend.lower_for(source, &request, &mut Diagnostics::new());
    let mut problems = problems.expect("the programs of the corpus have no errors");
    for problem in &mut problems {
        problem.may_hang = !problem.properties.contains(&Property::DeadlockFree);
    }
    problems
}

fn number(count: usize) -> Figure {
    Figure::Number(count as u64)
}

impl Subject<'_> {
    /// Returns the program of the row's client, or of the first client.
    fn problem(&self) -> &Problem {
        match &self.entry.row.client {
            Some(name) => {
                let client = self.problems.iter().find(|problem| problem.name == *name);
                client.expect("the client of a row exists")
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

    /// Returns the settings with this limit on states, if it is lower.
    fn with_max_states(&self, states: u64) -> Settings {
        let limits = self.settings.limits;
        let limits = Limits { states: states.min(limits.states), ..limits };
        Settings { limits, ..self.settings }
    }

    /// Returns the verdict in the words of the paper, and the number of states.
    fn verdict_figures(&self, answer: &Answer) -> Result<Figures, Limit> {
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
        let program = &self.problem().program;
        let because =
            answer.spurious_run.as_ref().map(|s| vec![describe_infeasible_step(program, s)]);
        Ok(self.verdict_figures(&answer)?.with("because", because.map(Figure::List)))
    }

    fn check_automata(&self, extent: Extent) -> Result<Figures, Limit> {
        let until = match extent {
            Extent::End => SearchExtent::All,
            Extent::Errors => SearchExtent::AllPrunedAtErrors,
        };
        let search = require_complete(self.explore(in_order(Order::Statements), until, u64::MAX))?;
        let rounds = self.entry.part.shows("rounds").then(|| self.rounds(&search.answer));
        let is_violated = matches!(search.answer.verdict, Verdict::Violated(_));
        Ok(self
            .verdict_figures(&search.answer)?
            .with("possible", Figure::Flag(!is_violated))
            .with("visited", Figure::Number(search.visited))
            .with("depth", Figure::Number(search.answer.statistics.depth.into()))
            .with("errors", Figure::Number(search.errors))
            .with("rounds", rounds.map(number)))
    }

    /// Searches with buffer automata. Under SC, which has no buffers, searches with the explicit
    /// engine.
    fn explore(&self, engine: Automata, until: SearchExtent, states: u64) -> AutomataAnswer {
        let settings = self.with_max_states(states);
        let search = engine.search(self.task(), settings, self.budget, until);
        search.unwrap_or_else(|| {
            let answer = Explicit.outcomes(self.task(), settings, self.budget);
            let visited = answer.statistics.states;
            AutomataAnswer { answer, visited, errors: 0, reached: Vec::new(), widest: Vec::new() }
        })
    }

    /// Returns the largest number of rounds that all buffers contain at once in the run of a
    /// witness.
    fn rounds(&self, answer: &Answer) -> usize {
        let witness = match &answer.verdict {
            Verdict::Verified(verified) => verified.witness(),
            Verdict::Violated(_) | Verdict::Inconclusive(_) => None,
        };
        let steps = witness.iter().flat_map(|witness| &witness.run().steps);
        steps.map(rounds_held).max().unwrap_or(0)
    }

    fn sleep_sets(&self, order: SearchOrder, states: u64) -> Result<Figures, Limit> {
        let order = match order {
            SearchOrder::Statements => Order::Statements,
            SearchOrder::Commits => Order::Commits,
        };
        let with = require_complete(self.explore(in_order(order), SearchExtent::All, u64::MAX))?;
        let engine = Automata { sleep: false, ..in_order(order) };
        let without = self.explore(engine, SearchExtent::All, states);
        let stored = |search: &AutomataAnswer| search.answer.statistics.states;
        let (stored_with, stored_without) = (stored(&with), stored(&without));
        let visited_without = without.visited;
        let complete = require_complete(without);
        let ends = complete.is_ok();
        // Reaching the state limit of the row is a result. Another limit stops the row.
        if stored_without < states {
            complete?;
        }
        Ok(Figures::new()
            .with("fewer", Figure::Flag(stored_with < stored_without))
            .with("stored", Figure::Number(stored_with))
            .with("visited", Figure::Number(with.visited))
            .with("stored without", Figure::Number(stored_without))
            .with("visited without", Figure::Number(visited_without))
            .with("ends without", Figure::Flag(ends)))
    }

    fn contents(&self) -> Result<Figures, Limit> {
        let search =
            self.explore(in_order(Order::Statements), SearchExtent::AllWithContents, u64::MAX);
        let search = require_complete(search)?;
        let Some(ControlPoint { thread, before }) = &self.entry.row.at else {
            let infinite = search.widest.iter().filter(|contents| !contents.is_finite);
            let infinite: Vec<String> = infinite.map(|found| found.expression.clone()).collect();
            return Ok(Figures::new()
                .with("buffers", number(infinite.len()))
                .with("contents", Figure::List(infinite)));
        };
        let program = &self.problem().program;
        let line = self.source.lines().position(|text| text.trim().starts_with(before.as_str()));
        let line = line.expect("the program has the statement") as u32 + 1;
        let here = search.reached.iter().filter(|point| {
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
        let (schedules, method) = match which {
            Interleavings::Preemptions => {
                let max = self.entry.row.preemptions.unwrap_or(u32::MAX);
                (Schedules::Preemptions(max), RobustMethod::Preemptions(max))
            }
            Interleavings::Traces => (Schedules::Traces, RobustMethod::Stateless),
        };
        let settings = Settings { threads: NonZeroUsize::MIN, ..self.settings };
        let fixed = lower(self.entry.fixed_source()).swap_remove(0);
        let count = |problem: &Problem, monitored_model| {
            let started = Instant::now();
            let counts =
                count_executions(problem, schedules, monitored_model, settings, self.budget);
            (counts, started.elapsed().as_secs_f64())
        };
        let started = Instant::now();
        let answer = Robust::by(method).run(self.task(), settings, self.budget);
        let is_violated = matches!(answer.verdict, Verdict::Violated(_));
        let first = is_violated.then(|| started.elapsed().as_secs_f64());
        let (original, _) = count(self.problem(), Some(Model::Tso));
        let (repaired, mut with) = count(&fixed, Some(Model::Tso));
        let (_, mut without) = count(&fixed, None);
        for _ in 1..REPEATS {
            with = with.min(count(&fixed, Some(Model::Tso)).1);
            without = without.min(count(&fixed, None).1);
        }
        require_all_counted(&original)?;
        require_all_counted(&repaired)?;
        let overhead = (with / without - 1.0) * 100.0;
        let overhead = (without >= MIN_MEASURED_SECONDS).then(|| overhead.round().max(0.0) as u64);
        let robust = match which {
            Interleavings::Preemptions => None,
            Interleavings::Traces => {
                let task = Task { problem: &fixed, model: &self.model };
                let attack = Robust::by(RobustMethod::Attack);
                let answer = attack.run(task, self.settings, self.budget);
                Some(Figure::Flag(matches!(answer.verdict, Verdict::Verified(_))))
            }
        };
        let total = original.complete + original.stuck;
        let percent = match self.entry.column.paper.get("total") {
            Some(Figure::Number(theirs)) => {
                Some(Figure::Number((total as f64 / *theirs as f64 * 100.0).round() as u64))
            }
            _ => None,
        };
        Ok(Figures::new()
            .with("total", Figure::Number(total))
            .with("percent", percent)
            .with("borderline", Figure::Number(original.borderline))
            .with("first", first.map(Figure::Seconds))
            .with("fixed: borderline", Figure::Number(repaired.borderline))
            .with("with", Figure::Seconds(with))
            .with("without", Figure::Seconds(without))
            .with("overhead", overhead.map(Figure::Number))
            .with("robust", robust))
    }

    /// Finds the smallest bounds within which the target is reachable.
    ///
    /// Bounds are tried in ascending order. With at most k context switches of a thread, no store
    /// is pending for more than k of them. So the bound on context switches is tried from the
    /// smallest bound on delays upwards, and not at all if there is no such bound. The explicit
    /// engine decides whether the target is reachable without bounds.
    fn smallest_bound(&self, target: Target, max: u32) -> Result<Figures, Limit> {
        let reaches_target = |engine: &dyn Engine| {
            is_reached(&engine.run(self.task(), self.settings, self.budget), target)
        };
        let smallest = |bound: fn(u32) -> Bound, from| -> Result<Option<u32>, Limit> {
            for k in from..=max {
                if reaches_target(&Translate { bound: bound(k) })? {
                    return Ok(Some(k));
                }
            }
            Ok(None)
        };
        let possible = reaches_target(&Explicit)?;
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

/// Returns the engine with this search order.
fn in_order(order: Order) -> Automata {
    Automata { order: Some(order), silent: false, ..Automata::default() }
}

/// Returns a search that explored all states, or the limit that stopped it.
fn require_complete(search: AutomataAnswer) -> Result<AutomataAnswer, Limit> {
    match &search.answer.verdict {
        Verdict::Inconclusive(inconclusive) => Err(inconclusive.reason().into()),
        Verdict::Verified(_) | Verdict::Violated(_) if search.answer.outcomes_complete => {
            Ok(search)
        }
        Verdict::Verified(_) | Verdict::Violated(_) => {
            Err("a limit stopped the search before its end".into())
        }
    }
}

/// Returns the number of complete rounds of Fig. 4 of \[LW10\] that both buffers contain. In a
/// round, each thread stores 1 and then 0 to its own location.
fn rounds_held(step: &ReplayedStep) -> usize {
    let rounds_of = |thread: ThreadId| {
        let pending = &step.pending[thread.index()];
        let stores = |store: &PendingAccess, value: Value| {
            store.loc == Some(Loc(thread.0.into())) && store.value == Some(value)
        };
        let rounds = pending.rchunks_exact(2);
        rounds.take_while(|round| stores(&round[0], 1) && stores(&round[1], 0)).count()
    };
    rounds_of(ThreadId(0)).min(rounds_of(ThreadId(1)))
}

/// Describes the step of a spurious run that the exact model cannot follow.
fn describe_infeasible_step(program: &Program, spurious: &SpuriousRun) -> String {
    let thread = &program.thread(spurious.infeasible_step.thread).name;
    let cell = |loc, value| wording::cell(program, loc, " = ", value);
    match spurious.infeasible_step.lost_property {
        concretise::LostBufferProperty::AlreadyCommitted(loc, value) => {
            format!("{thread} commits {} a second time", cell(loc, value))
        }
        concretise::LostBufferProperty::NotOldest(loc, value) => {
            format!("{thread} commits {} before an older store", cell(loc, value))
        }
        concretise::LostBufferProperty::MustWait => {
            format!("{thread} does not wait for its pending stores")
        }
        concretise::LostBufferProperty::ClaimFails => "no step; nothing is wrong at the end".into(),
    }
}

/// Succeeds if all interleavings within the bound were counted.
fn require_all_counted(counts: &ExecutionCounts) -> Result<(), Limit> {
    match counts.coverage {
        Coverage::Exhaustive | Coverage::Bounded => Ok(()),
        Coverage::Cut(stop) => Err(stop.into()),
        Coverage::Found => unreachable!("counting does not stop at a violation"),
    }
}

/// Whether an answer shows that the target is reachable.
pub(super) fn is_reached(answer: &Answer, target: Target) -> Result<bool, Limit> {
    match (&answer.verdict, target) {
        (Verdict::Violated(violated), Target::Violation) => Ok(violated.evidence().run().is_some()),
        (Verdict::Violated(_), Target::Witness) => Ok(false),
        (Verdict::Verified(_), Target::Violation) => Ok(false),
        (Verdict::Verified(_), Target::Witness) => Ok(true),
        (Verdict::Inconclusive(inconclusive), _) => match inconclusive.reason() {
            InconclusiveReason::Bound { witness_missing, .. } => {
                Ok(matches!(target, Target::Witness) && !witness_missing)
            }
            reason => Err(reason.into()),
        },
    }
}

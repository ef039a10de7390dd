//! Computes the figures of a row: one function for each command of the data.
//!
//! This is the only file of `reproduce` that calls engines and inference. Each function returns all figures that its
//! command finds out ([`Command`] says which), or the limit that it met.

use super::paper::{
    CheckBy, Command, ControlPoint, Entry, Extent, FenceChoice, InferBy, Interleavings,
    SearchOrder, Sought,
};
use fencepost_engines::automata::{Looked, Order, Until};
use fencepost_engines::concretise::{self, Suspect};
use fencepost_engines::stateless::{Census, Schedules, census};
use fencepost_engines::verdict;
use fencepost_engines::{
    Abstraction, Answer, Auto, Automata, Budget, Engine, Explicit, InconclusiveReason, Robust,
    RobustBy, Settings, Task, Translate, Verdict,
};
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::enforce::enforce;
use fencepost_infer::fixpoint::{Avoidance, GaveUp, abstract_avoidance, avoidance, conjoin};
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{
    Atom, Barrier, Diagnostics, FenceKinds, LabelInfo, Loc, Problem, Program, ThreadId, Value,
    Written, placement,
};
use fencepost_models::ModelSpec;
use fencepost_models::replay::{Moment, Pending};
use fencepost_monitor::Model;
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_report::verdict_line::{ended_by, stopped_by};
use fencepost_report::wording;
use fencepost_search::{Coverage, Limits, Stop};
use fencepost_translate::contexts::Bound;
use std::cmp::Ordering;
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

/// A bound on windows that no client without loops that spin reaches.
const ROOMY: u32 = 32;
/// Overhead is told where a row takes this many seconds at least.
const MEASURABLE: f64 = 0.02;
/// How often times are taken.
const REPEATS: usize = 5;
/// The proof of a placement met a limit.
const UNPROVED: &str = "it was not proved that the fences are enough";

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

    fn formula(&self) -> Result<Avoidance, Limit> {
        let bound = self.entry.row.buffer;
        // Where the paper needs no bound, one search with a roomy one is faster than several that grow. A window also holds
        // the access that is being performed.
        let own = self.settings.fixed_buffer.unwrap_or(ROOMY);
        let fixed_buffer = Some(bound.map_or(own, |bound| bound + 1));
        let settings = Settings { fixed_buffer, ..self.settings };
        match avoidance(self.task(), settings, self.budget) {
            // Without a bound in the paper, one of ours is a limit.
            Ok(found) if found.bound.is_some() && bound.is_none() => {
                Err("Windows can hold more accesses than could be looked at.".into())
            }
            Ok(found) => Ok(found),
            Err(GaveUp::Stopped(stop)) => Err(stop.into()),
            Err(GaveUp::Constraints(_)) => Err("There are too many constraints.".into()),
        }
    }

    fn formula_figures(&self, found: &Avoidance) -> Figures {
        let fewest = found.fewest().filter(|_| self.model.name != "sc");
        Figures::new()
            .with("states", Figure::Number(found.states))
            .with("edges", Figure::Number(found.edges))
            .with("constraints", fewest.map(number))
    }

    fn candidates(&self, fences: FenceChoice) -> Candidates {
        let menu = match fences {
            FenceChoice::Model => Menu::of(&self.model),
            FenceChoice::Full => Menu::only(&[Dish::Fence(FenceKinds::FULL)]),
        };
        Candidates::new(&self.problems, &menu, &Restrictions::default(), Written::Kept)
    }

    /// The cheapest fences. `constraints` is about the formulas of the clients, if there are any: the fewest constraints
    /// that satisfy all of them, if they are known.
    fn infer(
        &self,
        by: InferBy,
        fences: FenceChoice,
        constraints: Option<Option<usize>>,
    ) -> Result<Figures, Limit> {
        let engine: &(dyn Engine + Sync) = match by {
            InferBy::Explicit => &Explicit,
            InferBy::Auto => &Auto,
        };
        let question = Question {
            problems: &self.problems,
            model: &self.model,
            candidates: &self.candidates(fences),
            engine,
            settings: self.settings,
            all: false,
            abstraction: None,
        };
        let repair = match lazy::infer(question, self.budget) {
            Inference::Repaired(repair) => repair,
            Inference::GaveUp(gave_up) => {
                let why = gave_up.undecided.first().map(|(_, why)| why.reason().into());
                return Err(why.unwrap_or("a limit was met".into()));
            }
            Inference::Unrepairable(_) => return Err("no fences help".into()),
        };
        let is_verified = match repair.sufficiency {
            Sufficiency::Verified => true,
            Sufficiency::Bounded(_) if by == InferBy::Auto => return Err(UNPROVED.into()),
            Sufficiency::Bounded(_) => false,
        };
        if constraints == Some(None) {
            return Err("A client met a limit, so the conjunction is not known.".into());
        }
        let atoms = &repair.placements[0].atoms;
        let program = &self.problems[0].program;
        Ok(Figures::new()
            .with("result", Figure::Word("optimal".into()))
            .with("fences", number(atoms.len()))
            .with("cost", Figure::Number(repair.price.into()))
            .with("constraints", constraints.flatten().map(number))
            .with("verified", Figure::Flag(is_verified))
            .with("states", Figure::Number(repair.statistics[0].states))
            .with("places", Figure::List(atoms.iter().map(|a| place(program, a)).collect()))
            .with("lines", Figure::List(atoms.iter().map(|a| self.figure_line(a)).collect())))
    }

    /// The comment on the line of a barrier, which names a line of the paper's figure, and its kind: `take:5 store_load`.
    fn figure_line(&self, atom: &Atom) -> String {
        let (info, kind) = placed(&self.problems[0].program, atom);
        let line = self.source.lines().nth(info.span.line as usize - 1).unwrap_or_default();
        let comment = line.split_once("//").map_or("", |(_, comment)| comment.trim());
        format!("{} {kind}", comment.replace(' ', ":"))
    }

    /// The method of \[KVY11\] under one abstraction.
    fn enforce(&self, gibibytes: u64, fewest: usize) -> Result<Figures, Limit> {
        let limits = self.settings.limits;
        let limits = Limits { bytes: limits.bytes.min(gibibytes << 30), ..limits };
        let settings = Settings { limits, ..self.settings };
        let (domain, k) = self.entry.abstraction();
        let abstracted = self.model.abstracted(domain, k, true);
        let abstracted = abstracted.expect("the models of the tables have abstractions");
        let avoidance = abstract_avoidance(self.task(), abstracted, settings, self.budget)
            .map_err(|why| match why {
                GaveUp::Stopped(Stop::Memory) => {
                    Limit(format!("more than {gibibytes} GiB, or than there is"))
                }
                GaveUp::Stopped(stop) => stop.into(),
                GaveUp::Constraints(count) => Limit(format!("{count} orderings are too many")),
            })?;
        let candidates = self.candidates(FenceChoice::Full);
        let enforced = match avoidance.unavoidable {
            true => None,
            false => enforce(&self.problems, &avoidance, &candidates, 1).ok(),
        };
        let figures = |result: &str| {
            Figures::new()
                .with("result", Figure::Word(result.into()))
                .with("constraints", avoidance.fewest().map(number))
                .with("states", Figure::Number(avoidance.states))
        };
        let Some(enforced) = enforced else { return Ok(figures("unfixable")) };
        let placement = enforced.placements.into_iter().next().expect("one was asked for");
        let program = placement::fenced(&self.problem().program, &placement, candidates.written);
        let fenced = Problem { program, ..self.problem().clone() };
        let task = Task { problem: &fenced, model: &self.model };
        match Auto.run(task, settings, self.budget).verdict {
            Verdict::Verified(_) => {}
            Verdict::Violated(_) => {
                unreachable!("a formula that is kept keeps the abstraction right")
            }
            Verdict::Inconclusive(_) => return Err(UNPROVED.into()),
        }
        let result = match placement.atoms.len().cmp(&fewest) {
            Ordering::Equal => "optimal",
            Ordering::Greater => "sub-optimal",
            Ordering::Less => unreachable!("fewer than the fewest fences are not enough"),
        };
        Ok(figures(result)
            .with("fences", number(placement.atoms.len()))
            .with("verified", Figure::Flag(true)))
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

/// Where a barrier is put, and the name of its kind.
fn placed<'p>(program: &'p Program, atom: &Atom) -> (&'p LabelInfo, String) {
    let info = program.label(program.place(atom.place).label);
    let kind = match atom.barrier {
        Barrier::Fence(kinds) => kinds.name(),
        Barrier::Drain(_) => Dish::Drain.name(),
    };
    (info, kind)
}

/// Function, line and kind of a barrier: `take:17 full`.
fn place(program: &Program, atom: &Atom) -> String {
    let (info, kind) = placed(program, atom);
    format!("{}:{} {kind}", info.function, info.span.line)
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

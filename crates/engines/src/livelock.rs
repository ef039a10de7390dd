//! Livelocks: fair infinite runs in which a thread never gets on (`property progress`).
//!
//! A run is *fair* if every thread that can move from some point on moves again, and every pending
//! store is committed in the end. A thread *gets on* if it finishes, or executes
//! [progress points](fencepost_ir::progress) again and again.
//!
//! The whole state graph is built without partial-order reduction. For each thread, the steps with
//! which it gets on are removed. A strongly connected component of the rest contains a fair cycle
//! exactly if each requirement of fairness is met somewhere in it: a step is taken, or a state does
//! not require it. (A requirement that holds in every state and is met by no step of the component
//! is met by none of its cycles.)
//!
//! A run in which a false `assume` outside of `atomic` blocks a thread is discarded, so it is not a
//! livelock.
//!
//! Direction: exact for SC, TSO and PSO, up to the bound on pending stores.

use crate::engine::{Budget, Settings};
use crate::path::{options, trace};
use fencepost_ir::progress::progress_points;
use fencepost_ir::{Loc, Problem, ThreadId, Violation};
use fencepost_models::bits::Writer;
use fencepost_models::catalog::ModelKind;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::{STATE_DETAIL, VIOLATION};
use fencepost_models::replay::Trace;
use fencepost_models::state::State;
use fencepost_models::{
    Action, Attempt, Event, EventKind, Machine, MemoryModel, ModelSpec, Reductions, Step,
    StepResult, Visitor,
};
use fencepost_search::{
    Coverage, Encoding, Exploration, Graph, Labelled, Steps, Stop, Target, components, explore,
    graph,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A requirement of fairness: a thread moves (its number), or the stores of a thread to a location
/// are committed.
type Requirement = u32;

/// A fair infinite run: a path and a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Livelock {
    /// The path and one pass of the cycle.
    pub(crate) trace: Trace,
    /// The thread that never gets on.
    pub(crate) thread: ThreadId,
    /// The number of the first step of the cycle.
    pub(crate) cycle_start: usize,
}

impl Livelock {
    /// Returns the violation.
    pub(crate) fn violation(&self) -> Violation {
        Violation::Livelock { thread: self.thread, cycle_start: self.cycle_start }
    }
}

/// Searches for a livelock with the machine's bound. The error is the limit that ended the search.
pub(crate) fn find_livelock<M: MemoryModel>(
    machine: &Machine<'_, M>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Option<Livelock>, Stop> {
    let found = explore(machine, options(settings, budget, settings.limits, None));
    match found.coverage {
        Coverage::Exhaustive | Coverage::Bounded | Coverage::Found => {}
        Coverage::Cut(stop) => return Err(stop),
    }
    let system = FairSystem::new(machine);
    let graph = graph(&found, &system, settings.threads, budget.cancel)
        .ok_or_else(|| budget.cancel.reason().unwrap_or(Stop::Interrupted))?;
    // The last thread only waits for the others.
    let program = machine.shape.program();
    for thread in program.thread_ids().filter(|t| Some(*t) != program.last_thread()) {
        let search = LassoSearch { system: &system, found: &found, graph: &graph, thread };
        if let Some(livelock) = search.run() {
            return Ok(Some(livelock));
        }
    }
    budget.cancel.reason().map_or(Ok(None), Err)
}

/// Returns whether the steps of a trace from `cycle_start` on are a fair cycle in which a thread
/// that has not finished does not get on.
pub fn is_livelock(
    problem: &Problem,
    model: &ModelSpec,
    reductions: Reductions,
    trace: &Trace,
    (thread, cycle_start): (ThreadId, usize),
) -> bool {
    struct Check<'a>(&'a Problem, Reductions, &'a Trace, ThreadId, usize);
    impl Visitor for Check<'_> {
        type Output = bool;

        fn visit<M: MemoryModel>(self, model: M) -> bool {
            let Check(problem, reductions, trace, thread, cycle_start) = self;
            let machine = Machine::new(problem, model, reductions);
            FairSystem::new(&machine).is_fair_cycle(trace, thread, cycle_start)
        }
    }
    let check = Check(problem, reductions, trace, thread, cycle_start);
    supports_progress(model) && model.visit(trace.replay_bound(), check)
}

/// Returns whether livelocks can be found under a model.
pub(crate) fn supports_progress(model: &ModelSpec) -> bool {
    match model.kind {
        ModelKind::Sc | ModelKind::Tso | ModelKind::Pso => true,
        ModelKind::Table(_) | ModelKind::Arm => false,
    }
}

/// A machine whose steps are labelled with what matters for fairness and progress.
struct FairSystem<'m, 'p, M: MemoryModel> {
    machine: &'m Machine<'p, M>,
    /// By thread and program counter.
    progress_points: Vec<Vec<bool>>,
}

/// The facts about one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct StepFacts {
    /// The requirement that the step meets.
    meets: Requirement,
    /// Whether its thread gets on.
    gets_on: bool,
}

impl<'m, 'p, M: MemoryModel> FairSystem<'m, 'p, M> {
    fn new(machine: &'m Machine<'p, M>) -> Self {
        let threads = &machine.shape.program().threads;
        FairSystem { machine, progress_points: threads.iter().map(progress_points).collect() }
    }

    /// The requirement that the stores of a thread to a location are committed.
    fn commits(&self, t: ThreadId, loc: Loc) -> Requirement {
        let program = self.machine.shape.program();
        (program.threads.len() + t.index() * program.locations.len() + loc.index()) as u32
    }

    /// Returns the facts about a step that was taken.
    fn step_facts(&self, before: &State<M::Pending>, attempt: &Attempt<M::Pending>) -> StepFacts {
        let Attempt { step, after, .. } = attempt;
        let t = step.thread;
        let mut events: Vec<Event> = Vec::new();
        let _ = self.machine.take_step(&mut before.clone(), step, &mut events);
        let is_progress =
            |event: &Event| event.pc.is_some_and(|pc| self.progress_points[t.index()][pc.index()]);
        let finishes = self.machine.has_finished(after, t) && !self.machine.has_finished(before, t);
        let committed = events.iter().find_map(|event| {
            let EventKind::Commit { loc, .. } = event.kind else { return None };
            Some(loc)
        });
        let is_run = matches!(step.action, Action::Run(_));
        StepFacts {
            meets: match committed.filter(|_| !is_run) {
                Some(loc) => self.commits(t, loc),
                None => t.index() as u32,
            },
            gets_on: finishes || is_run && events.iter().any(is_progress),
        }
    }

    /// Returns the requirements of a state: threads that can move, and pending stores.
    fn requirements(
        &self,
        state: &State<M::Pending>,
        attempts: &[Attempt<M::Pending>],
    ) -> BTreeSet<Requirement> {
        let mut found = BTreeSet::new();
        for Attempt { step, taken, .. } in attempts {
            if matches!(step.action, Action::Run(_)) && *taken != Ok(StepResult::Blocked) {
                found.insert(step.thread.index() as u32);
            }
        }
        let shape = &self.machine.shape;
        for t in shape.program().thread_ids() {
            for loc in &shape.thread(t).stores {
                if self.machine.model.pending_accesses_to(shape, &state.pending, t, *loc).stores {
                    found.insert(self.commits(t, *loc));
                }
            }
        }
        found
    }

    /// Returns whether a trace ends in a fair cycle in which the thread does not get on.
    fn is_fair_cycle(&self, trace: &Trace, thread: ThreadId, cycle_start: usize) -> bool {
        let machine = self.machine;
        let mut state = machine.blank();
        let mut choices = Choices::scripted(&trace.init);
        if machine.start(&mut state, &mut choices, &mut ()) != Ok(true)
            || cycle_start >= trace.steps.len()
        {
            return false;
        }
        let mut writer = Writer::default();
        let mut first = Vec::new();
        let mut always: Option<BTreeSet<Requirement>> = None;
        let mut met = BTreeSet::new();
        for (at, step) in trace.steps.iter().enumerate() {
            let attempts = machine.attempt_steps(&state);
            if at >= cycle_start {
                let required = self.requirements(&state, &attempts);
                always = Some(match always {
                    None => required,
                    Some(always) => always.intersection(&required).copied().collect(),
                });
            }
            if at == cycle_start {
                first = machine.encode(&state, &mut writer).to_vec();
            }
            let taken = attempts.into_iter().find(|attempt| attempt.step == *step);
            let Some(attempt) = taken.filter(|attempt| attempt.taken == Ok(StepResult::Taken))
            else {
                return false;
            };
            if at >= cycle_start {
                let facts = self.step_facts(&state, &attempt);
                if facts.gets_on && step.thread == thread {
                    return false;
                }
                met.insert(facts.meets);
            }
            state = attempt.after;
        }
        machine.encode(&state, &mut writer) == first
            && !machine.has_finished(&state, thread)
            && !machine.discards_run(&state)
            && always.is_some_and(|always| always.is_subset(&met))
    }
}

impl<M: MemoryModel> Encoding for FairSystem<'_, '_, M> {}

impl<M: MemoryModel> Labelled for FairSystem<'_, '_, M> {
    type Scratch = (State<M::Pending>, Writer);

    fn scratch(&self) -> Self::Scratch {
        (self.machine.blank(), Writer::default())
    }

    fn initial(&self, _: &mut Self::Scratch, _: &mut Steps<'_>) {}

    /// A step has two numbers: the requirement that it meets, and its thread plus 1 if the thread
    /// gets on. A requirement of the state is a step to the goal with one number.
    fn steps(&self, bytes: &[u8], (state, writer): &mut Self::Scratch, steps: &mut Steps<'_>) {
        self.machine.unpack(bytes, state);
        let attempts = self.machine.attempt_steps(state);
        for requirement in self.requirements(state, &attempts) {
            steps.to_goal(&[requirement]);
        }
        for attempt in attempts.iter().filter(|attempt| attempt.taken == Ok(StepResult::Taken)) {
            let facts = self.step_facts(state, attempt);
            let thread = attempt.step.thread.index() as u32 + 1;
            let label = [facts.meets, if facts.gets_on { thread } else { 0 }];
            steps.to(self.machine.encode(&attempt.after, writer), &label);
        }
    }
}

/// The search for a fair cycle in which one thread does not get on.
struct LassoSearch<'a, 'm, 'p, M: MemoryModel> {
    system: &'a FairSystem<'m, 'p, M>,
    found: &'a Exploration,
    graph: &'a Graph,
    thread: ThreadId,
}

/// An edge of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Edge {
    from: u32,
    to: u32,
    label: u32,
}

impl<M: MemoryModel> LassoSearch<'_, '_, '_, M> {
    fn run(&self) -> Option<Livelock> {
        let all = components(self.graph.nodes(), |node| {
            let steps = self.graph.steps(node).filter(|(_, label)| self.is_idle(*label));
            steps.map(|(to, _)| to).collect()
        });
        let (mut best, mut shortest): (Option<Livelock>, usize) = (None, usize::MAX);
        for nodes in all {
            if !self.counts(nodes[0]) || !self.is_fair(&nodes) {
                continue;
            }
            let path_length = |node: &u32| self.found.path(self.found.node(*node)).len();
            let Some(start) = nodes.iter().copied().min_by_key(path_length) else { continue };
            if path_length(&start) < shortest {
                shortest = path_length(&start);
                best = self.lasso(start, &nodes);
            }
        }
        best
    }

    /// Returns whether a label is that of a step with which the thread does not get on.
    fn is_idle(&self, label: u32) -> bool {
        match &*self.graph.labels()[label as usize] {
            [_, gets_on] => *gets_on != self.thread.index() as u32 + 1,
            _ => false,
        }
    }

    /// Returns whether the thread has not finished and no thread discards the run. Either is the
    /// same for all states of a component: a thread that is blocked by its registers stays blocked.
    fn counts(&self, node: u32) -> bool {
        let machine = self.system.machine;
        let mut state = machine.blank();
        machine.unpack(self.found.state(self.found.node(node)), &mut state);
        !machine.has_finished(&state, self.thread) && !machine.discards_run(&state)
    }

    /// Returns the requirements of a state.
    fn requirements(&self, node: u32) -> BTreeSet<Requirement> {
        let labels = self.graph.steps(node).map(|(_, label)| &self.graph.labels()[label as usize]);
        labels.filter_map(|label| if let [one] = **label { Some(one) } else { None }).collect()
    }

    /// Returns the steps of a node inside a component.
    fn edges<'n>(&'n self, from: u32, nodes: &'n [u32]) -> impl Iterator<Item = Edge> + 'n {
        let steps = self
            .graph
            .steps(from)
            .filter(|(to, label)| self.is_idle(*label) && nodes.binary_search(to).is_ok());
        steps.map(move |(to, label)| Edge { from, to, label })
    }

    fn meets(&self, edge: Edge) -> Requirement {
        self.graph.labels()[edge.label as usize][0]
    }

    /// Returns whether a component has a fair cycle: every requirement of all its states is met by
    /// one of its steps.
    fn is_fair(&self, nodes: &[u32]) -> bool {
        let mut always: BTreeMap<Requirement, usize> = BTreeMap::new();
        let mut met = BTreeSet::new();
        for node in nodes {
            for requirement in self.requirements(*node) {
                *always.entry(requirement).or_default() += 1;
            }
            met.extend(self.edges(*node, nodes).map(|edge| self.meets(edge)));
        }
        always.iter().all(|(requirement, count)| *count < nodes.len() || met.contains(requirement))
    }

    /// Builds a path to the start and a fair cycle from there. None if cancelled.
    fn lasso(&self, start: u32, nodes: &[u32]) -> Option<Livelock> {
        let machine = self.system.machine;
        let state = self.found.node(start);
        let mut trace =
            trace(machine, self.found, Target { state, class: VIOLATION, detail: STATE_DETAIL })?;
        let cycle_start = trace.steps.len();
        trace.steps.extend(self.cycle(start, nodes).iter().map(|edge| self.step(*edge)));
        let livelock = Livelock { trace, thread: self.thread, cycle_start };
        assert!(
            self.system.is_fair_cycle(&livelock.trace, self.thread, cycle_start),
            "a cycle of a fair component must be fair"
        );
        Some(livelock)
    }

    /// Returns a closed walk from the start that meets every requirement.
    fn cycle(&self, start: u32, nodes: &[u32]) -> Vec<Edge> {
        let mut walk: Vec<Edge> = Vec::new();
        let mut at = start;
        loop {
            let visited: BTreeSet<u32> = walk.iter().map(|edge| edge.from).chain([at]).collect();
            let met: BTreeSet<Requirement> = walk.iter().map(|edge| self.meets(*edge)).collect();
            let mut open = self.requirements(start);
            for node in &visited {
                open = open.intersection(&self.requirements(*node)).copied().collect();
            }
            let Some(open) = open.difference(&met).next().copied() else { break };
            let more = self.walk(at, nodes, |edge| {
                self.meets(edge) == open || !self.requirements(edge.to).contains(&open)
            });
            at = more.last().map_or(at, |edge| edge.to);
            walk.extend(more);
        }
        if at != start || walk.is_empty() {
            walk.extend(self.walk(at, nodes, |edge| edge.to == start));
        }
        walk
    }

    /// Returns a shortest walk inside the component that ends with an edge for which `is_last`
    /// holds.
    fn walk(&self, from: u32, nodes: &[u32], is_last: impl Fn(Edge) -> bool) -> Vec<Edge> {
        let mut reached_by: BTreeMap<u32, Edge> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        let mut last = None;
        'search: while let Some(node) = queue.pop_front() {
            for edge in self.edges(node, nodes) {
                if is_last(edge) {
                    last = Some(edge);
                    break 'search;
                }
                if edge.to != from && !reached_by.contains_key(&edge.to) {
                    reached_by.insert(edge.to, edge);
                    queue.push_back(edge.to);
                }
            }
        }
        let mut walk: Vec<Edge> = last.into_iter().collect();
        while let Some(edge) = walk.last().and_then(|edge| reached_by.get(&edge.from)) {
            walk.push(*edge);
        }
        walk.reverse();
        walk
    }

    /// Returns the step of an edge.
    fn step(&self, edge: Edge) -> Step {
        let machine = self.system.machine;
        let mut state = machine.blank();
        machine.unpack(self.found.state(self.found.node(edge.from)), &mut state);
        let mut writer = Writer::default();
        let to = self.found.state(self.found.node(edge.to));
        let matching = machine.attempt_steps(&state).into_iter().find(|attempt| {
            attempt.taken == Ok(StepResult::Taken)
                && machine.encode(&attempt.after, &mut writer) == to
                && self.system.step_facts(&state, attempt).meets == self.meets(edge)
        });
        matching.expect("an edge of the graph is a step of the machine").step
    }
}

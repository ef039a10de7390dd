//! Depth-first search with sleep sets, inclusion of states, and acceleration of cycles.
//!
//! Source: \[LW10\] Algorithm 3. Direction: exact; complete when it ends, which it need not.
//!
//! A frame of the stack is a state that was entered; what led to it is its [`Hop`], and what it was widened by
//! its [`Widening`]. The stack is all that is needed to make a run of the exact model
//! ([`super::contents`]).
//!
//! *Sleep sets and widening.* A transition may sleep in a widened state only if it did so where the cycle
//! began and is independent of every step of the cycle: then what it does after so many rounds, it
//! did before them, and that was explored.

use super::acceleration::Entering;
use super::contents::Back;
use super::cycle::{Cycle, Hop, Part, Widening};
use super::reached::Reached;
use super::transition::{Transition, Transitions};
use super::visited::Visited;
use super::{Order, Symbolic, SymbolicState};
use crate::concretise::{Move, follow, moved};
use crate::engine::{Budget, Settings, Task};
use fencepost_automata::{Language, Letter};
use fencepost_ir::{Op, Property, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_models::symbolic::{MARKERS, letter};
use fencepost_models::{Action, Attempt, Step, Taken};
use fencepost_search::{Coverage, Stop};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// How often limits are looked at: once in so many states.
const OFTEN: u64 = 64;

/// What the search is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// Whether to stop at the first violation.
    pub(super) stop: bool,
    /// Whether to go on from where something is wrong.
    pub(super) behind: bool,
    /// Whether sleep sets are used.
    pub(super) sleep: bool,
    /// What is explored first.
    pub(super) order: Order,
    /// How many states the automaton of a buffer may have.
    pub(super) width: usize,
    /// Whether to note what is reached at each control point.
    pub(super) note: bool,
}

/// What a search found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) coverage: Coverage,
    /// States entered and kept.
    pub(super) stored: u64,
    /// States met, those covered by others included.
    pub(super) visited: u64,
    /// Steps taken.
    pub(super) steps: u64,
    pub(super) depth: usize,
    pub(super) bytes: u64,
    /// A run to the first violation, not yet replayed: a shorter one may be found.
    pub(super) violation: Option<Trace>,
    /// States kept in which something is wrong, and steps that go wrong.
    pub(super) errors: u64,
    /// By position in `sometimes`: a run to a witness.
    pub(super) witnesses: Vec<Option<Trace>>,
    pub(super) outcomes: BTreeSet<Vec<Value>>,
    pub(super) reached: Reached,
}

/// A state being explored.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) state: SymbolicState,
    pub(super) room: usize,
    /// The step that led here from the frame below; none for the first.
    pub(super) hop: Option<Rc<Hop>>,
    /// What it was widened by, and from which frame on.
    pub(super) widened: Option<(usize, Widening)>,
    /// The cycles known here, and what they make longer.
    pub(super) cycles: Vec<(Part, Rc<Cycle>)>,
    /// Not to be explored from here: what sleeps, and what was explored.
    pub(super) asleep: Transitions,
    todo: Transitions,
    /// What the transition being explored leads to.
    next: Vec<(Step, SymbolicState)>,
    /// The sleep set of those.
    sleep: Transitions,
}

/// A search under way.
pub(super) struct Search<'a, 'p> {
    pub(super) machine: &'a Symbolic<'p>,
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    aim: Aim,
    init: Vec<u32>,
    pub(super) stack: Vec<Frame>,
    pub(super) visited: Visited,
    found: Found,
}

/// Whether to go on.
type Flow = Result<(), Coverage>;

impl<'a, 'p> Search<'a, 'p> {
    pub(super) fn new(
        machine: &'a Symbolic<'p>,
        task: Task<'a>,
        settings: Settings,
        budget: Budget<'a>,
        aim: Aim,
    ) -> Self {
        let found = Found {
            coverage: Coverage::Exhaustive,
            stored: 0,
            visited: 0,
            steps: 0,
            depth: 0,
            bytes: 0,
            violation: None,
            errors: 0,
            witnesses: vec![None; task.problem.sometimes.len()],
            outcomes: BTreeSet::new(),
            reached: Reached::default(),
        };
        let (stack, visited) = (Vec::new(), Visited::default());
        Search { machine, task, settings, budget, aim, init: Vec::new(), stack, visited, found }
    }

    pub(super) fn run(mut self) -> Found {
        if let Err(coverage) = self.explore() {
            self.found.coverage = coverage;
        }
        self.found.stored = self.visited.states;
        self.found.bytes = self.bytes();
        self.found
    }

    fn explore(&mut self) -> Flow {
        let mut choices = Choices::default();
        loop {
            let mut state = self.machine.blank();
            let started = self.machine.start(&mut state, &mut choices, &mut ());
            self.init = choices.script().to_vec();
            match started {
                Ok(true) => {
                    self.enter(None, state, Transitions::default())?;
                    while !self.stack.is_empty() {
                        self.go_on()?;
                    }
                }
                Ok(false) => {}
                Err(_) => {
                    let trace = self.trace_to(Vec::new(), None)?;
                    self.violated(trace)?;
                }
            }
            if !choices.advance() {
                return Ok(());
            }
        }
    }

    /// One step of the search, from the state on top of the stack.
    fn go_on(&mut self) -> Flow {
        let top = self.stack.last_mut().expect("asked before");
        if let Some((step, state)) = top.next.pop() {
            let hop = hop(self.machine, &top.state, step, &state);
            let sleep = top.sleep;
            return self.enter(Some(Rc::new(hop)), state, sleep);
        }
        let picked = self.aim.order.pick(self.machine, &top.state, top.todo);
        let Some(transition) = picked else {
            let room = top.room;
            self.visited.rooms[room].on_stack.pop();
            self.stack.pop();
            return Ok(());
        };
        top.todo.remove(transition);
        if self.aim.sleep {
            top.sleep = top.asleep.independent_of(self.machine, &top.state, transition);
            top.asleep.insert(transition);
        }
        let attempts = match transition {
            Transition::Run(thread) => self.machine.runs(&top.state, thread),
            Transition::Commit(thread) => self.machine.internals(&top.state, thread),
        };
        for Attempt { step, taken, after } in attempts.into_iter().rev() {
            match taken {
                Ok(Taken::Blocked) => {}
                Ok(Taken::Bounded) => unreachable!("a symbolic buffer has no bound"),
                Ok(Taken::Yes) => {
                    self.found.steps += 1;
                    self.stack.last_mut().expect("as above").next.push((step, after));
                }
                Err(_) => self.stumbled(step, after)?,
            }
        }
        Ok(())
    }

    /// A state that the step led to: widened if it closes a cycle, then explored unless others cover it.
    fn enter(&mut self, hop: Option<Rc<Hop>>, state: SymbolicState, sleep: Transitions) -> Flow {
        self.found.visited += 1;
        self.look_at_limits(&state)?;
        let known = self.visited.rooms.len();
        let room = self.visited.room(self.machine, &state);
        let is_new = room == known;
        let mut entering = Entering { state, sleep, widened: None, cycles: Vec::new() };
        if let Some(hop) = &hop
            && let Some(wider) = self.accelerate(room, hop, &entering)
        {
            entering = wider;
        }
        let Entering { state, sleep, widened, cycles } = entering;
        let Some((todo, asleep)) = self.visited.enter(self.machine, room, &state, sleep) else {
            return Ok(());
        };
        if self.aim.note {
            self.found.reached.note(self.machine, &state);
        }
        self.visited.rooms[room].on_stack.push(self.stack.len());
        let (next, sleep) = (Vec::new(), Transitions::default());
        self.stack.push(Frame { state, room, hop, widened, cycles, asleep, todo, next, sleep });
        self.found.depth = self.found.depth.max(self.stack.len());
        self.look_at_state(room, is_new)
    }

    /// What is so of the state on top of the stack.
    fn look_at_state(&mut self, room: usize, is_new: bool) -> Flow {
        let top = self.stack.last().expect("just pushed");
        if is_new {
            self.visited.rooms[room].wrong = self.machine.wrong(&top.state).is_some();
        }
        let rests = {
            let languages = self.machine.model.0.languages();
            top.state.pending.iter().all(|l| languages.contains_empty(*l))
        };
        if self.visited.rooms[room].wrong {
            self.found.errors += 1;
            if !self.aim.behind {
                self.stack.last_mut().expect("just pushed").todo = Transitions::default();
            }
            if is_new {
                let trace = self.trace_to(self.shortest(), None)?;
                self.violated(trace)?;
            }
        }
        if rests && !self.visited.rooms[room].rested {
            self.visited.rooms[room].rested = true;
            self.rest()?;
        }
        Ok(())
    }

    /// The state on top of the stack when nothing is pending: perhaps nothing more can happen.
    fn rest(&mut self) -> Flow {
        let mut state = self.stack.last().expect("asked for it").state.clone();
        state.pending.fill(Language::EPSILON);
        let contents = vec![Vec::new(); state.pending.len()];
        let is_final = self.machine.is_final(&state);
        let asked = self.task.problem.properties.contains(&Property::DeadlockFree);
        if !is_final && !asked {
            return Ok(());
        }
        let steps = self.machine.steps(&state);
        if steps.iter().any(|attempt| attempt.taken != Ok(Taken::Blocked)) {
            return Ok(());
        }
        if self.machine.wrong_at_rest(&state).is_some() {
            self.found.errors += 1;
            let trace = self.trace_to(contents.clone(), None)?;
            self.violated(trace)?;
        }
        if !is_final {
            return Ok(());
        }
        let observed = &self.task.problem.observed;
        let outcome = observed.iter().map(|what| self.machine.observe(&state, *what)).collect();
        self.found.outcomes.insert(outcome);
        for (at, condition) in self.task.problem.sometimes.iter().enumerate() {
            if self.found.witnesses[at].is_none() && self.machine.holds(&state, condition) {
                let back = self.back(contents.clone(), None)?;
                self.found.witnesses[at] = Some(self.followed(&back, Some(at)));
            }
        }
        Ok(())
    }

    /// A step from the top of the stack that goes wrong; `after` holds the contents that it does so with.
    fn stumbled(&mut self, step: Step, after: SymbolicState) -> Flow {
        self.found.errors += 1;
        let top = self.stack.last().expect("a step comes from a state");
        let hop = hop(self.machine, &top.state, step, &after);
        let contents = {
            let languages = self.machine.model.0.languages();
            let shortest = |l: &Language| languages.shortest(*l).expect("a step has contents");
            after.pending.iter().map(shortest).collect()
        };
        let trace = self.trace_to(contents, Some(&hop))?;
        self.violated(trace)
    }

    fn violated(&mut self, trace: Option<Trace>) -> Flow {
        self.found.violation = self.found.violation.take().or(trace);
        if self.aim.stop { Err(Coverage::Found) } else { Ok(()) }
    }

    /// A run to these contents at the top of the stack, or to after a step from there; none if one is
    /// known.
    fn trace_to(
        &self,
        contents: Vec<Vec<Letter>>,
        last: Option<&Hop>,
    ) -> Result<Option<Trace>, Coverage> {
        if self.found.violation.is_some() {
            return Ok(None);
        }
        let moves = self.back(contents, last)?;
        Ok(Some(self.followed(&moves, None)))
    }

    /// The moves that lead there. A long run takes time; it may be over meanwhile.
    fn back(&self, contents: Vec<Vec<Letter>>, last: Option<&Hop>) -> Result<Vec<Move>, Coverage> {
        let back = Back::new(self.machine, self.budget.cancel);
        back.run(&self.stack, contents, last).map_err(Coverage::Cut)
    }

    /// # Panics
    /// When the exact model does not follow: the symbolic model would have contents that cannot be, and no
    /// verdict could be trusted.
    fn followed(&self, moves: &[Move], witness: Option<usize>) -> Trace {
        follow(self.task, self.settings.reductions, &self.init, moves, witness)
            .expect("what symbolic buffers do, exact ones do")
    }

    /// A shortest content of each thread's buffer at the top of the stack.
    fn shortest(&self) -> Vec<Vec<Letter>> {
        let languages = self.machine.model.0.languages();
        let top = self.stack.last().expect("asked for it");
        let shortest = |l: &Language| languages.shortest(*l).expect("a state has contents");
        top.state.pending.iter().map(shortest).collect()
    }

    fn bytes(&self) -> u64 {
        let frame = 512 + 8 * self.machine.shape.registers as u64;
        let languages = self.machine.model.0.languages().bytes();
        self.visited.bytes + languages + frame * self.stack.len() as u64
    }

    fn look_at_limits(&self, state: &SymbolicState) -> Flow {
        let limits = self.settings.limits;
        let languages = self.machine.model.0.languages();
        let wide = state.pending.iter().any(|l| languages.states(*l) > self.aim.width);
        drop(languages);
        if wide || self.visited.states >= limits.states {
            return Err(Coverage::Cut(Stop::States));
        }
        if self.stack.len() as u64 >= u64::from(limits.depth) {
            return Err(Coverage::Cut(Stop::Depth));
        }
        if let Some(stop) = self.budget.cancel.raised() {
            return Err(Coverage::Cut(stop));
        }
        if self.found.visited.is_multiple_of(OFTEN) {
            self.budget.progress.states.store(self.visited.states, Ordering::Relaxed);
            self.budget.progress.depth.store(self.stack.len() as u64, Ordering::Relaxed);
            if self.bytes() > limits.bytes {
                return Err(Coverage::Cut(Stop::Memory));
            }
        }
        Ok(())
    }
}

/// A step from a state, with what it means for others.
fn hop(machine: &Symbolic<'_>, before: &SymbolicState, step: Step, after: &SymbolicState) -> Hop {
    let to = moved(machine, before, &step);
    let thread = step.thread;
    let (old, new) = (before.pending[thread.index()], after.pending[thread.index()]);
    let op = &machine.shape.stmt(thread, before.pcs[thread.index()]).op;
    let mut languages = machine.model.0.languages();
    let appended = match step.action {
        Action::Internal(_) => None,
        Action::Run(_) if old == new => Some(Vec::new()),
        Action::Run(_) if matches!(op, Op::Store { .. }) => {
            let loc = machine.accesses(before, thread);
            let value = loc.and_then(|loc| languages.lasts(new, loc.0).first().copied());
            loc.zip(value).map(|(loc, value)| vec![letter(loc, value)])
        }
        Action::Run(_) => {
            let word = languages.suffix(old, new, MARKERS.len());
            word.filter(|word| word.iter().all(|letter| MARKERS.contains(&letter.class)))
        }
    };
    Hop { step, to, appended }
}

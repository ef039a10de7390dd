//! Bounds on the iterations of loops, for tools that unroll loops.
//!
//! Each thread is executed alone, with the values of registers and of locations that only this
//! thread writes; other values are unknown. A branch with an unknown condition goes both ways. If
//! the graph of these states is finite and has no cycle, its longest paths bound how often a run
//! visits each statement. Direction: over-approximation; a thread without a bound may still end.
//!
//! The committers of [`buffers`](crate::buffers) have no such bound. Each of their iterations but
//! the last one commits a store of their thread, so the number of its stores bounds them.

use crate::export::actions::{Action, Env, Leaf};
use crate::export::lower::lower;
use crate::export::substitute::substitute;
use crate::{Origin, Translation, Unsupported};
use fencepost_ir::{Expr, Loc, Op, Pc, Problem, Program, Thread, ThreadId, Type, UnOp, Value};
use std::collections::{BTreeMap, HashMap};

/// The largest number of states of a thread. A thread with more has no known bound.
const MAX_STATES: usize = 20_000;

/// Bounds on the loops of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopBounds {
    /// The largest number of iterations of a loop, among the threads with a known bound. 1 if they
    /// have no loops.
    pub iterations: u32,
    /// The threads that have a loop without a known bound. `init` counts as a thread.
    pub unbounded: Vec<String>,
}

impl LoopBounds {
    /// Returns the number of unrollings that is sufficient for loops with a known bound: all
    /// iterations, and the last evaluation of the condition.
    pub fn unrollings(&self) -> u32 {
        self.iterations.saturating_add(1)
    }
}

/// Bounds the loops of a translation, as exported. `original` is the translated problem.
pub fn loop_bounds(
    translation: &Translation,
    original: &Problem,
) -> Result<LoopBounds, Unsupported> {
    let lowered = lower(&translation.problem)?;
    let program = &lowered.problem.program;
    let writers = writers(program);
    let visits: Vec<Option<Visits>> = program
        .thread_ids()
        .map(|t| {
            let issues_store = |pc: Pc| {
                let at = lowered.origins[t.index()][pc.index()];
                let origin = at.map(|at| translation.origins[t.index()][at.index()]);
                matches!(origin, Some(Origin::Statement(at)) if is_store(original, t, at))
            };
            let own = |loc: &Loc| writers[loc.index()] == Writer::Thread(t);
            LocalExecution::new(program, program.thread(t), own).visits(&issues_store)
        })
        .collect();
    let mut bounds = LoopBounds { iterations: 1, unbounded: Vec::new() };
    let mut add = |name: &str, iterations: Option<u32>| match iterations {
        Some(iterations) => bounds.iterations = bounds.iterations.max(iterations),
        None => bounds.unbounded.push(name.into()),
    };
    if let Some(init) = &program.init {
        let visits = LocalExecution::new(program, init, |_| false).visits(&|_| false);
        add("init", visits.map(|visits| visits.most));
    }
    for t in program.thread_ids() {
        let committed = translation.origins[t.index()].iter().find_map(|origin| match origin {
            Origin::Commit(owner) => Some(*owner),
            Origin::Statement(_) | Origin::Context(_) | Origin::Nothing => None,
        });
        let iterations = match committed {
            Some(owner) => visits[owner.index()].map(|visits| visits.stores.saturating_add(1)),
            None => visits[t.index()].map(|visits| visits.most),
        };
        add(&program.thread(t).name, iterations);
    }
    Ok(bounds)
}

fn is_store(original: &Problem, t: ThreadId, pc: Pc) -> bool {
    let thread = original.program.threads.get(t.index());
    let stmt = thread.and_then(|thread| thread.code.get(pc.index()));
    stmt.is_some_and(|stmt| matches!(stmt.op, Op::Store { .. }))
}

/// The threads that write a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writer {
    Nobody,
    Thread(ThreadId),
    Several,
}

/// Returns the writer of each location. `init` counts as a further writer.
fn writers(program: &Program) -> Vec<Writer> {
    let mut writers = vec![Writer::Nobody; program.locations.len()];
    let mut add = |thread: &Thread, writer: Writer| {
        let actions = thread.code.iter().map(|stmt| Action::of(&stmt.op, &Env::default()));
        for loc in actions.flat_map(|a| {
            a.written_place().into_iter().flat_map(Leaf::locations).collect::<Vec<_>>()
        }) {
            let known = &mut writers[loc.index()];
            *known = match *known {
                Writer::Nobody => writer,
                same if same == writer => writer,
                Writer::Thread(_) | Writer::Several => Writer::Several,
            };
        }
    };
    for t in program.thread_ids() {
        add(program.thread(t), Writer::Thread(t));
    }
    if let Some(init) = &program.init {
        add(init, Writer::Several);
    }
    writers
}

/// How often a run visits statements.
#[derive(Clone, Copy, Debug)]
struct Visits {
    /// The largest number of visits of one statement.
    most: u32,
    /// The number of stores.
    stores: u32,
}

/// A state of a thread: the statement, and the known values of registers and own locations.
type State = (Pc, Vec<Option<Value>>);

/// The execution of a thread alone.
struct LocalExecution<'a> {
    thread: &'a Thread,
    actions: Vec<Action>,
    /// The positions of own locations in a state, after the registers.
    own: BTreeMap<Loc, usize>,
    initial: Vec<Option<Value>>,
}

impl<'a> LocalExecution<'a> {
    fn new(program: &Program, thread: &'a Thread, is_own: impl Fn(&Loc) -> bool) -> Self {
        let actions = thread.code.iter().map(|stmt| Action::of(&stmt.op, &Env::default()));
        let mut initial = vec![Some(0); thread.registers.len()];
        let mut own = BTreeMap::new();
        for loc in (0..program.locations.len()).map(Loc::from_index).filter(is_own) {
            own.insert(loc, initial.len());
            initial.push(Some(program.location(loc).init));
        }
        LocalExecution { thread, actions: actions.collect(), own, initial }
    }

    /// Bounds how often a run visits each statement. None without a bound.
    fn visits(&self, issues_store: &dyn Fn(Pc) -> bool) -> Option<Visits> {
        let (states, successors) = self.graph()?;
        let order = topological_order(&successors)?;
        let mut visits = vec![Vec::new(); states.len()];
        let mut stores = vec![0u32; states.len()];
        for at in order.into_iter().rev() {
            let mut own = vec![0u32; self.thread.code.len()];
            for next in &successors[at] {
                let next_visits: &Vec<u32> = &visits[*next];
                for (count, other) in own.iter_mut().zip(next_visits) {
                    *count = (*count).max(*other);
                }
                stores[at] = stores[at].max(stores[*next]);
            }
            let pc = states[at].0;
            own[pc.index()] += 1;
            stores[at] += u32::from(issues_store(pc));
            visits[at] = own;
        }
        let most = visits[0].iter().copied().max().unwrap_or(0);
        Some(Visits { most, stores: stores[0] })
    }

    /// Builds the graph of states. The first state is the initial one. None if it is too large.
    fn graph(&self) -> Option<(Vec<State>, Vec<Vec<usize>>)> {
        let initial = (Pc(0), self.initial.clone());
        let mut numbers: HashMap<State, usize> = HashMap::from([(initial.clone(), 0)]);
        let mut states = vec![initial];
        let mut successors: Vec<Vec<usize>> = Vec::new();
        while successors.len() < states.len() {
            let mut found = Vec::new();
            for next in self.successors(&states[successors.len()]) {
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                found.push(number);
            }
            if states.len() > MAX_STATES {
                return None;
            }
            successors.push(found);
        }
        Some((states, successors))
    }

    fn successors(&self, (pc, known): &State) -> Vec<State> {
        let stmt = self.thread.stmt(*pc);
        if stmt.op == Op::Halt {
            return Vec::new();
        }
        let mut after = known.clone();
        match &self.actions[pc.index()] {
            Action::Nothing | Action::Fence | Action::Drain(_) => {}
            Action::Assign { reg, value } | Action::Load { reg, value, .. } => {
                after[reg.index()] = self.value(known, value);
            }
            Action::Choose { reg, .. } => after[reg.index()] = None,
            Action::Store { to, value } => {
                let value = self.value(known, value);
                self.write(known, &mut after, to, value);
            }
            Action::Update(update) => {
                self.write(known, &mut after, &update.at, None);
                if let Some(reg) = update.reg {
                    after[reg.index()] = None;
                }
            }
            Action::Branch { cond, then, otherwise } => {
                return match self.value(known, cond) {
                    Some(0) => vec![(*otherwise, after)],
                    Some(_) => vec![(*then, after)],
                    None => {
                        let mut holds = after.clone();
                        self.learn(cond, true, &mut holds);
                        self.learn(cond, false, &mut after);
                        vec![(*then, holds), (*otherwise, after)]
                    }
                };
            }
            Action::Assume(cond) | Action::Assert(cond) => {
                if self.value(known, cond) == Some(0) {
                    return Vec::new();
                }
            }
        }
        vec![(stmt.next, after)]
    }

    /// Sets the register that a condition tests: 0 where it does not hold, and 1 where it holds if
    /// the register is a boolean.
    fn learn(&self, cond: &Expr<Leaf>, holds: bool, known: &mut [Option<Value>]) {
        match cond {
            Expr::Unary(UnOp::Not, inner) => self.learn(inner, !holds, known),
            Expr::Var(Leaf::Reg(reg)) => {
                let is_boolean = self.thread.registers[reg.index()].ty == Type::Bool;
                if !holds || is_boolean {
                    known[reg.index()] = Some(Value::from(holds));
                }
            }
            Expr::Const(_)
            | Expr::Var(Leaf::Loc(_) | Leaf::Element(..))
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select(..) => {}
        }
    }

    /// Writes a value, or forgets the values of all locations that may be written.
    fn write(
        &self,
        known: &[Option<Value>],
        after: &mut [Option<Value>],
        to: &Leaf,
        value: Option<Value>,
    ) {
        if let Some(loc) = self.location(known, to) {
            if let Some(at) = self.own.get(&loc) {
                after[*at] = value;
            }
            return;
        }
        for at in to.locations().filter_map(|loc| self.own.get(&loc)) {
            after[*at] = None;
        }
    }

    /// Returns the location of a place, if it is known.
    fn location(&self, known: &[Option<Value>], place: &Leaf) -> Option<Loc> {
        match place {
            Leaf::Reg(_) => None,
            Leaf::Loc(loc) => Some(*loc),
            Leaf::Element(base, len, index) => {
                let index = u32::try_from(self.value(known, index)?).ok()?;
                (index < *len).then(|| Loc::from_index(base.index() + index as usize))
            }
        }
    }

    /// Returns the value of an expression, if it is known.
    fn value(&self, known: &[Option<Value>], expr: &Expr<Leaf>) -> Option<Value> {
        let leaf = |leaf: &Leaf| {
            let at = match leaf {
                Leaf::Reg(reg) => Some(reg.index()),
                Leaf::Loc(_) | Leaf::Element(..) => {
                    self.location(known, leaf).and_then(|loc| self.own.get(&loc).copied())
                }
            };
            at.and_then(|at| known[at]).map_or_else(|| Expr::Var(()), Expr::Const)
        };
        substitute(expr, &leaf).fold().as_const()
    }
}

/// Orders a graph such that edges lead forward. None if the graph has a cycle.
fn topological_order(successors: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut incoming = vec![0usize; successors.len()];
    for to in successors.iter().flatten() {
        incoming[*to] += 1;
    }
    let mut order: Vec<usize> = (0..successors.len()).filter(|at| incoming[*at] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for to in &successors[order[next]] {
            incoming[*to] -= 1;
            if incoming[*to] == 0 {
                order.push(*to);
            }
        }
        next += 1;
    }
    (order.len() == successors.len()).then_some(order)
}

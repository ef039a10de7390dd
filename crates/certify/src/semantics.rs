//! The steps of a state: every statement of every thread, in every way it can go, and every commit.
//!
//! Each statement is a step of its own, local ones too; only `atomic` blocks run as one. Source: the
//! book's pages "What a program means" and "Abstract store buffers". Direction: as the latter's.

use std::convert::Infallible;

use fencepost_ir::{Fault, Loc, Op, Pc, PoolId, Program, Thread, ThreadId, Value, operations};

use crate::buffer::{How, Rules};
use crate::format::{CertState, CertThread};

/// An `atomic` or `init` block may run this many statements.
const LONGEST_BLOCK: u32 = 100_000;
/// An `atomic` or `init` block may have this many combinations of choices.
const MOST_WAYS: u64 = 65_536;

/// The meaning of a program under an abstraction.
pub(crate) struct Semantics<'a> {
    pub(crate) program: &'a Program,
    pub(crate) rules: Rules,
    /// For each location that is a record's field: where `allocated` tells of its record.
    cell_at: Vec<Option<usize>>,
    /// For each pool: where `allocated` begins to tell of its records.
    pool_at: Vec<usize>,
    /// For each thread and program counter: how many operations the thread has returned from.
    pub(crate) returned: Vec<Vec<usize>>,
}

/// What happens in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A statement of a thread; where there are several ways, the value that was chosen or read.
    Statement { thread: ThreadId, pc: Pc, picked: Option<Value> },
    /// A pending store of a thread takes effect.
    Commit { thread: ThreadId, loc: Loc, value: Value, how: How },
}

/// Why a step ends the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    Fault(Fault),
    Assertion,
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Wrong {
        Wrong::Fault(fault)
    }
}

/// A step that ends the run; the statement is told because it may be inside of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) pc: Pc,
    pub(crate) wrong: Wrong,
}

/// What comes of a step.
pub(crate) type After = Result<CertState, Failure>;

impl<'a> Semantics<'a> {
    pub(crate) fn new(program: &'a Program, rules: Rules) -> Self {
        let mut pool_at = Vec::new();
        let mut cells = 0;
        for pool in &program.pools {
            pool_at.push(cells);
            cells += pool.cells as usize;
        }
        let cell_at = (0..program.locations.len()).map(|at| {
            let (pool, cell) = program.cell_of(Loc::from_index(at))?;
            Some(pool_at[pool.index()] + cell as usize)
        });
        let returned = program.threads.iter().map(|thread| {
            let passed = operations::returned(thread).expect("the program is well-formed");
            passed.iter().map(Vec::len).collect()
        });
        let (cell_at, returned) = (cell_at.collect(), returned.collect());
        Semantics { program, rules, cell_at, pool_at, returned }
    }

    /// Where `allocated` tells of a pool's records.
    pub(crate) fn cells_of(&self, pool: PoolId) -> std::ops::Range<usize> {
        let first = self.pool_at[pool.index()];
        first..first + self.program.pool(pool).cells as usize
    }

    /// How many records there are.
    pub(crate) fn cells(&self) -> usize {
        self.program.pools.iter().map(|pool| pool.cells as usize).sum()
    }

    /// A location must not be a field of a record that is not allocated.
    pub(crate) fn live(&self, state: &CertState, loc: Loc) -> Result<(), Fault> {
        match self.cell_at[loc.index()] {
            Some(cell) if !state.allocated[cell] => Err(Fault::UseAfterFree),
            Some(_) | None => Ok(()),
        }
    }

    /// Calls `visit` on every way to begin: memory as `init` leaves it, all threads at their beginning.
    pub(crate) fn for_each_initial<E>(
        &self,
        visit: &mut impl FnMut(After) -> Result<(), E>,
    ) -> Result<(), E> {
        let begin = |thread: &Thread| CertThread {
            pc: Pc(0),
            registers: vec![0; thread.registers.len()],
            epoch: 0,
            head: Vec::new(),
            set: Vec::new(),
        };
        let mut start = CertState {
            memory: self.program.locations.iter().map(|location| location.init).collect(),
            allocated: vec![false; self.cells()],
            threads: Vec::new(),
        };
        let threads: Vec<CertThread> = self.program.threads.iter().map(begin).collect();
        let Some(init) = &self.program.init else {
            start.threads = threads;
            return visit(Ok(start));
        };
        start.threads = vec![begin(init)];
        for end in self.block(init, start, 0) {
            visit(end.map(|state| CertState { threads: threads.clone(), ..state }))?;
        }
        Ok(())
    }

    /// Calls `visit` on every step of a state, until it returns an error.
    pub(crate) fn for_each_step<E>(
        &self,
        state: &CertState,
        visit: &mut impl FnMut(Event, After) -> Result<(), E>,
    ) -> Result<(), E> {
        for (me, own) in state.threads.iter().enumerate() {
            let (thread, pc) = (ThreadId::from_index(me), own.pc);
            let code = self.program.thread(thread);
            self.for_each_way(self.rules, code, state, me, &mut |picked, after| {
                visit(Event::Statement { thread, pc, picked }, after)
            })?;
            self.rules.for_each_commit(own, &mut |commit| {
                let event =
                    Event::Commit { thread, loc: commit.loc, value: commit.value, how: commit.how };
                if let Err(fault) = self.live(state, commit.loc) {
                    return visit(event, Err(Failure { pc, wrong: fault.into() }));
                }
                let mut after = state.clone();
                after.memory[commit.loc.index()] = commit.value;
                after.threads[me] = commit.after;
                visit(event, Ok(after))
            })?;
        }
        Ok(())
    }

    /// Calls `visit` on every way a thread's next statement can go; on none when it is not enabled.
    fn for_each_way<E>(
        &self,
        rules: Rules,
        code: &Thread,
        state: &CertState,
        me: usize,
        visit: &mut impl FnMut(Option<Value>, After) -> Result<(), E>,
    ) -> Result<(), E> {
        let own = &state.threads[me];
        let pc = own.pc;
        let stmt = code.stmt(pc);
        let failed = |wrong| Failure { pc, wrong };
        let mut put = |reg, value| {
            let mut after = state.clone();
            after.threads[me].pc = stmt.next;
            let put = self.put(code, &mut after.threads[me], reg, value);
            visit(Some(value), put.map(|()| after).map_err(|fault| failed(fault.into())))
        };
        match &stmt.op {
            Op::Choose { reg, lo, hi } => (*lo..=*hi).try_for_each(|value| put(*reg, value)),
            Op::Load { reg, from } => match self.readable(rules, state, me, from) {
                Ok(values) => values.into_iter().try_for_each(|value| put(*reg, value)),
                Err(fault) => visit(None, Err(failed(fault.into()))),
            },
            Op::AtomicBegin => {
                if !own.nothing_pending() {
                    return Ok(());
                }
                let mut inside = state.clone();
                inside.threads[me].pc = stmt.next;
                self.block(code, inside, me).into_iter().try_for_each(|end| visit(None, end))
            }
            Op::Skip
            | Op::Assign { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => match self.execute(rules, code, state, me) {
                Ok(Some(after)) => visit(None, Ok(after)),
                Ok(None) => Ok(()),
                Err(wrong) => visit(None, Err(failed(wrong))),
            },
        }
    }

    /// Runs a block from its first statement to its end, directly on memory, in all ways its choices go.
    /// A way on which an `assume` does not hold is none.
    fn block(&self, code: &Thread, start: CertState, me: usize) -> Vec<After> {
        let rules = self.rules.direct();
        let mut ends = Vec::new();
        let mut ways = 1;
        let mut open = vec![(start, 0)];
        while let Some((mut state, statements)) = open.pop() {
            let pc = state.threads[me].pc;
            let stmt = code.stmt(pc);
            let endless = Failure { pc, wrong: Fault::Endless.into() };
            if matches!(stmt.op, Op::AtomicEnd | Op::Halt) {
                state.threads[me].pc = stmt.next;
                ends.push(Ok(state));
                continue;
            }
            if let Op::Choose { lo, hi, .. } = &stmt.op {
                ways += u64::from(hi.abs_diff(*lo));
            }
            if ways > MOST_WAYS {
                return vec![Err(endless)];
            }
            if statements == LONGEST_BLOCK {
                ends.push(Err(endless));
                continue;
            }
            let Ok(()) = self.for_each_way(rules, code, &state, me, &mut |_, after| {
                match after {
                    Ok(after) => open.push((after, statements + 1)),
                    Err(failure) => ends.push(Err(failure)),
                }
                Ok::<(), Infallible>(())
            });
        }
        ends
    }
}

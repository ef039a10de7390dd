//! The steps of a state: every statement of every thread, with all its alternatives, and every
//! commit.
//!
//! Each statement is a separate step, including local statements. Only an `atomic` block is one
//! step.
//! Source: the book's pages "Semantics" and "Abstract store buffers". Direction: over-approximation
//! of the exact model, as defined in "Abstract store buffers".

use std::convert::Infallible;

use fencepost_ir::{Fault, Loc, Op, Pc, PoolId, Program, Thread, ThreadId, Value, operations};

use crate::buffer::{CommitKind, Rules};
use crate::format::{CertState, CertThread};

/// The maximum number of statements executed in an `atomic` or `init` block.
const MAX_BLOCK_STATEMENTS: u32 = 100_000;
/// The maximum number of combinations of choices in an `atomic` or `init` block.
const MAX_ALTERNATIVES: u64 = 65_536;

/// The transition system of a program under an abstraction.
pub(crate) struct Semantics<'a> {
    pub(crate) program: &'a Program,
    pub(crate) rules: Rules,
    /// By location: the index in `allocated` of its record; `None` if the location is not in a
    /// record.
    cell_index: Vec<Option<usize>>,
    /// By pool: the index in `allocated` of its first record.
    first_cell: Vec<usize>,
    /// By thread and program counter: the number of operations that the thread has returned from.
    pub(crate) returned_operations: Vec<Vec<usize>>,
}

/// The event of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A statement of a thread. `chosen` is the value of a choice or a load.
    Statement { thread: ThreadId, pc: Pc, chosen: Option<Value> },
    /// A commit of a pending store of a thread.
    Commit { thread: ThreadId, loc: Loc, value: Value, kind: CommitKind },
}

/// The kind of a step failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailureKind {
    Fault(Fault),
    Assertion,
}

impl From<Fault> for FailureKind {
    fn from(fault: Fault) -> FailureKind {
        FailureKind::Fault(fault)
    }
}

/// A fault or failed assertion in a step. The failing statement `pc` may be inside a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StepFailure {
    pub(crate) pc: Pc,
    pub(crate) kind: FailureKind,
}

/// The successor state of a step, or its failure.
pub(crate) type StepResult = Result<CertState, StepFailure>;

impl<'a> Semantics<'a> {
    pub(crate) fn new(program: &'a Program, rules: Rules) -> Self {
        let mut first_cell = Vec::new();
        let mut cells = 0;
        for pool in &program.pools {
            first_cell.push(cells);
            cells += pool.cells as usize;
        }
        let cell_index = (0..program.locations.len()).map(|at| {
            let (pool, cell) = program.cell_of(Loc::from_index(at))?;
            Some(first_cell[pool.index()] + cell as usize)
        });
        let returned_operations = program.threads.iter().map(|thread| {
            let returned =
                operations::returned_operations(thread).expect("the program must be well-formed");
            returned.iter().map(Vec::len).collect()
        });
        let (cell_index, returned_operations) =
            (cell_index.collect(), returned_operations.collect());
        Semantics { program, rules, cell_index, first_cell, returned_operations }
    }

    /// Returns the indices in `allocated` of the records of a pool.
    pub(crate) fn cell_range(&self, pool: PoolId) -> std::ops::Range<usize> {
        let first = self.first_cell[pool.index()];
        first..first + self.program.pool(pool).cells as usize
    }

    /// Returns the number of records of all pools.
    pub(crate) fn cell_count(&self) -> usize {
        self.program.pools.iter().map(|pool| pool.cells as usize).sum()
    }

    /// Returns a fault if the location is a field of a record that is not allocated.
    pub(crate) fn check_allocated(&self, state: &CertState, loc: Loc) -> Result<(), Fault> {
        match self.cell_index[loc.index()] {
            Some(cell) if !state.allocated[cell] => Err(self.program.access_fault(loc)),
            Some(_) | None => Ok(()),
        }
    }

    /// Calls `visit` for every initial state: memory after `init`, all threads at their first
    /// statement.
    pub(crate) fn for_each_initial<E>(
        &self,
        visit: &mut impl FnMut(StepResult) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_initial_with(None, visit)
    }

    /// Calls `visit` for the initial state after these choices in `init`, or for every initial
    /// state.
    pub(crate) fn for_each_initial_with<E>(
        &self,
        choices: Option<&[u32]>,
        visit: &mut impl FnMut(StepResult) -> Result<(), E>,
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
            allocated: vec![false; self.cell_count()],
            threads: Vec::new(),
        };
        let threads: Vec<CertThread> = self.program.threads.iter().map(begin).collect();
        let Some(init) = &self.program.init else {
            start.threads = threads;
            return visit(Ok(start));
        };
        start.threads = vec![begin(init)];
        for end in self.run_block(init, start, 0, choices) {
            visit(end.map(|state| CertState { threads: threads.clone(), ..state }))?;
        }
        Ok(())
    }

    /// Calls `visit` for every step of a state, until it returns an error.
    pub(crate) fn for_each_step<E>(
        &self,
        state: &CertState,
        visit: &mut impl FnMut(Event, StepResult) -> Result<(), E>,
    ) -> Result<(), E> {
        for (thread_index, thread_state) in state.threads.iter().enumerate() {
            let (thread, pc) = (ThreadId::from_index(thread_index), thread_state.pc);
            self.for_each_statement(state, thread_index, &mut |chosen, after| {
                visit(Event::Statement { thread, pc, chosen }, after)
            })?;
            self.rules.for_each_commit(thread_state, &mut |commit| {
                let event = Event::Commit {
                    thread,
                    loc: commit.loc,
                    value: commit.value,
                    kind: commit.kind,
                };
                if let Err(fault) = self.check_allocated(state, commit.loc) {
                    return visit(event, Err(StepFailure { pc, kind: fault.into() }));
                }
                let mut after = state.clone();
                after.memory[commit.loc.index()] = commit.value;
                after.threads[thread_index] = commit.after;
                visit(event, Ok(after))
            })?;
        }
        Ok(())
    }

    /// Calls `visit` for every alternative of a thread's next statement, with the value that it
    /// chooses or loads; not at all if the statement is not enabled.
    pub(crate) fn for_each_statement<E>(
        &self,
        state: &CertState,
        thread_index: usize,
        visit: &mut impl FnMut(Option<Value>, StepResult) -> Result<(), E>,
    ) -> Result<(), E> {
        let code = &self.program.threads[thread_index];
        self.for_each_alternative(self.rules, code, state, thread_index, visit)
    }

    /// Calls `visit` for every alternative of the next statement of `code`, under these rules.
    fn for_each_alternative<E>(
        &self,
        rules: Rules,
        code: &Thread,
        state: &CertState,
        thread_index: usize,
        visit: &mut impl FnMut(Option<Value>, StepResult) -> Result<(), E>,
    ) -> Result<(), E> {
        let thread_state = &state.threads[thread_index];
        let pc = thread_state.pc;
        let stmt = code.stmt(pc);
        let failed = |kind| StepFailure { pc, kind };
        let mut write_and_visit = |reg, value| {
            let mut after = state.clone();
            after.threads[thread_index].pc = stmt.next;
            let written = self.write_register(code, &mut after.threads[thread_index], reg, value);
            visit(Some(value), written.map(|()| after).map_err(|fault| failed(fault.into())))
        };
        match &stmt.op {
            Op::Choose { reg, lo, hi } => {
                (*lo..=*hi).try_for_each(|value| write_and_visit(*reg, value))
            }
            Op::Load { reg, from } => {
                match self.readable_values(rules, state, thread_index, from) {
                    Ok(values) => {
                        values.into_iter().try_for_each(|value| write_and_visit(*reg, value))
                    }
                    Err(fault) => visit(None, Err(failed(fault.into()))),
                }
            }
            Op::AtomicBegin => {
                if !thread_state.has_no_pending_store() {
                    return Ok(());
                }
                let mut inside = state.clone();
                inside.threads[thread_index].pc = stmt.next;
                self.run_block(code, inside, thread_index, None)
                    .into_iter()
                    .try_for_each(|end| visit(None, end))
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
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => match self.execute(rules, code, state, thread_index) {
                Ok(Some(after)) => visit(None, Ok(after)),
                Ok(None) => Ok(()),
                Err(kind) => visit(None, Err(failed(kind))),
            },
        }
    }

    /// Executes a block from its first statement to its end, directly on memory, for all
    /// combinations of choices, or for the given combination. A choice is the number of its
    /// alternative, from 0. A combination where an `assume` does not hold has no result.
    pub(crate) fn run_block(
        &self,
        code: &Thread,
        start: CertState,
        thread_index: usize,
        choices: Option<&[u32]>,
    ) -> Vec<StepResult> {
        let rules = self.rules.without_buffers();
        let mut ends = Vec::new();
        let mut alternatives = 1;
        // State, number of executed statements, number of choices made.
        let mut worklist = vec![(start, 0, 0)];
        while let Some((mut state, statements, chosen)) = worklist.pop() {
            let pc = state.threads[thread_index].pc;
            let stmt = code.stmt(pc);
            let endless = StepFailure { pc, kind: Fault::BlockTooLong.into() };
            if matches!(stmt.op, Op::AtomicEnd | Op::Halt) {
                state.threads[thread_index].pc = stmt.next;
                if choices.is_none_or(|choices| choices.len() == chosen) {
                    ends.push(Ok(state));
                }
                continue;
            }
            let mut only = None;
            let mut chosen_after = chosen;
            if let Op::Choose { lo, hi, .. } = &stmt.op {
                alternatives += hi.abs_diff(*lo);
                chosen_after += 1;
                if let Some(choices) = choices {
                    let Some(choice) = choices.get(chosen) else { continue };
                    let Some(value) = alternative(*lo, *hi, *choice) else { continue };
                    only = Some(value);
                }
            }
            if alternatives > MAX_ALTERNATIVES {
                return vec![Err(endless)];
            }
            if statements == MAX_BLOCK_STATEMENTS {
                ends.push(Err(endless));
                continue;
            }
            let Ok(()) = self.for_each_alternative(
                rules,
                code,
                &state,
                thread_index,
                &mut |value, after| {
                    if only.is_some() && value != only {
                        return Ok::<(), Infallible>(());
                    }
                    match after {
                        Ok(after) => worklist.push((after, statements + 1, chosen_after)),
                        Err(failure) => ends.push(Err(failure)),
                    }
                    Ok(())
                },
            );
        }
        ends
    }
}

/// Returns the value of an alternative of `choose`, numbered from 0, if it exists.
pub(crate) fn alternative(lo: Value, hi: Value, number: u32) -> Option<Value> {
    lo.checked_add(number.into()).filter(|value| *value <= hi)
}

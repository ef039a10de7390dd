//! Execution of statements: control flow, registers, records, atomic blocks.

use super::choice::Choices;
use super::direct::Block;
use super::{Machine, StepResult};
use crate::address::check_limits;
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::{IssueResult, MemoryModel, StepFailure};
use crate::state::State;
use fencepost_ir::{Expr, Fault, Op, Pc, Reg, Stmt, ThreadId, Value};

/// The maximal number of local statements that one step executes. Because of this limit, an
/// infinite loop without shared accesses takes many finite steps, not one infinite step.
const MAX_FUSED_STATEMENTS: usize = 1_000;

/// The result of a local statement.
pub(super) enum LocalResult {
    /// Control continues at this program counter.
    Next(Pc),
    /// An assumption does not hold.
    Blocked,
    /// The value of a register is not known yet.
    UnknownRegister,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Executes the next statement of a thread and the local statements after it. If the step is
    /// not taken or fails, the contents of `state` are unspecified.
    #[inline]
    pub fn run(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        if self.is_issued_late(state, t) {
            return self.run_late(state, t, choices, recorder);
        }
        self.run_statement(state, t, choices, recorder)
    }

    /// Executes the next statement of a thread and the local statements after it, without
    /// [late issue](super::late_issue).
    #[inline]
    pub(super) fn run_statement(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        let pc = state.pcs[t.index()];
        let stmt = self.shape.stmt(t, pc);
        let failure = |fault| StepFailure { fault: Some(fault), label: Some(stmt.label) };
        let event = |kind| Event {
            thread: t,
            label: Some(stmt.label),
            pc: Some(pc),
            earlier_pending: None,
            kind,
        };
        if self.repeats_spin_iteration(state, t, pc) {
            return Ok(StepResult::Blocked);
        }
        let next = match &stmt.op {
            Op::Halt | Op::AtomicEnd => return Ok(StepResult::Blocked),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Drain(_)
            | Op::Fence(_) => {
                let alternatives = self.model.alternatives(&self.shape, state, t, pc);
                let alternative = if alternatives > 1 { choices.choose(alternatives) } else { 0 };
                match self.model.issue(&self.shape, state, t, pc, alternative, recorder)? {
                    IssueResult::Done => stmt.next,
                    IssueResult::Blocked => return Ok(StepResult::Blocked),
                    IssueResult::BoundReached => return Ok(StepResult::BoundReached),
                }
            }
            Op::Choose { reg, lo, hi } => {
                let value = choose_in_range(choices, *lo, *hi);
                match self.assign(state, t, *reg, value) {
                    Ok(()) => {}
                    Err(_) if self.hides_failures(state, t) => return Ok(StepResult::Blocked),
                    Err(fault) => return Err(failure(fault)),
                }
                recorder.record_with(|| event(EventKind::Set { reg: *reg, value }));
                stmt.next
            }
            Op::New { .. } | Op::Free { .. } if self.must_resolve_guesses(state, t) => {
                return Ok(StepResult::Blocked);
            }
            Op::New { reg, pool } => {
                if !self.model.may_allocate(&self.shape, &state.pending, t) {
                    return Ok(StepResult::Blocked);
                }
                let reference = self.shape.allocate(&mut state.memory, *pool).map_err(failure)?;
                self.assign(state, t, *reg, reference).map_err(failure)?;
                recorder.record_with(|| event(EventKind::New(reference)));
                stmt.next
            }
            Op::Free { pool, cell } => {
                if !self.model.are_registers_known(state, t, &self.shape.thread(t).uses[pc.index()])
                {
                    return Ok(StepResult::Blocked);
                }
                let reference = self.eval(state, t, cell).map_err(failure)?;
                if reference == 0 {
                    return Err(failure(Fault::NullReference));
                }
                let index = self.shape.cell_index(*pool, reference);
                if !self.model.has_no_pending_access_to(&self.shape, &mut state.pending, t, index)
                    || !self.model.may_allocate(&self.shape, &state.pending, t)
                {
                    return Ok(StepResult::Blocked);
                }
                if !state.memory.allocated[index] {
                    return Err(failure(Fault::DoubleFree));
                }
                state.memory.allocated[index] = false;
                recorder.record_with(|| event(EventKind::Free(reference)));
                stmt.next
            }
            Op::Invoke { seen } => {
                for (other, reg) in seen {
                    let returned = self.returned(state, *other);
                    self.assign(state, t, *reg, returned).map_err(failure)?;
                }
                recorder.record_with(|| event(EventKind::Skip));
                stmt.next
            }
            Op::Join => {
                if !self.others_finished(state, t) {
                    return Ok(StepResult::Blocked);
                }
                recorder.record_with(|| event(EventKind::Skip));
                stmt.next
            }
            Op::SectionBegin { held, index, .. } => {
                let is_seen = self.may_be_seen(state, t);
                match self.begin_section(state, t, *held, *index) {
                    Ok(()) => {}
                    Err(_) if self.hides_failures(state, t) => return Ok(StepResult::Blocked),
                    Err(fault) => return Err(failure(fault)),
                }
                recorder.record_with(|| event(EventKind::SectionBegin));
                state.pcs[t.index()] = stmt.next;
                let finished = self.finish_step(state, t, false, recorder)?;
                let runs_access = finished == StepResult::Taken && is_seen;
                if runs_access && self.reductions.fuse && !self.issues_late(t) {
                    return self.run_access(state, t, recorder);
                }
                return Ok(finished);
            }
            Op::SectionEnd { .. } => match self.end_section(state, t, pc, recorder)? {
                LocalResult::Next(next) => next,
                LocalResult::Blocked | LocalResult::UnknownRegister => {
                    return Ok(StepResult::Blocked);
                }
            },
            Op::GracePeriod { .. } => match self.poll(state, t, pc).map_err(failure)? {
                Some(next) => {
                    recorder.record_with(|| event(EventKind::GracePeriod { ends: next != pc }));
                    next
                }
                None => return Ok(StepResult::Blocked),
            },
            Op::Leave => {
                recorder.record_with(|| event(EventKind::Leave));
                stmt.next
            }
            Op::AtomicBegin => {
                if !self.model.is_drained(&mut state.pending, t) {
                    return Ok(StepResult::Blocked);
                }
                recorder.record_with(|| event(EventKind::AtomicBegin));
                match self.run_atomic(state, t, stmt.next, choices, recorder)? {
                    Some(next) => next,
                    None => return Ok(StepResult::Blocked),
                }
            }
            Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. } => match self.local(state, t, pc, recorder)? {
                LocalResult::Next(next) => next,
                LocalResult::Blocked => return Ok(StepResult::Blocked),
                LocalResult::UnknownRegister => {
                    let is_control = matches!(stmt.op, Op::Branch { .. } | Op::Assume(_));
                    let (issued, next) = if is_control {
                        self.guess(state, t, pc, choices, recorder)?
                    } else {
                        (self.defer(state, t, pc, recorder)?, stmt.next)
                    };
                    match issued {
                        IssueResult::Done => next,
                        IssueResult::Blocked => return Ok(StepResult::Blocked),
                        IssueResult::BoundReached => return Ok(StepResult::BoundReached),
                    }
                }
            },
        };
        state.pcs[t.index()] = next;
        self.finish_step(state, t, true, recorder)
    }

    /// Completes a step: executes local statements, fetches the statements that the model fetches
    /// eagerly, takes prompt steps, and clears dead registers. The step is blocked if a prompt step
    /// refutes a guess. `is_fetched` says whether the last statement may have become pending.
    #[inline]
    pub(super) fn finish_step(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        mut is_fetched: bool,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        if self.reductions.fuse {
            for _ in 0..MAX_FUSED_STATEMENTS {
                if is_fetched && !self.take_prompt_step(state, t, recorder)? {
                    return Ok(StepResult::Blocked);
                }
                is_fetched = false;
                let pc = state.pcs[t.index()];
                let stmt = self.shape.stmt(t, pc);
                if self.may_repeat_spin_iteration(state, t, pc) {
                    break;
                }
                let next = if stmt.op.is_local() && !matches!(stmt.op, Op::Choose { .. }) {
                    match self.local(state, t, pc, recorder)? {
                        LocalResult::Next(next) => next,
                        LocalResult::Blocked => break,
                        LocalResult::UnknownRegister => match self.defer(state, t, pc, recorder)? {
                            IssueResult::Done => stmt.next,
                            IssueResult::Blocked | IssueResult::BoundReached => break,
                        },
                    }
                } else if matches!(stmt.op, Op::SectionEnd { .. }) {
                    match self.end_section(state, t, pc, recorder)? {
                        LocalResult::Next(next) => next,
                        LocalResult::Blocked | LocalResult::UnknownRegister => break,
                    }
                } else if self.model.is_fetched_eagerly(&stmt.op)
                    && !(self.model.becomes_pending(&stmt.op) && self.may_be_seen(state, t))
                {
                    is_fetched = true;
                    match self.model.issue(&self.shape, state, t, pc, 0, recorder)? {
                        IssueResult::Done => stmt.next,
                        IssueResult::Blocked | IssueResult::BoundReached => break,
                    }
                } else {
                    break;
                };
                state.pcs[t.index()] = next;
            }
        }
        if self.reductions.clear_dead {
            for reg in &self.shape.thread(t).dead[state.pcs[t.index()].index()] {
                self.model.clear_register(&self.shape, state, t, *reg);
            }
        }
        Ok(StepResult::Taken)
    }

    /// Returns whether all other threads have halted and have nothing pending. Under a symbolic
    /// model, keeps only the contents for which that holds.
    fn others_finished(&self, state: &mut State<M::Pending>, t: ThreadId) -> bool {
        self.shape.program().thread_ids().filter(|other| *other != t).all(|other| {
            self.has_halted(other, state.pcs[other.index()])
                && self.model.is_drained(&mut state.pending, other)
        })
    }

    /// Returns how many of a thread's operations have returned: control has passed their ends, and
    /// their results are known.
    fn returned(&self, state: &State<M::Pending>, t: ThreadId) -> Value {
        let control_point = self.model.control_point(&self.shape, state, t);
        let passed = &self.shape.thread(t).returned[control_point.index()];
        let known = |result: &&Option<Reg>| {
            result.is_none_or(|reg| self.model.are_registers_known(state, t, &[reg]))
        };
        passed.iter().take_while(known).count() as Value
    }

    /// Lets the model defer an assignment or assertion whose registers are not known yet.
    fn defer(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, StepFailure> {
        match self.shape.stmt(t, pc).op {
            Op::Assign { .. } | Op::Assert(_) => {
                self.model.issue(&self.shape, state, t, pc, 0, recorder)
            }
            // Control waits for its registers, or a separate step guesses.
            Op::Skip
            | Op::Choose { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => Ok(IssueResult::Blocked),
        }
    }

    #[inline]
    fn local(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        recorder: &mut dyn EventRecorder,
    ) -> Result<LocalResult, StepFailure> {
        let stmt = self.shape.stmt(t, pc);
        if let Op::Branch { then, .. } = stmt.op
            && self.model.has_ordered_accesses()
            && self.shape.thread(t).is_implied[pc.index()]
        {
            return Ok(LocalResult::Next(then));
        }
        if !self.model.are_registers_known(state, t, &self.shape.thread(t).uses[pc.index()]) {
            return Ok(LocalResult::UnknownRegister);
        }
        let hides_failures = self.hides_failures(state, t);
        if hides_failures
            && let Op::Assert(cond) = &stmt.op
            && self.eval(state, t, cond) == Ok(0)
        {
            return Ok(LocalResult::Blocked);
        }
        let registers = &mut state.registers[self.shape.thread(t).registers..];
        let limits = &self.shape.thread(t).register_limits;
        let event = |kind| Event {
            thread: t,
            label: Some(stmt.label),
            pc: Some(pc),
            earlier_pending: None,
            kind,
        };
        let result = match execute_local(stmt, registers, limits, |kind| {
            recorder.record_with(|| event(kind))
        }) {
            Ok(result) => result,
            Err(_) if hides_failures => return Ok(LocalResult::Blocked),
            Err(failure) => return Err(failure),
        };
        if let Op::Assign { reg, .. } = stmt.op {
            self.model.define_register(&self.shape, state, t, reg);
        }
        Ok(result)
    }

    pub(super) fn eval(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        e: &Expr<Reg>,
    ) -> Result<Value, Fault> {
        e.eval(&|reg| state.register(&self.shape, t, *reg))
    }

    pub(super) fn assign(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        reg: Reg,
        value: Value,
    ) -> Result<(), Fault> {
        let value = check_limits(self.shape.thread(t).register_limits[reg.index()], value)?;
        state.registers[self.shape.register(t, reg)] = value;
        self.model.define_register(&self.shape, state, t, reg);
        Ok(())
    }

    /// Runs the inside of an atomic block directly on memory. Returns the program counter after the
    /// block, or `None` if the block is blocked.
    fn run_atomic(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        from: Pc,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<Option<Pc>, StepFailure> {
        let shape = self.shape.thread(t);
        let thread = self.shape.program().thread(t);
        let registers = shape.registers..shape.registers + thread.registers.len();
        let block = Block { thread, id: Some(t), limits: &shape.register_limits };
        self.shape.run_directly(
            &block,
            from,
            &mut state.registers[registers],
            &mut state.memory,
            choices,
            recorder,
        )
    }

    /// Runs the `init` block. Returns false if the block is blocked.
    pub(super) fn run_init(
        &self,
        state: &mut State<M::Pending>,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        let program = self.shape.program();
        let Some(init) = &program.init else {
            return Ok(true);
        };
        Ok(self.shape.run_alone(init, &mut state.memory, choices, recorder)?.is_some())
    }
}

/// Chooses a value from a range, both ends included.
pub(super) fn choose_in_range(choices: &mut Choices, lo: Value, hi: Value) -> Value {
    // A range has at most as many values as fit: `validate` checks it.
    lo + Value::from(choices.choose(hi.abs_diff(lo) as u32 + 1))
}

/// Executes a local statement on a thread's registers.
#[inline]
pub(super) fn execute_local(
    stmt: &Stmt,
    registers: &mut [Value],
    limits: &[Option<(Value, Value)>],
    mut event: impl FnMut(EventKind),
) -> Result<LocalResult, StepFailure> {
    let failure = |fault| StepFailure { fault: Some(fault), label: Some(stmt.label) };
    let eval = |e: &Expr<Reg>| e.eval(&|reg| registers[reg.index()]).map_err(failure);
    match &stmt.op {
        Op::Skip | Op::Return { .. } => {
            event(EventKind::Skip);
            Ok(LocalResult::Next(stmt.next))
        }
        Op::Assign { reg, expr } => {
            let value = check_limits(limits[reg.index()], eval(expr)?).map_err(failure)?;
            event(EventKind::Set { reg: *reg, value });
            registers[reg.index()] = value;
            Ok(LocalResult::Next(stmt.next))
        }
        Op::Branch { cond, then, otherwise } => {
            let holds = eval(cond)? != 0;
            event(EventKind::Test(holds));
            Ok(LocalResult::Next(if holds { *then } else { *otherwise }))
        }
        Op::Assume(cond) => {
            if eval(cond)? == 0 {
                return Ok(LocalResult::Blocked);
            }
            event(EventKind::Test(true));
            Ok(LocalResult::Next(stmt.next))
        }
        Op::Assert(cond) => {
            let holds = eval(cond)? != 0;
            event(EventKind::Test(holds));
            if holds {
                Ok(LocalResult::Next(stmt.next))
            } else {
                Err(StepFailure { fault: None, label: Some(stmt.label) })
            }
        }
        Op::Choose { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => unreachable!("only local statements are executed here"),
    }
}

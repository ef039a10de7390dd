//! The interpreter for lowered code.

use fencepost_ir::{Address, BinOp, CasResult, Op, Problem, Reg, Thread, Update, Value, wrap_into};

use super::{Abort, RunResult, STEP_LIMIT};

/// Runs the lowered code of `init` and then of the first thread.
pub(in crate::fp) fn run_code(problem: &Problem) -> RunResult {
    let program = &problem.program;
    let used = program.pools.iter().map(|p| vec![false; p.cells as usize]).collect();
    let memory = program.locations.iter().map(|l| l.init).collect();
    let mut machine = Machine { problem, memory, used, choices: 0 };
    if let Some(init) = &program.init
        && let Err(abort) = machine.run(init)
    {
        return abort.into();
    }
    let thread = &program.threads[0];
    match machine.run(thread) {
        Ok(registers) => {
            let named = registers.into_iter().zip(&thread.registers);
            let named = named.filter(|(_, r)| !r.is_temporary() && !r.name.contains('.'));
            RunResult::Done(machine.memory, named.map(|(value, _)| value).collect())
        }
        Err(abort) => abort.into(),
    }
}

struct Machine<'a> {
    problem: &'a Problem,
    memory: Vec<Value>,
    used: Vec<Vec<bool>>,
    /// The number of choices so far.
    choices: Value,
}

impl Machine<'_> {
    fn run(&mut self, thread: &Thread) -> Result<Vec<Value>, Abort> {
        let mut registers: Vec<Value> = vec![0; thread.registers.len()];
        let mut pc = fencepost_ir::Pc(0);
        for _ in 0..STEP_LIMIT {
            let stmt = thread.stmt(pc);
            let eval = |e: &fencepost_ir::Expr<Reg>| e.eval(&|r: &Reg| registers[r.index()]);
            let mut next = stmt.next;
            let mut set = None;
            match &stmt.op {
                Op::Skip | Op::Fence(_) | Op::Leave | Op::AtomicBegin | Op::AtomicEnd => {}
                // There is only one thread.
                Op::Invoke { .. } | Op::Return { .. } | Op::Join => {}
                Op::Assign { reg, expr } => set = Some((*reg, eval(expr)?)),
                Op::Load { reg, from } => {
                    let at = self.locate(from, &registers)?;
                    set = Some((*reg, self.memory[at]));
                }
                Op::Store { to, value } => {
                    let at = self.locate(to, &registers)?;
                    self.memory[at] = eval(value)?;
                }
                Op::Update { reg, at, update } => {
                    let at = self.locate(at, &registers)?;
                    let old = self.memory[at];
                    let (new, yields) = match update {
                        Update::Cas { expected, new, result } => {
                            let (hit, new) = (eval(expected)? == old, eval(new)?);
                            let yields = match result {
                                CasResult::Success => Value::from(hit),
                                CasResult::Old => old,
                            };
                            (if hit { new } else { old }, yields)
                        }
                        Update::Swap { new } => (eval(new)?, old),
                        Update::Add { by, wrap: None } => (BinOp::Add.apply(old, eval(by)?)?, old),
                        Update::Add { by, wrap: Some(range) } => {
                            (wrap_into(i128::from(old) + i128::from(eval(by)?), *range), old)
                        }
                        Update::Bits { op, by } => (op.apply(old, eval(by)?)?, old),
                    };
                    self.memory[at] = new;
                    set = reg.map(|reg| (reg, yields));
                }
                Op::Drain(at) => {
                    self.locate(at, &registers)?;
                }
                Op::Branch { cond, then, otherwise } => {
                    next = if eval(cond)? != 0 { *then } else { *otherwise };
                }
                Op::Assume(cond) => {
                    if eval(cond)? == 0 {
                        return Err(Abort::Blocked);
                    }
                }
                Op::Assert(cond) => {
                    eval(cond)?;
                }
                Op::New { reg, pool } => {
                    let used = &mut self.used[pool.index()];
                    let at = used.iter().position(|used| !used).ok_or(Abort::Fault)?;
                    used[at] = true;
                    let info = self.problem.program.pool(*pool);
                    let base = info.base.index() + at * info.stride as usize;
                    self.memory[base..base + info.stride as usize].fill(0);
                    set = Some((*reg, at as Value + 1));
                }
                Op::Free { pool, cell } => {
                    let cell = usize::try_from(eval(cell)? - 1).map_err(|_| Abort::Fault)?;
                    if !std::mem::replace(&mut self.used[pool.index()][cell], false) {
                        return Err(Abort::Fault);
                    }
                }
                Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                    unreachable!("the language has no read-side sections")
                }
                Op::Halt => return Ok(registers),
                // Random programs choose only in `either`. In turn, every branch is tried.
                Op::Choose { reg, lo, hi } => {
                    set = Some((*reg, lo + self.choices % (hi - lo + 1)));
                    self.choices += 1;
                }
            }
            if let Some((reg, value)) = set {
                let ty = &thread.registers[reg.index()].ty;
                if let Some((lo, hi)) = self.problem.program.limits(ty)
                    && (value < lo || hi < value)
                {
                    return Err(Abort::Fault);
                }
                registers[reg.index()] = value;
            }
            pc = next;
        }
        Err(Abort::StepLimit)
    }

    fn locate(&self, address: &Address, registers: &[Value]) -> Result<usize, Abort> {
        let eval = |e: &fencepost_ir::Expr<Reg>| e.eval(&|r: &Reg| registers[r.index()]);
        let mut at = address.base.index();
        let mut cell = None;
        if let Some((pool, reference)) = &address.cell {
            let index = usize::try_from(eval(reference)? - 1).map_err(|_| Abort::Fault)?;
            at += index * self.problem.program.pool(*pool).stride as usize;
            cell = Some((pool.index(), index));
        }
        if let Some((len, index)) = &address.index {
            let index = usize::try_from(eval(index)?).map_err(|_| Abort::Fault)?;
            if index >= *len as usize {
                return Err(Abort::Fault);
            }
            at += index;
        }
        match cell {
            Some((pool, cell)) if !self.used[pool][cell] => Err(Abort::Fault),
            Some(_) | None => Ok(at),
        }
    }
}

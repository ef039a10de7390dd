//! Two reference interpreters for tests of lowering: one for the checked tree, one for lowered
//! code.
//!
//! Both run a single thread directly on memory. The first interprets loops, calls and `goto`. The
//! second interprets program counters. If their results differ, lowering is wrong.

use fencepost_ir::{Address, BinOp, Fault, Op, Problem, Reg, Thread, Update, Value};

use super::tree::{Body, Expr, ExprKind, Place, Root, Stmt, StmtKind, Unit, Update as TreeUpdate};

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RunResult {
    /// The final memory, and the registers with a name in the source.
    Done(Vec<Value>, Vec<Value>),
    /// A fault. The kind is not compared, because a pure operand may fault later than in the
    /// source.
    Fault,
    /// A false `assume`.
    Blocked,
    /// The step limit is reached.
    StepLimit,
}

enum Abort {
    Fault,
    Blocked,
    StepLimit,
}

impl From<Fault> for Abort {
    fn from(_: Fault) -> Abort {
        Abort::Fault
    }
}

impl From<Abort> for RunResult {
    fn from(abort: Abort) -> RunResult {
        match abort {
            Abort::Fault => RunResult::Fault,
            Abort::Blocked => RunResult::Blocked,
            Abort::StepLimit => RunResult::StepLimit,
        }
    }
}

const STEP_LIMIT: u32 = 20_000;

#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
    Goto(usize),
    Return(Option<Value>),
}

/// Runs `init` and then the first instance of the first template.
pub(super) fn run_tree(unit: &Unit) -> RunResult {
    let memory = unit.shared.iter().map(|s| s.init.clone()).collect();
    let cells = unit.records.iter();
    let cells = cells.map(|r| vec![vec![0; r.stride() as usize]; r.cells as usize]).collect();
    let used = unit.records.iter().map(|r| vec![false; r.cells as usize]).collect();
    let mut machine = Tree { unit, memory, cells, used, param: 0, steps: 0 };
    if let Some(init) = &unit.init
        && let Err(abort) = machine.body(init, vec![0; init.locals.len()])
    {
        return abort.into();
    }
    let template = &unit.templates[0];
    machine.param = template.param.map_or(0, |(lo, _)| lo);
    match machine.body(&template.body, vec![0; template.body.locals.len()]) {
        Ok((_, registers)) => {
            let mut memory: Vec<Value> = machine.memory.into_iter().flatten().collect();
            memory.extend(machine.cells.into_iter().flatten().flatten());
            RunResult::Done(memory, registers)
        }
        Err(abort) => abort.into(),
    }
}

/// A location: the pool and cell of a field; the variable, or the offset of the field; the index.
type Cell = (Option<(usize, usize)>, usize, usize);

struct Tree<'a> {
    unit: &'a Unit,
    memory: Vec<Vec<Value>>,
    cells: Vec<Vec<Vec<Value>>>,
    used: Vec<Vec<bool>>,
    param: Value,
    steps: u32,
}

impl Tree<'_> {
    fn body(
        &mut self,
        body: &Body,
        mut locals: Vec<Value>,
    ) -> Result<(Option<Value>, Vec<Value>), Abort> {
        let mut seek = None;
        loop {
            match self.stmts(&body.code, &mut locals, &mut seek)? {
                Flow::Goto(label) => seek = Some(label),
                Flow::Return(value) => return Ok((value, locals)),
                Flow::Next | Flow::Break | Flow::Continue => return Ok((None, locals)),
            }
        }
    }

    fn stmts(
        &mut self,
        stmts: &[Stmt],
        locals: &mut Vec<Value>,
        seek: &mut Option<usize>,
    ) -> Result<Flow, Abort> {
        for stmt in stmts {
            let flow = self.stmt(stmt, locals, seek)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Runs a statement. While `seek` is set, only searches the statement for that label.
    fn stmt(
        &mut self,
        stmt: &Stmt,
        locals: &mut Vec<Value>,
        seek: &mut Option<usize>,
    ) -> Result<Flow, Abort> {
        self.steps += 1;
        if self.steps > STEP_LIMIT {
            return Err(Abort::StepLimit);
        }
        match &stmt.kind {
            StmtKind::Block(stmts) | StmtKind::Critical(stmts, _) | StmtKind::Atomic(stmts, _) => {
                return self.stmts(stmts, locals, seek);
            }
            StmtKind::Unbraced(_, body, _) => return self.stmt(body, locals, seek),
            StmtKind::Label(label, _, body) => {
                if *seek == Some(*label) {
                    *seek = None;
                }
                return self.stmt(body, locals, seek);
            }
            StmtKind::If(cond, _, then, otherwise) => {
                if seek.is_some() {
                    let flow = self.stmt(then, locals, seek)?;
                    if seek.is_none() {
                        return Ok(flow);
                    }
                    return match otherwise {
                        Some(otherwise) => self.stmt(otherwise, locals, seek),
                        None => Ok(Flow::Next),
                    };
                }
                return if self.value(cond, locals)? != 0 {
                    self.stmt(then, locals, seek)
                } else if let Some(otherwise) = otherwise {
                    self.stmt(otherwise, locals, seek)
                } else {
                    Ok(Flow::Next)
                };
            }
            StmtKind::While { cond, body, step, .. } => {
                return self.run_loop(cond.as_ref(), body, step.as_deref(), true, locals, seek);
            }
            StmtKind::DoWhile(body, cond, _) => {
                return self.run_loop(Some(cond), body, None, false, locals, seek);
            }
            StmtKind::Either(branches, _) if seek.is_some() => {
                for branch in branches {
                    let flow = self.stmts(&branch.body, locals, seek)?;
                    if seek.is_none() {
                        return Ok(flow);
                    }
                }
            }
            _ if seek.is_some() => {}
            StmtKind::Either(branches, _) => {
                // Random programs have at most one branch whose guard can hold.
                for branch in branches {
                    let holds = match &branch.guard {
                        Some((guard, _)) => self.value(guard, locals)? != 0,
                        None => true,
                    };
                    if holds {
                        return self.stmts(&branch.body, locals, seek);
                    }
                }
                return Err(Abort::StepLimit);
            }
            StmtKind::Reset(local) => locals[local.index()] = 0,
            StmtKind::Assign(local, value) => locals[local.index()] = self.value(value, locals)?,
            StmtKind::Modify(local, op, value) => {
                let value = self.value(value, locals)?;
                locals[local.index()] = op.apply(locals[local.index()], value)?;
            }
            StmtKind::Store(place, value) => {
                let at = self.address(place, locals)?;
                *self.cell(at)? = self.value(value, locals)?;
            }
            StmtKind::StoreModify(place, op, value) => {
                let at = self.address(place, locals)?;
                let old = *self.cell(at)?;
                let value = self.value(value, locals)?;
                *self.cell(at)? = op.apply(old, value)?;
            }
            StmtKind::Eval(expr) => {
                self.value(expr, locals)?;
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Goto(label, _) => return Ok(Flow::Goto(*label)),
            StmtKind::Return(value) => {
                return Ok(Flow::Return(match value {
                    Some(value) => Some(self.value(value, locals)?),
                    None => None,
                }));
            }
            StmtKind::Skip | StmtKind::Gap(_) | StmtKind::Fence(..) => {}
            StmtKind::Drain(place) => {
                self.address(place, locals)?;
            }
            StmtKind::Assume(cond) => {
                if self.value(cond, locals)? == 0 {
                    return Err(Abort::Blocked);
                }
            }
            StmtKind::Await(cond) => while self.value(cond, locals)? == 0 {},
            StmtKind::Assert(cond) => {
                self.value(cond, locals)?;
            }
            StmtKind::Free(pool, reference) => {
                let cell = self.value(reference, locals)? - 1;
                let used = usize::try_from(cell).ok().map(|at| &mut self.used[pool.index()][at]);
                match used {
                    Some(used) if *used => *used = false,
                    Some(_) | None => return Err(Abort::Fault),
                }
            }
        }
        Ok(Flow::Next)
    }

    fn run_loop(
        &mut self,
        cond: Option<&Expr>,
        body: &Stmt,
        step: Option<&Stmt>,
        first: bool,
        locals: &mut Vec<Value>,
        seek: &mut Option<usize>,
    ) -> Result<Flow, Abort> {
        let mut check = first && seek.is_none();
        loop {
            if check
                && let Some(cond) = cond
                && self.value(cond, locals)? == 0
            {
                return Ok(Flow::Next);
            }
            let flow = self.stmt(body, locals, seek)?;
            if seek.is_some() {
                return Ok(Flow::Next);
            }
            match flow {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                Flow::Goto(_) | Flow::Return(_) => return Ok(flow),
            }
            if let Some(step) = step {
                self.stmt(step, locals, seek)?;
            }
            check = true;
        }
    }

    fn address(&mut self, place: &Place, locals: &mut Vec<Value>) -> Result<Cell, Abort> {
        let (cell, root, len) = match &place.root {
            Root::Shared(id) => (None, id.index(), self.unit.shared[id.index()].len),
            Root::Field { pool, field, of } => {
                let reference = self.value(of, locals)?;
                let at = usize::try_from(reference - 1).map_err(|_| Abort::Fault)?;
                let record = &self.unit.records[pool.index()];
                let offset = record.offset(*field) as usize;
                (Some((pool.index(), at)), offset, record.fields[*field].len)
            }
        };
        let index = match &place.index {
            Some(index) => self.value(index, locals)?,
            None => 0,
        };
        let index = usize::try_from(index).map_err(|_| Abort::Fault)?;
        if index >= len.unwrap_or(1) as usize {
            return Err(Abort::Fault);
        }
        Ok((cell, root, index))
    }

    fn cell(&mut self, at: Cell) -> Result<&mut Value, Abort> {
        match at {
            (None, root, index) => Ok(&mut self.memory[root][index]),
            (Some((pool, cell)), offset, index) => {
                if !self.used[pool][cell] {
                    return Err(Abort::Fault);
                }
                Ok(&mut self.cells[pool][cell][offset + index])
            }
        }
    }

    fn value(&mut self, expr: &Expr, locals: &mut Vec<Value>) -> Result<Value, Abort> {
        self.steps += 1;
        if self.steps > STEP_LIMIT {
            return Err(Abort::StepLimit);
        }
        Ok(match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Local(local) => locals[local.index()],
            ExprKind::Param => self.param,
            ExprKind::Load(place) => {
                let at = self.address(place, locals)?;
                *self.cell(at)?
            }
            ExprKind::Unary(op, a) => op.apply(self.value(a, locals)?)?,
            ExprKind::Binary(BinOp::And, a, b) => {
                Value::from(self.value(a, locals)? != 0 && self.value(b, locals)? != 0)
            }
            ExprKind::Binary(BinOp::Or, a, b) => {
                Value::from(self.value(a, locals)? != 0 || self.value(b, locals)? != 0)
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.value(a, locals)?;
                op.apply(a, self.value(b, locals)?)?
            }
            ExprKind::Select(c, a, b) => {
                if self.value(c, locals)? != 0 {
                    self.value(a, locals)?
                } else {
                    self.value(b, locals)?
                }
            }
            ExprKind::Update(place, update) => self.update(place, update, locals)?,
            ExprKind::New(pool) => {
                let used = &mut self.used[pool.index()];
                let at = used.iter().position(|used| !used).ok_or(Abort::Fault)?;
                used[at] = true;
                self.cells[pool.index()][at].fill(0);
                at as Value + 1
            }
            ExprKind::Call(proc, args) => {
                let procedure = &self.unit.procs[proc.index()];
                let mut inner = Vec::new();
                for arg in args {
                    inner.push(self.value(arg, locals)?);
                }
                inner.resize(procedure.body.locals.len(), 0);
                self.body(&procedure.body, inner)?.0.unwrap_or(0)
            }
            _ => unreachable!("random programs contain none of these"),
        })
    }

    fn update(
        &mut self,
        place: &Place,
        update: &TreeUpdate,
        locals: &mut Vec<Value>,
    ) -> Result<Value, Abort> {
        let at = self.address(place, locals)?;
        let (a, b) = match update {
            TreeUpdate::Cas(a, b) => (self.value(a, locals)?, self.value(b, locals)?),
            TreeUpdate::Swap(a)
            | TreeUpdate::Add(a)
            | TreeUpdate::Sub(a)
            | TreeUpdate::Bits(_, a) => (self.value(a, locals)?, 0),
        };
        let slot = self.cell(at)?;
        let old = *slot;
        *slot = match update {
            TreeUpdate::Cas(..) if old == a => b,
            TreeUpdate::Cas(..) => old,
            TreeUpdate::Swap(_) => a,
            TreeUpdate::Add(_) => BinOp::Add.apply(old, a)?,
            TreeUpdate::Sub(_) => BinOp::Sub.apply(old, a)?,
            TreeUpdate::Bits(op, _) => op.apply(old, a)?,
        };
        Ok(if matches!(update, TreeUpdate::Cas(..)) { Value::from(old == a) } else { old })
    }
}

/// Runs the lowered code of `init` and then of the first thread.
pub(super) fn run_code(problem: &Problem) -> RunResult {
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
                Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                    unreachable!("the language has no sections")
                }
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
                        Update::Cas { expected, new } => {
                            let (hit, new) = (eval(expected)? == old, eval(new)?);
                            (if hit { new } else { old }, Value::from(hit))
                        }
                        Update::Swap { new } => (eval(new)?, old),
                        Update::Add { by } => (BinOp::Add.apply(old, eval(by)?)?, old),
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
                Op::Halt => return Ok(registers),
                // Random programs choose only in `either`. In turn, every branch is tried.
                Op::Choose { reg, lo, hi } => {
                    set = Some((*reg, lo + self.choices % (hi - lo + 1)));
                    self.choices += 1;
                }
            }
            if let Some((reg, value)) = set {
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

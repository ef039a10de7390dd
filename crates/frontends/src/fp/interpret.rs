//! Two reference interpreters for tests of lowering: one for the checked tree, one for lowered
//! code.
//!
//! Both run a single thread directly on memory. The first interprets loops, calls and `goto`. The
//! second interprets program counters. If their results differ, lowering is wrong.

mod code;

pub(super) use code::run_code;

use fencepost_ir::{BinOp, CasResult, Fault, UnOp, Value, wrap_into};

use super::tree::{
    Body, Element, Expr, ExprKind, Place, Root, Stmt, StmtKind, Unit, Update as TreeUpdate,
};
use super::types::Ty;

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
            StmtKind::Switch(value, _, cases) => {
                let start = if seek.is_some() {
                    Some(0)
                } else {
                    let value = self.value(value, locals)?;
                    let found = cases.iter().position(|c| c.values.iter().any(|v| v.0 == value));
                    found.or_else(|| cases.iter().position(|case| case.default))
                };
                for case in cases.iter().skip(start.unwrap_or(cases.len())) {
                    let flow = self.stmts(&case.body, locals, seek)?;
                    match flow {
                        Flow::Next => {}
                        Flow::Break => return Ok(Flow::Next),
                        Flow::Continue | Flow::Goto(_) | Flow::Return(_) => return Ok(flow),
                    }
                }
            }
            _ if seek.is_some() => {}
            StmtKind::Reset(local) => locals[local.index()] = 0,
            StmtKind::Assign(local, value) => locals[local.index()] = self.value(value, locals)?,
            StmtKind::AssignWaiting(local, value, (lo, hi)) => {
                let value = self.value(value, locals)?;
                if value < *lo || value > *hi {
                    return Err(Abort::StepLimit);
                }
                locals[local.index()] = value;
            }
            StmtKind::AssignElement(element, value) => {
                let at = self.element(element, locals)?;
                locals[at] = self.value(value, locals)?;
            }
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
                let number = |value: Value| place.ty.ty.number(value);
                let new = apply(*op, place.ty.ty, number(old), number(value))?;
                *self.cell(at)? =
                    place.ty.wraps().map_or(new, |range| wrap_into(new.into(), range));
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
        let (cell, root, dims) = match &place.root {
            Root::Shared(id) => (None, id.index(), &self.unit.shared[id.index()].dims),
            Root::Field { pool, field, of } => {
                let reference = self.value(of, locals)?;
                let at = usize::try_from(reference - 1).map_err(|_| Abort::Fault)?;
                let record = &self.unit.records[pool.index()];
                let offset = record.offset(*field) as usize;
                (Some((pool.index(), at)), offset, &record.fields[*field].dims)
            }
        };
        let index = self.index(&place.indices, dims, locals)?;
        Ok((cell, root, index))
    }

    /// Returns the number of an element of an array.
    fn index(
        &mut self,
        indices: &[Expr],
        dims: &[u32],
        locals: &mut Vec<Value>,
    ) -> Result<usize, Abort> {
        let mut all = 0;
        let mut inside = true;
        for (index, len) in indices.iter().zip(dims) {
            let index = usize::try_from(self.value(index, locals)?).unwrap_or(usize::MAX);
            inside &= index < *len as usize;
            all = all * *len as usize + index.min(*len as usize);
        }
        if inside { Ok(all) } else { Err(Abort::Fault) }
    }

    fn element(&mut self, element: &Element, locals: &mut Vec<Value>) -> Result<usize, Abort> {
        let at = self.index(&element.indices, &element.dims, locals)?;
        Ok(element.first.index() + at)
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
            ExprKind::LocalElement(element) => {
                let at = self.element(element, locals)?;
                locals[at]
            }
            ExprKind::Wrap(a, range) => wrap_into(self.value(a, locals)?.into(), *range),
            ExprKind::ToInt(a) => {
                let number = a.ty.number(self.value(a, locals)?);
                i32::try_from(number).map_err(|_| Abort::Fault)?.into()
            }
            ExprKind::Unary(op, a) => {
                let value = self.value(a, locals)?;
                match (expr.ty, op) {
                    (Ty::Fixed(width), UnOp::Neg) => wrap_into(-i128::from(value), width.range()),
                    (Ty::Fixed(width), _) => wrap_into(op.apply(value)?.into(), width.range()),
                    _ => op.apply(value)?,
                }
            }
            ExprKind::Binary(BinOp::And, a, b) => {
                Value::from(self.value(a, locals)? != 0 && self.value(b, locals)? != 0)
            }
            ExprKind::Binary(BinOp::Or, a, b) => {
                Value::from(self.value(a, locals)? != 0 || self.value(b, locals)? != 0)
            }
            ExprKind::Binary(op, left, right) => {
                let a = left.ty.number(self.value(left, locals)?);
                let b = right.ty.number(self.value(right, locals)?);
                apply(*op, expr.ty, a, b)?
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
            TreeUpdate::Cas(a, b, _) => (self.value(a, locals)?, self.value(b, locals)?),
            TreeUpdate::Swap(a)
            | TreeUpdate::Add(a)
            | TreeUpdate::Sub(a)
            | TreeUpdate::Bits(_, a) => (self.value(a, locals)?, 0),
        };
        let wrapped = |sum: Result<Value, Fault>, exact: i128| match place.ty.wraps() {
            Some(range) => Ok(wrap_into(exact, range)),
            None => sum,
        };
        let slot = self.cell(at)?;
        let old = *slot;
        let (x, y) = (i128::from(old), i128::from(a));
        *slot = match update {
            TreeUpdate::Cas(..) if old == a => b,
            TreeUpdate::Cas(..) => old,
            TreeUpdate::Swap(_) => a,
            TreeUpdate::Add(_) => wrapped(BinOp::Add.apply(old, a), x + y)?,
            TreeUpdate::Sub(_) => wrapped(BinOp::Sub.apply(old, a), x - y)?,
            TreeUpdate::Bits(op, _) => op.apply(old, a)?,
        };
        let succeeds = matches!(update, TreeUpdate::Cas(_, _, CasResult::Success));
        Ok(if succeeds { Value::from(old == a) } else { old })
    }
}

/// Applies an operator to two numbers. The arithmetic of a fixed-width integer and comparisons are
/// computed with 128 bits.
fn apply(op: BinOp, ty: Ty, x: i128, y: i128) -> Result<Value, Fault> {
    let Ty::Fixed(width) = ty else {
        return Ok(match op {
            BinOp::Eq => (x == y).into(),
            BinOp::Ne => (x != y).into(),
            BinOp::Lt => (x < y).into(),
            BinOp::Le => (x <= y).into(),
            BinOp::Gt => (x > y).into(),
            BinOp::Ge => (x >= y).into(),
            _ => {
                let value = |number: i128| Value::try_from(number).map_err(|_| Fault::Overflow);
                op.apply(value(x)?, value(y)?)?
            }
        });
    };
    let shift = || {
        let amount = u32::try_from(y).ok().filter(|n| *n < width.bits() as u32);
        amount.ok_or(Fault::Overflow)
    };
    let exact = match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        // The low 64 bits of the product are the same for the bit patterns.
        BinOp::Mul => (x as Value).wrapping_mul(y as Value).into(),
        BinOp::Div => x.checked_div(y).ok_or(Fault::DivisionByZero)?,
        BinOp::Rem => x.checked_rem(y).ok_or(Fault::DivisionByZero)?,
        BinOp::Shl => x << shift()?,
        BinOp::Shr => x >> shift()?,
        BinOp::BitAnd => x & y,
        BinOp::BitOr => x | y,
        BinOp::BitXor => x ^ y,
        _ => unreachable!("only arithmetic has a fixed-width result"),
    };
    Ok(wrap_into(exact, width.range()))
}

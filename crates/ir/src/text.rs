//! Programs as readable text, for debugging and tests. There is no parser for this format.
//!
//! ```text
//! location m0 turn: int = 0
//! thread P0 p(0)
//!   register r0 w: bool
//!   @0 L0  store   want[0] = 1                    -> @1
//!   @1 L1  branch  r0                             -> @2 else @0
//! ```
//!
//! Registers print by name. `!` marks a statement inside a critical section.

use std::fmt::{self, Display, Write};

use crate::expr::{BinOp, Expr};
use crate::ids::{Loc, Pc, PoolId, Reg, ThreadId};
use crate::op::{Address, CasResult, Op, Update};
use crate::program::{Problem, Program, Thread};
use crate::property::{Observable, Property};
use crate::value::Type;

/// Formats a problem.
pub fn print(problem: &Problem) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_problem(&mut out, problem);
    out
}

/// Formats one thread of a program.
pub fn print_thread(program: &Program, thread: &Thread) -> String {
    let mut out = String::new();
    let _ = write_thread(&mut out, program, thread);
    out
}

fn write_problem(out: &mut String, problem: &Problem) -> fmt::Result {
    let program = &problem.program;
    if !problem.name.is_empty() {
        writeln!(out, "problem {}", problem.name)?;
    }
    for (at, location) in program.locations.iter().enumerate() {
        let ty = type_name(program, &location.ty);
        let init = location.ty.show(location.init);
        writeln!(out, "location {} {}: {ty} = {init}", Loc::from_index(at), location.name)?;
    }
    for (at, pool) in program.pools.iter().enumerate() {
        let id = PoolId::from_index(at);
        let (cells, stride, base) = (pool.cells, pool.stride, pool.base);
        writeln!(out, "{id} {}: {cells} cells of {stride} from {base}", pool.name)?;
    }
    if let Some(init) = &program.init {
        writeln!(out, "init")?;
        write_thread(out, program, init)?;
    }
    for (at, thread) in program.threads.iter().enumerate() {
        writeln!(out, "thread {} {}", ThreadId::from_index(at), thread.name)?;
        write_thread(out, program, thread)?;
    }
    let show = |expr: &Expr<Observable>| expr_text(expr, &|o| program.observable_name(*o));
    for property in &problem.properties {
        match property {
            Property::Assertions => writeln!(out, "property assertions")?,
            Property::MutualExclusion => writeln!(out, "property mutual_exclusion")?,
            Property::DeadlockFree => writeln!(out, "property deadlock_free")?,
            Property::Progress => writeln!(out, "property progress")?,
            Property::Operations(operations) => {
                writeln!(out, "property {} operations", operations.consistency.word())?;
            }
            Property::Invariant(condition) => writeln!(out, "invariant {}", show(&condition.expr))?,
            Property::FinalForall(condition) => {
                writeln!(out, "final forall {}", show(&condition.expr))?;
            }
            Property::FinalNever(condition) => {
                writeln!(out, "final never {}", show(&condition.expr))?;
            }
        }
    }
    if problem.may_hang {
        writeln!(out, "property may_hang")?;
    }
    for condition in &problem.sometimes {
        writeln!(out, "final exists {}", show(&condition.expr))?;
    }
    let observed: Vec<String> =
        problem.observed.iter().map(|observable| program.observable_name(*observable)).collect();
    writeln!(out, "observe {}", observed.join(", "))
}

fn write_thread(out: &mut String, program: &Program, thread: &Thread) -> fmt::Result {
    for (at, register) in thread.registers.iter().enumerate() {
        let ty = type_name(program, &register.ty);
        writeln!(out, "  register {} {}: {ty}", Reg::from_index(at), register.name)?;
    }
    for (at, stmt) in thread.code.iter().enumerate() {
        let next = if let Op::Branch { then, otherwise, .. } = &stmt.op {
            format!("-> {then} else {otherwise}")
        } else if stmt.op.falls_through() {
            format!("-> {}", stmt.next)
        } else {
            String::new()
        };
        let (word, rest) = operation(program, thread, &stmt.op);
        let pc = Pc::from_index(at).to_string();
        let label = stmt.label.to_string();
        let mark = if stmt.critical { "!" } else { " " };
        let line = format!("  {pc:<3} {label:<3}{mark} {word:<7} {rest:<31} {next}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns the keyword and the operands of an operation.
fn operation(program: &Program, thread: &Thread, op: &Op) -> (&'static str, String) {
    let reg = |reg: &Reg| register_name(thread, *reg);
    let expr = |e: &Expr<Reg>| expr_text(e, &|r| register_name(thread, *r));
    let at = |a: &Address| address(program, thread, a);
    match op {
        Op::Skip => ("skip", String::new()),
        Op::Assign { reg: to, expr: value } => ("assign", format!("{} = {}", reg(to), expr(value))),
        Op::Choose { reg: to, lo, hi } => ("choose", format!("{} = {lo}..={hi}", reg(to))),
        Op::Load { reg: to, from } => ("load", format!("{} = {}", reg(to), at(from))),
        Op::Store { to, value } => ("store", format!("{} = {}", at(to), expr(value))),
        Op::Update { reg: to, at: place, update } => {
            let to = to.as_ref().map(|to| format!("{} = ", reg(to))).unwrap_or_default();
            let place = at(place);
            let update = match update {
                Update::Cas { expected, new, result } => {
                    let name = match result {
                        CasResult::Success => "cas",
                        CasResult::Old => "cmpxchg",
                    };
                    format!("{name}({place}, {}, {})", expr(expected), expr(new))
                }
                Update::Swap { new } => format!("swap({place}, {})", expr(new)),
                Update::Add { by, wrap: None } => format!("fetch_add({place}, {})", expr(by)),
                Update::Add { by, wrap: Some((lo, hi)) } => {
                    format!("fetch_add({place}, {}) wrap {lo}..={hi}", expr(by))
                }
                Update::Bits { op, by } => {
                    let name = match op {
                        BinOp::BitAnd => "fetch_and",
                        BinOp::BitOr => "fetch_or",
                        BinOp::BitXor => "fetch_xor",
                        other @ (BinOp::Add
                        | BinOp::Sub
                        | BinOp::Mul
                        | BinOp::Div
                        | BinOp::Rem
                        | BinOp::Eq
                        | BinOp::Ne
                        | BinOp::Lt
                        | BinOp::Le
                        | BinOp::Gt
                        | BinOp::Ge
                        | BinOp::And
                        | BinOp::Or
                        | BinOp::Shl
                        | BinOp::Shr
                        | BinOp::Wide(_)) => other.symbol(),
                    };
                    format!("{name}({place}, {})", expr(by))
                }
            };
            ("update", format!("{to}{update}"))
        }
        Op::Fence(kinds) => ("fence", kinds.name()),
        Op::Drain(place) => ("drain", at(place)),
        Op::Branch { cond, .. } => ("branch", expr(cond)),
        Op::Assume(cond) => ("assume", expr(cond)),
        Op::Assert(cond) => ("assert", expr(cond)),
        Op::New { reg: to, pool } => {
            ("new", format!("{} = {}", reg(to), pool_name(program, *pool)))
        }
        Op::Free { pool, cell } => {
            ("free", format!("{} {}", pool_name(program, *pool), expr(cell)))
        }
        Op::Leave => ("leave", String::new()),
        Op::Join => ("join", String::new()),
        Op::AtomicBegin => ("atomic", "begin".into()),
        Op::AtomicEnd => ("atomic", "end".into()),
        Op::Invoke { seen } => {
            let seen: Vec<String> =
                seen.iter().map(|(other, to)| format!("{} = {other}", reg(to))).collect();
            ("invoke", seen.join(", "))
        }
        Op::Return { result } => ("return", result.as_ref().map(reg).unwrap_or_default()),
        Op::SectionBegin { domain, index, .. } => {
            let to = index.as_ref().map(|to| format!("{} = ", reg(to))).unwrap_or_default();
            ("begin_section", format!("{to}{domain}"))
        }
        Op::SectionEnd { domain, index, .. } => {
            let index = index.as_ref().map(|index| format!(" {}", expr(index)));
            ("end_section", format!("{domain}{}", index.unwrap_or_default()))
        }
        Op::GracePeriod { domain, .. } => ("grace_period", domain.to_string()),
        Op::Halt => ("halt", String::new()),
    }
}

fn register_name(thread: &Thread, reg: Reg) -> String {
    thread.registers.get(reg.index()).map_or_else(|| reg.to_string(), |r| r.name.clone())
}

fn pool_name(program: &Program, pool: PoolId) -> String {
    program.pools.get(pool.index()).map_or_else(|| pool.to_string(), |p| p.name.clone())
}

fn address(program: &Program, thread: &Thread, at: &Address) -> String {
    let expr = |e: &Expr<Reg>| expr_text(e, &|r| register_name(thread, *r));
    if let Some(pointer) = &at.pointer {
        return format!("*({})", expr(&pointer.value));
    }
    let base = program.locations.get(at.base.index()).map(|l| l.name.clone());
    let mut text = base.unwrap_or_else(|| at.base.to_string());
    if at.index.is_some() {
        // Derive the name of the array from the name of its first element.
        text = text.rsplit_once('[').map(|(array, _)| array.to_string()).unwrap_or(text);
    }
    if let Some((_, cell)) = &at.cell {
        let field = text.split_once('.').map_or(text.as_str(), |(_, field)| field);
        text = format!("({}).{field}", expr(cell));
    }
    if let Some((_, index)) = &at.index {
        let _ = write!(text, "[{}]", expr(index));
    }
    text
}

fn type_name(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int { range: None } => "int".into(),
        Type::U64 => "u64".into(),
        Type::Int { range: Some((lo, hi)) } => format!("int({lo}..={hi})"),
        Type::Enum { name, .. } => name.clone(),
        Type::Ref(pool) => pool_name(program, *pool),
    }
}

/// Formats an expression, with parentheses around every nested operator.
pub fn expr_text<V>(expr: &Expr<V>, leaf: &impl Fn(&V) -> String) -> String {
    let inner = |e: &Expr<V>| match e {
        Expr::Const(_) | Expr::Var(_) => expr_text(e, leaf),
        Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            format!("({})", expr_text(e, leaf))
        }
    };
    match expr {
        Expr::Const(value) => value.to_string(),
        Expr::Var(var) => leaf(var),
        Expr::Unary(op, a) => format!("{}{}", op.symbol(), inner(a)),
        Expr::Binary(op, a, b) => format!("{} {} {}", inner(a), op.symbol(), inner(b)),
        Expr::Select(c, a, b) => format!("{} ? {} : {}", inner(c), inner(a), inner(b)),
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

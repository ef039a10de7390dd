//! The rules of a well-formed problem. Front ends validate their output; engines rely on the rules.
//!
//! Each rule is a variant of [`Rule`]:
//!
//! - *Type*: ranges and enums are not empty; a reference type names an existing pool.
//! - *InitialValue*: initial values are within the limits of their types.
//! - *Pool*: pools have at least one cell and at least one location for each cell, are inside
//!   memory, and do not overlap. Statements name existing pools.
//! - *ProgramCounter*: code is not empty, and every successor is inside the code.
//! - *Label*, *Register*, *Address*: labels, registers and addresses are in range. The address of a
//!   field is inside the first cell of its pool; any other address is outside of all pools.
//! - *Size*: there are at most 64 threads and 65,535 locations.
//! - *Choice*: a `Choose` has 1 to 65,536 alternatives.
//! - *Bits*: a bitwise update has a bitwise operator.
//! - *Wrap*: the range of an update that wraps is not empty.
//! - *Atomic*: atomic blocks do not nest, are entered only at their beginning and left only at
//!   their end, and contain no `Halt`, `Leave`, `Invoke`, `Return`, section or grace period.
//! - *Critical*: critical sections are left only by `Leave`, and `Leave` occurs only inside them.
//! - *Init*: `init` contains no critical sections, atomic blocks, `Invoke` or `Return`.
//! - *Join*: `Join` occurs only as the first statement of the last thread. It is reached once. The
//!   rest of this thread is one atomic block, then `Halt`.
//! - *Return*: all paths to a statement pass the same `Return`s.
//! - *Section*: see [`grace_period::broken_rules`].
//! - *Property*: conditions mention existing locations and registers, invariants mention only
//!   locations, and a problem whose program contains an `Assert` has [`Property::Assertions`].
//! - *Observed*: observed locations and registers exist.
//! - *ThreadName*: thread names are unique.
//!
//! Unreachable code is allowed. The rules *Atomic* and *Return* apply only to reachable statements.

mod atomic;

use std::collections::BTreeSet;
use std::fmt;

use crate::expr::{BinOp, Expr};
use crate::flow;
use crate::grace_period;
use crate::ids::{Loc, Pc, PoolId};
use crate::op::{Address, Op, Pointer, Update};
use crate::operations::{Operations, returned_operations};
use crate::program::{Problem, Program, Stmt, Thread};
use crate::property::{Observable, Property};
use crate::value::Type;

/// A rule; the module header describes each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the module header describes each")]
pub enum Rule {
    Type,
    Init,
    InitialValue,
    Pool,
    ProgramCounter,
    Label,
    Register,
    Address,
    Choice,
    Size,
    Bits,
    Wrap,
    Atomic,
    Critical,
    Join,
    Return,
    Section,
    Property,
    Observed,
    ThreadName,
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokenRule {
    /// The rule.
    pub rule: Rule,
    /// The place and the reason.
    pub message: String,
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.message)
    }
}

/// Checks all rules. Returns the broken ones, if any.
pub fn validate(problem: &Problem) -> Result<(), Vec<BrokenRule>> {
    let mut validator = Validator { program: &problem.program, broken: Vec::new() };
    let (threads, locations) = (problem.program.threads.len(), problem.program.locations.len());
    validator.check(threads <= 64 && locations < 1 << 16, Rule::Size, || {
        format!("{threads} threads, {locations} locations")
    });
    validator.memory();
    if let Some(init) = &problem.program.init {
        validator.thread(init);
        validator.init(init);
    }
    let mut names = BTreeSet::new();
    for thread in &problem.program.threads {
        validator.thread(thread);
        if !names.insert(&thread.name) {
            validator.report(Rule::ThreadName, format!("two threads are named {}", thread.name));
        }
    }
    validator.join();
    for message in grace_period::broken_rules(&problem.program) {
        validator.report(Rule::Section, message);
    }
    validator.properties(problem);
    if validator.broken.is_empty() { Ok(()) } else { Err(validator.broken) }
}

struct Validator<'a> {
    program: &'a Program,
    broken: Vec<BrokenRule>,
}

impl Validator<'_> {
    fn report(&mut self, rule: Rule, message: String) {
        self.broken.push(BrokenRule { rule, message });
    }

    fn check(&mut self, holds: bool, rule: Rule, message: impl FnOnce() -> String) {
        if !holds {
            self.report(rule, message());
        }
    }

    fn memory(&mut self) {
        let program = self.program;
        for location in &program.locations {
            let name = &location.name;
            if self.is_valid_type(&location.ty, name)
                && let Some((lo, hi)) = program.limits(&location.ty)
            {
                self.check(lo <= location.init && location.init <= hi, Rule::InitialValue, || {
                    format!("the initial value {} of {name} is not in {lo}..={hi}", location.init)
                });
            }
        }
        let mut ends: Vec<(u64, u64, &str)> = Vec::new();
        for pool in &program.pools {
            let (start, name) = (u64::from(pool.base.0), &pool.name);
            let end = start + u64::from(pool.cells) * u64::from(pool.stride);
            self.check(pool.cells > 0 && pool.stride > 0, Rule::Pool, || {
                format!("pool {name} is empty")
            });
            self.check(end <= program.locations.len() as u64, Rule::Pool, || {
                format!("pool {name} ends at m{end}, outside of memory")
            });
            if let Some((_, _, other)) = ends.iter().find(|(s, e, _)| start < *e && *s < end) {
                self.report(Rule::Pool, format!("pools {name} and {other} overlap"));
            }
            ends.push((start, end, name));
        }
    }

    fn is_valid_type(&mut self, ty: &Type, owner: &str) -> bool {
        let sound = match ty {
            Type::Bool | Type::Int { range: None } | Type::U64 => true,
            Type::Int { range: Some((lo, hi)) } => lo <= hi,
            Type::Enum { constants, .. } => !constants.is_empty(),
            Type::Ref(pool) => pool.index() < self.program.pools.len(),
        };
        self.check(sound, Rule::Type, || format!("{owner} has the invalid type {ty:?}"));
        sound
    }

    fn thread(&mut self, thread: &Thread) {
        let name = &thread.name;
        for register in &thread.registers {
            self.is_valid_type(&register.ty, &format!("{name}.{}", register.name));
        }
        self.check(!thread.code.is_empty(), Rule::ProgramCounter, || format!("{name} has no code"));
        let mut has_valid_successors = !thread.code.is_empty();
        for (at, stmt) in thread.code.iter().enumerate() {
            let place = format!("{name} {}", Pc::from_index(at));
            self.statement(thread, stmt, &place);
            for next in flow::successors(stmt) {
                let inside = next.index() < thread.code.len();
                has_valid_successors &= inside;
                self.check(inside, Rule::ProgramCounter, || {
                    format!("{place} continues at {next}, outside of the code")
                });
            }
        }
        if has_valid_successors {
            self.critical(thread);
            self.atomic(thread);
            self.check(returned_operations(thread).is_some(), Rule::Return, || {
                format!("two paths of {name} pass different returns")
            });
        }
    }

    fn statement(&mut self, thread: &Thread, stmt: &Stmt, place: &str) {
        let known = stmt.label.index() < self.program.labels.len();
        self.check(known, Rule::Label, || format!("{place} has the unknown label {}", stmt.label));
        for reg in flow::uses(&stmt.op).into_iter().chain(stmt.op.target()) {
            let known = reg.index() < thread.registers.len();
            self.check(known, Rule::Register, || {
                format!("{place} uses the unknown register {reg}")
            });
        }
        if let Some(address) = stmt.op.address() {
            self.address(address, place);
        }
        match &stmt.op {
            Op::Choose { lo, hi, .. } => {
                let in_limit = hi.checked_sub(*lo).is_some_and(|span| (0..1 << 16).contains(&span));
                self.check(in_limit, Rule::Choice, || format!("{place} chooses from {lo}..={hi}"));
            }
            Op::Update { update: Update::Bits { op, .. }, .. } => {
                let bitwise = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
                self.check(bitwise, Rule::Bits, || {
                    format!("{place} updates with {}, which is not a bitwise operator", op.symbol())
                });
            }
            Op::Update { update: Update::Add { wrap: Some((lo, hi)), .. }, .. } => {
                self.check(lo <= hi, Rule::Wrap, || format!("{place} wraps into {lo}..={hi}"));
            }
            Op::New { pool, .. } | Op::Free { pool, .. } => {
                let known = pool.index() < self.program.pools.len();
                self.check(known, Rule::Pool, || format!("{place} uses the unknown pool {pool}"));
            }
            Op::Invoke { seen } => {
                for (other, reg) in seen {
                    let known = other.index() < self.program.threads.len()
                        && reg.index() < thread.registers.len();
                    self.check(known, Rule::Register, || {
                        format!("{place}: unknown {other} or {reg} in `Invoke`")
                    });
                }
            }
            Op::Return { result: Some(reg) } => {
                let known = reg.index() < thread.registers.len();
                self.check(known, Rule::Register, || {
                    format!("{place} returns the unknown register {reg}")
                });
            }
            Op::Return { result: None }
            | Op::Update { .. }
            | Op::Skip
            | Op::Assign { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => {}
        }
    }

    fn pointer(&mut self, pointer: &Pointer, place: &str) {
        let targets = &pointer.targets;
        let ascends = targets.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_location = |loc: Loc| loc.index() < self.program.locations.len();
        let sound = ascends
            && targets
                .iter()
                .all(|(number, loc)| !Pointer::NULL.contains(number) && is_location(*loc));
        self.check(sound, Rule::Address, || format!("{place} has invalid targets of a pointer"));
    }

    fn address(&mut self, address: &Address, place: &str) {
        if let Some(pointer) = &address.pointer {
            return self.pointer(pointer, place);
        }
        let len = u64::from(address.index.as_ref().map_or(1, |(len, _)| *len));
        let start = u64::from(address.base.0);
        let end = start + len;
        let pool = |id: PoolId| self.program.pools.get(id.index());
        let sound = match &address.cell {
            Some((id, _)) => pool(*id).is_some_and(|pool| {
                let first = u64::from(pool.base.0);
                first <= start && end <= first + u64::from(pool.stride)
            }),
            None => {
                end <= self.program.locations.len() as u64
                    && self.program.pools.iter().all(|pool| {
                        let first = u64::from(pool.base.0);
                        let last = first + u64::from(pool.cells) * u64::from(pool.stride);
                        end <= first || last <= start
                    })
            }
        };
        self.check(sound && len > 0, Rule::Address, || {
            format!("{place} accesses the invalid address {address:?}")
        });
    }

    fn critical(&mut self, thread: &Thread) {
        for (at, stmt) in thread.code.iter().enumerate() {
            let place = format!("{} {}", thread.name, Pc::from_index(at));
            let leaves = matches!(stmt.op, Op::Leave);
            self.check(!leaves || stmt.critical, Rule::Critical, || {
                format!("{place} leaves a critical section, but is not inside one")
            });
            let halts = matches!(stmt.op, Op::Halt);
            self.check(!(halts && stmt.critical), Rule::Critical, || {
                format!("{place} halts inside a critical section")
            });
            for next in flow::successors(stmt) {
                let stays = !stmt.critical || leaves || thread.stmt(next).critical;
                self.check(stays, Rule::Critical, || {
                    format!("{place} leaves a critical section to {next} without `Leave`")
                });
            }
        }
    }

    fn join(&mut self) {
        let program = self.program;
        for (at, thread) in program.init.iter().chain(&program.threads).enumerate() {
            let is_last = at + 1 == program.init.iter().len() + program.threads.len();
            for (pc, stmt) in thread.code.iter().enumerate() {
                let allowed = !matches!(stmt.op, Op::Join) || (is_last && pc == 0);
                self.check(allowed, Rule::Join, || {
                    format!("{} {} is a `Join`", thread.name, Pc::from_index(pc))
                });
            }
        }
        let Some(thread) = program.last_thread().map(|last| program.thread(last)) else { return };
        for stmt in &thread.code {
            let follows = |is: &dyn Fn(&Op) -> bool| {
                flow::successors(stmt)
                    .all(|n| thread.code.get(n.index()).is_some_and(|s| is(&s.op)))
            };
            let sound = if matches!(stmt.op, Op::Join) {
                follows(&|op| matches!(op, Op::AtomicBegin))
            } else if matches!(stmt.op, Op::AtomicEnd) {
                follows(&|op| matches!(op, Op::Halt))
            } else {
                follows(&|op| !matches!(op, Op::Join))
            };
            self.check(sound, Rule::Join, || format!("{} runs more than one block", thread.name));
        }
    }

    fn init(&mut self, init: &Thread) {
        for stmt in &init.code {
            let allowed = !matches!(
                stmt.op,
                Op::Leave
                    | Op::AtomicBegin
                    | Op::AtomicEnd
                    | Op::Invoke { .. }
                    | Op::Return { .. }
                    | Op::Join
            );
            self.check(allowed && !stmt.critical, Rule::Init, || {
                format!("init contains {:?}", stmt.op)
            });
        }
    }

    fn properties(&mut self, problem: &Problem) {
        let threads = problem.program.threads.iter();
        let asserts = threads.flat_map(|t| &t.code).any(|s| matches!(s.op, Op::Assert(_)));
        let listed = problem.properties.contains(&Property::Assertions);
        self.check(!asserts || listed, Rule::Property, || {
            "the program has an assert, but no property `Assertions`".into()
        });
        for condition in &problem.sometimes {
            self.condition(&condition.expr, true);
        }
        for property in &problem.properties {
            match property {
                Property::FinalForall(condition) | Property::FinalNever(condition) => {
                    self.condition(&condition.expr, true);
                }
                Property::Invariant(condition) => self.condition(&condition.expr, false),
                Property::Assertions
                | Property::MutualExclusion
                | Property::DeadlockFree
                | Property::Progress => {}
                Property::Operations(operations) => self.operations(operations),
            }
        }
        for observable in &problem.observed {
            self.check(self.exists(*observable), Rule::Observed, || {
                format!("{observable:?} does not exist")
            });
        }
    }

    fn operations(&mut self, operations: &Operations) {
        let exist = operations.first.iter().all(|loc| self.exists(Observable::Loc(*loc)));
        self.check(exist, Rule::Property, || "the location of a result does not exist".into());
        for (thread, all) in &operations.threads {
            for operation in all {
                self.thread(&operation.body);
                for (other, reg) in &operation.seen {
                    let exists = other.index() < self.program.threads.len()
                        && self.exists(Observable::Reg(*thread, *reg));
                    self.check(exists, Rule::Property, || {
                        format!(
                            "a count of returned operations of {} does not exist",
                            operation.name
                        )
                    });
                }
                let Some((inside, kept)) = operation.result else { continue };
                let exists = inside.index() < operation.body.registers.len()
                    && self.exists(Observable::Reg(*thread, kept));
                self.check(exists, Rule::Property, || {
                    format!("the result register of {} does not exist", operation.name)
                });
            }
        }
    }

    fn condition(&mut self, expr: &Expr<Observable>, registers: bool) {
        expr.for_each_var(&mut |observable| {
            let is_register = matches!(observable, Observable::Reg(..));
            let allowed = matches!(observable, Observable::Loc(_)) || is_register == registers;
            let exists = self.exists(*observable);
            self.check(allowed && exists, Rule::Property, || {
                format!("a condition must not mention {observable:?}")
            });
        });
    }

    fn exists(&self, observable: Observable) -> bool {
        match observable {
            Observable::Loc(loc) => loc.index() < self.program.locations.len(),
            Observable::Reg(thread, reg) => {
                let thread = self.program.threads.get(thread.index());
                thread.is_some_and(|thread| reg.index() < thread.registers.len())
            }
            Observable::At(thread, label) => {
                let is_mark = |stmt: &Stmt| matches!(stmt.op, Op::Choose { lo: 0, hi: 0, .. });
                let thread = self.program.threads.get(thread.index());
                thread.is_some_and(|t| t.code.iter().all(|s| s.label != label || is_mark(s)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Label, Loc, Reg};
    use crate::program::{LabelInfo, Location, Pool, Register};
    use crate::span::Span;
    use crate::value::Value;

    fn stmt(op: Op, next: u32) -> Stmt {
        Stmt { label: Label(0), op, next: Pc(next), critical: false }
    }

    fn inside(op: Op, next: u32) -> Stmt {
        Stmt { critical: true, ..stmt(op, next) }
    }

    fn store(value: Value) -> Op {
        Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(value) }
    }

    fn problem(code: Vec<Stmt>) -> Problem {
        let register = Register { name: "r".into(), ty: Type::INT };
        let thread = Thread { name: "p".into(), registers: vec![register], code };
        let label = LabelInfo { span: Span::default(), text: "s".into(), function: "p".into() };
        let location = |name: &str| Location { name: name.into(), ty: Type::INT, init: 0 };
        let program = Program {
            locations: vec![location("x"), location("N#1.a"), location("N#2.a")],
            pools: vec![Pool {
                name: "N".into(),
                base: Loc(1),
                cells: 2,
                stride: 1,
                yields_null: false,
                is_local: false,
            }],
            threads: vec![thread],
            labels: vec![label],
            ..Program::default()
        };
        Problem { program, ..Problem::default() }
    }

    fn rules(problem: &Problem) -> Vec<Rule> {
        match validate(problem) {
            Ok(()) => Vec::new(),
            Err(broken) => broken.into_iter().map(|b| b.rule).collect(),
        }
    }

    #[test]
    fn a_small_program_is_accepted() {
        let code = vec![
            stmt(Op::AtomicBegin, 1),
            stmt(store(1), 2),
            stmt(Op::AtomicEnd, 3),
            inside(Op::Skip, 4),
            inside(Op::Leave, 5),
            stmt(Op::Halt, 0),
        ];
        assert_eq!(rules(&problem(code)), []);
    }

    #[test]
    fn values_out_of_range_are_rejected() {
        assert_eq!(rules(&problem(vec![])), [Rule::ProgramCounter]);
        assert_eq!(rules(&problem(vec![stmt(Op::Skip, 7)])), [Rule::ProgramCounter]);
        let mut bad = stmt(Op::Halt, 0);
        bad.label = Label(9);
        assert_eq!(rules(&problem(vec![bad])), [Rule::Label]);
        let assign = Op::Assign { reg: Reg(3), expr: Expr::Const(0) };
        assert_eq!(rules(&problem(vec![stmt(assign, 0)])), [Rule::Register]);
        let choose = Op::Choose { reg: Reg(0), lo: 2, hi: 1 };
        assert_eq!(rules(&problem(vec![stmt(choose, 0)])), [Rule::Choice]);
    }

    #[test]
    fn addresses_do_not_cross_pool_boundaries() {
        let load = |from| problem(vec![stmt(Op::Load { reg: Reg(0), from }, 0)]);
        let cell = Some((PoolId(0), Expr::Var(Reg(0))));
        assert_eq!(rules(&load(Address { cell: cell.clone(), ..Address::fixed(Loc(1)) })), []);
        assert_eq!(rules(&load(Address { cell, ..Address::fixed(Loc(2)) })), [Rule::Address]);
        assert_eq!(rules(&load(Address::fixed(Loc(1)))), [Rule::Address]);
        let long = Some((2, Expr::Var(Reg(0))));
        let array = Address { index: long, ..Address::fixed(Loc(0)) };
        assert_eq!(rules(&load(array)), [Rule::Address]);
    }

    #[test]
    fn atomic_blocks_have_one_entry_and_one_exit() {
        let halts = vec![stmt(Op::AtomicBegin, 1), stmt(Op::Halt, 0)];
        assert_eq!(rules(&problem(halts)), [Rule::Atomic]);
        let ends = vec![stmt(Op::AtomicEnd, 1), stmt(Op::Halt, 0)];
        assert_eq!(rules(&problem(ends)), [Rule::Atomic]);
        let branch = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(1), otherwise: Pc(2) };
        let entered_twice = vec![
            stmt(branch, 0),
            stmt(Op::AtomicBegin, 2),
            stmt(Op::Skip, 3),
            stmt(Op::AtomicEnd, 4),
            stmt(Op::Halt, 0),
        ];
        assert!(rules(&problem(entered_twice)).contains(&Rule::Atomic));
    }

    #[test]
    fn only_the_last_thread_joins() {
        let last = || {
            let begin = [stmt(Op::Join, 1), stmt(Op::AtomicBegin, 2)];
            begin.into_iter().chain([stmt(Op::AtomicEnd, 3), stmt(Op::Halt, 3)]).collect()
        };
        let mut two = problem(vec![stmt(Op::Halt, 0)]);
        two.program.threads.push(Thread { name: "last".into(), registers: vec![], code: last() });
        assert!(rules(&two).is_empty());
        assert_eq!(two.program.last_thread(), Some(crate::ids::ThreadId(1)));
        two.program.threads.swap(0, 1);
        assert_eq!(rules(&two), [Rule::Join]);
        assert_eq!(two.program.last_thread(), None);
        let without_block = problem(vec![stmt(Op::Join, 1), stmt(Op::Halt, 1)]);
        assert_eq!(rules(&without_block), [Rule::Join]);
    }

    #[test]
    fn critical_sections_are_left_only_by_leave() {
        let falls_out = vec![inside(Op::Skip, 1), stmt(Op::Halt, 0)];
        assert_eq!(rules(&problem(falls_out)), [Rule::Critical]);
        let outside = vec![stmt(Op::Leave, 1), stmt(Op::Halt, 0)];
        assert_eq!(rules(&problem(outside)), [Rule::Critical]);
    }

    #[test]
    fn asserts_require_the_assertions_property() {
        let code = vec![stmt(Op::Assert(Expr::Const(1)), 1), stmt(Op::Halt, 0)];
        let mut problem = problem(code);
        assert_eq!(rules(&problem), [Rule::Property]);
        problem.properties.push(Property::Assertions);
        problem.observed.push(Observable::Loc(Loc(99)));
        assert_eq!(rules(&problem), [Rule::Observed]);
    }
}

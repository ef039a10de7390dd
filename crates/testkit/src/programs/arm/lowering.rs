//! The lowering of programs for the model `arm`.
//!
//! Every access has a label of its own, which has its order. Whether an exclusive store succeeds is
//! chosen before the load of the pair. Only a load whose store succeeds is exclusive. A run in which
//! a thread skips the store of such a load is discarded.

use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{
    AccessOrder, Acquire, BinOp, CasResult, Expr, FenceKinds, Label, LabelInfo, Loc, Location,
    Observable, Op, Problem, Program, Reg, Span, Thread, ThreadId, Type,
};

use super::text::NAMES;
use super::{Address, ArmProgram, Fence, LOCATIONS, Operand, Statement, Update};

impl ArmProgram {
    /// Returns the program as a problem without properties.
    pub fn problem(&self) -> Problem {
        let location = |name: &&str| Location { name: (*name).into(), ty: Type::INT, init: 0 };
        let locations = NAMES.iter().map(location).collect();
        let mut program = Program { locations, ..Program::default() };
        let mut observed: Vec<Observable> =
            (0..LOCATIONS).map(|loc| Observable::Loc(Loc::from_index(loc))).collect();
        for (at, statements) in self.threads.iter().enumerate() {
            let name = format!("p{at}");
            let lowering = Lowering::new(&mut program, &name, statements.len());
            let thread = lowering.thread(statements);
            let names = thread.registers.iter().enumerate();
            let visible = names.filter(|(_, register)| register.name.starts_with('r'));
            observed.extend(
                visible.map(|(reg, _)| {
                    Observable::Reg(ThreadId::from_index(at), Reg::from_index(reg))
                }),
            );
            program.threads.push(thread);
        }
        Problem { program, observed, may_hang: true, ..Problem::default() }
    }
}

struct Lowering<'a> {
    program: &'a mut Program,
    name: &'a str,
    code: Assembler,
    /// By statement: its start. The last one is the end of the thread.
    targets: Vec<Target>,
    /// Whether the store of the current exclusive pair succeeds. 0 if there is no such pair.
    succeeds: Reg,
}

impl<'a> Lowering<'a> {
    fn new(program: &'a mut Program, name: &'a str, statements: usize) -> Self {
        let mut code = Assembler::new(Vec::new());
        let targets = (0..=statements).map(|_| code.target()).collect();
        let succeeds = code.temporary(Type::Bool);
        Lowering { program, name, code, targets, succeeds }
    }

    fn thread(mut self, statements: &[Statement]) -> Thread {
        for (at, statement) in statements.iter().enumerate() {
            self.code.bind(self.targets[at]);
            self.label(statement, AccessOrder::PLAIN);
            self.statement(at, statement);
        }
        self.code.bind(self.targets[statements.len()]);
        self.end_pair();
        self.code.op(Op::Halt);
        let (registers, code) = self.code.finish_compact();
        Thread { name: self.name.into(), registers, code }
    }

    /// Gives the following statements a label with this order.
    fn label(&mut self, statement: &Statement, order: AccessOrder) {
        let label = Label::from_index(self.program.labels.len());
        let (span, text) = (Span::default(), statement.to_string());
        self.program.labels.push(LabelInfo { span, text, function: self.name.into() });
        if order != AccessOrder::PLAIN {
            self.program.orders.insert(label, order);
        }
        self.code.at(label, false);
    }

    fn statement(&mut self, at: usize, statement: &Statement) {
        match *statement {
            Statement::Load { reg, at, acquire, exclusive: false } => {
                self.label(statement, AccessOrder { acquire, ..AccessOrder::PLAIN });
                self.load(reg, at);
            }
            Statement::Load { reg, at, acquire, exclusive: true } => {
                self.load_exclusive(statement, reg, at, acquire);
            }
            Statement::Store { at, value, release } => {
                self.label(statement, AccessOrder { release, ..AccessOrder::PLAIN });
                self.store(at, value);
            }
            Statement::StoreExclusive { status, at, value, release } => {
                self.store_exclusive(statement, status, at, value, release);
            }
            Statement::Update { reg, at, update, acquire, release } => {
                let acquire = if acquire { Acquire::Strong } else { Acquire::None };
                let discards_value = reg.is_none();
                let order = AccessOrder { acquire, release, discards_value, ..AccessOrder::PLAIN };
                self.label(statement, order);
                let update = self.update(update);
                let (reg, at) = (reg.map(|reg| self.register(reg)), self.address(at));
                self.code.op(Op::Update { reg, at, update });
            }
            Statement::Fence(fence) => {
                self.code.op(Op::Fence(match fence {
                    Fence::Full => FenceKinds::FULL,
                    Fence::Load => FenceKinds::ACQUIRE,
                    Fence::Store => FenceKinds::STORE_STORE,
                    Fence::Instruction => FenceKinds::INSTRUCTION,
                }));
            }
            Statement::Select { reg, cond, then, otherwise } => {
                let (then, otherwise) = (self.value(then), self.value(otherwise));
                let cond = Expr::Var(self.register(cond));
                let expr = Expr::Select(Box::new(cond), Box::new(then), Box::new(otherwise));
                let reg = self.register(reg);
                let label = Label::from_index(self.program.labels.len() - 1);
                self.program.selections.insert(label);
                self.code.op(Op::Assign { reg, expr });
            }
            Statement::BranchIfZero { reg, skipped } => {
                let last = self.targets.len() - 1;
                let target = self.targets[(at + 1 + skipped).min(last)];
                let reg = self.register(reg);
                self.code.jump_unless(Expr::Var(reg), target);
            }
        }
    }

    fn load(&mut self, reg: usize, at: Address) {
        let (reg, from) = (self.register(reg), self.address(at));
        self.code.op(Op::Load { reg, from });
    }

    fn store(&mut self, at: Address, value: Operand) {
        let (to, value) = (self.address(at), self.value(value));
        self.code.op(Op::Store { to, value });
    }

    fn load_exclusive(&mut self, statement: &Statement, reg: usize, at: Address, acquire: Acquire) {
        self.end_pair();
        let (plain, end) = (self.code.target(), self.code.target());
        self.code.op(Op::Choose { reg: self.succeeds, lo: 0, hi: 1 });
        self.code.jump_unless(Expr::Var(self.succeeds), plain);
        let order = AccessOrder { acquire, ..AccessOrder::PLAIN };
        self.label(statement, AccessOrder { exclusive: true, ..order });
        self.load(reg, at);
        self.code.jump(end);
        self.code.bind(plain);
        self.label(statement, order);
        self.load(reg, at);
        self.code.bind(end);
    }

    fn store_exclusive(
        &mut self,
        statement: &Statement,
        status: usize,
        at: Address,
        value: Operand,
        release: bool,
    ) {
        let (fails, end) = (self.code.target(), self.code.target());
        let status = self.register(status);
        self.code.jump_unless(Expr::Var(self.succeeds), fails);
        self.label(statement, AccessOrder { release, exclusive: true, ..AccessOrder::PLAIN });
        self.store(at, value);
        self.label(statement, AccessOrder::PLAIN);
        self.code.op(Op::Assign { reg: self.succeeds, expr: Expr::Const(0) });
        self.code.op(Op::Assign { reg: status, expr: Expr::Const(0) });
        self.code.jump(end);
        self.code.bind(fails);
        self.code.op(Op::Assign { reg: status, expr: Expr::Const(1) });
        self.code.bind(end);
    }

    /// Discards the runs in which the store of an exclusive load is still missing.
    fn end_pair(&mut self) {
        let none = binary(BinOp::Eq, Expr::Var(self.succeeds), Expr::Const(0));
        self.code.op(Op::Assume(none));
    }

    fn register(&mut self, reg: usize) -> Reg {
        self.code.named_register(&format!("r{reg}"), Type::INT)
    }

    fn address(&mut self, at: Address) -> fencepost_ir::Address {
        match at {
            Address::Fixed(loc) => fencepost_ir::Address::fixed(Loc::from_index(loc)),
            Address::Dependent(loc, reg) => {
                let index = self.zero(reg);
                fencepost_ir::Address::element(Loc::from_index(loc), 1, index)
            }
            Address::Indexed(reg) => {
                let reg = Expr::Var(self.register(reg));
                let index = binary(BinOp::BitAnd, reg, Expr::Const(1));
                fencepost_ir::Address::element(Loc(0), 2, index)
            }
        }
    }

    fn value(&mut self, value: Operand) -> Expr<Reg> {
        match value {
            Operand::Constant(value) => Expr::Const(value),
            Operand::Dependent(value, reg) => {
                binary(BinOp::Add, self.zero(reg), Expr::Const(value))
            }
            Operand::Register(reg) => Expr::Var(self.register(reg)),
        }
    }

    /// Returns an expression that is 0 and depends on a register.
    fn zero(&mut self, reg: usize) -> Expr<Reg> {
        let reg = self.register(reg);
        binary(BinOp::BitXor, Expr::Var(reg), Expr::Var(reg))
    }

    fn update(&mut self, update: Update) -> fencepost_ir::Update {
        match update {
            Update::Swap(new) => fencepost_ir::Update::Swap { new: self.value(new) },
            Update::Add(by) => fencepost_ir::Update::Add { by: self.value(by), wrap: None },
            Update::Cas(expected, new) => {
                let (expected, new) = (self.value(expected), self.value(new));
                fencepost_ir::Update::Cas { expected, new, result: CasResult::Old }
            }
        }
    }
}

fn binary(op: BinOp, left: Expr<Reg>, right: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

//! A compact text form of typed trees.

use std::fmt::Write;

use crate::c::typed::{
    Access, BinaryOp, Expr, ExprKind, Function, Init, Intrinsic, Place, PlaceKind, Program, Stmt,
    StmtKind, Type, TypeKind, Variable, VariableId,
};

/// Prints a whole program.
pub(super) fn program(program: &Program) -> String {
    let mut out = String::new();
    for record in &program.records {
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|f| format!("{}@{}: {}", f.name, f.offset, ty(program, &f.ty)))
            .collect();
        let (name, size, alignment) = (&record.name, record.size, record.alignment);
        let _ = writeln!(out, "{name} (size {size}, align {alignment}) {{{}}}", fields.join(", "));
    }
    for global in &program.globals {
        let init = global.init.as_ref().map_or(String::new(), |init| {
            format!(" = {}", Printer { program, function: None }.init(init))
        });
        let _ = writeln!(out, "{}{init}", variable(program, global));
    }
    for function in &program.functions {
        let printer = Printer { program, function: Some(function) };
        let parameters: Vec<String> = function.locals[..function.parameters as usize]
            .iter()
            .map(|v| variable(program, v))
            .collect();
        let result = ty(program, &function.ty.result);
        let _ = writeln!(out, "fn {}({}) -> {result}", function.name, parameters.join(", "));
        for stmt in &function.body {
            printer.stmt(stmt, 1, &mut out);
        }
    }
    out
}

fn variable(program: &Program, variable: &Variable) -> String {
    let thread = if variable.thread_local { "thread " } else { "" };
    let address = if variable.address_taken { "&" } else { "" };
    format!("{thread}{address}{}: {}", variable.name, ty(program, &variable.ty))
}

pub(super) fn ty(program: &Program, t: &Type) -> String {
    let quals = match (t.qualifiers.atomic, t.qualifiers.volatile) {
        (false, false) => "",
        (true, false) => "atomic ",
        (false, true) => "volatile ",
        (true, true) => "atomic volatile ",
    };
    let name = match &t.kind {
        TypeKind::Void => "void".into(),
        TypeKind::Int(int) if int.is_bool => "bool".into(),
        TypeKind::Int(int) => format!("{}{}", if int.signed { "i" } else { "u" }, int.bits),
        TypeKind::Pointer(to) => format!("*{}", ty(program, to)),
        TypeKind::Array(element, count) => format!("[{count}]{}", ty(program, element)),
        TypeKind::Record(id) => program.records[id.0 as usize].name.clone(),
        TypeKind::Function(f) => {
            let parameters: Vec<String> = f.parameters.iter().map(|p| ty(program, p)).collect();
            let dots = if f.variadic { ", ..." } else { "" };
            format!("fn({}{dots}) -> {}", parameters.join(", "), ty(program, &f.result))
        }
        TypeKind::Unsupported { name, .. } => name.clone(),
    };
    format!("{quals}{name}")
}

struct Printer<'a> {
    program: &'a Program,
    function: Option<&'a Function>,
}

impl Printer<'_> {
    fn variable(&self, id: VariableId) -> String {
        match (id, self.function) {
            (VariableId::Global(index), _) => self.program.globals[index as usize].name.clone(),
            (VariableId::Local(index), Some(f)) => f.locals[index as usize].name.clone(),
            (VariableId::Local(index), None) => format!("local {index}"),
        }
    }

    fn init(&self, init: &Init) -> String {
        let items: Vec<String> = init
            .items
            .iter()
            .map(|item| format!("{}: {}", item.offset, self.expr(&item.value)))
            .collect();
        format!("{}{{{}}}", if init.zero { "zero " } else { "" }, items.join(", "))
    }

    fn place(&self, place: &Place) -> String {
        match &place.kind {
            PlaceKind::Variable(id) => self.variable(*id),
            PlaceKind::Deref(pointer) => format!("*{}", self.expr(pointer)),
            PlaceKind::Field(base, index) => {
                let TypeKind::Record(id) = base.ty.kind else { panic!("a record") };
                let field = &self.program.records[id.0 as usize].fields[*index as usize];
                format!("{}.{}", self.place(base), field.name)
            }
            PlaceKind::Index(base, index) => {
                format!("{}[{}]", self.place(base), self.expr(index))
            }
            PlaceKind::Compound { variable, init } => {
                format!("{}{}", self.variable(*variable), self.init(init))
            }
            PlaceKind::Value(value) => format!("value({})", self.expr(value)),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        let e = |expr: &Expr| self.expr(expr);
        let t = ty(self.program, &expr.ty);
        match &expr.kind {
            ExprKind::Const(value) => match t.as_str() {
                "i32" => format!("{value}"),
                _ => format!("{value}{t}"),
            },
            ExprKind::Function(id) => self.program.functions[id.0 as usize].name.clone(),
            ExprKind::Load(place, access) => format!("{}{}", self.place(place), suffix(*access)),
            ExprKind::AddressOf(place) => format!("&{}", self.place(place)),
            ExprKind::Negate(a) => format!("-{}", e(a)),
            ExprKind::Complement(a) => format!("~{}", e(a)),
            ExprKind::Binary(op, a, b) => format!("({} {}:{t} {})", e(a), sign(*op), e(b)),
            ExprKind::PointerAdd { pointer, index, size } => {
                format!("({} + {} * {size})", e(pointer), e(index))
            }
            ExprKind::PointerDifference { left, right, size } => {
                format!("(({} - {}) / {size})", e(left), e(right))
            }
            ExprKind::Convert(a) => format!("({t}){}", e(a)),
            ExprKind::And(a, b) => format!("({} && {})", e(a), e(b)),
            ExprKind::Or(a, b) => format!("({} || {})", e(a), e(b)),
            ExprKind::Conditional(c, a, b) => format!("({} ? {} : {})", e(c), e(a), e(b)),
            ExprKind::Comma(a, b) => format!("({}, {})", e(a), e(b)),
            ExprKind::Assign { place, value, access } => {
                format!("{} ={} {}", self.place(place), suffix(*access), e(value))
            }
            ExprKind::Modify { place, op, value, computed, yields_old, access } => {
                let computed = ty(self.program, computed);
                let old = if *yields_old { "old " } else { "" };
                let place = self.place(place);
                format!("{old}{place} {}={}:{computed} {}", sign(*op), suffix(*access), e(value))
            }
            ExprKind::Call { function, arguments } => {
                let arguments: Vec<String> = arguments.iter().map(e).collect();
                format!("{}({})", e(function), arguments.join(", "))
            }
            ExprKind::Intrinsic(intrinsic) => format!("{}:{t}", self.intrinsic(intrinsic)),
            ExprKind::Statements(items) => {
                let mut out = String::new();
                for item in items {
                    self.stmt(item, 0, &mut out);
                }
                format!("({{ {} }})", out.trim_end().replace('\n', "; "))
            }
        }
    }

    fn intrinsic(&self, intrinsic: &Intrinsic) -> String {
        let list = |name: &str, arguments: &[&Expr]| {
            let arguments: Vec<String> = arguments.iter().map(|e| self.expr(e)).collect();
            format!("{name}({})", arguments.join(", "))
        };
        match intrinsic {
            Intrinsic::AtomicLoad { pointer, order } => list("load", &[pointer, order]),
            Intrinsic::AtomicStore { pointer, value, order } => {
                list("store", &[pointer, value, order])
            }
            Intrinsic::AtomicExchange { pointer, value, order } => {
                list("exchange", &[pointer, value, order])
            }
            Intrinsic::AtomicCompareExchange {
                pointer,
                expected,
                desired,
                weak,
                success,
                failure,
            } => {
                let name = if *weak { "cas weak" } else { "cas" };
                list(name, &[pointer, expected, desired, success, failure])
            }
            Intrinsic::AtomicCompareSwap { pointer, expected, desired, order, yields } => {
                list(&format!("swap {yields:?}"), &[pointer, expected, desired, order])
            }
            Intrinsic::AtomicFetch { op, pointer, value, order, yields } => {
                list(&format!("fetch {op:?} {yields:?}"), &[pointer, value, order])
            }
            Intrinsic::Fence { order } => list("fence", &[order]),
            Intrinsic::MachineFence(kinds) => format!("fence {}", kinds.name()),
            Intrinsic::ThreadCreate { function, argument } => list("create", &[function, argument]),
            Intrinsic::ThreadJoin { thread } => list("join", &[thread]),
            Intrinsic::ThreadExit { value } => list("thread_exit", &[value]),
            Intrinsic::ThreadSelf => "self".into(),
            Intrinsic::Assume(condition) => list("assume", &[condition]),
            Intrinsic::Assert { condition, text } => {
                format!("{} {text:?}", list("assert", &[condition]))
            }
            Intrinsic::Fail { text } => format!("fail {text:?}"),
            Intrinsic::Exit => "exit".into(),
            Intrinsic::Nondet => "nondet".into(),
            Intrinsic::AtomicBegin => "atomic_begin".into(),
            Intrinsic::AtomicEnd => "atomic_end".into(),
            Intrinsic::Allocate { size, zero } => {
                list(if *zero { "allocate zero" } else { "allocate" }, &[size])
            }
            Intrinsic::Reallocate { pointer, size } => list("reallocate", &[pointer, size]),
            Intrinsic::Free { pointer } => list("free", &[pointer]),
            Intrinsic::MemoryCopy { target, source, size } => list("copy", &[target, source, size]),
            Intrinsic::MemorySet { target, value, size } => list("set", &[target, value, size]),
            Intrinsic::NoEffect { arguments } => {
                list("no_effect", &arguments.iter().collect::<Vec<_>>())
            }
        }
    }

    fn stmt(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let mut line = |text: String| {
            let _ = writeln!(out, "{pad}{text}");
        };
        let label = |index: u32| match self.function {
            Some(function) => function.labels[index as usize].clone(),
            None => format!("label {index}"),
        };
        match &stmt.kind {
            StmtKind::Expr(expr) => line(self.expr(expr)),
            StmtKind::Block { items, .. } => {
                line("{".into());
                for item in items {
                    self.stmt(item, depth + 1, out);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            StmtKind::Declare { local, init } => {
                let declared = match self.function {
                    Some(function) => variable(self.program, &function.locals[*local as usize]),
                    None => format!("local {local}"),
                };
                let init = init.as_ref().map(|init| format!(" = {}", self.init(init)));
                line(format!("let {declared}{}", init.unwrap_or_default()));
            }
            StmtKind::If { condition, then, otherwise } => {
                line(format!("if {}", self.expr(condition)));
                self.stmt(then, depth + 1, out);
                if let Some(otherwise) = otherwise {
                    let _ = writeln!(out, "{pad}else");
                    self.stmt(otherwise, depth + 1, out);
                }
            }
            StmtKind::While { condition, body } => {
                line(format!("while {}", self.expr(condition)));
                self.stmt(body, depth + 1, out);
            }
            StmtKind::DoWhile { body, condition } => {
                line(format!("do while {}", self.expr(condition)));
                self.stmt(body, depth + 1, out);
            }
            StmtKind::For { first, condition, step, body } => {
                let part = |part: &Option<Expr>| part.as_ref().map(|e| self.expr(e));
                let (condition, step) = (part(condition), part(step));
                let condition = condition.unwrap_or_default();
                line(format!("for {condition}; {}", step.unwrap_or_default()));
                for item in first {
                    self.stmt(item, depth + 2, out);
                }
                self.stmt(body, depth + 1, out);
            }
            StmtKind::Switch { value, body } => {
                line(format!("switch {}", self.expr(value)));
                self.stmt(body, depth + 1, out);
            }
            StmtKind::Case { first, last, body } => {
                line(format!("case {first}..={last}"));
                self.stmt(body, depth + 1, out);
            }
            StmtKind::Default { body } => {
                line("default".into());
                self.stmt(body, depth + 1, out);
            }
            StmtKind::Label { label: index, body } => {
                line(format!("{}:", label(*index)));
                self.stmt(body, depth + 1, out);
            }
            StmtKind::Goto(index) => line(format!("goto {}", label(*index))),
            StmtKind::Break => line("break".into()),
            StmtKind::Continue => line("continue".into()),
            StmtKind::Return(None) => line("return".into()),
            StmtKind::Return(Some(value)) => line(format!("return {}", self.expr(value))),
            StmtKind::Empty => line(";".into()),
        }
    }
}

fn suffix(access: Access) -> &'static str {
    match access {
        Access::Plain => "",
        Access::Volatile => "@volatile",
        Access::SeqCst => "@seq_cst",
    }
}

fn sign(op: BinaryOp) -> &'static str {
    crate::c::check::operators::symbol(op)
}

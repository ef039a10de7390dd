//! Lowers the syntax tree to a [`Test`].

use fencepost_ir::assemble::Sources;
use fencepost_ir::{
    BinOp, Condition, Expr, Loc, Observable, Problem, Program, Quantifier, Reg, Span, Thread,
    ThreadId, UnOp, validate,
};

use super::ast::{Arch, Body, File, Prop, Right, StateVar};
use super::condition;
use super::error::{Errors, LitmusError};
use super::hash::hash;
use super::layout::Layout;
use super::test::Test;
use super::wrap::wrap_arithmetic;
use super::{aarch64, c, x86};

/// Lowers a file to a test. If `places` is set, the program has places for fences. Returns `None`
/// if the file has errors.
///
/// # Panics
/// Panics if the resulting program is not well-formed, which is a bug in this crate.
pub fn lower(file: &File, source: &str, places: bool, errors: &mut Errors) -> Option<Test> {
    errors.begin_thread();
    let mut layout = Layout::new(file.arch, &file.init, errors)?;
    let constraint = resolve_constraint(file, errors);
    let threads = match &file.body {
        Body::X86(columns) => columns.len(),
        Body::AArch64(columns) => columns.len(),
        Body::C(functions) => functions.len(),
    };
    let mentioned = match &file.body {
        Body::X86(columns) => x86::lower::declare_locations(columns, &mut layout),
        // Instructions name no locations: addresses are in registers.
        Body::AArch64(_) => Ok(()),
        Body::C(functions) => c::lower::declare_locations(functions, &mut layout),
    };
    errors.check(mentioned)?;
    let mut warnings = Vec::new();
    for (var, span) in constraint.all() {
        match var {
            StateVar::Global(name) if layout.is_array(name) => {
                let error = LitmusError::unsupported(*span, format!("`{name}` is an array"));
                errors.push(error.hint(format!("name one of its elements: `{name}[0]`")));
            }
            StateVar::Global(name) => {
                if errors.check(layout.declare_if_new(name, *span))? {
                    let message = format!("no statement accesses `{name}`: its value is always 0");
                    warnings.push((*span, message));
                }
            }
            StateVar::Element(name, at) => {
                errors.check(layout.cell(name, Some(*at), *span));
            }
            StateVar::Register(thread, name) => check_thread(*thread, name, threads, *span, errors),
        }
    }
    for item in &file.init {
        if let StateVar::Register(thread, name) = &item.var {
            check_thread(*thread, name, threads, item.span, errors);
        }
    }
    let names: Vec<Vec<String>> = (0..threads)
        .map(|t| {
            constraint.all().filter_map(|(var, _)| register_of_thread(var, t as u32)).collect()
        })
        .collect();
    let sources = Sources { marks_places: places, ..Sources::default() };
    let mut threads = Vec::new();
    let mut accesses = None;
    let (mut layout, sources) = match &file.body {
        Body::X86(columns) => {
            let widths = x86::lower::Widths::default();
            let mut context =
                x86::lower::Context { source, arch: file.arch, layout, sources, widths };
            for (column, names) in columns.iter().zip(&names) {
                threads.push(x86::lower::lower(column, &file.init, names, &mut context, errors));
            }
            (context.layout, context.sources)
        }
        Body::AArch64(columns) => {
            let found = aarch64::targets::Accesses::default();
            let mut context = aarch64::lower::Context { source, layout, sources, accesses: found };
            for (column, names) in columns.iter().zip(&names) {
                threads.push(aarch64::lower::lower(
                    column,
                    &file.init,
                    names,
                    &mut context,
                    errors,
                ));
            }
            accesses = Some(context.accesses);
            (context.layout, context.sources)
        }
        Body::C(functions) => {
            let domains = c::lower::rcu::Domains::default();
            let mut context = c::lower::Context { source, layout, sources, domains };
            for (function, names) in functions.iter().zip(&names) {
                let incomplete = function.incomplete || file.constraint.incomplete;
                let lowerer = (&file.init[..], &names[..], incomplete);
                threads.push(c::lower::lower(function, lowerer, &mut context, errors));
            }
            (context.layout, context.sources)
        }
    };
    errors.begin_thread();
    if !errors.is_empty() {
        for prop in [Some(&constraint.prop), constraint.filter.as_ref()].into_iter().flatten() {
            check_constants(prop, &mut layout, errors);
        }
        errors.check(layout.check_reserved_numbers());
        return None;
    }
    let mut program = Program {
        locations: layout.locations(),
        threads: threads.into_iter().collect::<Option<Vec<Thread>>>()?,
        labels: sources.labels,
        places: sources.places,
        orders: sources.orders,
        selections: sources.selections,
        ..Program::default()
    };
    wrap_arithmetic(&mut program);
    if let Some(accesses) = accesses {
        aarch64::targets::finish(&mut program, &accesses, errors);
    }
    errors.check(c::lower::rcu::finish(&mut program))?;
    program.places.sort_by_key(|place| (place.offset, !place.at_end));
    for (var, span) in constraint.all().filter(|_| file.arch == Arch::C) {
        if let StateVar::Register(thread, name) = var
            && is_never_assigned(&program, *thread, name)
        {
            let message = format!("the local `{name}` of P{thread} is never assigned");
            warnings.push((*span, message));
        }
    }
    let find =
        |var: &StateVar, span: Span, layout: &Layout| observable(&program, layout, var, span);
    let condition = errors.check(to_expr(&constraint.prop, &mut layout, &find));
    let filter = constraint.filter.as_ref().map(|filter| to_expr(filter, &mut layout, &find));
    let filter = errors.check(filter.transpose());
    errors.check(layout.check_reserved_numbers())?;
    let (condition, filter) = (condition?, filter?);
    if !errors.is_empty() {
        return None;
    }
    let observed = constraint.all().map(|(var, span)| find(var, *span, &layout));
    let observed = errors.check(observed.collect::<Result<Vec<Observable>, LitmusError>>())?;
    let state_vars: Vec<String> =
        constraint.shown.iter().map(|(var, _)| format_in_state(var)).collect();
    let hash = hash(file, &state_vars);
    let condition_text = condition::format_prop(&constraint.prop, &format_in_state);
    let quantifier = file.constraint.quantifier;
    let restricted = apply_filter(
        quantifier,
        &condition,
        filter.as_ref(),
        &condition_text,
        file.constraint.span,
    );
    let mut problem = Problem { program, observed, ..Problem::default() };
    problem.add_final(quantifier, restricted);
    if let Err(broken) = validate::validate(&problem) {
        let broken: Vec<String> = broken.iter().take(10).map(ToString::to_string).collect();
        panic!("the litmus front end built an ill-formed program: {}", broken.join("; "));
    }
    Some(Test {
        name: file.name.clone(),
        arch: file.arch,
        problem,
        quantifier,
        condition_text,
        condition,
        filter,
        state_vars,
        value_names: layout.value_names(),
        hash,
        warnings,
    })
}

/// Reports a register of a thread that does not exist.
fn check_thread(thread: u32, name: &str, threads: usize, span: Span, errors: &mut Errors) {
    if thread as usize >= threads {
        errors.push(LitmusError::name(
            span,
            format!("there is no thread {thread}, so there is no register `{thread}:{name}`"),
        ));
    }
}

/// Reports invalid constants in a condition that is not lowered because of other errors.
fn check_constants(prop: &Prop, layout: &mut Layout, errors: &mut Errors) {
    prop.for_each(&mut |_, right, span| {
        let constants = match right {
            Right::Constant(constant) => std::slice::from_ref(constant),
            Right::Among(all) => &all[..],
            Right::StateVar(_) => &[],
        };
        for constant in constants {
            errors.check(layout.constant(constant, span));
        }
    });
}

/// The constraint with canonical register names, and the variables that it uses.
struct ResolvedConstraint {
    /// The variables of printed states, in herd's order: registers by thread, array elements,
    /// locations.
    shown: Vec<(StateVar, Span)>,
    /// The variables that only the filter uses.
    hidden: Vec<(StateVar, Span)>,
    prop: Prop,
    filter: Option<Prop>,
}

impl ResolvedConstraint {
    fn all(&self) -> impl Iterator<Item = &(StateVar, Span)> {
        self.shown.iter().chain(&self.hidden)
    }
}

fn resolve_constraint(file: &File, errors: &mut Errors) -> ResolvedConstraint {
    let constraint = &file.constraint;
    let mut shown: Vec<(StateVar, Span)> = Vec::new();
    let add = |var: StateVar, span: Span, list: &mut Vec<(StateVar, Span)>| {
        if !list.iter().any(|(other, _)| *other == var) {
            list.push((var, span));
        }
    };
    for (var, span) in &constraint.locations {
        add(canonical_var(file.arch, var, *span, errors), *span, &mut shown);
    }
    let prop = canonical_prop(file.arch, &constraint.prop, errors);
    let both = |visit: &mut dyn FnMut(&StateVar, Span), prop: &Prop| {
        prop.for_each(&mut |left, right, span| {
            visit(left, span);
            if let Right::StateVar(other) = right {
                visit(other, span);
            }
        });
    };
    both(&mut |var, span| add(var.clone(), span, &mut shown), &prop);
    shown.sort_by_cached_key(|(var, _)| display_order(file.arch, var));
    let filter = constraint.filter.as_ref().map(|f| canonical_prop(file.arch, f, errors));
    let mut hidden: Vec<(StateVar, Span)> = Vec::new();
    if let Some(filter) = &filter {
        both(&mut |var, span| add(var.clone(), span, &mut hidden), filter);
        hidden.retain(|(var, _)| !shown.iter().any(|(other, _)| other == var));
    }
    ResolvedConstraint { shown, hidden, prop, filter }
}

/// Returns the sort key of a variable in a printed state: registers by thread and number (in C by
/// name), then array elements, then locations.
fn display_order(arch: Arch, var: &StateVar) -> (u8, u32, usize, String, u32) {
    match var {
        StateVar::Register(thread, name) => {
            let number = register(arch, name).map_or(0, |register| register.number);
            (0, *thread, number, name.clone(), 0)
        }
        StateVar::Element(name, at) => (1, 0, 0, name.clone(), *at),
        StateVar::Global(name) => (2, 0, 0, name.clone(), 0),
    }
}

/// A register of an assembly language.
struct CanonicalRegister {
    /// The number, for the order in printed states.
    number: usize,
    /// The name in printed states.
    name: String,
    /// Whether the name denotes only a part that conditions cannot use.
    is_part: bool,
}

/// Returns the register of this name. C has no registers.
fn register(arch: Arch, name: &str) -> Option<CanonicalRegister> {
    match arch {
        Arch::X86 | Arch::X86_64 => {
            let part = x86::registers::by_name(arch, name)?;
            let name = x86::registers::full_name(arch, part.register).to_string();
            Some(CanonicalRegister { number: part.register, name, is_part: part.width < 32 })
        }
        Arch::AArch64 => {
            let number = aarch64::registers::Register::by_name(name)?.number?;
            let name = aarch64::registers::full_name(number);
            Some(CanonicalRegister { number: number.into(), name, is_part: false })
        }
        Arch::C => None,
    }
}

/// Returns the variable with the canonical name of its register. Reports unknown registers and
/// parts of registers.
fn canonical_var(arch: Arch, var: &StateVar, span: Span, errors: &mut Errors) -> StateVar {
    let StateVar::Register(thread, name) = var else { return var.clone() };
    if arch == Arch::C {
        return var.clone();
    }
    match register(arch, name) {
        Some(CanonicalRegister { name, is_part: false, .. }) => StateVar::Register(*thread, name),
        Some(CanonicalRegister { name: whole, .. }) => {
            let message =
                format!("`{name}`, a part of a register, is not supported in a condition");
            errors.push(
                LitmusError::unsupported(span, message).hint(format!("use the register `{whole}`")),
            );
            var.clone()
        }
        None => {
            errors.push(LitmusError::name(span, format!("there is no register `{name}`")));
            var.clone()
        }
    }
}

/// Returns the canonical name of a register. Returns an unknown name unchanged.
pub(super) fn register_name(arch: Arch, name: &str) -> String {
    register(arch, name).map_or_else(|| name.to_string(), |register| register.name)
}

fn canonical_prop(arch: Arch, prop: &Prop, errors: &mut Errors) -> Prop {
    let mut one = |prop: &Prop| canonical_prop(arch, prop, errors);
    match prop {
        Prop::Equal(left, right, span) => {
            let left = canonical_var(arch, left, *span, errors);
            let right = match right {
                Right::StateVar(other) => {
                    Right::StateVar(canonical_var(arch, other, *span, errors))
                }
                Right::Constant(_) | Right::Among(_) => right.clone(),
            };
            Prop::Equal(left, right, *span)
        }
        Prop::Not(inner) => Prop::Not(Box::new(one(inner))),
        Prop::And(list) => Prop::And(list.iter().map(one).collect()),
        Prop::Or(list) => Prop::Or(list.iter().map(one).collect()),
        Prop::Implies(a, b) => Prop::Implies(Box::new(one(a)), Box::new(one(b))),
    }
}

/// Returns the name of a variable that is a register of this thread.
fn register_of_thread(var: &StateVar, thread: u32) -> Option<String> {
    match var {
        StateVar::Register(owner, name) if *owner == thread => Some(name.clone()),
        StateVar::Register(..) | StateVar::Element(..) | StateVar::Global(_) => None,
    }
}

/// Formats a variable as in a printed state: locations have brackets.
fn format_in_state(var: &StateVar) -> String {
    match var {
        StateVar::Register(..) | StateVar::Element(..) => var.to_string(),
        StateVar::Global(name) => format!("[{name}]"),
    }
}

/// Returns whether no statement of the thread writes the register `name`.
fn is_never_assigned(program: &Program, thread: u32, name: &str) -> bool {
    let thread = program.thread(ThreadId::from_index(thread as usize));
    let named = |reg: Reg| thread.registers[reg.index()].name == name;
    !thread.code.iter().any(|stmt| stmt.op.target().is_some_and(named))
}

fn observable(
    program: &Program,
    layout: &Layout,
    var: &StateVar,
    span: Span,
) -> Result<Observable, LitmusError> {
    let cell = |loc: Loc| Observable::Loc(loc);
    match var {
        StateVar::Global(name) => layout.cell(name, None, span).map(cell),
        StateVar::Element(name, at) => layout.cell(name, Some(*at), span).map(cell),
        StateVar::Register(thread, name) => {
            let id = ThreadId::from_index(*thread as usize);
            let registers = &program.thread(id).registers;
            let at = registers.iter().position(|register| register.name == *name);
            let at = at.expect("lowering creates every register of the constraint");
            Ok(Observable::Reg(id, Reg::from_index(at)))
        }
    }
}

fn to_expr(
    prop: &Prop,
    layout: &mut Layout,
    find: &impl Fn(&StateVar, Span, &Layout) -> Result<Observable, LitmusError>,
) -> Result<Expr<Observable>, LitmusError> {
    let op = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let mut all = |list: &[Prop], sign, empty| {
        let mut parts = Vec::new();
        for part in list {
            parts.push(to_expr(part, layout, find)?);
        }
        Ok(balanced_tree(sign, parts).unwrap_or(Expr::Const(empty)))
    };
    match prop {
        Prop::And(list) => all(list, BinOp::And, 1),
        Prop::Or(list) => all(list, BinOp::Or, 0),
        Prop::Not(inner) => Ok(Expr::Unary(UnOp::Not, Box::new(to_expr(inner, layout, find)?))),
        Prop::Implies(a, b) => {
            let not = Expr::Unary(UnOp::Not, Box::new(to_expr(a, layout, find)?));
            Ok(op(BinOp::Or, not, to_expr(b, layout, find)?))
        }
        Prop::Equal(left, right, span) => {
            let left = Expr::Var(find(left, *span, layout)?);
            match right {
                Right::StateVar(other) => {
                    Ok(op(BinOp::Eq, left, Expr::Var(find(other, *span, layout)?)))
                }
                Right::Constant(value) => {
                    Ok(op(BinOp::Eq, left, Expr::Const(layout.constant(value, *span)?)))
                }
                Right::Among(values) => {
                    let mut all = Vec::new();
                    for value in values {
                        let value = Expr::Const(layout.constant(value, *span)?);
                        all.push(op(BinOp::Eq, left.clone(), value));
                    }
                    Ok(balanced_tree(BinOp::Or, all).unwrap_or(Expr::Const(0)))
                }
            }
        }
    }
}

/// Joins the operands into a balanced tree, so that the depth is logarithmic. Returns `None` for no
/// operands.
fn balanced_tree(op: BinOp, mut parts: Vec<Expr<Observable>>) -> Option<Expr<Observable>> {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(first) = rest.next() {
            pairs.push(match rest.next() {
                Some(second) => Expr::Binary(op, Box::new(first), Box::new(second)),
                None => first,
            });
        }
        parts = pairs;
    }
    parts.pop()
}

/// Restricts the condition to the final states that pass the filter.
fn apply_filter(
    quantifier: Quantifier,
    condition: &Expr<Observable>,
    filter: Option<&Expr<Observable>>,
    text: &str,
    span: Span,
) -> Condition {
    let expr = match filter {
        None => condition.clone(),
        Some(filter) => {
            let (filter, condition) = (Box::new(filter.clone()), Box::new(condition.clone()));
            match quantifier {
                Quantifier::Exists | Quantifier::Never => {
                    Expr::Binary(BinOp::And, filter, condition)
                }
                Quantifier::Forall => {
                    Expr::Binary(BinOp::Or, Box::new(Expr::Unary(UnOp::Not, filter)), condition)
                }
            }
        }
    };
    Condition { expr, text: text.to_string(), span }
}

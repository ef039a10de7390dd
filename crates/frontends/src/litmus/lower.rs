//! From the syntax tree to a [`Test`].

use fencepost_ir::assemble::Sources;
use fencepost_ir::{
    BinOp, Condition, Expr, Loc, Observable, Problem, Program, Quantifier, Reg, Span, Thread,
    ThreadId, UnOp, validate,
};

use super::ast::{Arch, Body, File, Prop, Right, Spot};
use super::condition;
use super::hash::hash;
use super::layout::Layout;
use super::test::Test;
use super::wrong::{Errors, Wrong};
use super::x86::registers;
use super::{c, x86};

/// The test of a file; with places for fences, if they are wanted. None when something is wrong with it.
///
/// # Panics
/// When the result is not well-formed, which is a bug of this crate.
pub fn lower(file: &File, source: &str, places: bool, errors: &mut Errors) -> Option<Test> {
    errors.begin_thread();
    let mut layout = Layout::new(file.arch, &file.init, errors)?;
    let asked = asked(file, errors);
    let threads = match &file.body {
        Body::X86(columns) => columns.len(),
        Body::C(functions) => functions.len(),
    };
    let mentioned = match &file.body {
        Body::X86(columns) => x86::lower::mention(columns, &mut layout),
        Body::C(functions) => c::lower::mention(functions, &mut layout),
    };
    errors.check(mentioned)?;
    let mut untouched = Vec::new();
    for (spot, span) in asked.all() {
        match spot {
            Spot::Global(name) if layout.is_array(name) => {
                let wrong = Wrong::unsupported(*span, format!("`{name}` is an array"));
                errors.push(wrong.hint(format!("ask for its elements: `{name}[0]`")));
            }
            Spot::Global(name) => {
                if errors.check(layout.mention(name, *span))? {
                    let message = format!("nothing in the test accesses `{name}`: it is always 0");
                    untouched.push((*span, message));
                }
            }
            Spot::Element(name, at) => {
                errors.check(layout.cell(name, Some(*at), *span));
            }
            Spot::Register(thread, name) => check_thread(*thread, name, threads, *span, errors),
        }
    }
    for item in &file.init {
        if let Spot::Register(thread, name) = &item.spot {
            check_thread(*thread, name, threads, item.span, errors);
        }
    }
    let names: Vec<Vec<String>> = (0..threads)
        .map(|t| asked.all().filter_map(|(spot, _)| register_of(spot, t as u32)).collect())
        .collect();
    let sources = Sources { wants_places: places, ..Sources::default() };
    let mut threads = Vec::new();
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
        Body::C(functions) => {
            let mut context = c::lower::Context { source, layout, sources };
            for (function, names) in functions.iter().zip(&names) {
                let lost = function.lost || file.constraint.lost;
                let lowerer = (&file.init[..], &names[..], lost);
                threads.push(c::lower::lower(function, lowerer, &mut context, errors));
            }
            (context.layout, context.sources)
        }
    };
    errors.begin_thread();
    if !errors.is_empty() {
        for prop in [Some(&asked.prop), asked.filter.as_ref()].into_iter().flatten() {
            check_constants(prop, &mut layout, errors);
        }
        errors.check(layout.check());
        return None;
    }
    let mut program = Program {
        locations: layout.locations(),
        threads: threads.into_iter().collect::<Option<Vec<Thread>>>()?,
        labels: sources.labels,
        places: sources.places,
        ..Program::default()
    };
    program.places.sort_by_key(|place| (place.offset, !place.at_end));
    for (spot, span) in asked.all().filter(|_| file.arch == Arch::C) {
        if let Spot::Register(thread, name) = spot
            && never_set(&program, *thread, name)
        {
            let message = format!("nothing gives the local `{name}` of P{thread} a value");
            untouched.push((*span, message));
        }
    }
    let find = |spot: &Spot, span: Span, layout: &Layout| observable(&program, layout, spot, span);
    let condition = errors.check(to_expr(&asked.prop, &mut layout, &find));
    let filter = asked.filter.as_ref().map(|filter| to_expr(filter, &mut layout, &find));
    let filter = errors.check(filter.transpose());
    errors.check(layout.check())?;
    let (condition, filter) = (condition?, filter?);
    let observed = asked.all().map(|(spot, span)| find(spot, *span, &layout));
    let observed = errors.check(observed.collect::<Result<Vec<Observable>, Wrong>>())?;
    let shown: Vec<String> = asked.shown.iter().map(|(spot, _)| in_state(spot)).collect();
    let hash = hash(file, &shown);
    let text = condition::show(&asked.prop, &in_state);
    let quantifier = file.constraint.quantifier;
    let restricted =
        restricted(quantifier, &condition, filter.as_ref(), &text, file.constraint.span);
    let mut problem = Problem { program, observed, ..Problem::default() };
    problem.add_final(quantifier, restricted);
    if let Err(broken) = validate::validate(&problem) {
        let broken: Vec<String> = broken.iter().take(10).map(ToString::to_string).collect();
        panic!("the front end made a program that is not well-formed: {}", broken.join("; "));
    }
    Some(Test {
        name: file.name.clone(),
        arch: file.arch,
        problem,
        quantifier,
        text,
        condition,
        filter,
        shown,
        values: layout.values(),
        hash,
        untouched,
    })
}

/// A register is one of a thread that is there.
fn check_thread(thread: u32, name: &str, threads: usize, span: Span, errors: &mut Errors) {
    if thread as usize >= threads {
        errors.push(Wrong::name(span, format!("there is no thread {thread} for `{name}`")));
    }
}

/// Constants of a condition that is not lowered.
fn check_constants(prop: &Prop, layout: &mut Layout, errors: &mut Errors) {
    prop.for_each(&mut |_, right, span| {
        let constants = match right {
            Right::Constant(constant) => std::slice::from_ref(constant),
            Right::Among(all) => &all[..],
            Right::Spot(_) => &[],
        };
        for constant in constants {
            errors.check(layout.constant(constant, span));
        }
    });
}

/// What is asked, with registers by one name each.
struct Asked {
    /// What states show, in herd's order: registers by thread, elements of arrays, locations.
    shown: Vec<(Spot, Span)>,
    /// What only the filter looks at.
    hidden: Vec<(Spot, Span)>,
    prop: Prop,
    filter: Option<Prop>,
}

impl Asked {
    fn all(&self) -> impl Iterator<Item = &(Spot, Span)> {
        self.shown.iter().chain(&self.hidden)
    }
}

fn asked(file: &File, errors: &mut Errors) -> Asked {
    let constraint = &file.constraint;
    let mut shown: Vec<(Spot, Span)> = Vec::new();
    let add = |spot: Spot, span: Span, list: &mut Vec<(Spot, Span)>| {
        if !list.iter().any(|(other, _)| *other == spot) {
            list.push((spot, span));
        }
    };
    for (spot, span) in &constraint.locations {
        add(canonical(file.arch, spot, *span, errors), *span, &mut shown);
    }
    let prop = canonical_prop(file.arch, &constraint.prop, errors);
    let both = |visit: &mut dyn FnMut(&Spot, Span), prop: &Prop| {
        prop.for_each(&mut |left, right, span| {
            visit(left, span);
            if let Right::Spot(other) = right {
                visit(other, span);
            }
        });
    };
    both(&mut |spot, span| add(spot.clone(), span, &mut shown), &prop);
    shown.sort_by_cached_key(|(spot, _)| order(file.arch, spot));
    let filter = constraint.filter.as_ref().map(|f| canonical_prop(file.arch, f, errors));
    let mut hidden: Vec<(Spot, Span)> = Vec::new();
    if let Some(filter) = &filter {
        both(&mut |spot, span| add(spot.clone(), span, &mut hidden), filter);
        hidden.retain(|(spot, _)| !shown.iter().any(|(other, _)| other == spot));
    }
    Asked { shown, hidden, prop, filter }
}

/// Where a state shows it: registers by thread and number (in C by name), then elements, then locations.
fn order(arch: Arch, spot: &Spot) -> (u8, u32, usize, String, u32) {
    match spot {
        Spot::Register(thread, name) => {
            let number = match arch {
                Arch::X86 | Arch::X86_64 => registers::any_case(name).map_or(0, |p| p.register),
                Arch::C => 0,
            };
            (0, *thread, number, name.clone(), 0)
        }
        Spot::Element(name, at) => (1, 0, 0, name.clone(), *at),
        Spot::Global(name) => (2, 0, 0, name.clone(), 0),
    }
}

/// The same with a register's one name.
fn canonical(arch: Arch, spot: &Spot, span: Span, errors: &mut Errors) -> Spot {
    let (Arch::X86 | Arch::X86_64, Spot::Register(thread, name)) = (arch, spot) else {
        return spot.clone();
    };
    match registers::by_name(arch, name) {
        Some(part) if part.width >= 32 => {
            Spot::Register(*thread, registers::shown(arch, part.register).to_string())
        }
        Some(_) => {
            let message = format!("a condition on `{name}`, a part of a register");
            errors.push(Wrong::unsupported(span, message));
            spot.clone()
        }
        None => {
            errors.push(Wrong::name(span, format!("there is no register `{name}`")));
            spot.clone()
        }
    }
}

/// The one name of a register; what is none stays as it is.
pub(super) fn register_name(arch: Arch, name: &str) -> String {
    let part = registers::by_name(arch, name);
    part.map_or(name, |part| registers::shown(arch, part.register)).to_string()
}

fn canonical_prop(arch: Arch, prop: &Prop, errors: &mut Errors) -> Prop {
    let mut one = |prop: &Prop| canonical_prop(arch, prop, errors);
    match prop {
        Prop::Equal(left, right, span) => {
            let left = canonical(arch, left, *span, errors);
            let right = match right {
                Right::Spot(other) => Right::Spot(canonical(arch, other, *span, errors)),
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

/// The name of a register, if it is one of this thread.
fn register_of(spot: &Spot, thread: u32) -> Option<String> {
    match spot {
        Spot::Register(owner, name) if *owner == thread => Some(name.clone()),
        Spot::Register(..) | Spot::Element(..) | Spot::Global(_) => None,
    }
}

/// As a state writes it.
fn in_state(spot: &Spot) -> String {
    match spot {
        Spot::Register(..) | Spot::Element(..) => spot.to_string(),
        Spot::Global(name) => format!("[{name}]"),
    }
}

/// Whether no statement of a thread writes a register.
fn never_set(program: &Program, thread: u32, name: &str) -> bool {
    let thread = program.thread(ThreadId::from_index(thread as usize));
    let named = |reg: Reg| thread.registers[reg.index()].name == name;
    !thread.code.iter().any(|stmt| stmt.op.target().is_some_and(named))
}

fn observable(
    program: &Program,
    layout: &Layout,
    spot: &Spot,
    span: Span,
) -> Result<Observable, Wrong> {
    let cell = |loc: Loc| Observable::Loc(loc);
    match spot {
        Spot::Global(name) => layout.cell(name, None, span).map(cell),
        Spot::Element(name, at) => layout.cell(name, Some(*at), span).map(cell),
        Spot::Register(thread, name) => {
            let id = ThreadId::from_index(*thread as usize);
            let registers = &program.thread(id).registers;
            let at = registers.iter().position(|register| register.name == *name);
            let at = at.expect("every register that is asked for was made");
            Ok(Observable::Reg(id, Reg::from_index(at)))
        }
    }
}

fn to_expr(
    prop: &Prop,
    layout: &mut Layout,
    find: &impl Fn(&Spot, Span, &Layout) -> Result<Observable, Wrong>,
) -> Result<Expr<Observable>, Wrong> {
    let op = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let mut all = |list: &[Prop], sign, empty| {
        let mut parts = Vec::new();
        for part in list {
            parts.push(to_expr(part, layout, find)?);
        }
        Ok(balanced(sign, parts).unwrap_or(Expr::Const(empty)))
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
                Right::Spot(other) => {
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
                    Ok(balanced(BinOp::Or, all).unwrap_or(Expr::Const(0)))
                }
            }
        }
    }
}

/// Parts joined so that even a long list is not deep.
fn balanced(op: BinOp, mut parts: Vec<Expr<Observable>>) -> Option<Expr<Observable>> {
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

/// The condition, restricted to the states that count.
fn restricted(
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

//! A short text form of the syntax tree, for tests.

use crate::c::ast::{
    Block, Declaration, Declarator, Derivation, Designator, Expr, ExprKind, Initializer,
    InitializerItem, Item, Parameters, Qualifiers, Specifiers, Stmt, StmtKind, Storage, TypeName,
    TypeSpecifier, Unit,
};

pub(super) fn unit(unit: &Unit) -> String {
    unit.items.iter().map(item).collect::<Vec<_>>().join("\n")
}

fn item(item: &Item) -> String {
    match item {
        Item::Declaration(one) => declaration(one),
        Item::Function(one) => {
            format!("{} {}", declared(&one.specifiers, &one.declarator), block(&one.body))
        }
        Item::StaticAssert { condition, .. } => format!("static_assert {};", expr(condition)),
    }
}

fn list<T>(all: &[T], one: impl Fn(&T) -> String, separator: &str) -> String {
    all.iter().map(one).collect::<Vec<_>>().join(separator)
}

fn declaration(one: &Declaration) -> String {
    if one.declarators.is_empty() {
        return format!("{};", specifiers(&one.specifiers));
    }
    list(
        &one.declarators,
        |declarator| {
            let value = declarator.initializer.as_ref();
            let value = value.map_or(String::new(), |value| format!(" = {}", initializer(value)));
            format!("{}{value};", declared(&one.specifiers, &declarator.declarator))
        },
        " ",
    )
}

fn declared(base: &Specifiers, declarator: &Declarator) -> String {
    let name = declarator.name.as_ref().map_or("_", |name| &name.text);
    let alignment =
        declarator.alignment.as_ref().map_or(String::new(), |a| format!(" align {}", expr(a)));
    format!("{name}: {}{}{alignment}", derived(declarator), specifiers(base))
}

fn derived(declarator: &Declarator) -> String {
    list(
        &declarator.derivations,
        |derivation| match derivation {
            Derivation::Pointer(qualifiers) => format!("{}* ", qualified(*qualifiers)),
            Derivation::Array(None) => "[] ".into(),
            Derivation::Array(Some(size)) => format!("[{}] ", expr(size)),
            Derivation::Function(parameters) => format!("({}) ", self::parameters(parameters)),
        },
        "",
    )
}

fn parameters(parameters: &Parameters) -> String {
    let mut all: Vec<String> =
        (parameters.list.iter()).map(|one| declared(&one.specifiers, &one.declarator)).collect();
    all.extend(parameters.variadic.then(|| "...".to_string()));
    all.join(", ")
}

fn qualified(qualifiers: Qualifiers) -> String {
    let atomic = if qualifiers.atomic { "atomic " } else { "" };
    let volatile = if qualifiers.volatile { "volatile " } else { "" };
    format!("{atomic}{volatile}")
}

fn specifiers(one: &Specifiers) -> String {
    let storage = match one.storage {
        Storage::None => "",
        Storage::Typedef => "typedef ",
        Storage::Static => "static ",
        Storage::Extern => "extern ",
    };
    let local = if one.thread_local { "thread_local " } else { "" };
    let alignment = one.alignment.as_ref().map_or(String::new(), |a| format!(" align {}", expr(a)));
    format!("{storage}{local}{}{}{alignment}", qualified(one.qualifiers), type_specifier(&one.ty))
}

fn type_specifier(ty: &TypeSpecifier) -> String {
    match ty {
        TypeSpecifier::Void => "void".into(),
        TypeSpecifier::Bool => "bool".into(),
        TypeSpecifier::Int { bits, signed } => {
            format!("{}{bits}", if *signed { "i" } else { "u" })
        }
        TypeSpecifier::Unsupported(words) => format!("unsupported `{words}`"),
        TypeSpecifier::Record(record) => {
            let keyword = if record.is_union { "union" } else { "struct" };
            let tag = record.tag.as_ref().map_or(String::new(), |tag| format!(" {}", tag.text));
            let packed = if record.packed { " packed" } else { "" };
            let alignment =
                record.alignment.as_ref().map_or(String::new(), |a| format!(" align {}", expr(a)));
            let fields = record.fields.as_ref().map_or(String::new(), |fields| {
                let fields = list(
                    fields,
                    |field| {
                        if field.declarators.is_empty() {
                            return format!("{};", specifiers(&field.specifiers));
                        }
                        list(
                            &field.declarators,
                            |(declarator, width)| {
                                let width = width.as_ref().map(|w| format!(" : {}", expr(w)));
                                let width = width.unwrap_or_default();
                                format!("{}{width};", declared(&field.specifiers, declarator))
                            },
                            " ",
                        )
                    },
                    " ",
                );
                format!(" {{ {fields} }}")
            });
            format!("{keyword}{tag}{packed}{alignment}{fields}")
        }
        TypeSpecifier::Enum(one) => {
            let tag = one.tag.as_ref().map_or(String::new(), |tag| format!(" {}", tag.text));
            let constants = one.constants.as_ref().map_or(String::new(), |constants| {
                let constants = list(
                    constants,
                    |(name, value)| {
                        let value = value.as_ref().map(|value| format!(" = {}", expr(value)));
                        format!("{}{}", name.text, value.unwrap_or_default())
                    },
                    ", ",
                );
                format!(" {{ {constants} }}")
            });
            format!("enum{tag}{constants}")
        }
        TypeSpecifier::Named(name) => name.text.clone(),
        TypeSpecifier::Atomic(ty) => format!("atomic({})", type_name(ty)),
        TypeSpecifier::TypeofExpr(one) => format!("typeof({})", expr(one)),
        TypeSpecifier::TypeofType(ty) => format!("typeof(type {})", type_name(ty)),
        TypeSpecifier::Auto => "auto".into(),
    }
}

fn type_name(ty: &TypeName) -> String {
    format!("{}{}", derived(&ty.declarator), specifiers(&ty.specifiers))
}

fn initializer(value: &Initializer) -> String {
    match value {
        Initializer::Expr(value) => expr(value),
        Initializer::List(items, _) => initializers(items),
    }
}

fn initializers(items: &[InitializerItem]) -> String {
    let items = list(
        items,
        |item| {
            let equals = if item.designators.is_empty() { "" } else { " = " };
            let designators = list(&item.designators, designator, "");
            format!("{designators}{equals}{}", initializer(&item.value))
        },
        ", ",
    );
    format!("{{{items}}}")
}

fn designator(one: &Designator) -> String {
    match one {
        Designator::Field(name) => format!(".{}", name.text),
        Designator::Index(index) => format!("[{}]", expr(index)),
        Designator::Range(first, last) => format!("[{} ... {}]", expr(first), expr(last)),
    }
}

fn block(one: &Block) -> String {
    format!("{{ {} }}", list(&one.items, stmt, " "))
}

fn optional(value: Option<&Expr>) -> String {
    value.map_or(String::new(), |value| format!(" {}", expr(value)))
}

fn stmt(one: &Stmt) -> String {
    match &one.kind {
        StmtKind::Empty => ";".into(),
        StmtKind::Declaration(one) => declaration(one),
        StmtKind::Expr(value) => format!("{};", expr(value)),
        StmtKind::Block(one) => block(one),
        StmtKind::If { condition, then, otherwise } => {
            let otherwise = otherwise.as_ref().map(|other| format!(" else {}", stmt(other)));
            format!("if {} {}{}", expr(condition), stmt(then), otherwise.unwrap_or_default())
        }
        StmtKind::While { condition, body } => format!("while {} {}", expr(condition), stmt(body)),
        StmtKind::DoWhile { body, condition } => {
            format!("do {} while {};", stmt(body), expr(condition))
        }
        StmtKind::For { first, condition, step, body } => {
            let first = first.as_ref().map_or(";".to_string(), |first| stmt(first));
            let (condition, step) = (optional(condition.as_ref()), optional(step.as_ref()));
            format!("for ({first}{condition};{step}) {}", stmt(body))
        }
        StmtKind::Switch { value, body } => format!("switch {} {}", expr(value), stmt(body)),
        StmtKind::Case { value, last, body } => {
            let last = last.as_ref().map(|last| format!(" ... {}", expr(last)));
            format!("case {}{}: {}", expr(value), last.unwrap_or_default(), stmt(body))
        }
        StmtKind::Default { body } => format!("default: {}", stmt(body)),
        StmtKind::Label { name, body } => format!("{}: {}", name.text, stmt(body)),
        StmtKind::Goto(name) => format!("goto {};", name.text),
        StmtKind::Break => "break;".into(),
        StmtKind::Continue => "continue;".into(),
        StmtKind::Return(value) => format!("return{};", optional(value.as_ref())),
        StmtKind::Asm(asm) => {
            let operands = list(&asm.operands, expr, ", ");
            format!("asm {:?} ({operands}) {:?};", asm.template, asm.clobbers)
        }
        StmtKind::StaticAssert { condition } => format!("static_assert {};", expr(condition)),
    }
}

pub(super) fn expr(one: &Expr) -> String {
    match &one.kind {
        ExprKind::Integer { value, bits: 32, signed: true } => value.to_string(),
        ExprKind::Integer { value, bits, signed } => {
            format!("{value}{}{bits}", if *signed { "i" } else { "u" })
        }
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Float => "float".into(),
        ExprKind::Unary { op, operand } => format!("{op:?}({})", expr(operand)),
        ExprKind::Step { increment, prefix, operand } => {
            let op = if *increment { "++" } else { "--" };
            let operand = expr(operand);
            if *prefix { format!("{op}({operand})") } else { format!("({operand}){op}") }
        }
        ExprKind::Binary { op, left, right } => {
            format!("{op:?}({}, {})", expr(left), expr(right))
        }
        ExprKind::LogicalAnd(left, right) => format!("({} && {})", expr(left), expr(right)),
        ExprKind::LogicalOr(left, right) => format!("({} || {})", expr(left), expr(right)),
        ExprKind::Conditional { condition, then, otherwise } => {
            let then = then.as_ref().map_or(String::new(), |then| expr(then));
            format!("({} ? {then} : {})", expr(condition), expr(otherwise))
        }
        ExprKind::Assign { op, target, value } => {
            let op = op.map_or(String::new(), |op| format!("{op:?}"));
            format!("({} {op}= {})", expr(target), expr(value))
        }
        ExprKind::Comma(left, right) => format!("({}, {})", expr(left), expr(right)),
        ExprKind::Call { function, arguments } => {
            format!("{}({})", expr(function), list(arguments, expr, ", "))
        }
        ExprKind::Index { base, index } => format!("{}[{}]", expr(base), expr(index)),
        ExprKind::Member { base, arrow, field } => {
            format!("{}{}{}", expr(base), if *arrow { "->" } else { "." }, field.text)
        }
        ExprKind::Cast { ty, operand } => format!("cast<{}>({})", type_name(ty), expr(operand)),
        ExprKind::Compound { ty, initializer } => {
            format!("compound<{}>{}", type_name(ty), initializers(initializer))
        }
        ExprKind::SizeofType(ty) => format!("sizeof<{}>", type_name(ty)),
        ExprKind::SizeofExpr(one) => format!("sizeof({})", expr(one)),
        ExprKind::AlignofType(ty) => format!("alignof<{}>", type_name(ty)),
        ExprKind::Offsetof { ty, path } => {
            format!("offsetof<{}>({})", type_name(ty), list(path, designator, ""))
        }
        ExprKind::StatementExpr(one) => format!("({})", block(one)),
        ExprKind::Generic { control, cases } => {
            let case = |(ty, value): &(Option<TypeName>, Expr)| {
                let ty = ty.as_ref().map_or("default".to_string(), type_name);
                format!("{ty}: {}", expr(value))
            };
            format!("generic({}; {})", expr(control), list(cases, case, ", "))
        }
        ExprKind::TypesCompatible(left, right) => {
            format!("compatible<{}, {}>", type_name(left), type_name(right))
        }
        ExprKind::ChooseExpr { condition, then, otherwise } => {
            format!("choose({}, {}, {})", expr(condition), expr(then), expr(otherwise))
        }
        ExprKind::Unsupported(what) => format!("unsupported {what}"),
    }
}

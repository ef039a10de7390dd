//! Tests of operator precedence and of the extent of statements.

use fencepost_ir::Diagnostics;

use crate::fp::ast::{Expr, ExprKind, ItemKind};
use crate::fp::parse;

/// Prints an expression with all parentheses.
fn parenthesised(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number(value) => value.to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Null => "null".into(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Paren(inner) => parenthesised(inner),
        ExprKind::Unary(op, a) => format!("({}{})", op.symbol(), parenthesised(a)),
        ExprKind::Binary(op, a, b) => {
            format!("({} {} {})", parenthesised(a), op.symbol(), parenthesised(b))
        }
        ExprKind::Select(c, a, b) => {
            format!("({} ? {} : {})", parenthesised(c), parenthesised(a), parenthesised(b))
        }
        ExprKind::Index(base, index) => {
            format!("{}[{}]", parenthesised(base), parenthesised(index))
        }
        ExprKind::Field(base, field) => format!("{}.{}", parenthesised(base), field.text),
        ExprKind::Call(name, args) => {
            format!(
                "{}({})",
                name.text,
                args.iter().map(parenthesised).collect::<Vec<_>>().join(", ")
            )
        }
        ExprKind::Method(base, name, args) => {
            let args: Vec<String> = args.iter().map(parenthesised).collect();
            format!("{}.{}({})", parenthesised(base), name.text, args.join(", "))
        }
        ExprKind::ChooseRange(range) => {
            format!("choose({}..{})", parenthesised(&range.lo), parenthesised(&range.hi))
        }
        ExprKind::ChooseList(list) => format!("choose of {}", list.len()),
        ExprKind::New(name) => format!("new {}", name.text),
        ExprKind::At(thread, label) => format!("({} at {})", parenthesised(thread), label.text),
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let source = format!("const N = {source};");
    let file = parse(&source, &mut Diagnostics::new()).expect("no errors");
    let ItemKind::Const(_, expr) = &file.items[0].kind else { panic!("a constant") };
    assert_eq!(parenthesised(expr), expected);
}

#[test]
fn operators_have_the_precedence_of_the_grammar() {
    check(
        "a || b && c | d ^ e & f == g < h << i + j * -k",
        "(a || (b && (c | (d ^ (e & (f == (g < (h << (i + (j * (-k)))))))))))",
    );
    check(
        "a * b + c << d < e == f & g ^ h | i && j || k",
        "((((((((((a * b) + c) << d) < e) == f) & g) ^ h) | i) && j) || k)",
    );
    check("a - b - c", "((a - b) - c)");
    check("(a - (b - c))", "(a - (b - c))");
    check("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    check("a || b ? c : d", "((a || b) ? c : d)");
    check("!a.b[c].d == ~e", "((!a.b[c].d) == (~e))");
    check(
        "cas(a[i], b, c) && choose(1, 2) + choose(0..=N - 1)",
        "(cas(a[i], b, c) && (choose of 2 + choose(0..(N - 1))))",
    );
    check("0x1f + 2147483648", "(31 + 2147483648)");
    check("010 + 0X1F", "(10 + 31)");
}

#[test]
fn an_else_belongs_to_the_nearest_if() {
    let source = "thread p { if (a) if (b) x = 1; else x = 2; }";
    let file = parse(source, &mut Diagnostics::new()).expect("no errors");
    let ItemKind::Thread(thread) = &file.items[0].kind else { panic!("a thread") };
    let text = format!("{:?}", thread.body.stmts[0].kind);
    assert!(text.ends_with("otherwise: None }"), "the outer `if` has an `else`: {text}");
}

#[test]
fn spans_leave_out_the_semicolon() {
    let source = "thread p {\n  x = a + 1 ; }";
    let file = parse(source, &mut Diagnostics::new()).expect("no errors");
    let ItemKind::Thread(thread) = &file.items[0].kind else { panic!("a thread") };
    let span = thread.body.stmts[0].span;
    assert_eq!(span.text(source), "x = a + 1");
    assert_eq!((span.line, span.column), (2, 3));
}

//! Tests of the preprocessor: a table of programs and the tokens that they become.

use fencepost_ir::Diagnostics;

use super::{PreprocessOptions, Preprocessed, preprocess};
use crate::c::source_map::FileKind;
use crate::c::tokens::Tok;

/// Returns the tokens that come from the files of the user, with one space between them.
fn tokens(result: &Preprocessed) -> String {
    let in_user_file = |span| result.map.file(span).is_some_and(|f| f.kind != FileKind::BuiltIn);
    let tokens = result.tokens.iter().filter(|token| token.kind != Tok::End);
    let tokens = tokens.filter(|token| in_user_file(token.span));
    tokens.map(|token| result.spellings.text(token.text).to_string()).collect::<Vec<_>>().join(" ")
}

fn codes(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(|d| format!("{}:{}", d.span.line, d.code)).collect()
}

fn expand(text: &str) -> String {
    let result = preprocess("main.c", text, &PreprocessOptions::default());
    assert_eq!(codes(&result.diagnostics), [""; 0], "{text}");
    tokens(&result)
}

#[test]
fn macros_are_replaced() {
    let table = [
        ("#define N 3\nN n N N", "3 n 3 3"),
        ("#define N\na N b", "a b"),
        ("#define f(x) (x+1)\nf(2) f (3) f", "( 2 + 1 ) ( 3 + 1 ) f"),
        // A space before the parenthesis: not a parameter list.
        ("#define f (x)\nf(1)", "( x ) ( 1 )"),
        ("#define f() 7\nf() f( )", "7 7"),
        ("#define f(a,b) b a\nf(1,2) f((1,2),3) f(,) f(1,)", "2 1 3 ( 1 , 2 ) 1"),
        // The arguments may be on several lines.
        ("#define f(a,b) a-b\nf(1\n,\n2)", "1 - 2"),
        // Recursion ends.
        ("#define x x+1\nx", "x + 1"),
        ("#define a b\n#define b a\na b", "a b"),
        ("#define f(x) f(x+1)\nf(f(0))", "f ( f ( 0 + 1 ) + 1 )"),
        ("#define f(x) x f\nf(1)(2)", "1 f ( 2 )"),
        (
            "#define NIL(x) x\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)",
            "42",
        ),
        // The result is read again, together with the text after it.
        ("#define g f\n#define f(x) [x]\ng(1)", "[ 1 ]"),
        ("#define f(x) x\n#define g f(\ng 1)", "1"),
        ("#define EMPTY\n#define f() 1\nf EMPTY ()", "f ( )"),
        ("#define EMPTY\n#define f() 1\n#define id(x) x\nid(f EMPTY ())", "1"),
        // Arguments are expanded first, except for `#` and `##`.
        ("#define N 1\n#define f(x) x #x x##x\nf(N)", "1 \"N\" NN"),
        ("#define N 1\n#define s(x) #x\n#define t(x) s(x)\ns(N) t(N)", "\"N\" \"1\""),
        ("#undef x\n#define x 1\n#undef x\nx", "x"),
        ("#define x 1\n#define x 1\nx", "1"),
        ("#define while if\nwhile", "if"),
        ("#define f(while) while\nf(1)", "1"),
        ("a\\\nb /* c\n d */ e // f \\\n g\nh", "ab e h"),
        ("#define x \\\n 1 /*\n*/ 2\nx", "1 2"),
        ("#define l <%:\n l %> <: :>", "<% : %> <: :>"),
    ];
    for (text, expected) in table {
        assert_eq!(expand(text), expected, "{text}");
    }
}

#[test]
fn tokens_become_strings_and_are_joined() {
    let table = [
        ("#define s(x) #x\ns(  a   +b  )", "\"a +b\""),
        ("#define s(x) #x\ns(\"a\\n\" '\\'' \\)", "\"\\\"a\\\\n\\\" '\\\\'' \\\""),
        ("#define s(x) #x\ns()", "\"\""),
        ("#define s(...) #__VA_ARGS__\ns(a,b , c)", "\"a,b , c\""),
        ("#define c(a,b) a##b\nc(x,1) c(,y) c(x,) c(,) c(1,2) c(<,<=)", "x1 y x 12 <<="),
        ("#define c(a,b,d) a##b##d\nc(1,2,3) c(a,,b)", "123 ab"),
        // `##` that comes from an argument is an ordinary token.
        (
            "#define h # ## #\n#define m(a) n(a)\n#define n(a) in between(a) [a]\nm(x h y)",
            "in between ( x ## y ) [ x ## y ]",
        ),
        ("#define x 1\n#define c(a) a##2\nc(x)", "x2"),
        // Joined tokens are macros again.
        ("#define ab 7\n#define c(a,b) a##b\nc(a,b)", "7"),
        ("#define f(x) L##x\nf('a') f(\"b\")", "L'a' L\"b\""),
    ];
    for (text, expected) in table {
        assert_eq!(expand(text), expected, "{text}");
    }
}

#[test]
fn macros_take_any_number_of_arguments() {
    let table = [
        ("#define f(...) [__VA_ARGS__]\nf() f(1) f(1,2)", "[ ] [ 1 ] [ 1 , 2 ]"),
        ("#define f(a,...) a:__VA_ARGS__\nf(1,2,3) f(1)", "1 : 2 , 3 1 :"),
        ("#define f(a,args...) a:args\nf(1,2,3)", "1 : 2 , 3"),
        ("#define p(f,...) printf(f, ##__VA_ARGS__)\np(1) p(1,2)", "printf ( 1 ) printf ( 1 , 2 )"),
        ("#define p(f,a...) printf(f, ## a)\np(1) p(1,2,3)", "printf ( 1 ) printf ( 1 , 2 , 3 )"),
        ("#define N 5\n#define p(...) f(0, ##__VA_ARGS__)\np(N)", "f ( 0 , 5 )"),
    ];
    for (text, expected) in table {
        assert_eq!(expand(text), expected, "{text}");
    }
}

#[test]
fn conditionals_choose_the_text() {
    let table = [
        ("1", true),
        ("0", false),
        ("x", false),
        ("-1 < 0", true),
        // An unsigned operand makes the comparison unsigned.
        ("-1 < 0u", false),
        ("-1 > 0xffffffffffffffff - 1", true),
        ("0x7fffffffffffffff + 1 < 0", true),
        ("(2 || 1/0) && !(0 && 1/0)", true),
        ("1 ? 2 : 1/0", true),
        ("0 ? 1 : 0 ? 1 : 3", true),
        ("7 / 2 * 2 + 7 % 2 == 7", true),
        ("1 << 3 >> 1 == 4", true),
        ("~0 == -1", true),
        ("'a' == 97 && '\\0' == 0 && '\\xff' < 0", true),
        ("010 == 8 && 0b11 == 3 && 10ULL == 10", true),
        ("(1 | 6) == 7 && (6 & 3) == 2 && (6 ^ 3) == 5", true),
        ("defined X && defined(X) && !defined Y", true),
        ("X == 4 && F(1) == 2", true),
        ("HAS_X", true),
        ("__STDC_VERSION__ >= 201112L && __STDC__ && __FENCEPOST__", true),
        ("__has_include(<pthread.h>) && !__has_include(\"nope.h\")", true),
        ("defined __has_include && defined(__FILE__)", true),
        ("defined(__x86_64__) || defined(__linux__)", false),
    ];
    for (condition, expected) in table {
        let text = format!(
            "#define X 4\n#define F(x) x+1\n#define HAS_X defined(X)\n#if {condition}\nyes\n#else\nno\n#endif"
        );
        assert_eq!(expand(&text), if expected { "yes" } else { "no" }, "{condition}");
    }
    let branches = "#if A == 1\none\n#elif A == 2\ntwo\n#elif 1/(A-3)\nother\n#else\nelse\n#endif";
    for (value, expected) in [("1", "one"), ("2", "two"), ("4", "other"), ("1+3-2", "two")] {
        assert_eq!(expand(&format!("#define A {value}\n{branches}")), expected);
    }
    let nested = "#if 0\n#if 1\na\n#else\nb\n#endif\n#bogus ' \n#elif 1\n#ifndef Q\nc\n#endif\n#else\nd\n#endif";
    assert_eq!(expand(nested), "c");
}

#[test]
fn predefined_names_have_values() {
    let text = "__LINE__\n__LINE__ __FILE__ __COUNTER__ __COUNTER__ __INT_MAX__ __ATOMIC_SEQ_CST";
    assert_eq!(expand(text), "1 2 \"main.c\" 0 1 2147483647 4");
    assert_eq!(expand("#define L __LINE__\n\nL"), "3");
    assert_eq!(expand("_Pragma(\"once\") a\n#pragma whatever\n#line 7\n# 12 \"x.c\" 1\nb"), "a b");
}

#[test]
fn a_token_of_a_macro_has_the_span_of_its_use() {
    let text = "#define f(x) (x + N)\n#define N 3\n a = f(\n1); N";
    let result = preprocess("main.c", text, &PreprocessOptions::default());
    let spans: Vec<&str> = (result.tokens.iter())
        .filter(|token| result.map.file(token.span).is_some_and(|f| f.kind == FileKind::Main))
        .map(|token| result.map.text(token.span))
        .collect();
    let call = "f(\n1)";
    assert_eq!(spans, ["a", "=", call, call, call, call, call, ";", "N", ""]);
}

#[test]
fn a_spliced_token_has_its_whole_span() {
    let result = preprocess("main.c", "a b\\\nc\\\n d", &PreprocessOptions::default());
    let word = result.tokens.iter().find(|t| &*result.spellings.text(t.text) == "bc");
    let word = word.expect("the parts of the word are joined");
    assert_eq!(result.map.text(word.span), "b\\\nc");
    assert_eq!((word.span.line, word.span.column), (1, 3));
}

#[test]
fn errors_have_codes() {
    let table: [(&str, &[&str]); 20] = [
        ("/* a", &["1:C0002"]),
        ("#bogus", &["1:C0010"]),
        ("#include", &["1:C0010"]),
        ("#include <nope.h>\n#include \"nope.h\"", &["1:C0011", "2:C0011"]),
        ("#if 1", &["1:C0012"]),
        ("#else\n#endif\n#elif 1", &["1:C0012", "2:C0012", "3:C0012"]),
        ("#if 0\n#else\n#else\n#endif", &["3:C0012"]),
        ("#if\n#endif", &["1:C0013"]),
        ("#if 1 +\n#elif 1\n#endif", &["1:C0013"]),
        ("#if 1.5\n#endif\n#if \"a\"\n#endif", &["1:C0013", "3:C0013"]),
        ("#if f(1)\n#endif\n#if (1\n#endif", &["1:C0013", "3:C0013"]),
        ("#define", &["1:C0014"]),
        ("#define f(a,a) a\n#define g(a", &["1:C0014", "2:C0014"]),
        ("#define a ## b", &["1:C0014"]),
        ("#define defined 1", &["1:C0014"]),
        ("#define f(a) #b\nf(1)", &["2:C0014"]),
        ("#define f(a,b) a\nf(1)\nf(1,2,3)\nf(1", &["2:C0015", "3:C0015", "4:C0015"]),
        ("#define f(a,b) a##b\nf(+,-)", &["2:C0016"]),
        ("#error not here\n#warning careful", &["1:C0017", "2:C0018"]),
        ("#define a 1\n#define a 2", &["2:C0019"]),
    ];
    for (text, expected) in table {
        let result = preprocess("main.c", text, &PreprocessOptions::default());
        assert_eq!(codes(&result.diagnostics), expected, "{text}");
    }
}

/// Preprocesses with a fixed set of files.
fn with_files(
    text: &str,
    defines: &[&str],
    forced: &[&str],
    files: &[(&str, &str)],
) -> Preprocessed {
    let find = |_: &str, name: &str, _: bool| {
        let found = files.iter().find(|(known, _)| *known == name);
        found.map(|(name, text)| (name.to_string(), text.to_string()))
    };
    let defines: Vec<String> = defines.iter().map(|text| text.to_string()).collect();
    let forced: Vec<String> = forced.iter().map(|text| text.to_string()).collect();
    let options =
        PreprocessOptions { defines: &defines, forced_includes: &forced, find_file: &find };
    preprocess("main.c", text, &options)
}

#[test]
fn files_are_included() {
    let files = [
        ("a.h", "#pragma once\nA"),
        ("b.h", "#ifndef B\n#define B\n#include \"a.h\"\nB2\n#endif"),
        ("pthread.h", "mine"),
        ("c.h", "#define N(x) [x\n N("),
    ];
    let text = "#include \"a.h\"\n#include \"b.h\"\n#include \"a.h\"\n#include <b.h>\nend";
    assert_eq!(tokens(&with_files(text, &[], &[], &files)), "A B2 end");
    let text = "#define H \"a.h\"\n#include H\n#define S <b.h>\n#include S\nend";
    assert_eq!(tokens(&with_files(text, &[], &[], &files)), "A B2 end");
    // Our own header answers for `<pthread.h>`, a file for `"pthread.h"`.
    assert_eq!(tokens(&with_files("#include <pthread.h>\nx", &[], &[], &files)), "x");
    assert_eq!(tokens(&with_files("#include \"pthread.h\"\nx", &[], &[], &files)), "mine x");
    // The arguments of a macro may begin in another file.
    assert_eq!(tokens(&with_files("#include \"c.h\"\n1)", &[], &[], &files)), "[ 1");
    let result = with_files("X Y F(3)", &["X", "Y=a b", "F(x)=x+1"], &["a.h"], &files);
    assert_eq!(tokens(&result), "A 1 a b 3 + 1");
}

#[test]
fn names_of_the_user_win() {
    let table = [
        ("#define READ_ONCE(x) mine x\nvoid f() { READ_ONCE(1); }", "void f ( ) { mine 1 ; }"),
        (
            "int xchg(int *p); void f() { xchg(1); }",
            "int xchg ( int * p ) ; void f ( ) { xchg ( 1 ) ; }",
        ),
        (
            "void f() { a.xchg(1); b->xchg(2); xchg = 3; }",
            "void f ( ) { a . xchg ( 1 ) ; b -> xchg ( 2 ) ; xchg = 3 ; }",
        ),
        (
            "void __VERIFIER_assume(int); void f() { __VERIFIER_assume(1); }",
            "void __VERIFIER_assume ( int ) ; void f ( ) { __fencepost_assume ( ! ! ( 1 ) ) ; }",
        ),
        (
            "void __VERIFIER_assume(int x); void f() { __VERIFIER_assume(1); } void __VERIFIER_assume(int x) { }",
            "void __VERIFIER_assume ( int x ) ; void f ( ) { __VERIFIER_assume ( 1 ) ; } \
             void __VERIFIER_assume ( int x ) { }",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(expand(text), expected, "{text}");
    }
}

#[test]
fn limits_end_large_inputs() {
    let doubling: String =
        (0..60).map(|i| format!("#define f{i} f{} f{}\n", i + 1, i + 1)).collect();
    let calls: String = (0..60)
        .map(|i| format!("#define g{}(x) g{i}(x x)\n", i + 1))
        .chain(["#define g0(x) x\n".to_string()])
        .collect();
    let deep = format!("#define F(x) x\n{}1{}", "F(".repeat(3000), ")".repeat(3000));
    let table = [
        (format!("{doubling}f0"), "C0006"),
        (format!("{calls}g60(a)"), "C0006"),
        (deep, "C0005"),
        (format!("#if {}1\n#endif", "(".repeat(3000)), "C0013"),
        (format!("#if {}1\n#endif", "- ".repeat(3000)), "C0013"),
        ("#bogus\n".repeat(200), "C0007"),
    ];
    for (text, code) in table {
        let result = preprocess("main.c", &text, &PreprocessOptions::default());
        let last = result.diagnostics.iter().last().map(|diagnostic| diagnostic.code);
        assert_eq!(last, Some(code));
    }
    let twice = [("a.h", "#include \"a.h\"\n#include \"a.h\"\n")];
    let result = with_files("#include \"a.h\"", &[], &[], &twice);
    assert_eq!(codes(&result.diagnostics), ["1:C0005"]);
    assert!(result.partial);
}

//! Tests of the parser.

mod messages;
mod random;
mod show;

use fencepost_ir::Diagnostics;

use crate::c::source_map::{FileKind, SourceMap};
use crate::c::{PreprocessOptions, headers, parse_unit};

fn parsed(text: &str) -> (SourceMap, crate::c::ast::Unit) {
    let mut diagnostics = Diagnostics::new();
    let result = parse_unit("main.c", text, &PreprocessOptions::default(), &mut diagnostics);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, [""; 0], "{text}");
    result
}

/// Parses a file without errors and returns its tree as text.
fn tree(text: &str) -> String {
    show::unit(&parsed(text).1)
}

#[test]
fn declarations_have_types() {
    let table = [
        ("int *a[3];", "a: [3] * i32;"),
        ("int (*a)[3];", "a: * [3] i32;"),
        ("int (*f[2])(int, char *);", "f: [2] * (_: i32, _: * i8) i32;"),
        (
            "void (*signal(int s, void (*f)(int)))(int);",
            "signal: (s: i32, f: * (_: i32) void) * (_: i32) void;",
        ),
        ("int *const volatile *p;", "p: * volatile * i32;"),
        (
            "unsigned long long int a; long unsigned b; short c; signed char d; unsigned e;",
            "a: u64;\nb: u64;\nc: i16;\nd: i8;\ne: u32;",
        ),
        (
            "_Bool a; char b; double c; long double d; __int128 e;",
            "a: bool;\nb: i8;\nc: unsupported `double`;\nd: unsupported `long double`;\ne: unsupported `__int128`;",
        ),
        (
            "int f(void); int g(); int h(int, ...);",
            "f: () i32;\ng: (...) i32;\nh: (_: i32, ...) i32;",
        ),
        ("int a, *b = 0, c[] = {1, 2};", "a: i32; b: * i32 = 0; c: [] i32 = {1, 2};"),
        (
            "_Atomic int a; _Atomic(int *) b; int *_Atomic c; volatile _Atomic unsigned d;",
            "a: atomic i32;\nb: atomic(* i32);\nc: atomic * i32;\nd: atomic volatile u32;",
        ),
        (
            "static _Thread_local int a; extern __thread int b; register int c;",
            "a: static thread_local i32;\nb: extern thread_local i32;\nc: i32;",
        ),
        ("typedef int T; T a; T *f(T b);", "T: typedef i32;\na: T;\nf: (b: T) * T;"),
        ("int static const inline __attribute__((unused)) f(void);", "f: () static i32;"),
        ("__extension__ typedef long T;", "T: typedef i64;"),
        (
            "_Alignas(64) int a; int b __attribute__((aligned(8))); _Alignas(long) int c;",
            "a: i32 align 64;\nb: i32 align 8;\nc: i32 align alignof<i64>;",
        ),
        (
            "int x; typeof(x) a; __typeof__(int *) b; __auto_type c = 1;",
            "x: i32;\na: typeof(x);\nb: typeof(type * i32);\nc: auto = 1;",
        ),
        (
            "int f(int a[static 3], int b[*], int c(int));",
            "f: (a: [3] i32, b: [] i32, c: (_: i32) i32) i32;",
        ),
        ("_Static_assert(sizeof(int) == 4, \"size\"); ;", "static_assert Eq(sizeof<i32>, 4);"),
        ("extern int x asm(\"y\") __attribute__((weak));", "x: extern i32;"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn records_and_enums_have_members() {
    let table = [
        ("struct s;", "struct s;"),
        (
            "struct s { int a, *b; char c : 3, : 5; } x;",
            "x: struct s { a: i32; b: * i32; c: i8 : 3; _: i8 : 5; };",
        ),
        (
            "struct { union { int a; long b; }; struct t *next; };",
            "struct { union { a: i32; b: i64; }; next: * struct t; };",
        ),
        (
            "struct __attribute__((packed)) s { int a; } __attribute__((aligned(64)));",
            "struct s packed align 64 { a: i32; };",
        ),
        ("enum e { A, B = 2, C, };", "enum e { A, B = 2, C };"),
        ("enum { X } x = X; enum e *p;", "x: enum { X } = X;\np: * enum e;"),
        (
            "struct s { int x[2]; } a = { .x[1] = 2, .x = { [0] = 1, [1 ... 1] = 3 } };",
            "a: struct s { x: [2] i32; } = {.x[1] = 2, .x = {[0] = 1, [1 ... 1] = 3}};",
        ),
        (
            "struct s { int x, y; } a = { y: 1, .x = 2 }; int b[] = { [1] 5 };",
            "a: struct s { x: i32; y: i32; } = {.y = 1, .x = 2};\nb: [] i32 = {[1] = 5};",
        ),
        // The tag and the member have the name of a type.
        (
            "typedef int T; struct T { T T; }; struct T x;",
            "T: typedef i32;\nstruct T { T: T; };\nx: struct T;",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn expressions_have_precedence() {
    let table = [
        ("a + b * c - d", "Sub(Add(a, Mul(b, c)), d)"),
        (
            "a << 1 < b == c & d ^ e | f && g || h",
            "((BitOr(BitXor(BitAnd(Eq(Lt(Shl(a, 1), b), c), d), e), f) && g) || h)",
        ),
        ("a = b += c ? d : e ? f : g", "(a = (b Add= (c ? d : (e ? f : g))))"),
        ("a ?: b, c", "((a ?  : b), c)"),
        ("-a[1]->b.c++", "Minus((a[1]->b.c)++)"),
        ("*p++ = &*q", "(Deref((p)++) = Address(Deref(q)))"),
        ("--*p + !~+x", "Add(--(Deref(p)), Not(BitNot(Plus(x))))"),
        ("(a)(b, (c, d))", "a(b, (c, d))"),
        ("(int)a + (T *)b", "Add(cast<i32>(a), cast<* T>(b))"),
        ("(T)(a)", "cast<T>(a)"),
        ("(a)(T)", "a(T)"),
        (
            "sizeof(T) * 2 + sizeof a + sizeof(a)",
            "Add(Add(Mul(sizeof<T>, 2), sizeof(a)), sizeof(a))",
        ),
        ("(struct s){ .a = 1 }.a", "compound<struct s>{.a = 1}.a"),
        ("sizeof (T){ 1 }", "sizeof(compound<T>{1})"),
        ("_Alignof(int) + __alignof__(a)", "Add(alignof<i32>, alignof<typeof(a)>)"),
        ("({ int b = 1; b; })", "({ b: i32 = 1; b; })"),
        ("_Generic(a, int: 1, T *: 2, default: 3)", "generic(a; i32: 1, * T: 2, default: 3)"),
        ("__builtin_offsetof(struct s, a.b[2])", "offsetof<struct s>(.a.b[2])"),
        ("__builtin_types_compatible_p(int, T)", "compatible<i32, T>"),
        (
            "__builtin_choose_expr(1, a, b) + __builtin_expect(!!a, 1)",
            "Add(choose(1, a, b), __builtin_expect(Not(Not(a)), 1))",
        ),
        ("(int (*)(void))a", "cast<* () i32>(a)"),
        ("(void (*[2])(T))a", "cast<[2] * (_: T) void>(a)"),
        ("__extension__ 1 ? \"a\" \"b\\n\" : __func__", "(1 ? \"ab\\n\" : \"f\")"),
        ("a--- -b", "Sub((a)--, Minus(b))"),
        ("1.5f + 0x1p3 + 1e5", "Add(Add(float, float), float)"),
    ];
    for (text, expected) in table {
        let program = format!("typedef int T; void f(void) {{ int a; return {text}; }}");
        let expected = format!("T: typedef i32;\nf: () void {{ a: i32; return {expected}; }}");
        assert_eq!(tree(&program), expected, "{text}");
    }
}

#[test]
fn literals_have_the_types_of_c() {
    let table = [
        ("0", "0"),
        ("2147483647", "2147483647"),
        ("2147483648", "2147483648i64"),
        ("0x7fffffff", "2147483647"),
        ("0x80000000", "2147483648u32"),
        ("0xffffffffffffffff", "18446744073709551615u64"),
        ("0x7fffffffffffffff", "9223372036854775807i64"),
        ("9223372036854775808", "9223372036854775808u64"),
        ("1u", "1u32"),
        ("4294967296u", "4294967296u64"),
        ("1l", "1i64"),
        ("1LL", "1i64"),
        ("1uLL", "1u64"),
        ("017", "15"),
        ("0b101", "5"),
        ("'a'", "97"),
        ("'\\n'", "10"),
        ("'\\''", "39"),
        ("'\\0'", "0"),
        ("'\\x41'", "65"),
        ("'\\377'", "4294967295"),
        ("'ab'", "24930"),
        ("L'a'", "97"),
        ("u'a'", "97u16"),
        ("U'\\u00e4'", "228u32"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(&format!("long x = {text};")), format!("x: i64 = {expected};"), "{text}");
    }
}

#[test]
fn statements_are_parsed() {
    let table = [
        ("if (a) if (b) ; else a = 1;", "if a if b ; else (a = 1);"),
        ("while (a) { break; continue; }", "while a { break; continue; }"),
        ("do a++; while (a < 3);", "do (a)++; while Lt(a, 3);"),
        ("for (int i = 0; i < 3; i++) ;", "for (i: i32 = 0; Lt(i, 3); (i)++) ;"),
        ("for (;;) ;", "for (;;) ;"),
        ("for (a = 0, b = 1; ; ) { }", "for (((a = 0), (b = 1));;) {  }"),
        (
            "switch (a) { case 1: case 2 ... 4: a = 1; break; default: }",
            "switch a { case 1: case 2 ... 4: (a = 1); break; default: ; }",
        ),
        ("goto end; end: ;", "goto end; end: ;"),
        ("l: int x = 1; __attribute__((fallthrough));", "l: x: i32 = 1; ;"),
        ("__label__ x; x: return 1;", "x: return 1;"),
        ("asm volatile (\"mfence\" ::: \"memory\");", "asm \"mfence\" () [\"memory\"];"),
        (
            "__asm__ (\"lock; \" \"add %0\" : [r] \"+m\" (a), \"=r\"(b) : \"r\" (1) : \"cc\", \"memory\");",
            "asm \"lock; add %0\" (a, b, 1) [\"cc\", \"memory\"];",
        ),
        ("_Static_assert(1, \"a\");", "static_assert 1;"),
        (
            "static int x = 3; extern int y; typedef int U; U z;",
            "x: static i32 = 3; y: extern i32; U: typedef i32; z: U;",
        ),
    ];
    for (text, expected) in table {
        let program = format!("void f(int a, int b) {{ {text} }}");
        let expected = format!("f: (a: i32, b: i32) void {{ {expected} }}");
        assert_eq!(tree(&program), expected, "{text}");
    }
}

/// A name is a type or a value by its scope.
#[test]
fn names_of_types_have_scopes() {
    let table = [
        ("T * a;", "a: * T;"),
        ("int T = 1; T * 2; (T) + 1; sizeof(T);", "T: i32 = 1; Mul(T, 2); Add(T, 1); sizeof(T);"),
        ("{ int T; T = 1; } T b;", "{ T: i32; (T = 1); } b: T;"),
        ("for (int T = 0; T < 1; T++) ; T b;", "for (T: i32 = 0; Lt(T, 1); (T)++) ; b: T;"),
        ("typedef char U; { int U; U * 1; } U c;", "U: typedef i8; { U: i32; Mul(U, 1); } c: U;"),
        ("enum { T }; T + 1;", "enum { T }; Add(T, 1);"),
        ("T: goto T;", "T: goto T;"),
        ("struct s { int T; } x; x.T = 1; T y;", "x: struct s { T: i32; }; (x.T = 1); y: T;"),
        ("int (*g)(T), h(T T); T z;", "g: * (_: T) i32; h: (T: T) i32; z: T;"),
    ];
    for (text, expected) in table {
        let program = format!("typedef int T; void f(void) {{ {text} }}");
        let expected = format!("T: typedef i32;\nf: () void {{ {expected} }}");
        assert_eq!(tree(&program), expected, "{text}");
    }
    assert_eq!(
        tree("typedef int T; void f(int T) { T * 2; } T x;"),
        "T: typedef i32;\nf: (T: i32) void { Mul(T, 2); }\nx: T;"
    );
}

#[test]
fn all_headers_parse() {
    // Functions of the main file are parsed although nothing uses them.
    for (name, text) in headers::all() {
        assert!(!tree(text).is_empty() || !text.contains('{'), "{name}");
    }
    for name in headers::names() {
        let (map, _) = parsed(&format!("#include <{name}>\n#include <{name}>\n"));
        assert!(map.files().iter().any(|file| file.name == name && file.kind == FileKind::BuiltIn));
    }
    let all: String = headers::names()
        // The Linux kernel has other functions with the names of C11.
        .filter(|name| *name != "linux/atomic.h")
        .map(|name| format!("#include <{name}>\n"))
        .collect();
    assert_eq!(tree(&all), "");
}

#[test]
fn only_used_parts_of_headers_are_kept() {
    let text = "#include <pthread.h>\nvoid f(pthread_mutex_t *m) { pthread_mutex_lock(m); }";
    let names: Vec<String> = tree(text)
        .lines()
        .map(|line| line.split(':').next().unwrap_or_default().to_string())
        .collect();
    assert_eq!(names, ["pthread_mutex_t", "pthread_mutex_lock", "f"]);
}

#[test]
fn definitions_of_the_user_win() {
    let text = "#include <pthread.h>\nint sched_yield(void) { return 7; } int pthread_yield(void);\
                int f(void) { return sched_yield() + pthread_yield(); }";
    assert_eq!(
        tree(text),
        "pthread_yield: () static i32 { return 0; }\n\
         sched_yield: () i32 { return 7; }\n\
         f: () i32 { return Add(sched_yield(), pthread_yield()); }"
    );
    let text = "#include <stdlib.h>\nint rand; int f(void) { return rand; }";
    assert_eq!(tree(text), "rand: i32;\nf: () i32 { return rand; }");
}

#[test]
fn the_library_becomes_intrinsic_functions() {
    let text = "#include <stdatomic.h>\n#include <assert.h>\natomic_int x;\n\
                void f(void) { atomic_store(&x, 1); assert(x == 1); smp_mb(); WRITE_ONCE(x, 2); }";
    assert_eq!(
        tree(text),
        "atomic_int: typedef atomic i32;\nx: atomic_int;\n\
         f: () void { __fencepost_atomic_store(Address(x), 1, 4); \
         __fencepost_assert(Not(Not(Eq(x, 1))), \"x == 1\"); __fencepost_fence(5); \
         __fencepost_atomic_store(Address(x), 2, 0); }"
    );
}

#[test]
fn statements_of_macros_have_the_span_of_the_use() {
    let text = "#define inc(x) do { x++; } while (0)\nvoid f(int y) { inc(y); }";
    let (map, unit) = parsed(text);
    let Some(crate::c::ast::Item::Function(function)) = unit.items.first() else {
        panic!("a function");
    };
    let spans: Vec<&str> = function.body.items.iter().map(|stmt| map.text(stmt.span)).collect();
    assert_eq!(spans, ["inc(y);"]);
    assert_eq!(map.text(function.span), "void f(int y) { inc(y); }");
}

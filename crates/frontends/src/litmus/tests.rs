//! Tests of the litmus front end: parsing, lowering, diagnostics, robustness.
//!
//! - `aarch64`: lowering and errors of AArch64 instructions.
//! - `conditions`: format and semantics of conditions.
//! - `instructions`: lowering of instructions.
//! - `mutated`: random invalid texts.
//! - `multiple_errors`: texts with several errors.

mod aarch64;
mod conditions;
mod instructions;
mod multiple_errors;
mod mutated;

use fencepost_ir::Quantifier;

use super::ast::{Arch, Constant, StateVar};
use super::{Test, error::LitmusError, parse, read_or_errors};

/// Reads a test. Returns all errors, sorted by position.
fn read(source: &str) -> Result<Test, Vec<LitmusError>> {
    read_or_errors(source, "stem", false).map_err(|errors| errors.sorted())
}

#[track_caller]
fn good(source: &str) -> Test {
    read(source).unwrap_or_else(|error| panic!("{error:?}\n{source}"))
}

/// Returns the text of a test with this initial state.
fn with_init(init: &str) -> String {
    format!("X86 T\n{{ {init} }}\n P0 ;\n NOP ;\nforall (true)\n")
}

/// Returns the locations of a test with their initial values.
fn locations(test: &Test) -> Vec<String> {
    let locations = test.problem.program.locations.iter();
    locations.map(|l| format!("{}={}", l.name, test.value_names.format(l.init))).collect()
}

#[test]
fn headers_are_parsed() {
    let body = "{}\n P0 ;\n NOP ;\nforall (true)\n";
    for (header, name, doc) in [
        ("X86 SB", "SB", None),
        ("X86 SB+mfence-[po]/a.b_1", "SB+mfence-[po]/a.b_1", None),
        (
            "X86 SB (a name for TeX) \"what it is about { } (\"",
            "SB",
            Some("what it is about { } ("),
        ),
        ("X86 SB;", "SB", None),
        ("X86 --", "stem", None),
        ("(* first (* and second *) *)X86 (* third *) SB", "SB", None),
        ("\u{feff}X86 SB", "SB", None),
    ] {
        let file = parse(&format!("{header}\n{body}"), "stem").expect(header);
        assert_eq!((file.name.as_str(), file.doc.as_deref()), (name, doc), "{header}");
        assert_eq!(file.arch, Arch::X86);
    }
    let source = format!(
        "X86_64 SB\n\"doc\"\nCycle=Fre PodWR\nprose without meaning\nCom = x\nOrig=a=b\n{body}"
    );
    let file = parse(&source, "stem").expect("a test");
    assert_eq!(file.arch, Arch::X86_64);
    let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
    assert_eq!(file.metadata, [pair("Cycle", "Fre PodWR"), pair("Orig", "a=b")]);
}

#[test]
fn initial_states_are_parsed() {
    for (init, expected) in [
        ("", vec![]),
        (";;", vec![]),
        ("x", vec!["x=0"]),
        ("x=1", vec!["x=1"]),
        ("x=1;", vec!["x=1"]),
        ("[x]=-2", vec!["x=-2"]),
        ("*x=3", vec!["x=3"]),
        ("int x", vec!["x=0"]),
        ("int x=0x1f", vec!["x=31"]),
        ("volatile unsigned int x=1", vec!["x=1"]),
        ("_Atomic int x=4", vec!["x=4"]),
        ("_Atomic(int) x=4", vec!["x=4"]),
        ("atomic_t x=ATOMIC_INIT(5)", vec!["x=5"]),
        ("int *p=x", vec!["p=x", "x=0"]),
        ("int *p=&x; int x=1", vec!["p=x", "x=1"]),
        ("int **p=&x", vec!["p=x", "x=0"]),
        ("int a[2]", vec!["a[0]=0", "a[1]=0"]),
        ("int a[3]={1,0x2}", vec!["a[0]=1", "a[1]=2", "a[2]=0"]),
        ("int a[]={7,8}", vec!["a[0]=7", "a[1]=8"]),
        (
            "int a[2]; int *p=a[1]; int *q=&a[0]; int *r=a",
            vec!["a[0]=0", "a[1]=0", "p=a[1]", "q=a[0]", "r=a[0]"],
        ),
        ("int64_t x=0xffffffffffffffff; y=-4294967296", vec!["x=-1", "y=-4294967296"]),
        ("(* no *) x=1; (* y=2; *)", vec!["x=1"]),
    ] {
        assert_eq!(locations(&good(&with_init(init))), expected, "{init}");
    }
}

#[test]
fn initial_values_of_registers_are_parsed() {
    let file = parse(&with_init("0:EAX=1; P0:EBX=x; int 0:ECX=0x10; 0:%edx=2"), "t");
    let init = file.expect("well-formed").init;
    let register = |name: &str| StateVar::Register(0, name.to_string());
    let address = Constant::Address("x".to_string());
    let expected = [
        (register("EAX"), Constant::Int(1)),
        (register("EBX"), address),
        (register("ECX"), Constant::Int(16)),
        (register("edx"), Constant::Int(2)),
    ];
    let found: Vec<_> = init.into_iter().map(|item| (item.var, item.values[0].clone())).collect();
    assert_eq!(found, expected);
}

#[test]
fn tables_are_parsed_in_any_layout() {
    for program in [
        " P0 | P1 ;\n MOV [x],$1 | NOP ;\n",
        ";P0|P1;MOV [x],$1|NOP;",
        " P0 | P1 ;\n MOV [x],1 | ;\n | nop ;\n",
        " P0:I | P1:F ;\n mov [x],$1 | nop | ;\n",
        " P0 | P1 ;\n (* a *) MOV [x],$1 | NOP (* b *) ; # c | d\n",
        " P0 | P1 ;\n L: MOV [x],$1 | M: N: ;\n | NOP ;\n",
    ] {
        let test = good(&format!("X86 T {{}}\n{program}\nforall (x=1)\n"));
        assert_eq!(test.problem.program.threads.len(), 2, "{program}");
        assert_eq!(test.quantifier, Quantifier::Forall);
    }
}

/// Checks the code, line and column of each error, and a part of its message. Column 0 matches any
/// column.
#[test]
fn errors_are_reported_with_their_position() {
    let x86 = |program: &str| format!("X86 T\n{{ x=0; }}\n P0 ;\n{program}\nexists (x=0)\n");
    let x86_64 = |program: &str| format!("X86_64 T\n{{ x=0; }}\n P0 ;\n{program}\nexists (x=0)\n");
    let with_constraint =
        |text: &str| format!("X86 T\n{{ int a[2]; }}\n P0 ;\n MOV EAX,[x] ;\n{text}\n");
    let mut failures = Vec::new();
    let many = "P0".to_string() + &(1..300).map(|n| format!("|P{n}")).collect::<String>();
    for (source, code, line, column, message) in [
        (String::new(), "LT0001", 1, 1, "no initial state"),
        ("{}".into(), "LT0001", 1, 1, "the header is empty"),
        ("X86 {} P0 ; NOP ;".into(), "LT0001", 1, 5, "the test has no name"),
        ("+ T {}".into(), "LT0001", 1, 1, "starts with its language"),
        ("PPC T\n{}".into(), "LT0002", 1, 1, "tests for `PPC` are not supported"),
        ("X86 T\n{ x=0;\n P0 ;\n".into(), "LT0001", 2, 1, "never closed"),
        ("X86 T\n(* {}\n P0 ;\n".into(), "LT0001", 2, 1, "this comment is never closed"),
        ("X86 T\n{ x 0; }\n P0 ;\n".into(), "LT0001", 2, 5, "expected `;`"),
        ("X86 T\n{ x=0;\n  x=1; }\n P0 ;\n".into(), "LT0003", 3, 3, "`x` is initialised twice"),
        (with_init("int a[1]={1,2}"), "LT0001", 2, 3, "more values than elements"),
        (with_init("x={1,2}"), "LT0001", 2, 3, "more values than elements"),
        (with_init("int a[0]"), "LT0001", 2, 3, "at least one element"),
        (with_init("int a[100000]"), "LT0004", 2, 3, "too many locations"),
        (with_init("int a[-1]"), "LT0004", 2, 9, "not a valid number of elements"),
        (with_init("x=99999999999999999999"), "LT0001", 2, 5, "invalid number"),
        (with_init("int *p=0:L"), "LT0002", 2, 10, "code addresses"),
        (with_init("int a[2]; int *p=a[2]"), "LT0003", 2, 13, "`a` has no element 2"),
        (with_init("1:EAX=0"), "LT0003", 2, 3, "there is no thread 1"),
        (with_init("0:EXX=0"), "LT0003", 2, 3, "there is no register `EXX`"),
        ("X86 T\n{}\n P1 ;\n NOP ;\n".into(), "LT0001", 3, 2, "expected P0"),
        ("X86 T\n{}\n Q ;\n NOP ;\n".into(), "LT0001", 3, 2, "threads are named P0"),
        (format!("X86 T\n{{}}\n{many} ;\n"), "LT0004", 3, 0, "too many threads"),
        (x86(" NOP | NOP ;"), "LT0001", 4, 8, "more cells than there are threads"),
        (x86(" INC EAX\n NOP ;"), "LT0001", 5, 2, "expected `,`, `|` or `;`, found `NOP`"),
        (x86(" NOP ;\n VADDPS EAX,EBX ;"), "LT0002", 5, 2, "the instruction `VADDPS`"),
        (x86(" CLFLUSH [x] ;"), "LT0002", 4, 2, "the instruction `CLFLUSH`"),
        (x86(" MOV eax,[x] ;"), "LT0001", 4, 6, "`eax` is neither a register"),
        (x86(" MOV EAX,x ;"), "LT0001", 4, 10, "`x` is neither a register"),
        (x86(" MOV EAX ;"), "LT0001", 4, 2, "takes 2 operands, not 1"),
        (x86(" MFENCE EAX ;"), "LT0001", 4, 2, "takes 0 operands, not 1"),
        (x86(" INC ;"), "LT0001", 4, 2, "takes 1 operand, not 0"),
        (x86(" MOV [x],[x] ;"), "LT0001", 4, 2, "at most one memory operand"),
        (x86(" MOV $1,EAX ;"), "LT0001", 4, 2, "the destination cannot be written"),
        (x86(" LOCK MOV [x],$1 ;"), "LT0001", 4, 2, "LOCK is not allowed here"),
        (x86(" LOCK INC EAX ;"), "LT0001", 4, 2, "LOCK is not allowed here"),
        (x86(" MOV EAX,[4] ;"), "LT0002", 4, 2, "at a numeric address"),
        (x86(" MOV EAX,[x+4] ;"), "LT0002", 4, 2, "4 bytes after `x`"),
        (x86(" MOV EAX,[x+y] ;"), "LT0002", 4, 13, "two locations in one address"),
        (x86(" MOVB [x],$1 ;\n MOV EAX,[x] ;"), "LT0002", 5, 2, "different widths"),
        (x86(" JMP L ;"), "LT0003", 4, 2, "there is no label `L`"),
        (x86(" L: NOP ;\n L: NOP ;"), "LT0003", 5, 2, "the label `L` is defined twice"),
        (x86(" ADD EAX,$1 ;\n JC L ;\n L: NOP ;"), "LT0002", 4, 2, "the carry flag"),
        (x86(" MOV EAX,$-18446744073709551615 ;"), "LT0002", 4, 2, "does not fit in 64 bits"),
        (x86(" MOV EAX,$-2136244224 ;\n MOV EBX,$x ;"), "LT0002", 4, 2, "that uses addresses"),
        (x86(" MOV EAX,\u{1F600} ;"), "LT0001", 4, 10, "not valid in a litmus test"),
        (x86_64(" movq $1,%foo ;"), "LT0003", 4, 11, "there is no register `%foo`"),
        (x86_64(" movq (x),rax ;"), "LT0001", 4, 11, "`rax` is neither a register"),
        (with_constraint("exists (EAX=0"), "LT0001", 6, 1, "expected `)`"),
        (with_constraint("exists 0:EAX=0 0:EBX=0"), "LT0001", 5, 16, "the end of the condition"),
        (with_constraint("exists (0:AL=0)"), "LT0002", 5, 9, "a part of a register"),
        (with_constraint("exists (0:RAX=0)"), "LT0003", 5, 9, "there is no register `RAX`"),
        (with_constraint("exists (1:EAX=0)"), "LT0003", 5, 9, "there is no thread 1"),
        (with_constraint("exists (a=0)"), "LT0002", 5, 9, "`a` is an array"),
        (with_constraint("exists (a[2]=0)"), "LT0003", 5, 9, "`a` has no element 2"),
        (with_constraint("exists (b[0]=0)"), "LT0003", 5, 9, "there is no location `b`"),
        (with_constraint("exists (fault(P0,x))"), "LT0002", 5, 9, "`fault(...)`"),
        (with_constraint("observed x=0;"), "LT0002", 5, 1, "`observed`"),
        (with_constraint("locations 0:EAX"), "LT0001", 5, 11, "`[` after `locations`"),
        (with_constraint("locations [0:EAX 0:EBX]"), "LT0001", 5, 18, "`;` between locations"),
        (
            with_constraint(&format!("exists {}x=0", "~".repeat(300))),
            "LT0004",
            5,
            0,
            "nested too deeply",
        ),
    ] {
        let Err(all) = read(&source) else { panic!("no error in\n{source}") };
        let [error] = &all[..] else {
            failures.push(format!("{all:#?} in\n{source}"));
            continue;
        };
        let column = if column == 0 { error.span.column } else { column };
        let at = (error.code, error.span.line, error.span.column);
        if at != (code, line, column) || !error.message.contains(message) {
            failures.push(format!("{at:?} {}, not {message}, in\n{source}", error.message));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_file_that_is_too_large_is_an_error() {
    let source = " ".repeat(crate::fp::limits::SOURCE + 1);
    let codes =
        read(&source).expect_err("the file is too large").into_iter().map(|error| error.code);
    assert_eq!(codes.collect::<Vec<_>>(), ["LT0004"]);
}

/// The expected hashes were computed with another MD5 implementation, from herd's definition:
/// `md5(md5(init) ++ md5(code) ++ md5(observed))`.
#[test]
fn hashes_equal_those_of_herd() {
    // init "x=0; y=0", observed "0:EAX; 1:EAX", code
    // " MOV [x],$1  | MOV [y],$1  ;\n MOV EAX,[y] | MOV EAX,[x] ;\n"
    let body = "P0|P1; MOV [x],1|MOV [y],$1; mov EAX,[y]|MOV EAX,[x];\n";
    let sb = "7dbd6b8e6dd4abc2ef3d48b0376fb2e3";
    for init in ["{ x=0; y=0; }", "{ y=0; [x]=0 }", "{ y; x; }"] {
        for condition in ["exists (0:EAX=0 /\\ 1:EAX=0)", "locations [1:EAX;] forall 0:EAX=1"] {
            let test = good(&format!("X86 SB\n{init}\n{body}{condition}\n"));
            assert_eq!(test.hash.as_deref(), Some(sb), "{init} {condition}");
        }
    }
    // The test without an initial state has another hash: init "".
    let test = good(&format!("X86 SB\n{{}}\n{body}exists (0:EAX=0 /\\ 1:EAX=0)\n"));
    assert_eq!(test.hash.as_deref(), Some("edd4722437d708675ed921e7607e77f0"));
    // init "0:rsi=p; int *p=x; int64_t y=16", observed "1:rax; x; y", code
    // " movq $1,(x)       | xchgq (y),%rax ;\n lock; incq (%rsi) | mfence         ;\n"
    let test = good(
        "X86_64 T { int64_t y=0x10; int *p=&x; 0:%rsi=p; }
         P0 | P1 ; movq $1,(x) | xchgq (y),%rax ; lock incq (%rsi) | mfence ;
         exists ([y]=1 /\\ x=2 /\\ 1:rax=0)",
    );
    assert_eq!(test.hash.as_deref(), Some("4424eb87b1db1fedad0c80f4a5f9415a"));
    for without in ["{ int a[2]; } P0; NOP;", "{} P0; L: NOP;", "{} P0; NOT EAX;"] {
        assert_eq!(good(&format!("X86 T {without} exists (x=0)")).hash, None, "{without}");
    }
}

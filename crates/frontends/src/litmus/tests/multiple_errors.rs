//! Texts with several errors: each error is reported, and consequential errors are not.

use super::read;

/// Checks the line and a part of the message of every error, in text order.
#[track_caller]
fn errors(source: &str, expected: &[(u32, &str)]) {
    let found = read(source).expect_err("the test has errors");
    let reported: Vec<(u32, &str)> =
        found.iter().map(|w| (w.span.line, w.message.as_str())).collect();
    let same = reported.len() == expected.len()
        && reported
            .iter()
            .zip(expected)
            .all(|((at, message), (line, part))| at == line && message.contains(part));
    assert!(same, "{reported:#?}\n{source}");
}

#[test]
fn x86_tests_report_all_errors() {
    errors(
        "X86 T\n{ x 0;\n y=1; z={1,2} }\n P0 | P1 ;\n MOV eax,[x] | MOV EAX,[y ;\n VADDPS EAX | NOP ;\n\
         exists (0:EAX= /\\ 1:EAX=0 \\/ fault(x))\n",
        &[
            (2, "expected `;`"),
            (3, "more values than elements"),
            (5, "`eax` is neither a register"),
            (5, "expected `]`"),
            (6, "the instruction `VADDPS`"),
            (7, "expected a value"),
            (7, "`fault(...)`"),
        ],
    );
    // Errors of lowering next to invalid cells. The label of an invalid cell is defined.
    errors(
        "X86 T\n{ x=0; 0:EBX=5; 2:ECX=1; }\n P0 | P1 ;\n L: FOO EBX,$x | JMP M ;\n JMP L | JMP M ;\n \
         MOV EAX,[EBX] | LOCK MOV [x],$1 ;\nlocations [0:RAX; 1:AL; x]\nexists (3:EAX=0 /\\ x=1)\n",
        &[
            (2, "there is no thread 2"),
            (4, "the instruction `FOO`"),
            (4, "there is no label `M`"),
            (6, "LOCK is not allowed"),
            (7, "there is no register `RAX`"),
            (7, "a part of a register"),
            (8, "there is no thread 3"),
        ],
    );
    // Without valid thread names, a test is only parsed, and the number of cells is not checked.
    errors(
        "X86\n{ x=1; x=2; }\n P0 | P2 ;\n NOP | NOP | FOO ;\n JMP L | NOP ;\nforall (x=\u{1F600})\n",
        &[
            (2, "the test has no name"),
            (3, "expected P1"),
            (4, "the instruction `FOO`"),
            (6, "not valid in a litmus test"),
        ],
    );
    // A row without a semicolon ends at the condition.
    errors(
        "X86 T\n{ int a[2]; }\n P0 ;\n NOP | NOP ;\n NOP | NOP ;\n MOV EAX,$$\nexists (a=1 /\\ a[3]=0)\n",
        &[
            (4, "more cells than there are threads"),
            (6, "expected a number"),
            (7, "`a` is an array"),
            (7, "`a` has no element 3"),
        ],
    );
}

#[test]
fn x86_64_tests_report_all_errors() {
    errors(
        "X86_64 T\n{ x=0; x=1; int a[0]; int b[1000]; }\n P0 ;\n movq $1,(x) ;\nexists (x=0)\n",
        &[(2, "`x` is initialised twice"), (2, "at least one element"), (2, "too many locations")],
    );
    errors(
        "X86_64 T\n{ x=0; y=0; }\n P0 | P1 ;\n movq $1,%foo | movb $1,(x) ;\n movq (x),rax | movl $1,(x) ;\n \
         movl %eax | movw $2,(x) ;\n jmp l | L: nop ;\n | L: nop ;\nfilter (0:eflags=1) exists (y=z[1] /\\ 0:rax=q[0])\n",
        &[
            (4, "there is no register `%foo`"),
            (5, "`rax` is neither a register"),
            (5, "different widths"),
            (6, "takes 2 operands, not 1"),
            (7, "there is no label `l`"),
            (8, "the label `L` is defined twice"),
            (9, "there is no register `eflags`"),
            (9, "there is no location `z`"),
            (9, "there is no location `q`"),
        ],
    );
}

#[test]
fn c_tests_report_all_errors() {
    // Invalid statements. A name may be declared in one of them.
    errors(
        "C T\n{ x=0; }\nP0(int *x) {\n int r0 = ;\n for (r0 = 0; r0 < ; r0 = r0 + 1) { *x = 1; }\n \
         if (r1 == ) { *x = ; } else *x = 2;\n r2 = foo(x);\n do { *x = 3 } while (1);\n}\n\
         P1(int *x) { goto L; }\nexists (x=)\n",
        &[
            (4, "expected"),
            (5, "expected a value, found `;`"),
            (6, "expected"),
            (7, "the function `foo`"),
            (8, "expected `;`"),
            (10, "`goto` is not supported"),
            (11, "expected a value"),
        ],
    );
    // Errors of lowering. An unknown name is reported once in each thread.
    errors(
        "C T\n{ x=0; }\nP0(int *x) {\n r1 = 1; *x = r2; *x = r1 + r2;\n if (bar()) { int r3 = baz(x); *x = r3; }\n \
         smp_mb(1); int r3;\n}\nP1(int *x) { *x = r2; *y = r2; *y = 1; }\nexists (x=0 /\\ 2:r0=1)\n",
        &[
            (4, "`r2`"),
            (5, "the function `bar`"),
            (5, "the function `baz`"),
            (6, "argument"),
            (6, "declared twice"),
            (8, "`r2`"),
            (8, "`y`"),
            (9, "there is no thread 2"),
        ],
    );
    // Invalid functions.
    errors(
        "C T\n{ x=0; }\nP0(x) { *x = 1; }\nP2(int *x, int *x) { *x = ; }\nP3(int *x) { goto L; }\n\
         exists (x=0\n",
        &[
            (3, "has no type"),
            (4, "the parameter `x`"),
            (4, "expected"),
            (5, "`goto` is not supported"),
            (7, "expected `)`"),
        ],
    );
}

#[test]
fn an_instruction_that_fails_half_way_is_an_error() {
    errors(
        "X86 T\n{ }\n P0 ;\n CMPXCHG $EDX,ECX ;\n JE L ;\n L: NOP ;\nexists (0:EAX=0)\n",
        &[(4, "the destination cannot be written")],
    );
}

#[test]
fn the_number_of_reported_errors_is_limited() {
    let source = format!("X86 T\n{{}}\n P0 ;\n{}exists (x=0)\n", " FOO ;\n".repeat(2000));
    let mut diagnostics = fencepost_ir::Diagnostics::new();
    assert!(super::super::read(&source, "t", false, &mut diagnostics).is_none());
    assert_eq!(diagnostics.len(), crate::fp::limits::ERRORS + 1);
    let last = diagnostics.iter().last().expect("there are errors");
    assert_eq!(last.message, "more than 500 errors");
}

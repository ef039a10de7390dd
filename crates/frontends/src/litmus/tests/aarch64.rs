//! AArch64: lowering, orders, exclusive pairs, errors.

use fencepost_ir::{AccessOrder, Acquire, Op, Program};

use super::super::error::{NAME, SYNTAX, UNSUPPORTED};
use super::instructions::code;
use super::{good, read};

/// Returns a test of one thread with these instructions, one on each line.
fn test(program: &str) -> String {
    let rows: String = program.lines().map(|line| format!(" {} ;\n", line.trim())).collect();
    let init = "int a[2]; int64_t q; 0:X10=x; 0:X11=y; 0:X12=a; 0:X13=q; 0:W14=-1; 0:X15=-1;";
    format!("AArch64 T\n{{ {init} }}\n P0 ;\n{rows}forall (true)\n")
}

#[track_caller]
fn check(program: &str, expected: &[&str]) {
    assert_eq!(code(&test(program)), expected, "{program}");
}

/// Returns the orders of the accesses, in the order of the code.
fn orders(program: &str) -> Vec<AccessOrder> {
    let Program { threads, orders, .. } = good(&test(program)).problem.program;
    let accesses = threads[0].code.iter().filter(|stmt| stmt.op.access().is_some());
    accesses.map(|stmt| orders.get(&stmt.label).copied().unwrap_or_default()).collect()
}

#[test]
fn dependencies_are_kept() {
    check(
        "LDR W0,[X10]\nEOR W1,W0,W0\nLDR W2,[X11,W1,SXTW]\nADD W3,W1,#1\nSTR W3,[X10]",
        &[
            "load X0 = x",
            "assign X1 = X0 ^ X0",
            "load X2 = y[X1]",
            "assign X3 = X1 + 1",
            "store x = X3",
        ],
    );
    check(
        "LDR W0,[X10]\nCBNZ W0,L\nL: STR W0,[X11]",
        &["load X0 = x", "branch X0 != 0 -> @2 else @2", "store y = X0"],
    );
    check(
        "LDR W0,[X10]\nCMP W0,#1\nB.EQ L\nL: STR W0,[X11]",
        &["load X0 = x", "assign %zero = X0 == 1", "branch %zero -> @3 else @3", "store y = X0"],
    );
    check(
        "LDR W0,[X10]\nEOR W1,W0,W0\nADD X2,X11,W1,SXTW\nSTR W0,[X2]",
        &[
            "load X0 = x",
            "assign X1 = X0 ^ X0",
            "assign X2 = -2136236032 + X1",
            "store y[X2 - -2136236032] = X0",
        ],
    );
}

#[test]
fn selections_are_one_assignment() {
    check(
        "LDR W0,[X10]\nLDR W1,[X11]\nCMP W0,#1\nCSEL W2,W0,W1,NE\nCSNEG W3,W0,W1,EQ\nCSET W4,EQ",
        &[
            "load X0 = x",
            "load X1 = y",
            "assign %zero = X0 == 1",
            "assign X2 = (!%zero) ? X0 : X1",
            "assign X3 = %zero ? X0 : (0 - X1)",
            "assign X4 = (!%zero) ? 0 : 1",
        ],
    );
    check(
        "LDR W0,[X10]\nCMP W0,#1\nMOV X1,#5\nCSEL W1,W0,WZR,EQ",
        &[
            "load X0 = x",
            "assign %zero = X0 == 1",
            "assign X1 = 5",
            "assign X1 = %zero ? (X0 & 4294967295) : 0",
        ],
    );
    let program = good(&test("LDR W0,[X10]\nCMP W0,#1\nCSET W1,LO")).problem.program;
    let code = &program.threads[0].code;
    let selections = code.iter().filter(|stmt| program.selections.contains(&stmt.label));
    assert_eq!(selections.count(), 1);
}

#[test]
fn instructions_on_registers() {
    for (program, expected) in [
        ("MOV W0,#1", &["assign X0 = 1"][..]),
        ("mov w0,#0xffffffff", &["assign X0 = -1"]),
        ("MOV X0,#0xffffffff", &["assign X0 = 4294967295"]),
        ("MOV W0,W14", &["assign X0 = -1"]),
        ("MOV X0,X15", &["assign X0 = -1"]),
        ("MOV W0,WZR", &["assign X0 = 0"]),
        ("SUB W0,W0,W1,LSL #2", &["assign X0 = X0 - 0"]),
        ("LDR W1,[X10]\nORR W0,W1,#4", &["load X1 = x", "assign X0 = X1 | 4"]),
        ("LDR W1,[X10]\nAND W0,W1,W1,LSL #1", &["load X1 = x", "assign X0 = X1 & (X1 << 1)"]),
        ("LDR W1,[X10]\nMVN W0,W1", &["load X1 = x", "assign X0 = ~X1"]),
        ("LDR W1,[X10]\nBIC W0,W1,#1", &["load X1 = x", "assign X0 = X1 & -2"]),
        ("LDR W1,[X10]\nNEG W0,W1", &["load X1 = x", "assign X0 = 0 - X1"]),
        ("NOP\nRET\nISB", &["skip -> @2", "fence instruction"]),
    ] {
        check(program, expected);
    }
}

/// The high half of a register is 0 after a write of its low half.
#[test]
fn halves_of_registers_are_exact() {
    check(
        "LDR W0,[X10]\nMOV X1,X0\nSTR W1,[X10]",
        &[
            "load X0 = x",
            "assign X1 = X0 & 4294967295",
            "store x = (((((X1 & 4294967295) ^ 2147483648) -w 2147483648) & 4294967295) \
             ^ 2147483648) - 2147483648",
        ],
    );
    check(
        "LDR X0,[X13]\nMOV W0,W0",
        &[
            "load X0 = q",
            "assign X0 = ((((((X0 & 4294967295) ^ 2147483648) -w 2147483648) & 4294967295) \
             ^ 2147483648) - 2147483648) & 4294967295",
        ],
    );
}

#[test]
fn accesses() {
    for (program, expected) in [
        ("LDR W0,[X12,#4]", &["load X0 = a[1]"][..]),
        ("STR WZR,[X10]", &["store x = 0"]),
        ("LDR WZR,[X10]", &["load %0 = x"]),
        (
            "LDP W0,W1,[X12]",
            &["load %0 = a[0]", "load %1 = a[1]", "assign X0 = %0", "assign X1 = %1"],
        ),
        ("STP WZR,WZR,[X12]", &["store a[0] = 0", "store a[1] = 0"]),
        ("LDRB W0,[X10]", &["load X0 = x"]),
        ("LDR W0,[X10]\nSTRB W0,[X11]", &["load X0 = x", "store y = X0 & 255"]),
        (
            "STR WZR,[X12],#4",
            &["assign X12 = -2136248320", "store *(X12) = 0", "assign X12 = X12 + 4"],
        ),
    ] {
        check(program, expected);
    }
}

#[test]
fn fences() {
    for (program, expected) in [
        ("DMB SY", "fence full"),
        ("DSB ISH", "fence full"),
        ("dmb ishld", "fence load_load + load_store"),
        ("DMB OSHST", "fence store_store"),
        ("ISB", "fence instruction"),
    ] {
        check(program, &[expected]);
    }
}

/// Models without orders use fences with the label of the access.
#[test]
fn orders_are_recorded_and_have_fences() {
    let plain = AccessOrder::PLAIN;
    let strong = AccessOrder { acquire: Acquire::Strong, ..plain };
    let release = AccessOrder { release: true, ..plain };
    let discards = AccessOrder { discards_value: true, ..plain };
    let (before, after) = ("fence store_store + load_store", "fence load_load + load_store");
    for (program, order, expected) in [
        ("LDR W0,[X10]", plain, &["load X0 = x"][..]),
        ("LDAR W0,[X10]", strong, &["load X0 = x", after]),
        (
            "LDAPR W0,[X10]",
            AccessOrder { acquire: Acquire::Weak, ..plain },
            &["load X0 = x", after],
        ),
        ("STLR WZR,[X10]", release, &[before, "store x = 0"]),
        ("CAS W0,W1,[X10]", plain, &["update X0 = cmpxchg(x, X0, 0)"]),
        ("CASA W0,W1,[X10]", strong, &["update X0 = cmpxchg(x, X0, 0)", after]),
        ("SWPL W1,W0,[X10]", release, &[before, "update X0 = swap(x, 0)"]),
        (
            "LDADDAL W14,W0,[X10]",
            AccessOrder { release: true, ..strong },
            &[before, "update X0 = fetch_add(x, -1)", after],
        ),
        ("LDCLR W14,W0,[X10]", plain, &["update X0 = fetch_and(x, 0)"]),
        ("STSET W14,[X10]", discards, &["update fetch_or(x, -1)"]),
        ("SWPA W14,WZR,[X10]", discards, &["update swap(x, -1)"]),
        (
            "STADDL W14,[X10]",
            AccessOrder { release: true, ..discards },
            &[before, "update fetch_add(x, -1)"],
        ),
    ] {
        check(program, expected);
        assert_eq!(orders(program), [order], "{program}");
        let program = good(&test(program)).problem.program;
        let code = &program.threads[0].code;
        let fences = code.iter().filter(|stmt| matches!(stmt.op, Op::Fence(_)));
        fences.for_each(|stmt| assert!(program.orders.contains_key(&stmt.label)));
    }
}

/// Success is chosen at the load, and the status is a constant on each path.
#[test]
fn an_exclusive_store_succeeds_as_chosen_at_the_load() {
    let program = "LDAXR W0,[X10]\nSTLXR W1,W0,[X10]";
    let acquire = "fence load_load + load_store";
    check(
        program,
        &[
            "assume %reserves == 0",
            "choose %reserves = 0..=1",
            "branch %reserves -> @3 else @6",
            "load X0 = x",
            acquire,
            "skip -> @8",
            "load X0 = x",
            acquire,
            "branch %reserves -> @9 else @14",
            "fence store_store + load_store",
            "store x = X0",
            "assign %reserves = 0",
            "assign X1 = 0",
            "skip -> @15",
            "assign X1 = 1",
            "assume %reserves == 0",
        ],
    );
    let acquire = AccessOrder { acquire: Acquire::Strong, ..AccessOrder::PLAIN };
    let store = AccessOrder { release: true, exclusive: true, ..AccessOrder::PLAIN };
    assert_eq!(orders(program), [AccessOrder { exclusive: true, ..acquire }, acquire, store]);
}

#[test]
fn exclusive_accesses_without_partner_are_plain_or_fail() {
    check("LDXR W0,[X10]", &["load X0 = x"]);
    check("STXR W1,WZR,[X10]", &["assign X1 = 1"]);
    check("STXR W1,WZR,[X10]\nLDXR W0,[X10]", &["assign X1 = 1", "load X0 = x"]);
}

#[test]
fn errors_have_a_code_and_a_place() {
    for (program, code, at, message) in [
        ("CCMP W0,#1,#0,EQ", UNSUPPORTED, "CCMP", "the instruction `CCMP` is not supported"),
        ("CSEL W0,W1,W2,VS", UNSUPPORTED, "VS", "the condition `VS` is not supported"),
        ("CSEL W0,W1,X2,EQ", SYNTAX, "X2", "different widths"),
        ("LDADDB W0,W1,[X10]", UNSUPPORTED, "LDADDB", "is not supported"),
        ("STADDA W0,[X10]", UNSUPPORTED, "STADDA", "is not supported"),
        ("DMB NSH", UNSUPPORTED, "NSH", "the option `NSH`"),
        ("MOV W31,#1", NAME, "W31", "there is no register `W31`"),
        ("MOV W0,X1", SYNTAX, "X1", "different widths"),
        ("ADD X0,X1,X2,SXTW", SYNTAX, "SXTW", "write W instead of X"),
        ("LDR W0,[W1]", SYNTAX, "W1", "different widths"),
        ("LDR W0,[X10,W1]", SYNTAX, "W1", "different widths"),
        ("LDAR W0,[X10,#4]", SYNTAX, "[", "no offset"),
        ("LDR W0,x", SYNTAX, "x", "a memory operand"),
        ("MOV W0,#1 #2", SYNTAX, "#", "expected `|` or `;`"),
        ("TBZ W0,#32,L", SYNTAX, "#", "too large"),
        ("CBZ W0,L", NAME, "CBZ W0,L", "there is no label `L`"),
        ("LDR W0,[X5]", UNSUPPORTED, "LDR W0,[X5]", "there is no location at this address"),
        ("LDR W0,[X10,#4]", UNSUPPORTED, "LDR W0,[X10,#4]", "there is no location"),
        ("LDRB W0,[X10]\nLDR W1,[X10]", UNSUPPORTED, "LDR W1,[X10]", "mixed sizes"),
        ("LDR W0,[X10]\nSTR X15,[X10]", UNSUPPORTED, "STR X15,[X10]", "mixed sizes"),
        ("ADDS W0,W0,W1\nL: B.LT L", UNSUPPORTED, "ADDS W0,W0,W1", "the overflow"),
        (
            "LDXR W0,[X10]\nSTXR W1,W0,[X11]",
            UNSUPPORTED,
            "STXR W1,W0,[X11]",
            "always that of the exclusive load",
        ),
    ] {
        let source = test(program);
        let errors = read(&source).expect_err(program);
        let first = &errors[0];
        assert_eq!(first.code, code, "{program}: {errors:?}");
        assert!(first.message.contains(message), "{program}: {errors:?}");
        assert_eq!(first.span.text(&source), at, "{program}: {errors:?}");
        assert_eq!(errors.len(), 1, "{program}: {errors:?}");
    }
}

#[test]
fn states_show_whole_registers() {
    let source =
        "AArch64 T\n{ 0:X1=x; }\n P0 ;\n LDR W0,[X1] ;\nexists (0:w0=1 /\\ x=0 /\\ 0:X1=x)\n";
    assert_eq!(good(source).state_vars, ["0:X0", "0:X1", "[x]"]);
    let errors = read(&source.replace("0:w0", "0:XZR")).expect_err("no register");
    assert!(errors[0].message.contains("there is no register `XZR`"), "{errors:?}");
}

//! Lowering of instructions, statement by statement.

use fencepost_ir::{Op, Pc, text};

use super::good;

/// Prints the statements of the only thread, without the final `halt`. Only jumps show their
/// target.
pub(super) fn code(source: &str) -> Vec<String> {
    let program = good(source).problem.program;
    let thread = &program.threads[0];
    let printed = text::print_thread(&program, thread);
    let lines = printed.lines().filter(|line| line.trim_start().starts_with('@'));
    let mut all: Vec<String> = Vec::new();
    for (at, (line, stmt)) in lines.zip(&thread.code).enumerate() {
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        let line = words.join(" ");
        let straight = stmt.next == Pc::from_index(at + 1);
        let branches = matches!(stmt.op, Op::Branch { .. });
        let end = if straight && !branches { line.find(" ->") } else { None };
        all.push(end.map_or(line.as_str(), |end| &line[..end]).to_string());
    }
    assert_eq!(all.pop().as_deref(), Some("halt"));
    all
}

/// Lowers X86 instructions, one on each line.
fn x86(program: &str) -> Vec<String> {
    let rows: String = program.lines().map(|line| format!(" {} ;\n", line.trim())).collect();
    code(&format!("X86 T\n{{ int a[2]; x; }}\n P0 ;\n{rows}\nforall (true)\n"))
}

/// Lowers one X86_64 instruction.
fn x86_64(program: &str) -> Vec<String> {
    code(&format!("X86_64 T\n{{ int a[2]; x; }}\n P0 ;\n {program} ;\nforall (true)\n"))
}

#[track_caller]
fn check(found: &[String], expected: &[&str], program: &str) {
    assert_eq!(found, expected, "{program}");
}

#[test]
fn moves_and_unlocked_arithmetic_are_loads_and_stores() {
    for (program, expected) in [
        ("MOV [x],$1", &["store x = 1"][..]),
        ("MOV [x],EAX", &["store x = EAX"]),
        ("MOV EAX,[x]", &["load EAX = x"]),
        ("MOV EAX,EBX", &["assign EAX = EBX"]),
        ("MOV EAX,[a+4]", &["load EAX = a[1]"]),
        ("MOVL EAX,[x]", &["load EAX = x"]),
        ("MOVB [x],$257", &["store x = 1"]),
        ("INC [x]", &["load %0 = x", "store x = %0 + 1"]),
        ("SUB [x],EAX", &["load %1 = x", "store x = %1 - EAX"]),
        ("NOT [x]", &["load %0 = x", "store x = ~%0"]),
        ("ADD EAX,[x]", &["load %0 = x", "assign EAX = EAX + %0"]),
        ("SHL EAX,$2", &["assign EAX = EAX << 2"]),
        (
            "XADD [x],EBX",
            &["load %2 = x", "assign %1 = %2", "store x = %1 + EBX", "assign EBX = %1"],
        ),
        ("NOP", &[]),
        ("PAUSE", &[]),
    ] {
        check(&x86(program), expected, program);
    }
}

/// The `atomic` block contains only the locked access. Writes to registers come after the block.
#[test]
fn locked_instructions_are_atomic() {
    for (program, inside, after) in [
        ("LOCK INC [x]", &["update fetch_add(x, 1)"][..], &[][..]),
        ("LOCK; DEC [x]", &["update fetch_add(x, -1)"], &[]),
        ("LOCK ADD [x],EAX", &["update fetch_add(x, EAX)"], &[]),
        ("LOCK SUB [x],$3", &["update fetch_add(x, -3)"], &[]),
        ("LOCK AND [x],$3", &["update fetch_and(x, 3)"], &[]),
        ("LOCK OR [x],$3", &["update fetch_or(x, 3)"], &[]),
        ("LOCK XOR [x],$3", &["update fetch_xor(x, 3)"], &[]),
        ("LOCK NOT [x]", &["update fetch_xor(x, -1)"], &[]),
        ("LOCK NEG [x]", &["load %0 = x", "store x = -%0"], &[]),
        ("XCHG [x],EAX", &["update EAX = swap(x, EAX)"], &[]),
        ("XCHG EAX,[x]", &["update EAX = swap(x, EAX)"], &[]),
        ("LOCK XCHG [x],EAX", &["update EAX = swap(x, EAX)"], &[]),
        ("LOCK XADD [x],EBX", &["update %1 = fetch_add(x, EBX)"], &["assign EBX = %1"]),
        (
            "LOCK CMPXCHG [x],EBX",
            &[
                "load %3 = x",
                "assign %2 = %3",
                "branch EAX == %2 -> @4 else @6",
                "store x = EBX",
                "skip -> @7",
                "assign EAX = %2",
            ],
            &[],
        ),
    ] {
        let expected = [&["atomic begin"], inside, &["atomic end"], after].concat();
        check(&x86(program), &expected, program);
    }
}

#[test]
fn fence_instructions_have_their_kinds() {
    check(&x86("MFENCE"), &["fence full"], "MFENCE");
    check(&x86("SFENCE"), &["fence store_store"], "SFENCE");
    check(&x86("LFENCE"), &["fence load_load + load_store"], "LFENCE");
}

#[test]
fn only_flags_that_are_read_are_computed() {
    for (program, expected) in [
        ("CMP EAX,EBX", &[][..]),
        ("L: CMP EAX,$0\nJNE L", &["assign %zero = EAX == 0", "branch !%zero -> @0 else @2"]),
        (
            "TEST EAX,EBX\nSETZ CL",
            &[
                "assign %zero = (EAX & EBX) == 0",
                "assign ECX = (ECX & -256) | ((%zero & 255) << 0)",
            ],
        ),
        (
            "CMP EAX,EBX\nCMOVL ECX,[x]",
            &["assign %less = EAX < EBX", "load %3 = x", "assign ECX = %less ? %3 : ECX"],
        ),
        ("RET\nMOV [x],$1", &["skip -> @2", "store x = 1"]),
    ] {
        check(&x86(program), expected, program);
    }
}

#[test]
fn the_source_operand_comes_first_in_x86_64() {
    for (program, expected) in [
        ("movq $1,(x)", &["store x = 1"][..]),
        ("movl (x),%eax", &["load rax = x"]),
        ("movq %rax,%RBX", &["assign rbx = rax"]),
        ("subq $1,%rax", &["assign rax = rax - 1"]),
        ("movnti %eax,(x)", &["store x = rax"]),
        ("uxch (x),%eax", &["load %1 = x", "store x = rax", "assign rax = %1"]),
        ("nopw (%rax)", &[]),
        ("endbr64", &[]),
        // In herd, the destination of `cmov` comes first.
        ("cmovne %rax,(x)", &["load %0 = x", "assign rax = (!%zero) ? %0 : rax"]),
        ("lock xchgq (x),%rax", &["atomic begin", "update rax = swap(x, rax)", "atomic end"]),
    ] {
        check(&x86_64(program), expected, program);
    }
    assert_eq!(x86_64("cmpxchgq (x),%rbx"), x86_64("cmpxchgq %rbx,(x)"));
}

/// If a result may leave 32 bits, arithmetic wraps at the width of the instruction.
#[test]
fn instructions_wrap_at_their_width() {
    let last = |program: &str| {
        let rows = program.replace('\n', " ;\n ");
        let code = code(&format!("X86_64 T\n{{ x; }}\n P0 ;\n {rows} ;\nforall (true)\n"));
        code.into_iter().rev().find(|stmt| !stmt.starts_with("atomic")).unwrap_or_default()
    };
    let (large, least) = ("movq $2147483647,%rax\n", "movq $-2147483648,%rax\n");
    for (program, expected) in
        [("subq $1,%rax", "assign rax = rax -w 1"), ("negq %rax", "assign rax = 0 -w rax")]
    {
        assert_eq!(last(&format!("{least}{program}")), expected, "{program}");
    }
    for (program, expected) in [
        ("incq %rax", "assign rax = rax +w 1"),
        ("shlq $40,%rax", "assign rax = rax <<w 40"),
        ("movq $40,%rcx\nshlq %cl,%rax", "assign rax = rax <<w ((rcx & 255) & 63)"),
        ("incl %eax", "assign rax = (((rax +w 1) & 4294967295) ^ 2147483648) - 2147483648"),
        ("lock incq (x)", "update fetch_add(x, 1) wrap -9223372036854775808..=9223372036854775807"),
        ("lock incl (x)", "update fetch_add(x, 1) wrap -2147483648..=2147483647"),
    ] {
        assert_eq!(last(&format!("{large}{program}")), expected, "{program}");
    }
    assert_eq!(last("movq $2147483648,%rax"), "assign rax = 2147483648");
    assert_eq!(last("incq %rax"), "assign rax = rax + 1");
}

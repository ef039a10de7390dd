//! Verdicts of small litmus tests: orders of C functions, arithmetic, many threads, records.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Writes tests into an empty directory of this name.
fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("the directory can be removed");
    }
    for (file, text) in files {
        let file = path.join(file);
        fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        fs::write(&file, text).expect("the file can be written");
    }
    path
}

fn fencepost(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.current_dir(dir).args(arguments).output().expect("the program starts")
}

fn standard_output(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the cells of a test under SC, TSO, PSO, RMO and RMO without speculation.
fn cells(name: &str, text: &str, more: &[&str]) -> Vec<String> {
    let dir = directory(name, &[("t.litmus", text)]);
    let models = ["litmus", "t.litmus", "--quiet", "--model", "sc,tso,pso,rmo,rmo-nospec"];
    let output = fencepost(&dir, &[&models, more].concat());
    let table = standard_output(&output);
    let row = table.lines().nth(1).unwrap_or_else(|| panic!("{output:?}"));
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).skip(2).map(Into::into).collect()
}

const YES: &str = "Ok Sometimes";
const NO: &str = "No Never";

/// Returns store buffering in C with this code between the accesses of both threads.
fn store_buffering(between: &str, accesses: [&str; 2]) -> String {
    let thread = |number: u32, own: &str, other: &str| {
        let fill = |text: &str| {
            let text = text.replace("OWN", own).replace("OTHER", other);
            text.replace("zN", &format!("z{number}"))
        };
        format!(
            "P{number}(atomic_t *x, atomic_t *y, atomic_t *z{number}) {{ int r0; int r1;\n {}\n {}\n {}\n}}\n",
            fill(accesses[0]),
            fill(between),
            fill(accesses[1])
        )
    };
    format!(
        "C SB\n{{ }}\n{}{}exists (0:r0=0 /\\ 1:r0=0)\n",
        thread(0, "x", "y"),
        thread(1, "y", "x")
    )
}

const PLAIN: [&str; 2] = ["WRITE_ONCE(*OWN, 1);", "r0 = READ_ONCE(*OTHER);"];

#[test]
fn only_a_successful_cmpxchg_is_a_fence() {
    let fails = store_buffering("r1 = cmpxchg(zN, 1, 2);", PLAIN);
    assert_eq!(cells("cmpxchg-fails", &fails, &[]), [NO, YES, YES, YES, YES]);
    let succeeds = store_buffering("r1 = cmpxchg(zN, 0, 2);", PLAIN);
    assert_eq!(cells("cmpxchg-succeeds", &succeeds, &[]), [NO; 5]);
    let adds = store_buffering("r1 = atomic_add_unless(zN, 1, 5);", PLAIN);
    assert_eq!(cells("add-unless-adds", &adds, &[]), [NO; 5]);
    let excluded = store_buffering("r1 = atomic_add_unless(zN, 1, 0);", PLAIN);
    assert_eq!(cells("add-unless-fails", &excluded, &[]), [NO, YES, YES, YES, YES]);
}

/// Under TSO, the update that takes the lock waits for pending stores, as on x86.
#[test]
fn locks_are_acquire_and_release() {
    let lock = store_buffering("spin_lock(zN);", PLAIN);
    assert_eq!(cells("lock", &lock, &[]), [NO, NO, YES, YES, YES]);
    let sections = "C sections\n{ }\n\
        P0(spinlock_t *l, int *c) { for (int i = 0; i < 2; i++) { spin_lock(l); *c += 1; spin_unlock(l); } }\n\
        P1(spinlock_t *l, int *c) { for (int i = 0; i < 2; i++) { spin_lock(l); *c += 1; spin_unlock(l); } }\n\
        forall (c=4)\n";
    assert_eq!(cells("sections", sections, &[]), ["Ok Always"; 5]);
}

#[test]
fn a_read_barrier_orders_loads_but_not_updates_without_a_result() {
    let update = ["atomic_inc(OWN);", "r0 = READ_ONCE(*OTHER);"];
    let void = store_buffering("smp_rmb();", update);
    assert_eq!(cells("rmb-void", &void, &[])[3..], [YES, YES]);
    let result = ["r1 = atomic_fetch_add_relaxed(1, OWN);", "r0 = READ_ONCE(*OTHER);"];
    let result = store_buffering("smp_rmb();", result);
    assert_eq!(cells("rmb-result", &result, &[]), [NO; 5]);
    let passing = "C MP\n{ }\nP0(int *x, int *y) { WRITE_ONCE(*x, 1); smp_wmb(); WRITE_ONCE(*y, 1); }\n\
        P1(int *x, int *y, atomic_t *z) { int r0 = READ_ONCE(*y); atomic_inc(z); smp_rmb(); int r1 = READ_ONCE(*x); }\n\
        exists (1:r0=1 /\\ 1:r1=0)\n";
    assert_eq!(cells("rmb-loads", passing, &[]), [NO; 5]);
    let without = passing.replace("smp_rmb();", "");
    assert_eq!(cells("rmb-none", &without, &[])[3..], [YES, YES]);
}

#[test]
fn arithmetic_wraps_around() {
    let always = ["Ok Always"; 5];
    let x86 = "X86 add\n{ x=2147483647; }\n P0 ;\n MOV EAX,[x] ;\n ADD EAX,EAX ;\n SUB [x],EAX ;\n\
        forall (0:EAX=-2 /\\ [x]=-2147483647)\n";
    // -2147483647 is below the plain numbers, so only the register is compared.
    let x86 = x86.replace(" /\\ [x]=-2147483647", "");
    assert_eq!(cells("wrap-x86", &x86, &[]), always);
    let c = "C add\n{ x=2147483647; }\nP0(int *x) { int r0 = READ_ONCE(*x); r0 += r0 + 5; r0 <<= 1; }\n\
        forall (0:r0=6)\n";
    assert_eq!(cells("wrap-c", c, &[]), always);
}

/// Returns a test in which n threads pass a value on, and the first one takes it at the end.
/// `shared` is code of every thread, with `AT` for its number.
fn chain(threads: usize, shared: &str) -> String {
    let mut text = "C chain\n{ x0 = 1; }\n".to_string();
    text.push_str(&format!(
        "P0(int *x0, int *x1, int *x{threads}, int *y, int *w) {{ int r = READ_ONCE(*x0); WRITE_ONCE(*x1, r); \
         int s = READ_ONCE(*x{threads}); WRITE_ONCE(*y, s); {} }}\n",
        shared.replace("AT", "0")
    ));
    for at in 1..threads {
        let next = at + 1;
        text.push_str(&format!(
            "P{at}(int *x{at}, int *x{next}, int *w) {{ int r = READ_ONCE(*x{at}); WRITE_ONCE(*x{next}, r); {} }}\n",
            shared.replace("AT", &at.to_string())
        ));
    }
    text + "exists (y = 1)\n"
}

/// Without the reduction to races, the number of states is exponential in the number of threads.
#[test]
fn a_chain_of_thirty_threads_is_explored_completely() {
    for threads in [10, 30] {
        let found =
            cells(&format!("chain-{threads}"), &chain(threads, ""), &["--max-states", "40000"]);
        assert_eq!(found, [YES; 5], "{threads} threads");
    }
}

/// All threads write one more location, so every search of all states reaches the limit.
#[test]
fn a_depth_first_search_decides_what_a_limit_leaves_open() {
    let text = chain(12, "WRITE_ONCE(*w, AT);").replace("(y = 1)", "(w = 11)");
    let dir = directory("dive", &[("t.litmus", &text)]);
    let run = |more: &[&str]| {
        let all = ["litmus", "t.litmus", "--model", "tso", "--max-states", "5000", "--no-times"];
        fencepost(&dir, &[&all, more].concat())
    };
    let output = run(&[]);
    assert!(standard_output(&output).contains("\nOk\n"), "{output:?}");
    for threads in ["1", "2"] {
        assert_eq!(
            run(&["--threads", threads]).stdout,
            output.stdout,
            "the result is deterministic"
        );
    }
    let never = text.replace("(w = 11)", "(w = 12)");
    fs::write(dir.join("t.litmus"), never).expect("the file can be written");
    let output = run(&[]);
    assert!(standard_output(&output).contains("\nUndef\n"), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("state limit reached"), "{message}");
}

#[test]
fn records_of_tests_with_one_name_are_compared_by_path() {
    let test = |fence: &str| {
        format!(
            "X86 SB\n{{ }}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n {fence} | {fence} ;\n \
             MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n"
        )
    };
    let table = "file\ttest\tmodel\tverdict\n\
        b/SB.litmus\tSB\ttso\tNo\na/SB.litmus\tSB\ttso\tOk\nc/SB.litmus\tSB\ttso\tOk\n";
    let files = [
        ("a/SB.litmus", test("NOP")),
        ("b/SB.litmus", test("MFENCE")),
        ("records.tsv", table.to_string()),
        ("names.tsv", "test\tmodel\tverdict\nSB\ttso\tOk\n".to_string()),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let dir = directory("records", &files);
    let compare = |records: &str| {
        fencepost(&dir, &["litmus", "a", "b", "--model", "tso", "--expect", records])
    };
    let by_path = compare("records.tsv");
    assert_eq!(
        standard_output(&by_path),
        "c/SB.litmus  tso  recorded, but no such test was run\n\
         2 tests, 1 model: 2 compared, 0 differences, 1 record without a test\n"
    );
    assert!(by_path.status.success());
    let by_name = compare("names.tsv");
    assert!(standard_output(&by_name).ends_with("1 compared, 0 differences, 1 ambiguous\n"));
    assert_eq!(by_name.status.code(), Some(1));
}

#[test]
fn options_of_herd_are_understood_or_explained() {
    let dir = directory("herd-options", &[("t.litmus", &store_buffering("", PLAIN))]);
    let ours = fencepost(&dir, &["litmus", "t.litmus", "--model", "tso", "--no-times"]);
    let herds = fencepost(&dir, &["litmus", "-model", "x86tso", "t.litmus", "--no-times"]);
    assert_eq!(ours.stdout, herds.stdout);
    let refused = fencepost(&dir, &["litmus", "-show", "prop", "t.litmus"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("fencepost check TEST"));
}

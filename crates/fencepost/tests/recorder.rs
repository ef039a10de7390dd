//! Executions of real programs: the recorder for C and the one for Rust, and `fencepost monitor` on
//! their traces.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

// The example is a program. The test uses its `record` only.
#[expect(dead_code, reason = "the example has a `main` of its own")]
#[path = "../../../recorder/examples/dekker.rs"]
mod dekker;

/// A trace of the C example in which one thread runs after the other. The book shows it.
const IN_TURN: &str = include_str!("cmd/monitor.in/dekker.jsonl");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A temporary directory, removed when dropped.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Dir(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the monitor on a trace. Returns the exit code and the output.
fn monitor(trace: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(["monitor", "--model", "tso,pso"]).arg(trace).env("NO_COLOR", "1");
    let Output { status, stdout, stderr } = command.output().expect("the binary runs");
    (
        status.code(),
        String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr),
    )
}

/// Checks the answers for traces of the example. With fences, no execution can leave SC. Without
/// fences, one thread after the other suffices to show the problem. Other executions may or may not
/// show it.
fn check(fenced: bool, concurrent: bool, trace: &Path) {
    let (code, text) = monitor(trace);
    let allowed: &[i32] = match (fenced, concurrent) {
        (true, _) => &[0],
        (false, false) => &[10],
        (false, true) => &[0, 10],
    };
    let case = format!("fenced: {fenced}, concurrent: {concurrent}");
    assert!(code.is_some_and(|code| allowed.contains(&code)), "{case}: {code:?}\n{text}");
}

const CASES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

#[test]
fn a_rust_program_records_an_execution_that_the_monitor_accepts() {
    let dir = Dir::new("record-rust");
    for (fenced, concurrent) in CASES {
        let trace = dekker::record(fenced, concurrent).expect("all threads have ended");
        let path = dir.0.join("rust.jsonl");
        std::fs::write(&path, &trace).expect("a temporary file");
        check(fenced, concurrent, &path);
        // A store and a later store to the same location, exchanged.
        if !concurrent && !fenced {
            let mut lines: Vec<&str> = trace.lines().collect();
            lines.swap(0, 2);
            std::fs::write(&path, lines.join("\n")).expect("a temporary file");
            let (code, text) = monitor(&path);
            assert_eq!(code, Some(2), "{text}");
            assert!(text.contains("the lines must be in the order of execution"), "{text}");
        }
    }
}

/// Compiles a C program of the recorder.
fn compile(source: &str, program: &Path) {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]);
    compiler.args(["recorder/include", source, "-o"]).arg(program);
    let compiled = compiler.current_dir(root()).output().expect("the compiler runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

#[test]
fn every_c_operation_is_recorded_with_its_coherence_index() {
    if !fencepost_testkit::tools::are_installed(&["cc"]) {
        return;
    }
    let dir = Dir::new("record-operations");
    let (program, trace) = (dir.0.join("operations"), dir.0.join("operations.jsonl"));
    compile("recorder/tests/operations.c", &program);
    let run = Command::new(&program).arg(&trace).status().expect("the program runs");
    assert!(run.success(), "an operation returns a wrong value");
    let text = std::fs::read_to_string(&trace).expect("the trace was written");
    let expected = [
        r#""op":"failed","address":"x","index":0"#,
        r#""op":"update","address":"x","index":1"#,
        r#""op":"update","address":"x","index":2"#,
        r#""op":"fence","kind":"store_store""#,
        r#""op":"update","address":"x","index":3"#,
        r##""op":"store","address":"x#2","index":1"##,
        r#""op":"fence""#,
        r#""op":"load","address":"x","index":3"#,
    ];
    assert_eq!(text.lines().count(), expected.len(), "{text}");
    for (line, expected) in text.lines().zip(expected) {
        let start = format!(r#"{{"thread":"\"one\"\u000a",{expected},"at":"#);
        assert!(line.starts_with(&start), "{line}\n{start}");
    }
    assert_eq!(monitor(&trace).0, Some(0));
}

#[test]
fn a_c_program_records_an_execution_that_the_monitor_accepts() {
    if !fencepost_testkit::tools::are_installed(&["cc"]) {
        return;
    }
    let dir = Dir::new("record-c");
    let program = dir.0.join("dekker");
    compile("recorder/examples/dekker.c", &program);
    for (fenced, concurrent) in CASES {
        let trace = dir.0.join("c.jsonl");
        let mut run = Command::new(&program);
        run.arg(&trace).args(fenced.then_some("fenced")).args(concurrent.then_some("concurrent"));
        assert!(run.status().expect("the program runs").success());
        check(fenced, concurrent, &trace);
        if !fenced && !concurrent {
            let text = std::fs::read_to_string(&trace).expect("the trace was written");
            assert_eq!(text, IN_TURN, "the trace in the book");
        }
    }
}

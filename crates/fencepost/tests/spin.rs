//! Tests of `translate --run spin` in the real binary. Without SPIN or a C compiler, they only
//! check that the program reports the missing tool.

use fencepost_testkit::{corpus, is_campaign, tools};
use std::process::{Command, Output};

fn fencepost(arguments: &[&str]) -> Output {
    let cmd = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/translate.in");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.current_dir(cmd).args(arguments).output().expect("the binary runs")
}

/// Runs SPIN on a program. Returns the exit code and the output, or `None` without SPIN.
fn spin(arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let output = fencepost(&[&["translate", "--run", "spin"], arguments].concat());
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !tools::are_installed(&["spin", "cc"]) {
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("is not installed"), "{errors}");
        return None;
    }
    Some((output.status.code(), format!("{text}{errors}")))
}

#[test]
fn sequential_consistency_is_verified() {
    let Some((code, text)) = spin(&["lock.fp", "--model", "sc"]) else { return };
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("SC  verified") && text.contains("(spin: "), "{text}");
}

#[test]
fn a_trail_becomes_a_trace_of_the_program() {
    for how in [["--contexts", "0"], ["--delay", "1"], ["--buffers", "1"]] {
        let arguments = [&["lock.fp", "--model", "tso"][..], &how].concat();
        let Some((code, text)) = spin(&arguments) else { return };
        assert_eq!(code, Some(10), "{text}");
        assert!(text.contains("both in their critical section"), "{text}");
        assert!(text.contains("want[0]=true"), "the store is pending: {text}");
        assert!(text.contains("was still in its buffer"), "{text}");
    }
}

#[test]
fn the_verdict_states_the_bound() {
    for (how, words) in [
        (["--contexts", "1"], "no violation up to 1 context switch of each thread"),
        (["--delay", "0"], "no violation with stores pending for at most 0 context switches"),
        (["--buffers", "2"], "no violation with buffers up to 2"),
    ] {
        let arguments = [&["fenced.fp", "--model", "pso"][..], &how].concat();
        let Some((code, text)) = spin(&arguments) else { return };
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn final_conditions_and_results_of_operations_are_checked() {
    let Some((code, text)) = spin(&["mp.fp", "--model", "pso", "--contexts", "1"]) else { return };
    assert_eq!(code, Some(10), "{text}");
    assert!(text.contains("commit flag=1"), "{text}");
    let client = ["queue.fp", "--client", "p|g", "--model", "sc", "--format", "json"];
    let Some((code, text)) = spin(&client) else { return };
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\"engine\": \"spin\""), "{text}");
}

#[test]
fn traces_contain_steps_that_change_nothing() {
    let dir = std::env::temp_dir().join(format!("fencepost-test-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    for (name, source) in [
        ("load.fp", "shared int x; thread p { _r = x; } final forall x == 1;"),
        ("cas.fp", "shared int x, y; thread p { y = 2; _c = cas(x, 0, 1); } final forall x == 0;"),
    ] {
        let path = dir.join(name);
        std::fs::write(&path, source).expect("a temporary file");
        let path = path.to_str().expect("a UTF-8 name");
        for how in [&["--model", "sc"][..], &["--model", "pso", "--buffers", "1"]] {
            let Some((code, text)) = spin(&[&[path][..], how].concat()) else { break };
            assert_eq!(code, Some(10), "{name} {how:?}: {text}");
        }
    }
    let _ = std::fs::remove_dir_all(dir);
}

/// SPIN and explicit search agree on clients of the libraries in the corpus; a campaign checks all
/// clients. The allowed results of the operations are a condition in the Promela model.
#[test]
fn spin_and_explicit_search_agree_on_libraries_campaign() {
    let every = if is_campaign() { 1 } else { 4 };
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/structures");
    let mut compared = 0;
    for (name, source) in corpus::sample("structures", 2) {
        let path = format!("{dir}/{name}.fp");
        let path = path.as_str();
        let clients = source.lines().filter_map(|line| line.strip_prefix("client "));
        for client in clients.step_by(every) {
            let client = client.split(';').next().expect("a split has a first part");
            // SPIN does not detect hangs.
            let arguments = [path, "--client", client, "--model", "sc", "--quiet", "--allow-hangs"];
            let Some((code, text)) = spin(&arguments) else { return };
            if text.contains("operations after the threads cannot be translated") {
                continue;
            }
            let explicit = [&["check", "--engine", "explicit"], &arguments[..]].concat();
            assert_eq!(code, fencepost(&explicit).status.code(), "{path} {client}: {text}");
            assert!(code == Some(0) || code == Some(10), "{path} {client}: {text}");
            compared += 1;
        }
    }
    assert!(compared > if is_campaign() { 10 } else { 1 }, "{compared}");
}

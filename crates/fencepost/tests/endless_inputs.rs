//! Endless and huge inputs, and the limits on time, memory and threads.

#![cfg(unix)]

use crate::processes::{Dir, MESSAGE, code, run, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs a script with the binary as `$FENCEPOST`. A binary that exhausts memory is killed.
fn shell(dir: &Path, script: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -v 4000000; {script}")]);
    command.current_dir(dir).env("FENCEPOST", env!("CARGO_BIN_EXE_fencepost"));
    command.output().expect("there is a shell")
}

#[cfg(target_os = "linux")]
#[test]
fn endless_inputs_are_errors() {
    let dir = Dir::new("endless");
    dir.file("m.fp", MESSAGE);
    dir.file("t.litmus", "");
    for name in ["zero.toml", "zero.fp", "zero.litmus", "zero"] {
        std::os::unix::fs::symlink("/dev/zero", dir.0.join(name)).expect("a link");
    }
    let data = "there are more than 268,435,456 bytes, the limit for this input";
    let source = "there are more than 33,554,432 bytes, the limit for this input";
    for (args, message) in [
        ("replay zero", data),
        ("check m.fp --model zero.toml", data),
        ("infer m.fp --clients zero", data),
        ("infer m.fp --clients - < /dev/zero", data),
        ("litmus @zero", data),
        ("litmus t.litmus --expect zero", data),
        ("robust m.fp --resume zero", data),
        ("check zero.fp", source),
        ("check - < /dev/zero", source),
        ("litmus zero.litmus", source),
        ("fmt zero.fp", source),
        ("dump zero.fp", source),
        ("clients zero.fp", source),
        ("outcomes zero.fp", source),
        ("translate zero.fp", source),
        ("certify zero zero.fp", source),
    ] {
        let output = shell(&dir.0, &format!("\"$FENCEPOST\" {args}"));
        assert_eq!(code(&output), 2, "{args}: {output:?}");
        assert!(text(&output.stderr).contains(message), "{args}: {output:?}");
    }
    let output = shell(&dir.0, "\"$FENCEPOST\" certify zero m.fp");
    assert_eq!(code(&output), 10);
    assert!(text(&output.stdout).contains("the line is longer than 4 MiB"), "{output:?}");
}

#[test]
fn the_message_about_a_large_file_has_its_size() {
    let dir = Dir::new("large");
    let file = fs::File::create(dir.0.join("large.fp")).expect("a file");
    file.set_len(50_000_000).expect("a sparse file");
    let output = run(&["check", "large.fp"], &dir.0);
    assert_eq!(code(&output), 2);
    let message = "the file has 50,000,000 bytes, but at most 33,554,432 are allowed";
    assert!(text(&output.stderr).contains(message), "{output:?}");
}

#[test]
fn pipes_are_skipped_in_directories_and_read_if_they_are_named() {
    let dir = Dir::new("pipes");
    dir.file("m.fp", MESSAGE);
    let made = shell(&dir.0, "mkdir d && mkfifo d/pipe.fp d/pipe.litmus && cp m.fp d/m.fp");
    assert_eq!(code(&made), 0, "{made:?}");
    let output = shell(&dir.0, "timeout 20 \"$FENCEPOST\" check d --model sc -q");
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(text(&output.stdout).contains("d/m.fp\n  SC  verified"), "{output:?}");
    let note = "note: d/pipe.fp is skipped: it is not a regular file\n";
    assert!(text(&output.stderr).contains(note), "{output:?}");
    let output = shell(&dir.0, "timeout 20 \"$FENCEPOST\" litmus d");
    assert_eq!(code(&output), 4, "{output:?}");
    assert!(text(&output.stderr).contains("note: d/pipe.litmus is skipped"), "{output:?}");
    let output = shell(&dir.0, "timeout 20 \"$FENCEPOST\" fmt --check d");
    assert_ne!(code(&output), 124, "{output:?}");
    let check = "check <(cat m.fp) --model sc -q";
    let named = "check d/pipe.fp --model sc -q & cat m.fp > d/pipe.fp; wait $!";
    for args in [check, named] {
        let output = shell(&dir.0, &format!("\"$FENCEPOST\" {args}"));
        assert_eq!(code(&output), 0, "{args}: {output:?}");
        assert!(text(&output.stdout).contains("SC  verified"), "{args}: {output:?}");
    }
    shell(&dir.0, "\"$FENCEPOST\" check m.fp --model tso -q --certificate c --trace-dir t");
    let output = shell(&dir.0, "\"$FENCEPOST\" certify <(cat c) m.fp");
    assert_eq!(code(&output), 0, "{output:?}");
    let output = shell(&dir.0, "\"$FENCEPOST\" check m.fp --model pso -q --trace-dir t");
    assert_eq!(code(&output), 10, "{output:?}");
    let output = shell(&dir.0, "\"$FENCEPOST\" replay <(cat t/*)");
    assert_eq!(code(&output), 0, "{output:?}");
    let output = shell(&dir.0, "\"$FENCEPOST\" infer <(cat m.fp) --model pso --write");
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(text(&output.stderr).contains("--write cannot change a pipe"), "{output:?}");
}

#[test]
fn records_with_a_huge_number_of_states_are_read() {
    let dir = Dir::new("many-states");
    dir.file("t.litmus", "X86 T\n{ }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n");
    dir.file("log", format!("Test T Allowed\nStates {}\nx=1;\nOk\n", u64::MAX));
    let log = ["litmus", "t.litmus", "--model", "sc", "--expect", "log"];
    let output = shell(&dir.0, &format!("timeout 20 \"$FENCEPOST\" {}", log.join(" ")));
    assert_ne!(code(&output), 124, "{output:?}");
}

/// Each list contains the next one twice.
#[test]
fn lists_of_lists_have_a_limit() {
    let dir = Dir::new("lists");
    for at in 0..40 {
        dir.file(&format!("list{at}"), format!("@list{0}\n@list{0}\n", at + 1));
    }
    dir.file("list40", "none.litmus\n");
    let output = shell(&dir.0, "timeout 60 \"$FENCEPOST\" litmus @list0");
    assert_eq!(code(&output), 2, "{}", output.status);
    let message = "there are more than 10000 lists, the limit\n";
    assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
}

#[test]
fn the_number_of_threads_has_a_range() {
    let dir = Dir::new("threads");
    dir.file("m.fp", MESSAGE);
    for threads in ["0", "257", "100000", "99999999999999999999"] {
        let output = run(&["check", "m.fp", "--threads", threads], &dir.0);
        assert_eq!(code(&output), 2, "{output:?}");
        let message = text(&output.stderr);
        assert!(message.contains("1..=256") || message.contains("too large"), "{message}");
    }
    assert_eq!(code(&run(&["check", "m.fp", "--model", "sc", "--threads", "256"], &dir.0)), 0);
}

#[test]
fn certificates_are_checked_within_limits() {
    let dir = Dir::new("certify-limits");
    let corpus = fencepost_testkit::corpus::folder();
    let file = corpus.join("mutex/bakery2-tso.fp").display().to_string();
    let written = run(&["check", &file, "--model", "tso", "-q", "--certificate", "c"], &dir.0);
    assert_eq!(code(&written), 0, "{written:?}");
    assert_eq!(code(&run(&["certify", "c", &file, "--time", "60", "--memory", "1G"], &dir.0)), 0);
    for (option, value, message) in [
        ("--memory", "1K", "stopped: memory limit reached"),
        ("--time", "0.000001", "stopped: time limit reached"),
    ] {
        let output = run(&["certify", "c", &file, option, value], &dir.0);
        assert_eq!(code(&output), 5, "{output:?}");
        let shown = text(&output.stdout);
        assert!(shown.contains("c is inconclusive") && shown.contains(message), "{output:?}");
    }
}

#[test]
fn the_generation_of_tests_has_limits() {
    let dir = Dir::new("generate-limits");
    let started = Instant::now();
    let long = ["litmus", "generate", "--length", "12", "-o", "out"];
    let output = run(&[&long[..], &["--time", "0.2"]].concat(), &dir.0);
    assert_eq!(code(&output), 5, "{output:?}");
    assert!(text(&output.stderr).contains("time limit reached"), "{output:?}");
    let output = run(&[&long[..], &["--memory", "1M"]].concat(), &dir.0);
    assert_eq!(code(&output), 5, "{output:?}");
    assert!(text(&output.stderr).contains("memory limit reached"), "{output:?}");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(!dir.0.join("out").exists());
    let short = ["litmus", "generate", "--time", "60", "--memory", "1G"];
    assert_eq!(code(&run(&short, &dir.0)), 0);
}

#[test]
fn certificates_of_the_domain_set_are_accepted() {
    let dir = Dir::new("set");
    dir.file("s.fp", "shared int x; thread p { x = 1; } final forall x == 1;");
    let check = ["check", "s.fp", "--engine", "abstraction", "--domain", "set", "--model", "tso"];
    for k in [&[][..], &["--k", "0"]] {
        let output = run(&[&check[..], k, &["--certificate", "c"]].concat(), &dir.0);
        assert_eq!(code(&output), 0, "{output:?}");
        let output = run(&["certify", "c", "s.fp"], &dir.0);
        assert_eq!(code(&output), 0, "{output:?}");
        assert!(text(&output.stdout).contains("set k=0"), "{output:?}");
    }
    let message = "--k must be 0 with --domain set";
    let output = run(&[&check[..], &["--k", "1"]].concat(), &dir.0);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains(message), "{output:?}");
    let infer = ["infer", "s.fp", "--method", "fixpoint", "--domain", "set", "--k", "2"];
    let output = run(&infer, &dir.0);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains(message), "{output:?}");
}

#[test]
fn an_empty_certificate_proves_nothing_if_no_run_starts() {
    let dir = Dir::new("no-run");
    dir.file(
        "n.fp",
        "shared int x; init { assume(x == 2); } thread p { x = 3; } final forall x == 4;",
    );
    let header = "{\"certificate\":1,\"model\":\"tso\",\"domain\":\"fd\",\"k\":1,";
    dir.file("c", format!("{header}\"client\":\"\",\"states\":0}}\n"));
    let checked = run(&["check", "n.fp", "--model", "tso"], &dir.0);
    let certified = run(&["certify", "c", "n.fp"], &dir.0);
    for output in [checked, certified] {
        assert_eq!(code(&output), 5, "{output:?}");
        let message = "no run starts: `init` cannot finish";
        assert!(text(&output.stdout).contains(message), "{output:?}");
    }
}

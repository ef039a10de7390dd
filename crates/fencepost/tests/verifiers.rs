//! Tests of `translate --run cbmc` and `--run genmc` in the real binary: with scripts in the place
//! of the tools, and with the real tools if they are installed.

use fencepost_testkit::{corpus, is_campaign, tools};
use std::process::{Command, Output};

const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/translate.in");

fn fencepost(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.current_dir(DIR).args(arguments);
    command
}

fn all_text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[cfg(unix)]
mod with_scripts {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    /// The output of CBMC for a program without errors. With `-DFENCEPOST_REACHABLE`, the end fails.
    const CBMC_CLEAN: &str = "cat <<'END'\n** Results:\nprogram.c function main\n\
        [main.assertion.1] line 9 assertion 0 && \"end of run\": FAILURE\n\n\
        ** 1 of 1 failed (2 iterations)\nVERIFICATION FAILED\nEND\nexit 10\n";

    /// The output of GenMC for a program without errors.
    const GENMC_CLEAN: &str = "case \"$*\" in\n\
        *FENCEPOST_REACHABLE*) echo 'Error: Safety violation!'\n\
        echo 'Assertion violation: 0 && \"end of run\"'\n\
        echo 'Number of complete executions explored: 1'; exit 42;;\n\
        *) echo 'No errors were detected.'\n\
        echo 'Number of complete executions explored: 6';;\nesac\n";

    /// A directory with a script in the place of a tool, removed when dropped.
    struct FakeTool(PathBuf);

    impl FakeTool {
        /// The script first logs its process, its directory and its arguments.
        fn new(test: &str, tool: &str, script: &str) -> FakeTool {
            let name = format!("fencepost-fake-{test}-{}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            fs::create_dir_all(&dir).expect("a temporary directory");
            let path = dir.join(tool);
            let log = dir.join("log");
            let log = log.display();
            let text = format!("#!/bin/sh\necho \"$$ $(pwd) $*\" >> {log}\n{script}");
            fs::write(&path, text).expect("a temporary file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it exists");
            FakeTool(dir)
        }

        fn command(&self, arguments: &[&str]) -> Command {
            let mut command = fencepost(&[&["translate"], arguments].concat());
            command.env("PATH", format!("{}:/usr/bin:/bin", self.0.display()));
            command
        }

        /// Runs the binary. Returns the exit code and the output.
        fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
            let output = self.command(arguments).output().expect("the binary runs");
            (output.status.code(), all_text(&output))
        }

        /// Returns the logged processes, directories and arguments.
        fn log(&self) -> Vec<(u32, PathBuf, String)> {
            let text = fs::read_to_string(self.0.join("log")).unwrap_or_default();
            let parse = |line: &str| {
                let mut parts = line.splitn(3, ' ');
                let mut part = || parts.next().expect("three parts").to_string();
                (part().parse().expect("a number"), PathBuf::from(part()), part())
            };
            text.lines().map(parse).collect()
        }
    }

    impl Drop for FakeTool {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn is_running(process: u32) -> bool {
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    }

    #[test]
    fn a_clean_answer_is_a_verdict() {
        for (tool, script) in [("cbmc", CBMC_CLEAN), ("genmc", GENMC_CLEAN)] {
            let fake = FakeTool::new(&format!("clean-{tool}"), tool, script);
            let (code, text) = fake.run(&["fenced.fp", "--run", tool, "--model", "sc"]);
            assert_eq!(code, Some(0), "{text}");
            assert!(text.contains("SC  verified") && text.contains(tool), "{text}");
            let (code, text) = fake.run(&["fenced.fp", "--run", tool, "--contexts", "1"]);
            assert_eq!(code, Some(5), "{text}");
            assert!(text.contains("no violation up to 1 context switch of each thread"), "{text}");
            for (_, dir, arguments) in fake.log() {
                assert!(!Path::new(&dir).exists(), "the directory is removed: {}", dir.display());
                let expected: &[&str] = match tool {
                    "cbmc" => &["--no-pointer-check", "--no-pointer-primitive-check", "--unwind "],
                    _ => &["--sc", "-DFENCEPOST_VERIFIER"],
                };
                for option in expected {
                    assert!(arguments.contains(option), "{arguments}");
                }
                assert!(!arguments.contains("--unroll"), "all loops are bounded: {arguments}");
            }
        }
    }

    #[test]
    fn an_answer_without_the_end_of_a_run_is_no_verdict() {
        let cbmc = "cat <<'END'\n[p.assertion.1] line 9 assertion r == 1: SUCCESS\n\
            ** 0 of 1 failed (1 iterations)\nVERIFICATION SUCCESSFUL\nEND\n";
        let genmc = "echo 'No errors were detected.'\n\
            echo 'Number of complete executions explored: 0'\n";
        for (tool, script) in [("cbmc", cbmc), ("genmc", genmc)] {
            let fake = FakeTool::new(&format!("no-end-{tool}"), tool, script);
            for how in [&["--model", "sc"][..], &["--contexts", "1", "--accept-bounded"]] {
                let (code, text) = fake.run(&[&["fenced.fp", "--run", tool], how].concat());
                assert_eq!(code, Some(5), "{text}");
                assert!(text.contains("the tool reached no end of a run"), "{text}");
            }
        }
    }

    #[test]
    fn omitted_iterations_are_no_verdict() {
        let script = "cat <<'END'\n[main.assertion.1] line 9 assertion 0 && \"end of run\": FAILURE\n\
            [p.unwind.0] line 3 unwinding assertion loop 0: FAILURE\n\
            ** 2 of 2 failed (2 iterations)\nVERIFICATION FAILED\nEND\n";
        let fake = FakeTool::new("unwind", "cbmc", script);
        let arguments = ["fenced.fp", "--run", "cbmc", "--model", "sc", "--unwind", "7"];
        let (code, text) = fake.run(&arguments);
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains("more than 7 iterations"), "{text}");
        assert!(fake.log()[0].2.contains("--unwind 7"), "{:?}", fake.log());
        // GenMC does not report omitted iterations, so a loop without a known bound is enough.
        let fake = FakeTool::new("unroll", "genmc", GENMC_CLEAN);
        let endless = fake.0.join("endless.fp");
        fs::write(&endless, "shared int x; thread p { loop { x = 1 - x; } } thread q { r = x; }")
            .expect("a temporary file");
        let endless = endless.to_str().expect("a UTF-8 name");
        let (code, text) = fake.run(&[endless, "--run", "genmc", "--model", "sc", "--allow-hangs"]);
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains("more than 4 iterations"), "{text}");
        assert!(fake.log()[0].2.contains("--unroll=4"), "{:?}", fake.log());
    }

    #[test]
    fn our_search_must_confirm_a_violation() {
        let cbmc = "cat <<'END'\n[p_0.assertion.1] line 9 assertion found == 0: FAILURE\n\
            ** 1 of 1 failed (2 iterations)\nVERIFICATION FAILED\nEND\n";
        let genmc = "echo 'Error: Safety violation!'\necho 'Assertion violation: found == 0'\n\
            echo 'Number of complete executions explored: 2'\nexit 42\n";
        for (tool, script) in [("cbmc", cbmc), ("genmc", genmc)] {
            let fake = FakeTool::new(&format!("violation-{tool}"), tool, script);
            let how = ["--run", tool, "--model", "tso", "--contexts", "0"];
            let (code, text) = fake.run(&[&["lock.fp"][..], &how].concat());
            assert_eq!(code, Some(10), "{text}");
            assert!(text.contains("both in their critical section"), "{text}");
            assert!(text.contains("was still in its buffer"), "the run is shown: {text}");
            let (code, text) = fake.run(&[&["fenced.fp"][..], &how].concat());
            assert_eq!(code, Some(2), "{text}");
            assert!(text.contains("disagree") && text.contains("found == 0"), "{text}");
            let limited = ["lock.fp", "--run", tool, "--model", "tso", "--max-states", "3"];
            let (code, text) = fake.run(&limited);
            assert_eq!(code, Some(5), "{text}");
            assert!(text.contains("our search reached a limit"), "{text}");
        }
    }

    #[test]
    fn a_witness_is_confirmed_and_then_disabled() {
        let genmc = format!(
            "case \"$*\" in\n*FENCEPOST_SEEN_0*) ;;\n*) echo 'Error: Safety violation!'\n\
             echo 'Assertion violation: (!(x == 1)) && \"witness 0\"'; exit 42;;\nesac\n{GENMC_CLEAN}"
        );
        let fake = FakeTool::new("witness", "genmc", &genmc);
        let program = fake.0.join("exists.fp");
        let arguments = ["--run", "genmc", "--model", "sc"];
        for (source, expected) in [("final exists x == 1;", 0), ("final exists x == 2;", 2)] {
            fs::write(&program, format!("shared int x; thread p {{ x = 1; }} {source}"))
                .expect("a temporary file");
            let file = program.to_str().expect("a UTF-8 name");
            let (code, text) = fake.run(&[&[file][..], &arguments].concat());
            assert_eq!(code, Some(expected), "{source}: {text}");
        }
        assert_eq!(fake.log().len(), 6, "for each program: the witness, the rest, the end");
    }

    #[test]
    fn other_answers_are_errors() {
        for (name, script) in [
            ("garbage", "echo 'what?'; exit 1\n"),
            ("nothing", "exit 0\n"),
            ("crash", "echo 'VERIFICATION SUCCESSFUL'; kill -9 $$\n"),
        ] {
            for tool in ["cbmc", "genmc"] {
                let fake = FakeTool::new(&format!("{name}-{tool}"), tool, script);
                let (code, text) = fake.run(&["fenced.fp", "--run", tool, "--model", "sc"]);
                assert_eq!(code, Some(2), "{name}: {text}");
                assert!(text.contains("did not answer"), "{name}: {text}");
                assert!(!text.contains("SC  verified"), "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_tool_stops_at_the_time_limit() {
        let fake = FakeTool::new("timeout", "cbmc", "exec sleep 1000\n");
        let arguments = ["fenced.fp", "--run", "cbmc", "--model", "sc", "--time", "1"];
        let (code, text) = fake.run(&arguments);
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains("time limit reached"), "{text}");
        let (process, dir, _) = fake.log().remove(0);
        assert!(!is_running(process) && !dir.exists());
    }

    #[test]
    fn a_tool_stops_when_the_program_is_interrupted() {
        let fake = FakeTool::new("interrupt", "genmc", "exec sleep 1000\n");
        let mut command = fake.command(&["fenced.fp", "--run", "genmc", "--model", "sc"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("the binary runs");
        let start = Instant::now();
        while fake.log().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(60), "the tool is started");
            std::thread::sleep(Duration::from_millis(10));
        }
        let process = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &process]).status().expect("kill runs");
        assert!(sent.success());
        let output = child.wait_with_output().expect("the binary exits");
        assert_eq!(output.status.code(), Some(5), "{}", all_text(&output));
        let (process, dir, _) = fake.log().remove(0);
        assert!(!is_running(process) && !dir.exists());
    }

    #[test]
    fn a_missing_tool_is_reported() {
        for (tool, advice) in [("cbmc", "apt install cbmc"), ("genmc", "MPI-SWS/genmc")] {
            let mut command = fencepost(&["translate", "fenced.fp", "--run", tool]);
            let output = command.env("PATH", "/nonexistent").output().expect("the binary runs");
            let text = all_text(&output);
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(text.contains("is not installed") && text.contains(advice), "{text}");
        }
    }
}

/// Returns the first line about the verdict, without the figures.
fn verdict(arguments: &[&str]) -> (Option<i32>, String) {
    let output = fencepost(arguments).output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().nth(1).unwrap_or_default();
    let line = line.rsplit_once("  (").map_or(line, |(line, _)| line);
    (output.status.code(), format!("{line}{}", String::from_utf8_lossy(&output.stderr)))
}

/// CBMC and our own search of the same translation have the same verdicts on litmus tests.
#[test]
fn cbmc_and_our_search_agree_campaign() {
    agree("cbmc");
}

/// See `cbmc_and_our_search_agree_campaign`.
#[test]
fn genmc_and_our_search_agree_campaign() {
    agree("genmc");
}

/// A tool may reach the time limit: CBMC is slow on some simulations.
fn agree(tool: &str) {
    if !tools::are_installed(&[tool]) {
        return;
    }
    let small = ["CoWW", "MP"];
    let mut compared = 0;
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/litmus");
    for (at, (name, _)) in corpus::sources("litmus").into_iter().enumerate() {
        if !small.contains(&name.as_str()) && (at % 8 != 0 || !is_campaign()) {
            continue;
        }
        let path = format!("{dir}/{name}.fp");
        for how in [&["--model", "pso", "--contexts", "1"][..], &["--model", "sc"]] {
            let common = [&[path.as_str(), "--quiet", "--allow-hangs"][..], how].concat();
            let theirs = verdict(&[&["translate", "--run", tool], &common[..]].concat());
            if theirs.1.contains("time limit") {
                continue;
            }
            let ours = verdict(&[&["check", "--engine", "translate"], &common[..]].concat());
            assert_eq!(theirs, ours, "{name} {how:?}");
            compared += 1;
        }
    }
    assert!(compared >= 3, "{compared}");
}

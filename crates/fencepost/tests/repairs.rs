//! Tests of `infer` in the real binary, with files, pipes and other commands.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const MESSAGE: &str = "\
shared int data, flag;
thread p {
  data = 1;
  flag = 1;
}
thread q {
  if (flag == 1) {
    d = data;
    assert(d == 1);
  }
}
";

const REPAIRED: &str = "\
shared int data, flag;
thread p {
  data = 1;
  fence store_store;
  flag = 1;
}
thread q {
  if (flag == 1) {
    d = data;
    assert(d == 1);
  }
}
";

const LIBRARY: &str = "\
shared int data, full;
operation void put(int v) as p { data = v; full = 1; }
operation int get() as g { int r = -1; if (full == 1) r = data; return r; }
property sequentially_consistent operations;
";

/// A program with an unbounded store buffer, with or without fences.
const GROWING: &str = "shared int x;\nthread p { loop { x = 1; } }\n";

/// A program that is wrong under every model.
const COUNTING: &str = "\
shared int x;
thread p(i in 0..2) { r = x; x = r + 1; }
final forall x == 2;
";

/// A temporary directory, removed when dropped.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Dir(path)
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a temporary file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("the file exists")
    }

    fn run(&self, args: &[&str]) -> Output {
        self.with_input(args, "")
    }

    fn with_input(&self, args: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        command.args(args).current_dir(&self.0).env("NO_COLOR", "1");
        run_with_input(command, input)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run_with_input(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    // The process may exit without reading its input.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("the process exits")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed by a signal: {output:?}"))
}

#[test]
fn a_repair_is_written_only_on_request() {
    let dir = Dir::new("repair-write");
    dir.file("m.fp", MESSAGE);
    let infer = ["infer", "m.fp", "--model", "pso", "--quiet"];
    let plain = dir.run(&infer);
    assert_eq!((code(&plain), dir.read("m.fp").as_str()), (0, MESSAGE), "nothing is written");
    let output = dir.run(&[&infer[..], &["-o", "out.fp"]].concat());
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!((dir.read("m.fp").as_str(), dir.read("out.fp").as_str()), (MESSAGE, REPAIRED));
    assert!(text(&output.stdout).ends_with("written to out.fp\n"), "{output:?}");
    let output = dir.run(&[&infer[..], &["--write"]].concat());
    assert_eq!((code(&output), dir.read("m.fp").as_str()), (0, REPAIRED));
    // A correct program stays unchanged, and `-o` copies it.
    let output = dir.run(&[&infer[..], &["--write"]].concat());
    let message = "nothing written: the program is unchanged\n";
    assert!(text(&output.stdout).ends_with(message), "{output:?}");
    let output = dir.run(&[&infer[..], &["-o", "copy.fp"]].concat());
    assert_eq!((code(&output), dir.read("copy.fp").as_str()), (0, REPAIRED));
    assert_eq!(code(&dir.run(&["check", "out.fp", "--model", "pso", "--quiet"])), 0);
    let output = dir.run(&["infer", "m.fp", "-o", "nowhere/out.fp"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("cannot write nowhere/out.fp"), "{output:?}");
}

#[test]
fn nothing_is_written_without_a_repair() {
    let dir = Dir::new("repair-none");
    for (name, source, args, expected) in [
        ("wrong.fp", "shared int", &[][..], 2),
        ("m.fp", MESSAGE, &["--forbid", "1"][..], 2),
        ("counting.fp", COUNTING, &[][..], 10),
        ("m.fp", MESSAGE, &["--forbid", "4", "--model", "pso"][..], 10),
        ("m.fp", MESSAGE, &["--max-states", "3"][..], 5),
        ("growing.fp", GROWING, &["--buffer", "3"][..], 5),
    ] {
        dir.file(name, source);
        let output = dir.run(&[&["infer", name, "-o", "out.fp"], args].concat());
        assert_eq!(code(&output), expected, "{name} {args:?} {output:?}");
        let output = dir.run(&[&["infer", name, "--write"], args].concat());
        assert_eq!((code(&output), dir.read(name).as_str()), (expected, source));
        assert!(!dir.0.join("out.fp").exists(), "{name} {args:?}");
    }
    let accepted = ["--buffer", "3", "--accept-bounded", "-o", "out.fp"];
    assert_eq!(code(&dir.run(&[&["infer", "growing.fp"], &accepted[..]].concat())), 0);
    assert_eq!(dir.read("out.fp"), GROWING);
}

#[test]
fn the_diff_is_a_valid_patch() {
    if Command::new("patch").arg("-v").output().is_err() {
        return; // `patch` is not installed
    }
    let dir = Dir::new("repair-patch");
    for (name, old, new) in [
        ("unix.fp", MESSAGE.to_string(), REPAIRED.to_string()),
        ("dos.fp", MESSAGE.replace('\n', "\r\n"), REPAIRED.replace('\n', "\r\n")),
    ] {
        dir.file(name, &old);
        let output = dir.run(&["infer", name, "--model", "pso"]);
        let mut patch = Command::new("patch");
        patch.args(["-p1", "--binary"]).current_dir(&dir.0);
        let patched = run_with_input(patch, &text(&output.stdout));
        assert!(patched.status.success(), "{patched:?}");
        assert_eq!(dir.read(name), new);
    }
}

#[test]
fn standard_input_may_be_a_program_or_a_list_of_clients() {
    let dir = Dir::new("repair-stdin");
    let output = dir.with_input(&["infer", "-", "--model", "pso", "-q", "-o", "out.fp"], MESSAGE);
    assert_eq!((code(&output), dir.read("out.fp").as_str()), (0, REPAIRED), "{output:?}");
    dir.file("box.fp", LIBRARY);
    let clients = dir.run(&["clients", "box.fp", "--ops", "3"]);
    assert_eq!((code(&clients), text(&clients.stderr).as_str()), (0, "11 clients\n"));
    let infer = ["infer", "box.fp", "--model", "pso", "--clients", "-", "--format", "json"];
    let output = dir.with_input(&infer, &text(&clients.stdout));
    assert_eq!(code(&output), 0, "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["placements"][0]["fences"][0]["statement"], "fence store_store;");
    let names: Vec<&str> = (report["clients"].as_array().into_iter().flatten())
        .filter_map(|client| client["client"].as_str())
        .collect();
    assert_eq!(names.join("\n") + "\n", text(&clients.stdout));
    let both = ["infer", "-", "--clients", "-"];
    assert_eq!(code(&dir.with_input(&both, LIBRARY)), 2);
}

#[test]
fn the_number_of_threads_does_not_change_the_answer() {
    let dir = Dir::new("repair-same");
    dir.file("box.fp", &format!("{LIBRARY}client p|gg; client pp|g; client p|pg; client g|g;\n"));
    let answer = |threads: &str| {
        let args = ["infer", "box.fp", "--model", "rmo", "--all", "--explain"];
        let output = dir.run(&[&args[..], &["--threads", threads]].concat());
        assert_eq!(code(&output), 0, "{output:?}");
        text(&output.stdout)
    };
    let one = answer("1");
    assert_eq!(one, answer("2"));
    assert_eq!(one, answer("5"));
}

#[test]
fn stored_traces_replay() {
    let dir = Dir::new("repair-traces");
    dir.file("m.fp", MESSAGE);
    dir.file("counting.fp", COUNTING);
    dir.file("box.fp", LIBRARY);
    for (name, args, expected, stored) in [
        ("m.fp", &["--model", "rmo"][..], 0, "m-rmo"),
        ("counting.fp", &["--model", "tso"][..], 10, "counting-sc"),
        ("box.fp", &["--model", "pso", "--client", "p|g"][..], 0, "box-p_g-pso"),
        ("m.fp", &["--model", "pso", "--forbid", "4", "--no-fuse"][..], 10, "m-pso"),
    ] {
        let output = dir.run(&[&["infer", name, "--trace-dir", "t"], args].concat());
        assert_eq!(code(&output), expected, "{output:?}");
        let stored = format!("t/{stored}.trace.json");
        let hint = format!("fencepost replay {stored}");
        assert!(text(&output.stdout).contains(&hint), "{output:?}");
        let output = dir.run(&["replay", &stored]);
        assert_eq!(code(&output), 0, "{output:?}");
        assert!(text(&output.stdout).contains("all events as recorded"), "{output:?}");
    }
    let output = dir.run(&["infer", "m.fp", "--model", "pso", "--trace-dir", "m.fp/t"]);
    assert_eq!(code(&output), 2, "{output:?}");
}

#[test]
fn a_repair_keeps_the_formatting_of_the_file() {
    let dir = Dir::new("repair-format");
    let unformatted = MESSAGE.replace("  d = data;", "  d=data; // keep my style");
    dir.file("m.fp", &unformatted);
    let output = dir.run(&["infer", "m.fp", "--model", "pso", "-q", "--write"]);
    assert_eq!(code(&output), 0, "{output:?}");
    let expected = REPAIRED.replace("  d = data;", "  d=data; // keep my style");
    assert_eq!(dir.read("m.fp"), expected);
    // If the file is formatted as by `fmt`, then so is the repaired file.
    let long =
        "  if (flag == 0) { a_register_of_p = 1; data = a_register_of_p; flag = a_register_of_p; }";
    let formatted = MESSAGE.replace("  data = 1;\n  flag = 1;", long);
    dir.file("long.fp", &formatted);
    assert_eq!(code(&dir.run(&["fmt", "--check", "long.fp"])), 0);
    let output = dir.run(&["infer", "long.fp", "--model", "pso", "-q", "--write"]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(dir.read("long.fp").contains("\n    fence store_store;\n"), "{}", dir.read("long.fp"));
    assert_eq!(code(&dir.run(&["fmt", "--check", "long.fp"])), 0);
}

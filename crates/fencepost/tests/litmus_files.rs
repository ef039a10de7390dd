//! Litmus tests that are written into directories: generated tests, and tests converted to `.fp`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fencepost(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.current_dir(dir).args(arguments).output().expect("the program starts")
}

/// Creates an empty directory of this name.
fn empty_dir(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("the directory can be removed");
    }
    fs::create_dir_all(&path).expect("the directory can be created");
    path
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("the directory exists");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> =
        entries.map(|entry| name(entry.expect("a readable directory"))).collect();
    names.sort();
    names
}

#[test]
fn generated_tests_run_from_their_list() {
    let dir = empty_dir("litmus-generate");
    let cycles = ["--cycle", "PodWR Fre PodWR Fre", "--cycle", "MFencedWW Rfe PodRR Fre"];
    let generate = [&["litmus", "generate"], &cycles[..], &["-o", "tests"]].concat();
    let output = fencepost(&dir, &generate);
    assert_eq!(printed(&output), "");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "2 tests written to tests\n");
    assert_eq!(names(&dir.join("tests")), ["@all", "MP+mfence+po.litmus", "SB.litmus"]);
    let list = fs::read_to_string(dir.join("tests/@all")).expect("the list");
    assert_eq!(list, "SB.litmus\nMP+mfence+po.litmus\n");
    let table = fencepost(&dir, &["litmus", "@tests/@all", "--model", "sc,tso,rmo", "--quiet"]);
    let expected = "\
test          kind     SC        TSO           RMO
SB            Allowed  No Never  Ok Sometimes  Ok Sometimes
MP+mfence+po  Allowed  No Never  No Never      Ok Sometimes
";
    assert_eq!(printed(&table), expected);
}

#[test]
fn converted_tests_keep_their_condition() {
    let dir = empty_dir("litmus-to-fp");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/x86");
    let [sb, lock] = ["SB", "tas-lock"].map(|name| format!("{corpus}/{name}.litmus"));
    printed(&fencepost(&dir, &["litmus", &sb, &lock, "--to", "fp", "-o", "fp"]));
    assert_eq!(names(&dir.join("fp")), ["SB.fp", "tas-lock.fp"]);
    // `exists` requires a witness: SC has none, TSO has one.
    for (file, model, code) in [
        ("fp/SB.fp", "sc", 10),
        ("fp/SB.fp", "tso", 0),
        ("fp/tas-lock.fp", "tso", 0),
        ("fp/tas-lock.fp", "pso", 10),
    ] {
        let output = fencepost(&dir, &["check", file, "--model", model, "--quiet"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{file} {model}: {errors}");
    }
}

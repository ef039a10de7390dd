//! Litmus tests that are written into folders: generated ones, and those turned into our language.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fencepost(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.current_dir(folder).args(arguments).output().expect("the program starts")
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("our own folder");
    }
    fs::create_dir_all(&path).expect("a folder for tests");
    path
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> =
        entries.map(|entry| name(entry.expect("a readable folder"))).collect();
    names.sort();
    names
}

#[test]
fn generated_tests_run_from_their_list() {
    let folder = folder("litmus-generate");
    let cycles = ["--cycle", "PodWR Fre PodWR Fre", "--cycle", "MFencedWW Rfe PodRR Fre"];
    let made = [&["litmus", "generate"], &cycles[..], &["-o", "made"]].concat();
    let output = fencepost(&folder, &made);
    assert_eq!(printed(&output), "");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "2 tests in made\n");
    assert_eq!(names(&folder.join("made")), ["@all", "MP+mfence+po.litmus", "SB.litmus"]);
    let list = fs::read_to_string(folder.join("made/@all")).expect("the list");
    assert_eq!(list, "SB.litmus\nMP+mfence+po.litmus\n");
    let table = fencepost(&folder, &["litmus", "@made/@all", "--model", "sc,tso,rmo", "--quiet"]);
    let expected = "\
test          kind     SC        TSO           RMO
SB            Allowed  No Never  Ok Sometimes  Ok Sometimes
MP+mfence+po  Allowed  No Never  No Never      Ok Sometimes
";
    assert_eq!(printed(&table), expected);
}

#[test]
fn tests_in_our_language_keep_their_question() {
    let folder = folder("litmus-to-fp");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/x86");
    let [sb, lock] = ["SB", "tas-lock"].map(|name| format!("{corpus}/{name}.litmus"));
    printed(&fencepost(&folder, &["litmus", &sb, &lock, "--to", "fp", "-o", "ours"]));
    assert_eq!(names(&folder.join("ours")), ["SB.fp", "tas-lock.fp"]);
    // `exists` asks for a witness: there is none under SC, and there is one under TSO.
    for (file, model, code) in [
        ("ours/SB.fp", "sc", 10),
        ("ours/SB.fp", "tso", 0),
        ("ours/tas-lock.fp", "tso", 0),
        ("ours/tas-lock.fp", "pso", 10),
    ] {
        let output = fencepost(&folder, &["check", file, "--model", model, "--quiet"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{file} {model}: {told}");
    }
}

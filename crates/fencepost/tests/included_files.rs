//! Tests of repairs of files that a C program includes, in the real binary.

use fencepost_testkit::tools;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const LOCK: &str = include_str!("cmd/includes.in/lib/lock.h");
const MAIN: &str = include_str!("cmd/includes.in/variants/main.c");
const FENCE: &str = "\tatomic_thread_fence(memory_order_seq_cst);\n\twhile";

/// Creates a folder with `variants/main.c` and `lib/lock.h`.
fn project() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [("variants/main.c", MAIN), ("lib/lock.h", LOCK)] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    command.output().expect("the binary runs")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect("the file exists")
}

#[test]
fn every_changed_file_is_written() {
    let dir = project();
    let infer = ["infer", "variants/main.c", "--model", "tso", "-q"];
    let output = run(dir.path(), &[&infer[..], &["--write"]].concat());
    assert_eq!(code(&output), Some(0), "{output:?}");
    assert!(text(&output.stdout).ends_with("\nwritten to lib/lock.h\n"), "{output:?}");
    assert_eq!(read(&dir, "variants/main.c"), MAIN);
    assert_eq!(read(&dir, "lib/lock.h"), LOCK.replace("\twhile", FENCE));
    let again = run(dir.path(), &["check", "variants/main.c", "--model", "tso", "-q"]);
    assert_eq!(code(&again), Some(0), "{again:?}");
}

#[test]
fn patch_applies_the_diff() {
    if !tools::are_installed(&["patch"]) {
        return;
    }
    for (folder, file, patch_folder) in
        [("", "variants/main.c", ""), ("variants", "main.c", ".."), ("variants", "./main.c", "..")]
    {
        let dir = project();
        let folder = dir.path().join(folder);
        let output = run(&folder, &["infer", file, "--model", "tso", "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["diff_folder"].as_str().unwrap_or(""), patch_folder, "{report}");
        let diff = dir.path().join("a.diff");
        fs::write(&diff, report["diff"].as_str().expect("a diff")).expect("a file");
        let mut patch = Command::new("patch");
        patch.args(["-p1", "-i"]).arg(&diff).current_dir(folder.join(patch_folder));
        let patched = patch.output().expect("patch runs");
        assert!(patched.status.success(), "{patched:?}");
        assert_eq!(read(&dir, "lib/lock.h"), LOCK.replace("\twhile", FENCE));
    }
}

#[test]
fn a_json_report_names_the_files() {
    let dir = project();
    let args = ["infer", "variants/main.c", "--model", "tso", "--format", "json", "--write"];
    let output = run(dir.path(), &args);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let files = serde_json::json!(["lib/lock.h"]);
    assert_eq!((&report["changed_files"], &report["written_files"]), (&files, &files));
    assert_eq!(report["written"], "lib/lock.h");
    let fence = &report["placements"][0]["fences"][0];
    assert_eq!((&fence["file"], &fence["line"]), (&"lib/lock.h".into(), &13.into()));
}

#[test]
fn one_output_file_is_not_enough_for_an_included_file() {
    let dir = project();
    let args = ["infer", "variants/main.c", "--model", "tso", "-q", "-o", "out.c"];
    let output = run(dir.path(), &args);
    assert_eq!(code(&output), Some(2), "{output:?}");
    let message = "error: -o writes one file, but included files change, too (lib/lock.h): use \
                   --write, or apply the diff\n";
    assert_eq!(text(&output.stderr), message);
    assert!(!dir.path().join("out.c").exists());
}

#[test]
fn a_file_in_another_folder_is_repaired() {
    let (dir, library) = (project(), tempfile::tempdir().expect("a temporary folder"));
    let main =
        MAIN.replace("../variants/../lib/lock.h", "other.h").replace("../lib/lock.h", "other.h");
    fs::write(dir.path().join("main.c"), main).expect("a file");
    let other = library.path().join("other.h");
    fs::write(&other, LOCK).expect("a file");
    let folder = library.path().to_str().expect("a name");
    let args = ["infer", "main.c", "-I", folder, "--model", "tso", "-q", "--write"];
    let output = run(dir.path(), &args);
    assert_eq!(code(&output), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("the change concerns 1 file: /"), "{output:?}");
    assert_eq!(fs::read_to_string(other).expect("a file"), LOCK.replace("\twhile", FENCE));
}

/// Two links to one file have different names, so the file has its places twice.
#[cfg(unix)]
#[test]
fn a_file_with_two_names_is_not_written_twice() {
    let dir = project();
    let body = "\tatomic_store_explicit(&data, 1, memory_order_relaxed);\n\
                \tatomic_store_explicit(&ready, 1, memory_order_relaxed);\n";
    fs::write(dir.path().join("body.inc"), body).expect("a file");
    std::os::unix::fs::symlink("body.inc", dir.path().join("link.inc")).expect("a link");
    let main = "#include <stdatomic.h>\n#include <assert.h>\n#include <pthread.h>\n\
                atomic_int data, ready;\n\
                void *f(void *p) {\n#include \"body.inc\"\nreturn p; }\n\
                void *g(void *p) {\n#include \"link.inc\"\nreturn p; }\n\
                int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0);\n\
                pthread_create(&b, 0, g, 0);\n\
                if (atomic_load(&ready)) assert(atomic_load(&data));\n\
                pthread_join(a, 0); pthread_join(b, 0); return 0; }\n";
    fs::write(dir.path().join("main.c"), main).expect("a file");
    let output = run(dir.path(), &["infer", "main.c", "--model", "pso", "-q", "--write"]);
    assert_eq!(code(&output), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("is the same file as"), "{output:?}");
    assert_eq!(read(&dir, "body.inc"), body);
}

#[test]
fn a_weakening_is_also_json() {
    let dir = project();
    let fenced = LOCK.replace("\twhile", FENCE);
    fs::write(dir.path().join("lib/lock.h"), fenced.replace("relaxed", "seq_cst")).expect("a file");
    let args = ["infer", "variants/main.c", "--model", "tso", "--weaken", "--format", "json"];
    let output = run(dir.path(), &[&args[..], &["--write"]].concat());
    assert_eq!(code(&output), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["command"], "infer --weaken");
    assert_eq!((&report["result"], &report["complete"]), (&"weaker".into(), &true.into()));
    assert_eq!(report["written_files"], serde_json::json!(["lib/lock.h"]));
    let parts = report["weakenings"][0]["parts"].as_array().expect("a list");
    assert!(parts.iter().all(|part| part["file"] == "lib/lock.h"), "{report}");
    let weaker = read(&dir, "lib/lock.h");
    assert!(weaker.contains("relaxed"), "{weaker}");
    let again = run(dir.path(), &["check", "variants/main.c", "--model", "tso", "-q"]);
    assert_eq!(code(&again), Some(0), "{again:?}");
    let broken =
        run(dir.path(), &["infer", "none.c", "--weaken", "--format", "json", "--model", "tso"]);
    let report: Value = serde_json::from_slice(&broken.stdout).expect("JSON");
    assert_eq!((code(&broken), &report["result"]), (Some(2), &Value::Null));
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(1));
}

//! Written files: new names for temporary files, permissions, devices, full disks.

#![cfg(unix)]

use crate::processes::{Dir, MESSAGE, code, run, text};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

const UNFORMATTED: &str = "shared int x;thread p{x=1;}\n";

/// Runs a script with the binary as `$FENCEPOST`.
fn shell(dir: &Path, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(dir).env("FENCEPOST", env!("CARGO_BIN_EXE_fencepost"));
    command.output().expect("there is a shell")
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our file");
}

/// The shell and the binary that it becomes have the same process number.
#[test]
fn a_planted_link_is_not_followed() {
    let dir = Dir::new("planted");
    dir.file("a.fp", UNFORMATTED);
    let victim = dir.file("victim", "precious");
    let output = shell(&dir.0, "ln -s victim .a.fp.$$.tmp; exec \"$FENCEPOST\" fmt a.fp");
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(fs::read_to_string(victim).expect("a file"), "precious");
    assert_ne!(fs::read_to_string(dir.0.join("a.fp")).expect("a file"), UNFORMATTED);
}

#[test]
fn permissions_are_kept_and_new_files_follow_the_umask() {
    let dir = Dir::new("modes");
    let file = dir.file("a.fp", UNFORMATTED);
    set_mode(&file, 0o640);
    assert_eq!(code(&run(&["fmt", "a.fp"], &dir.0)), 0);
    assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o777, 0o640);
    let output = shell(&dir.0, "umask 027; \"$FENCEPOST\" translate a.fp --model sc -o new.fp");
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(fs::metadata(dir.0.join("new.fp")).expect("a file").mode() & 0o777, 0o640);
    assert_eq!(names(&dir.0), ["a.fp", "new.fp"]);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let dir = Dir::new("read-only");
    let file = dir.file("m.fp", MESSAGE);
    let out = dir.file("out.fp", "old");
    for path in [&file, &out] {
        set_mode(path, 0o444);
    }
    for args in [&["--write"][..], &["-o", "out.fp"], &["--certificate", "out.fp"]] {
        let output = run(&[&["infer", "m.fp", "--model", "pso"], args].concat(), &dir.0);
        assert_eq!(code(&output), 2, "{args:?}: {output:?}");
        let message = "the file is read-only; make it writable, or choose another file";
        assert!(text(&output.stderr).contains(message), "{args:?}: {output:?}");
        // The answer is not lost.
        assert!(text(&output.stdout).contains("+thread p { data = 1; fence"), "{output:?}");
    }
    assert_eq!(fs::read_to_string(&file).expect("a file"), MESSAGE);
    assert_eq!(fs::read_to_string(&out).expect("a file"), "old");
    assert_eq!(names(&dir.0), ["m.fp", "out.fp"]);
}

#[test]
fn links_keep_their_target() {
    let dir = Dir::new("links");
    let file = dir.file("a.fp", UNFORMATTED);
    std::os::unix::fs::symlink("a.fp", dir.0.join("link.fp")).expect("a link");
    assert_eq!(code(&run(&["fmt", "link.fp"], &dir.0)), 0);
    assert!(fs::symlink_metadata(dir.0.join("link.fp")).expect("a link").is_symlink());
    assert_ne!(fs::read_to_string(&file).expect("a file"), UNFORMATTED);
    std::os::unix::fs::symlink("none", dir.0.join("dangling.fp")).expect("a link");
    let output = run(&["translate", "a.fp", "--model", "sc", "-o", "dangling.fp"], &dir.0);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("a link to a file that does not exist"), "{output:?}");
}

#[test]
fn devices_and_pipes_are_written_and_not_replaced() {
    let dir = Dir::new("devices");
    dir.file("m.fp", MESSAGE);
    let script =
        |to: &str| shell(&dir.0, &format!("\"$FENCEPOST\" infer m.fp --model pso -q -o {to}"));
    let repaired = "thread p { data = 1; fence store_store; flag = 1; }\n";
    let output = script("/dev/stdout | cat");
    assert!(text(&output.stdout).contains(&format!("flag;\n{repaired}")), "{output:?}");
    // The program and the verdict share the file.
    let output = script("/dev/stdout > both; cat both");
    assert!(text(&output.stdout).contains(&format!("flag;\n{repaired}")), "{output:?}");
    assert!(text(&output.stdout).contains("REPAIRED"), "{output:?}");
    assert_eq!(code(&script("/dev/null")), 0);
    // Standard output of this test may be a file, so the link is not followed.
    let is_device = |path: &str| !fs::symlink_metadata(path).expect("a device").is_file();
    assert!(is_device("/dev/null") && is_device("/dev/stdout"));
    let output = shell(
        &dir.0,
        "mkfifo pipe; cat pipe > copy & \"$FENCEPOST\" infer m.fp --model pso -q -o pipe; wait",
    );
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(fs::read_to_string(dir.0.join("copy")).expect("a file").contains(repaired));
    assert!(is_device(&dir.0.join("pipe").display().to_string()));
}

#[test]
fn a_full_disk_loses_nothing() {
    let dir = Dir::new("full-disk");
    // A limit on the size of files has the effect of a full disk.
    let long = format!("// {}\n{MESSAGE}", "x".repeat(20_000));
    let file = dir.file("m.fp", &long);
    let limited = "trap '' XFSZ; ulimit -f 8; ";
    for options in ["--write", "-o new.fp", "--trace-dir ."] {
        let script = format!("{limited} \"$FENCEPOST\" infer m.fp --model pso {options}");
        let output = shell(&dir.0, &script);
        assert_eq!(code(&output), 2, "{options}: {output:?}");
        let message = text(&output.stderr);
        assert!(
            message.contains("error: cannot write") && message.contains("too large"),
            "{message}"
        );
        assert!(text(&output.stdout).contains("fence store_store"), "{options}: {output:?}");
    }
    assert_eq!(fs::read_to_string(&file).expect("a file"), long);
    assert_eq!(names(&dir.0), ["m.fp"]);
    if cfg!(target_os = "linux") {
        let output = run(&["translate", "m.fp", "-o", "/dev/full"], &dir.0);
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains("No space left on device"), "{output:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let dir = Dir::new("help-full");
    for args in ["--help", "check --help", "--version", "completions bash", "models"] {
        let output = shell(&dir.0, &format!("\"$FENCEPOST\" {args} > /dev/full"));
        assert_eq!(code(&output), 2, "{args}: {output:?}");
        assert!(text(&output.stderr).contains("cannot write results: No space"), "{output:?}");
    }
}

#[test]
fn a_closed_pipe_ends_help_quietly() {
    let dir = Dir::new("help-pipe");
    for args in ["--help", "check --help", "completions bash", "litmus generate --length 6"] {
        let output = shell(&dir.0, &format!("\"$FENCEPOST\" {args} | head -1"));
        assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""), "{args}");
        assert_eq!(text(&output.stdout).lines().count(), 1, "{args}: {output:?}");
    }
}

/// A model of SPIN that shows the permissions of its working directory.
#[test]
fn tools_run_in_a_private_directory() {
    let dir = Dir::new("private");
    dir.file("m.fp", MESSAGE);
    for tool in ["spin", "cc"] {
        let path = dir.file(tool, "#!/bin/sh\nls -ld . >&2; exit 1\n");
        set_mode(&path, 0o755);
    }
    let script = "umask 0; PATH=\"$PWD:$PATH\" \"$FENCEPOST\" translate m.fp --run spin";
    let output = shell(&dir.0, script);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(text(&output.stderr).contains("drwx------"), "{output:?}");
}

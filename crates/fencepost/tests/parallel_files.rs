//! Tests of commands with several files, which run in parallel.

use crate::processes::{Dir, MESSAGE, code, run, text};
use std::fs;
use std::path::Path;

/// A program with too many states to visit in a test.
const ENDLESS: &str = "\
shared int x[6];
thread p(i in 0..6) { loop { x[i] = (x[i] + 1) % 100000; r = x[(i + 1) % 6]; x[i] = r % 9999; } }
";

const C: &str = "\
#include <assert.h>
#include <pthread.h>
int x, y;
void *p(void *arg) { x = 1; y = 1; return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, p, 0);
  if (y == 1) assert(x == 1);
  pthread_join(t, 0);
}
";

/// Writes verified, violated, invalid and undecided programs into a directory.
fn write_programs(dir: &Dir) {
    for number in 0..8 {
        dir.file(&format!("{number}-message.fp"), MESSAGE);
        dir.file(&format!("{number}-bad.fp"), "shared int x; thread p { x = ; }");
        dir.file(
            &format!("{number}-race.c"),
            C.replace("x == 1", &format!("x == 1 + 0 * {number}")),
        );
        dir.file(&format!("{number}-none.fp"), "shared int x; thread p { x = 1; r = x; }");
        dir.file(&format!("{number}-wrong.c"), "int main(void) { return undeclared; }");
    }
}

/// Returns a text without durations, which differ from run to run.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let number = word.trim_end_matches([')', ',']);
        number.split_once('.').is_some_and(|(whole, part)| {
            part.len() == 2 && [whole, part].iter().all(|n| n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    let line = |line: &str| {
        let words = line.split(' ').map(|word| if is_time(word) { "TIME" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn files_of(dir: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(entry.path()).expect("a trace"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_number_of_threads_does_not_change_the_output_of_several_files() {
    let dir = Dir::new("parallel");
    write_programs(&dir);
    for command in ["check", "robust"] {
        let output = |threads: &str| {
            let traces = dir.0.join("traces");
            let _ = fs::remove_dir_all(&traces);
            let args = [command, ".", "missing.fp", "--model", "tso,pso", "--threads", threads];
            let output = run(&[&args[..], &["--trace-dir", "traces"]].concat(), &dir.0);
            let shown = (without_times(&text(&output.stdout)), text(&output.stderr));
            (code(&output), shown, files_of(&traces))
        };
        let one = output("1");
        assert_eq!(one.0, 2, "{one:?}");
        assert!(one.1.0.contains("24 programs: "), "{}", one.1.0);
        assert!(
            one.1.1.ends_with("missing.fp: No such file or directory (os error 2)\n"),
            "{one:?}"
        );
        assert!(one.2.len() >= 8, "{} traces", one.2.len());
        for threads in ["2", "5"] {
            assert_eq!(output(threads), one, "{command} with {threads} threads");
        }
    }
}

#[test]
fn a_large_file_does_not_stop_the_small_ones() {
    let dir = Dir::new("large");
    write_programs(&dir);
    dir.file("3-endless.fp", ENDLESS);
    let args = ["check", ".", "--model", "pso", "--time", "0.3", "--threads", "2", "-q"];
    let output = run(&args, &dir.0);
    assert_eq!(code(&output), 2, "{output:?}");
    let shown = text(&output.stdout);
    assert_eq!(shown.matches("time limit reached").count(), 1, "{shown}");
    assert!(shown.contains("25 programs: 8 verified, 16 violated, 1 inconclusive"), "{shown}");
    let titles: Vec<&str> = shown.lines().filter(|line| line.starts_with("./")).collect();
    assert!(titles.is_sorted() && titles.len() == 25, "{titles:?}");
}

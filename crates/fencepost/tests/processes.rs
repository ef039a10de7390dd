//! Tests of the real binary with files, pipes, signals and environment variables.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) const MESSAGE: &str = "\
shared int data, flag;
thread p { data = 1; flag = 1; }
thread q { if (flag == 1) { d = data; assert(d == 1); } }
";

/// A program with too many states to visit in a test.
const ENDLESS: &str = "\
shared int x[6];
thread p(i in 0..6) { loop { x[i] = (x[i] + 1) % 100000; r = x[(i + 1) % 6]; x[i] = r % 9999; } }
";

/// A temporary directory, removed when dropped.
pub(crate) struct Dir(pub(crate) PathBuf);

impl Dir {
    pub(crate) fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Dir(path)
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a temporary file");
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn fencepost(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(args).current_dir(dir).stdin(Stdio::null());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

pub(crate) fn run(args: &[&str], dir: &Path) -> Output {
    fencepost(args, dir).output().expect("the binary runs")
}

pub(crate) fn with_input(args: &[&str], dir: &Path, input: &[u8]) -> Output {
    let mut command = fencepost(args, dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    child.stdin.take().expect("piped").write_all(input).expect("the binary reads its input");
    child.wait_with_output().expect("the binary exits")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed by a signal: {output:?}"))
}

#[test]
fn check_reads_a_program_from_standard_input() {
    let dir = Dir::new("stdin");
    let output = with_input(&["check", "-", "--model", "pso", "-q"], &dir.0, MESSAGE.as_bytes());
    assert_eq!(code(&output), 10);
    assert!(text(&output.stdout).starts_with("<stdin>\n  PSO  VIOLATED"), "{output:?}");
    let garbage: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let output = with_input(&["check", "-"], &dir.0, &garbage);
    assert_eq!((code(&output), output.stdout.len()), (2, 0), "{output:?}");
}

#[test]
fn monitor_reads_a_trace_from_standard_input() {
    let dir = Dir::new("trace");
    let line = |thread: u8, op: &str, address: &str| {
        format!("{{\"thread\":{thread},\"op\":\"{op}\",\"address\":\"{address}\"}}\n")
    };
    let own = |thread, mine, other| line(thread, "store", mine) + &line(thread, "load", other);
    let trace = own(0, "x", "y") + &own(1, "y", "x");
    let output = with_input(&["monitor", "-"], &dir.0, trace.as_bytes());
    assert_eq!(code(&output), 10);
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("<stdin>: 4 events, 2 threads, 2 addresses\n  TSO  the load"),
        "{shown}"
    );
    let garbage: Vec<u8> = (0..=255).rev().cycle().take(5000).collect();
    let output = with_input(&["monitor", "-"], &dir.0, &garbage);
    assert_eq!((code(&output), output.stdout.len()), (2, 0), "{output:?}");
    assert!(text(&output.stderr).starts_with("error: <stdin>:1:1: "), "{output:?}");
}

/// Starts the monitor on a pipe, writes one event and keeps the pipe open.
fn monitor_an_open_pipe(dir: &Path, args: &[&str]) -> (Child, ChildStdin) {
    let mut command = fencepost(&[&["monitor", "-", "--model", "tso,pso"], args].concat(), dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut input = child.stdin.take().expect("piped");
    let event = b"{\"thread\":0,\"op\":\"load\",\"address\":0}\n";
    input.write_all(event).expect("the binary reads its input");
    (child, input)
}

#[test]
fn monitor_stops_at_the_time_limit_while_it_waits_for_a_pipe() {
    let dir = Dir::new("trace-time");
    let (child, pipe) = monitor_an_open_pipe(&dir.0, &["--time", "0.3"]);
    let output = child.wait_with_output().expect("the binary exits");
    drop(pipe);
    assert_eq!(code(&output), 5, "{output:?}");
    let shown = text(&output.stdout);
    let expected = "no answer  time limit reached after 1 event; try: raise --time";
    assert_eq!(shown.matches(expected).count(), 2, "{shown}");
}

#[cfg(unix)]
#[test]
fn an_interruption_of_monitor_says_how_many_events_were_checked() {
    let dir = Dir::new("trace-interrupt");
    let (child, pipe) = monitor_an_open_pipe(&dir.0, &[]);
    // The handler of the signal is installed before the pipe is read.
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill exists").success());
    let output = child.wait_with_output().expect("the binary exits");
    drop(pipe);
    let shown = text(&output.stdout);
    assert_eq!(code(&output), 5, "{output:?}");
    assert_eq!(shown.matches("no answer  interrupted after 1 event").count(), 2, "{shown}");
}

#[test]
fn colours_follow_the_environment() {
    let dir = Dir::new("colour");
    dir.file("m.fp", MESSAGE);
    let coloured = |set: &[(&str, &str)], args: &[&str]| {
        let args = [&["check", "m.fp", "--model", "pso"], args].concat();
        let mut command = fencepost(&args, &dir.0);
        command.envs(set.iter().copied());
        text(&command.output().expect("the binary runs").stdout).contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "a pipe is not a terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(coloured(&[("NO_COLOR", "1")], &["--color", "always"]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let dir = Dir::new("pipe");
    for number in 0..50 {
        dir.file(&format!("{number:02}.fp"), MESSAGE);
    }
    let mut command = fencepost(&["check", "."], &dir.0);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut first = [0; 10];
    let mut out = child.stdout.take().expect("piped");
    out.read_exact(&mut first).expect("the binary prints");
    drop(out);
    let output = child.wait_with_output().expect("the binary exits");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(code(&output), 10);
}

#[cfg(target_os = "linux")]
#[test]
fn write_errors_are_reported() {
    let dir = Dir::new("full");
    dir.file("m.fp", MESSAGE);
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut command = fencepost(&["check", "m.fp", "--model", "sc"], &dir.0);
    let output = command.stdout(full()).output().expect("the binary runs");
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("cannot write results"), "{output:?}");
    // The directory for traces cannot be created.
    let output = run(&["check", "m.fp", "--trace-dir", "m.fp/traces", "-q"], &dir.0);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("cannot write the trace"), "{output:?}");
    assert!(text(&output.stdout).contains("PSO  VIOLATED"), "the verdict is printed nevertheless");
}

#[test]
fn an_unknown_model_is_an_error_in_the_json_report() {
    let dir = Dir::new("json-model");
    dir.file("m.fp", MESSAGE);
    let output = run(&["check", "m.fp", "--model", "tos", "--format", "json"], &dir.0);
    assert_eq!(code(&output), 2);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["results"], serde_json::json!([]));
    let message = report["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("unknown model `tos`"), "{message}");
}

#[test]
fn stored_traces_replay_and_changed_traces_do_not() {
    let dir = Dir::new("replay");
    dir.file("m.fp", MESSAGE);
    dir.file("mine.toml", "name = \"mine\"\nrelax = [\"W->W\"]\n");
    let models = "pso,rmo,mine.toml";
    let output = run(&["check", "m.fp", "--model", models, "--trace-dir", "out/t"], &dir.0);
    assert_eq!(code(&output), 10);
    let hint = "replay: fencepost replay out/t/m-pso.trace.json";
    assert!(text(&output.stdout).contains(hint), "{output:?}");
    fs::remove_file(dir.0.join("m.fp")).expect("the file can be removed");
    for model in ["pso", "rmo", "mine"] {
        let name = format!("out/t/m-{model}.trace.json");
        let output = run(&["replay", &name], &dir.0);
        assert_eq!(code(&output), 0, "{output:?}");
        assert!(text(&output.stdout).contains("all events as recorded"), "{output:?}");
    }
    let stored = fs::read_to_string(dir.0.join("out/t/m-pso.trace.json")).expect("it exists");
    for (from, to, expected, message) in [
        ("\"value\": \"0\"", "\"value\": \"1\"", 10, "at step 5: recorded `q load data = 1"),
        ("\"internal\": 1", "\"internal\": 0", 10, "at step 3: recorded `p commit flag = 1`"),
        ("\"internal\": 1", "\"internal\": 7", 10, "at step 3: this step is not enabled"),
        ("data = 1; flag = 1", "flag = 1; data = 1", 10, "at step 1: recorded `p store data"),
        ("fails in q", "fails in p", 10, "at the end: recorded: assertion"),
        ("\"kind\": \"pso\"", "\"kind\": \"sc\"", 2, "`relax` does not match"),
        ("\"name\": \"pso\"", "\"name\": \"sc\"", 2, "different built-in model"),
        ("thread q", "thread q(", 2, "FP0003"),
        ("\"trace_version\": 1", "\"trace_version\": 2", 2, "version 2"),
        ("\"steps\"", "\"stops\"", 2, "damaged"),
    ] {
        assert!(stored.contains(from), "{from}");
        dir.file("changed.json", stored.replace(from, to));
        let output = run(&["replay", "changed.json"], &dir.0);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(code(&output), expected, "{from} -> {to}: {all}");
        assert!(all.contains(message), "{from} -> {to}: {all}");
    }
    let output = run(&["replay", "changed.json", "--format", "json"], &dir.0);
    assert_eq!(code(&output), 2);
    dir.file("changed.json", stored.replace("\"value\": \"0\"", "\"value\": \"1\""));
    let output = run(&["replay", "changed.json", "--format", "json"], &dir.0);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["replayed"], &report["diverged_at"]), (&false.into(), &4.into()));
}

/// The positions of invocations in a trace depend on where the client is declared.
#[test]
fn stored_traces_of_clients_replay() {
    let dir = Dir::new("replay-clients");
    let library = "shared int x;
        operation int a() as a { r = x; x = r + 1; return r; }
        property linearizable operations;";
    dir.file("declared.fp", format!("{library} client a|a;"));
    dir.file("bare.fp", library);
    for (file, client) in [("declared", None), ("declared", Some("a | a")), ("bare", Some("a|a"))] {
        let name = format!("{file}.fp");
        let mut arguments = vec!["check", &name, "--model", "sc", "--trace-dir", "out"];
        arguments.extend(client.map(|text| ["--client", text]).into_iter().flatten());
        assert_eq!(code(&run(&arguments, &dir.0)), 10);
        let output = run(&["replay", &format!("out/{file}-a_a-sc.trace.json")], &dir.0);
        assert_eq!(code(&output), 0, "{file} {client:?}: {output:?}");
    }
}

/// Every violation that is found in these folders replays from its file.
#[test]
fn stored_traces_of_the_corpus_replay() {
    let dir = Dir::new("replay-corpus");
    let corpus = fencepost_testkit::corpus::folder();
    let folders = ["waiting", "progress"].map(|name| corpus.join(name).display().to_string());
    let models = "sc,tso,pso,rmo-nospec";
    let output =
        run(&["check", &folders[0], &folders[1], "--model", models, "--trace-dir", "out"], &dir.0);
    assert_eq!(code(&output), 10, "{output:?}");
    let traces: Vec<_> = fs::read_dir(dir.0.join("out")).expect("traces are written").collect();
    assert!(traces.len() > 20, "{} traces", traces.len());
    for trace in traces {
        let trace = trace.expect("the folder can be read").path();
        let output = run(&["replay", &trace.display().to_string()], &dir.0);
        assert_eq!(code(&output), 0, "{}: {output:?}", trace.display());
    }
}

#[test]
fn stored_runs_that_are_not_robust_replay() {
    let dir = Dir::new("replay-robust");
    dir.file(
        "sb.fp",
        "shared int x, y; thread p { x = 1; r = y; } thread q { y = 1; r = x; }
         final exists p.r == 0 && q.r == 0;",
    );
    let output = run(&["robust", "sb.fp", "--trace-dir", "out"], &dir.0);
    assert_eq!(code(&output), 10);
    let output = run(&["replay", "out/sb-tso.trace.json"], &dir.0);
    assert_eq!(code(&output), 0, "{output:?}");
}

#[test]
fn hangs_are_violations_unless_they_are_allowed() {
    let dir = Dir::new("hangs");
    let waiting = "shared bool flag; shared int x; thread p { while (!flag) skip; x = 1; }";
    dir.file("final.fp", format!("{waiting} property deadlock_free; final forall x == 1;"));
    dir.file("allowed.fp", format!("{waiting} property may_hang; final forall x == 1;"));
    dir.file("plain.fp", waiting);
    for engine in ["auto", "explicit", "abstraction", "automata", "stateless"] {
        let check = |file: &str, more: &[&str]| {
            let mut all = vec!["check", file, "--engine", engine];
            all.extend(more);
            run(&all, &dir.0)
        };
        for file in ["final.fp", "plain.fp"] {
            let output = check(file, &[]);
            assert_eq!(code(&output), 10, "{engine}: {output:?}");
            let shown = text(&output.stdout);
            assert!(shown.contains("hang: p waits forever at `flag` (:1)"), "{engine}: {shown}");
            let why = "p waits at :1 while flag = false, the initial value. No store to flag";
            assert!(shown.contains(why), "{engine}: {shown}");
        }
        assert_eq!(code(&check("plain.fp", &["--allow-hangs"])), 0, "{engine}");
        // No run ends, so the condition on final states is checked on nothing.
        for (file, more) in [("allowed.fp", &[][..]), ("final.fp", &["--allow-hangs"])] {
            let output = check(file, more);
            assert_eq!(code(&output), 5, "{engine}: {output:?}");
            assert!(text(&output.stdout).contains("no run ends"), "{engine}: {output:?}");
        }
    }
    assert_eq!(code(&run(&["robust", "plain.fp"], &dir.0)), 10);
    assert_eq!(code(&run(&["robust", "plain.fp", "--allow-hangs"], &dir.0)), 0);
    let contradiction = format!("{waiting} property may_hang; property deadlock_free;");
    dir.file("both.fp", contradiction);
    assert_eq!(code(&run(&["check", "both.fp"], &dir.0)), 2);
}

/// A program with unbounded store buffers, and with two statements on one line.
const FLAGS: &str = "\
shared bool flag[2];
thread p(i in 0..2) { loop { flag[i] = true; flag[i] = false; } }
";

#[test]
fn dot_files_are_written_for_every_statement() {
    let dir = Dir::new("dot");
    dir.file("f.fp", FLAGS);
    let args = ["check", "f.fp", "--engine", "automata", "--dot", "out/d"];
    let output = run(&[&args[..], &["--model", "sc,tso"]].concat(), &dir.0);
    assert_eq!(code(&output), 0, "{output:?}");
    let shown = text(&output.stdout);
    for line in [
        "this model has no store buffers to show",
        "p(0) :2  (flag[0],0)?((flag[0],1)(flag[0],0))*",
        "p(0) :2  (flag[0],1)?((flag[0],0)(flag[0],1))*",
        "p(1) :2  (flag[1],0)?((flag[1],1)(flag[1],0))*",
        "p(1) :2  (flag[1],1)?((flag[1],0)(flag[1],1))*",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let listed = fs::read_dir(dir.0.join("out/d")).expect("it exists");
    let mut names: Vec<String> = listed
        .map(|file| file.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = ["f-tso-p_0-2-2.dot", "f-tso-p_0-2.dot", "f-tso-p_1-2-2.dot", "f-tso-p_1-2.dot"];
    assert_eq!(names, expected);
    let drawn = fs::read_to_string(dir.0.join("out/d/f-tso-p_0-2.dot")).expect("text");
    assert!(drawn.starts_with("digraph") && drawn.contains("(flag[0],1)"), "{drawn}");
    let quiet = run(&[&args[..], &["--model", "tso", "-q"]].concat(), &dir.0);
    assert!(!text(&quiet.stdout).contains("flag["), "{quiet:?}");
}

#[test]
fn json_has_buffer_contents_and_whether_they_are_complete() {
    let dir = Dir::new("dot-json");
    dir.file("f.fp", FLAGS);
    let args = ["check", "f.fp", "--engine", "automata", "--dot", "d", "--model", "tso"];
    let json = |more: &[&str]| -> serde_json::Value {
        let output = run(&[&args[..], more, &["--format", "json"]].concat(), &dir.0);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let result = &json(&[])["results"][0];
    assert_eq!(result["buffers_complete"], true);
    let first = serde_json::json!({
        "thread": "p(0)", "line": 2, "contents": "(flag[0],0)?((flag[0],1)(flag[0],0))*",
        "finite": false, "dot_file": "d/f-tso-p_0-2.dot",
    });
    assert_eq!(result["buffers"][0], first);
    let result = &json(&["--max-states", "3"])["results"][0];
    assert_eq!(
        (&result["buffers_complete"], &result["verdict"]),
        (&false.into(), &"inconclusive".into())
    );
    let output = run(&[&args[..], &["--max-states", "3"]].concat(), &dir.0);
    assert!(text(&output.stdout).contains("more contents are possible"), "{output:?}");
}

/// The example of \[KVY10\] Fig. 2 and 3.
#[test]
fn infer_draws_states_with_their_avoid_formulas() {
    let dir = Dir::new("infer-dot");
    let source =
        fs::read_to_string(fencepost_testkit::corpus::folder().join("papers/fender-fig2.fp"));
    dir.file("f.fp", source.expect("the program exists"));
    let args = ["infer", "f.fp", "--model", "rmo", "--method", "fixpoint", "--dot", "out/d"];
    let output = run(&args, &dir.0);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(text(&output.stdout).contains("\ndrawn: out/d/f-rmo.dot\n"), "{output:?}");
    let drawn = fs::read_to_string(dir.0.join("out/d/f-rmo.dot")).expect("text");
    assert!(drawn.starts_with("digraph avoid {\n") && drawn.ends_with("}\n"), "{drawn}");
    assert_eq!(drawn.matches("avoid: ").count(), 10, "nine states and the error: {drawn}");
    assert_eq!(drawn.matches("style=bold").count(), 4, "{drawn}");
    assert_eq!(drawn.matches("color=red").count(), 2, "an error state and the error: {drawn}");
    for part in [
        "x=0 y=0\\lp at :14 pending :12 :13\\lq at :19 r1=0 r2=0 pending :17 :18\\lavoid: false\\l",
        "avoid: [:12 < :13] or [:17 < :18]\\l",
        "label=\"error\\navoid: [:12 < :13] and [:17 < :18]\\n\"",
        "[label=\"p :13\\n[:12 < :13]\\n\", style=bold]",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let again = run(&[&args[..], &["--threads", "1"]].concat(), &dir.0);
    assert_eq!(code(&again), 0, "{again:?}");
    assert_eq!(fs::read_to_string(dir.0.join("out/d/f-rmo.dot")).expect("text"), drawn);
}

#[test]
fn the_number_of_threads_does_not_change_the_report() {
    let dir = Dir::new("same");
    dir.file("m.fp", MESSAGE);
    let json = |threads: &str| {
        let args = ["check", "m.fp", "--format", "json", "--threads", threads];
        let output = run(&[&args[..], &["--model", "sc,tso,pso,rmo"]].concat(), &dir.0);
        assert_eq!((code(&output), text(&output.stderr).as_str()), (10, ""));
        let mut report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for result in report["results"].as_array_mut().expect("a list") {
            for figure in ["seconds", "cpu_seconds", "peak_bytes"] {
                assert!(result[figure].is_number());
                result[figure] = 0.into();
            }
        }
        report
    };
    let one = json("1");
    assert_eq!(one, json("2"));
    assert_eq!(one, json("5"));
    assert_eq!(one["results"][2]["verdict"], "violated");
}

#[test]
fn the_time_limit_is_for_each_program_and_model() {
    let dir = Dir::new("time");
    dir.file("endless.fp", ENDLESS);
    dir.file("m.fp", MESSAGE);
    let started = Instant::now();
    let files = ["check", "endless.fp", "m.fp", "--model", "sc,tso"];
    let output = run(&[&files[..], &["--time", "0.3", "--memory", "2G"]].concat(), &dir.0);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!(code(&output), 5, "{output:?}");
    let shown = text(&output.stdout);
    assert_eq!(shown.matches("time limit reached").count(), 2, "{shown}");
    assert_eq!(shown.matches("verified").count(), 3, "the others have verdicts: {shown}");
}

#[cfg(unix)]
#[test]
fn an_interruption_prints_the_results_so_far() {
    let dir = Dir::new("interrupt");
    dir.file("a.fp", MESSAGE);
    dir.file("endless.fp", ENDLESS);
    dir.file("m.fp", MESSAGE);
    assert_eq!(not_started_after_interruption(&dir, "1"), 3);
    // The other thread may have checked the last file before the interruption.
    assert!(matches!(not_started_after_interruption(&dir, "2"), 1 | 3));
}

/// Interrupts a check during its second file. Returns how many searches were not started.
#[cfg(unix)]
fn not_started_after_interruption(dir: &Dir, threads: &str) -> usize {
    let files = ["check", "a.fp", "endless.fp", "m.fp", "--model", "sc,tso"];
    let limits = ["--time", "0", "--memory", "4G", "--threads", threads];
    let mut command = fencepost(&[&files[..], &limits].concat(), &dir.0);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut out = child.stdout.take().expect("piped");
    let mut shown = Vec::new();
    // After the name of the second file is printed, its first search is running.
    while !text(&shown).contains("endless.fp") {
        let mut byte = [0];
        assert_eq!(out.read(&mut byte).expect("the binary prints"), 1, "{}", text(&shown));
        shown.push(byte[0]);
    }
    std::thread::sleep(Duration::from_millis(200));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill exists").success());
    out.read_to_end(&mut shown).expect("the binary prints");
    let output = child.wait_with_output().expect("the binary exits");
    let shown = text(&shown);
    assert_eq!(code(&output), 5, "{shown}");
    assert!(
        shown.contains("  SC   inconclusive  interrupted; no violation found so far"),
        "{shown}"
    );
    shown.matches("not started (interrupted)").count()
}

/// A thread that counts for a long time without any access.
const COUNTING: &str = "\
shared int x;
thread p { x = 1; int r = 0; while (r >= 0) { r = r + 1; } }
thread q { int a = x; assert(a < 2); }
";

#[cfg(unix)]
#[test]
fn every_search_ends_with_a_partial_answer_after_a_signal() {
    let dir = Dir::new("signals");
    dir.file("c.fp", COUNTING);
    let engines = ["auto", "explicit", "abstraction", "automata", "stateless"];
    let mut all: Vec<Vec<&str>> =
        engines.iter().map(|engine| vec!["check", "c.fp", "--engine", engine]).collect();
    all.extend([
        vec!["check", "c.fp", "--engine", "stateless", "--preemptions", "2"],
        vec!["check", "c.fp", "--engine", "translate", "--contexts", "2"],
        vec!["robust", "c.fp", "--model", "tso,pso"],
        vec!["infer", "c.fp"],
        vec!["infer", "c.fp", "--engine", "robust", "--model", "pso"],
        vec!["infer", "c.fp", "--method", "fixpoint"],
        vec!["outcomes", "c.fp"],
    ]);
    for args in all {
        let mut command = fencepost(&[&args[..], &["--time", "0"]].concat(), &dir.0);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("the binary runs");
        std::thread::sleep(Duration::from_millis(300));
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(sent.expect("kill exists").success());
        // A binary that ignores the signal exits with another code after a few seconds.
        let output = child.wait_with_output().expect("the binary exits");
        assert_eq!(code(&output), 5, "{args:?}: {output:?}");
        assert!(!output.stdout.is_empty(), "{args:?}: {output:?}");
    }
}

#[test]
fn fmt_changes_only_unformatted_files_in_place() {
    let dir = Dir::new("fmt");
    let unformatted = "shared int x;thread p{x=1;}\n";
    let file = dir.file("a.fp", unformatted);
    dir.file("wrong.fp", "shared int");
    let output = run(&["fmt", "--check", "a.fp"], &dir.0);
    assert_eq!((code(&output), text(&output.stdout).as_str()), (1, "a.fp\n"));
    assert_eq!(fs::read_to_string(&file).expect("a file"), unformatted, "--check changes nothing");
    let filtered = with_input(&["fmt", "-"], &dir.0, unformatted.as_bytes());
    assert_eq!(code(&filtered), 0);
    let output = run(&["fmt", "a.fp"], &dir.0);
    assert_eq!((code(&output), output.stdout.len()), (0, 0), "{output:?}");
    let formatted = fs::read_to_string(&file).expect("a file");
    assert_ne!(formatted, unformatted);
    assert_eq!(formatted, text(&filtered.stdout));
    assert_eq!(code(&run(&["fmt", "--check", "a.fp"], &dir.0)), 0);
    let output = run(&["fmt", "."], &dir.0);
    assert_eq!(code(&output), 2, "one of the files has an error");
    assert_eq!(fs::read_to_string(dir.0.join("wrong.fp")).expect("a file"), "shared int");
    let names = fs::read_dir(&dir.0).expect("a directory").count();
    assert_eq!(names, 2, "no temporary file is left");
}

#[test]
fn completions_exist_for_known_shells() {
    let dir = Dir::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell], &dir.0);
        assert_eq!(code(&output), 0);
        assert!(text(&output.stdout).contains("fencepost"), "{shell}");
    }
    assert_eq!(code(&run(&["completions", "tcl"], &dir.0)), 2);
}

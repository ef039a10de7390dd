//! Text from inputs cannot control the terminal: every path from an input to the output escapes it.

use crate::processes::{Dir, MESSAGE, fencepost, run, text, with_input};
use std::fs;
use std::path::Path;

/// A colour, a new title for the terminal, the same with one character, and two overrides of the
/// text direction.
const HOSTILE: &str = "\u{1b}[31mRED\u{1b}]0;T\u{7}\u{9b}2J\u{202e}\u{2066}";

/// Removes the colours, which begin with an escape character and end with `m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let is_parameter = |c: char| c.is_ascii_digit() || c == ';';
        match part.trim_start_matches(is_parameter).strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => out.push_str(&format!("\u{1b}[{part}")),
        }
    }
    out
}

/// Fails if a text can have an effect on a terminal, other than by our own colours.
fn check_safe(shown: &str, about: &str) {
    assert!(!shown.contains("\u{1b}[31mRED"), "{about}: {shown:?}");
    let plain = without_colours(shown);
    let is_unsafe =
        |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}".contains(c);
    assert!(!plain.contains(is_unsafe), "{about}: {plain:?}");
}

/// Runs a command with and without colours. Its output must contain the hostile text, escaped.
fn check(dir: &Dir, args: &[&str]) {
    for color in ["never", "always"] {
        let args = [&["--color", color], args].concat();
        let output = run(&args, &dir.0);
        let shown = text(&output.stdout) + &text(&output.stderr);
        check_safe(&shown, &format!("{args:?}"));
        let is_shown =
            ["\\u{1b}", "\\u{9b}", "\\u001b", "␛"].iter().any(|form| shown.contains(form));
        assert!(is_shown, "{args:?} does not show the text: {shown:?}");
    }
}

#[test]
fn programs_and_arguments_are_escaped() {
    let dir = Dir::new("hostile-programs");
    dir.file("m.fp", MESSAGE);
    dir.file("comment.fp", format!("shared int x; /* {HOSTILE} */ thread p {{ x = ; }}\n"));
    dir.file("name.fp", format!("shared int x{HOSTILE}; thread p {{ x = 1; }}\n"));
    let named = format!("{HOSTILE}.fp");
    dir.file(&named, MESSAGE);
    fs::create_dir(dir.0.join("broken")).expect("a directory");
    let broken = format!("broken/{HOSTILE}.fp");
    dir.file(&broken, "shared");
    for file in ["comment.fp", "name.fp", &named, &broken, "broken"] {
        check(&dir, &["check", file]);
    }
    for command in ["fmt", "dump", "outcomes", "infer", "robust", "translate", "clients"] {
        check(&dir, &[command, "comment.fp"]);
        check(&dir, &[command, &broken]);
    }
    check(&dir, &["check", &named, "--trace-dir", &format!("traces{HOSTILE}")]);
    check(&dir, &["infer", &named, "--model", "pso"]);
    check(&dir, &["outcomes", &named]);
    check(&dir, &["robust", &named]);
    check(&dir, &["check", HOSTILE]);
    check(&dir, &["check", &format!("{HOSTILE}.none")]);
    for option in ["--client", "--model", "--engine", HOSTILE] {
        check(&dir, &["check", "m.fp", option, HOSTILE]);
    }
    check(&dir, &["check", "m.fp", "--abstract", &format!("{HOSTILE}: {{0, many}}")]);
    for option in ["--clients", "--only-in", "--fences", "--cost"] {
        check(&dir, &["infer", "m.fp", "--model", "pso", option, HOSTILE]);
    }
    let missing = format!("none/{HOSTILE}");
    for option in ["--output", "--certificate"] {
        check(&dir, &["infer", "m.fp", "--model", "pso", option, &missing]);
    }
    check(&dir, &["litmus", "generate", "--cycle", HOSTILE]);
    check(&dir, &["litmus", "generate", "--edges", HOSTILE]);
    check(&dir, &[HOSTILE]);
    let output = with_input(&["check", "-"], &dir.0, HOSTILE.as_bytes());
    check_safe(&text(&output.stderr), "standard input");
    // A filter changes nothing if its output is not a terminal.
    let comment = format!("// {HOSTILE}\nshared int x;\n\nthread p {{\n  x = 1;\n}}\n");
    let output = with_input(&["fmt", "-"], &dir.0, comment.as_bytes());
    assert!(text(&output.stdout).contains(HOSTILE), "{output:?}");
}

#[test]
fn model_files_and_clients_are_escaped() {
    let dir = Dir::new("hostile-models");
    dir.file("m.fp", MESSAGE);
    dir.file("broken.toml", format!("name = \"mine\"\n{HOSTILE}\n"));
    dir.file("field.toml", "name = \"mine\"\n\"\\u001b[31mRED\" = 1\n");
    for model in ["broken.toml", "field.toml"] {
        for command in ["check", "outcomes", "infer"] {
            check(&dir, &[command, "m.fp", "--model", model]);
        }
    }
    let library = "shared int x; operation int a() as a { r = x; return r; }";
    dir.file("lib.fp", library);
    dir.file("clients", format!("a|a\n{HOSTILE}\n"));
    check(&dir, &["infer", "lib.fp", "--clients", "clients"]);
}

#[test]
fn litmus_tests_and_records_are_escaped() {
    let dir = Dir::new("hostile-litmus");
    let test = |name: &str, doc: &str, condition: &str| {
        format!(
            "X86 {name}\n\"{doc}\"\n{{ x=0; y=0; }}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
             MOV EAX,[y] | MOV EAX,[x] ;\n{condition}\n"
        )
    };
    let exists = "exists (0:EAX=0 /\\ 1:EAX=0)";
    let name = format!("SB{HOSTILE}");
    dir.file("name.litmus", test(&name, "", exists));
    for format in ["herd", "table", "json"] {
        check(&dir, &["litmus", "name.litmus", "--model", "tso", "--format", format]);
    }
    check(&dir, &["litmus", "name.litmus", "--to", "fp"]);
    for command in ["check", "infer", "translate"] {
        check_safe(&text(&run(&[command, "name.litmus"], &dir.0).stdout), command);
    }
    dir.file("doc.litmus", test("SB", HOSTILE, exists));
    let output = run(&["litmus", "doc.litmus", "--model", "tso"], &dir.0);
    check_safe(&(text(&output.stdout) + &text(&output.stderr)), "a description");
    dir.file("condition.litmus", test("SB", "", &format!("exists ({HOSTILE})")));
    dir.file("instruction.litmus", test("SB", "", exists).replace("MOV [x],$1", HOSTILE));
    for file in ["condition.litmus", "instruction.litmus"] {
        check(&dir, &["litmus", file, "--model", "tso"]);
        check(&dir, &["check", file]);
    }
    dir.file("list", format!("{HOSTILE}.litmus\n"));
    check(&dir, &["litmus", "@list"]);
    let columns = "file\tmodel\tverdict\tcondition\n";
    dir.file("verdict", format!("{columns}name.litmus\ttso\t{HOSTILE}\t\n"));
    dir.file("differs", format!("{columns}name.litmus\ttso\tOk\t{HOSTILE}\n"));
    dir.file("log", format!("Test {name} Allowed\nStates 1\n{HOSTILE}\nOk\n"));
    for records in ["verdict", "differs", "log"] {
        check(&dir, &["litmus", "name.litmus", "--model", "tso", "--expect", records]);
    }
}

#[test]
fn traces_and_certificates_are_escaped() {
    let dir = Dir::new("hostile-traces");
    dir.file("m.fp", MESSAGE);
    run(&["check", "m.fp", "--model", "pso", "--trace-dir", "t", "-q"], &dir.0);
    let stored = fs::read_to_string(dir.0.join("t/m-pso.trace.json")).expect("it is written");
    let hostile = serde_json::to_string(HOSTILE).expect("a string").replace('"', "");
    for (from, to) in [
        ("\"name\": \"pso\"", format!("\"name\": \"{hostile}\"")),
        ("\"kind\": \"pso\"", format!("\"kind\": \"{hostile}\"")),
        ("\"steps\"", format!("\"{hostile}\"")),
        ("\"file\": \"m.fp\"", format!("\"file\": \"{hostile}.fp\"")),
        ("\"client\": \"\"", format!("\"client\": \"{hostile}\"")),
        ("\"value\": \"0\"", format!("\"value\": \"{hostile}\"")),
        ("\"violation\": \"", format!("\"violation\": \"{hostile}")),
        ("thread q {", format!("{hostile} thread q {{")),
    ] {
        assert!(stored.contains(from), "{from}");
        dir.file("changed.json", stored.replacen(from, &to, 1));
        check(&dir, &["replay", "changed.json"]);
        let output = run(&["replay", "changed.json", "--format", "json"], &dir.0);
        check_safe(&(text(&output.stdout) + &text(&output.stderr)), from);
    }
    let header = "{\"certificate\":1,\"model\":\"tso\",\"domain\":\"fd\",\"k\":1,";
    dir.file("client", format!("{header}\"client\":\"{hostile}\",\"states\":0}}\n"));
    dir.file("field", format!("{header}\"client\":\"\",\"states\":0,\"{hostile}\":1}}\n"));
    check(&dir, &["certify", "client", "m.fp"]);
    check(&dir, &["certify", "field", "m.fp"]);
    let exploration = "{\"exploration\":2,\"program\":7,\"model\":\"\"}";
    dir.file("resume", exploration.replace('7', &format!("{{\"{hostile}\":1}}")));
    let output = run(&["robust", "m.fp", "--resume", "resume"], &dir.0);
    check_safe(&text(&output.stderr), "resume");
    let event = |thread: &str, op: &str, address: &str| {
        format!(
            "{{\"thread\":\"{hostile}{thread}\",\"op\":\"{op}\",\"address\":\"{address}{hostile}\"}}\n"
        )
    };
    let own = |thread, mine, other| event(thread, "store", mine) + &event(thread, "load", other);
    dir.file("recorded", own("p", "x", "y") + &own("q", "y", "x"));
    check(&dir, &["monitor", "recorded"]);
    dir.file("unknown", event("p", &hostile, "x"));
    check(&dir, &["monitor", "unknown"]);
}

/// JSON escapes control characters, and its reader gets the text unchanged.
#[test]
fn json_reports_are_escaped_and_valid() {
    let dir = Dir::new("hostile-json");
    let name = "T\u{1b}[31mRED\u{9b}2J\u{202e}\u{7f}";
    dir.file("t.litmus", format!("X86 {name}\n{{ }}\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n"));
    let output = run(&["litmus", "t.litmus", "--model", "sc", "--format", "json"], &dir.0);
    let shown = text(&output.stdout);
    check_safe(&shown, "litmus --format json");
    assert!(shown.contains("\\u001b[31mRED\\u009b2J\\u202e\\u007f"), "{shown}");
    let report: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(report["results"][0]["test"]["name"], name);
}

#[test]
fn our_colours_survive() {
    let dir = Dir::new("hostile-colours");
    dir.file("m.fp", MESSAGE);
    let shown = |args: &[&str]| {
        let mut command = fencepost(args, &dir.0);
        let output = command.env("CLICOLOR_FORCE", "1").output().expect("the binary runs");
        text(&output.stdout) + &text(&output.stderr)
    };
    let verdict = shown(&["check", "m.fp", "--model", "pso", "-q"]);
    assert!(verdict.contains("\u{1b}[31mVIOLATED"), "{verdict:?}");
    assert!(shown(&["check", "none.fp"]).starts_with("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: "));
    dir.file("wrong.fp", "shared");
    assert!(shown(&["check", "wrong.fp"]).contains("\u{1b}["));
    assert!(shown(&["--help"]).contains("\u{1b}["));
    assert!(shown(&["check", "--none"]).contains("\u{1b}["));
}

/// A program that prints or reads on another path is not protected.
#[test]
fn there_is_one_printer_and_one_reader() {
    let allowed = [
        ("output.rs", ["io::stdout", "io::stderr"].as_slice()),
        // `-o /dev/stdout`, and whether standard error is a terminal.
        ("store.rs", &["io::stdout", "io::stderr"]),
        ("session.rs", &["io::stderr"]),
        ("reader.rs", &["File::open", "io::stdin"]),
        ("input.rs", &["io::stdin"]),
        // Read line by line.
        ("certify.rs", &["File::open"]),
        ("monitor.rs", &["File::open", "io::stdin"]),
        ("memory_size.rs", &["read_to_string"]),
        ("temp_build.rs", &["fs::read("]),
    ];
    let words = ["print!(", "println!(", "io::stdout", "io::stderr", "io::stdin"];
    let words = [&words[..], &["read_to_string", "fs::read(", "File::open"]].concat();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let source = fs::read_to_string(&path).expect("a source");
            let code = source.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
            let code = code.take_while(|line| !line.starts_with("#[cfg(test)]"));
            let code: Vec<&str> = code.collect();
            let is_test = path.ends_with("reproduce/tests.rs") || name == "overview.rs";
            let rules = allowed.iter().find(|(file, _)| *file == name).map_or(&[][..], |(_, w)| w);
            for word in words.iter().filter(|word| !rules.contains(word) && !is_test) {
                let uses = code.iter().find(|line| line.contains(word));
                assert_eq!(uses, None, "{}: `{word}`", path.display());
            }
        }
    }
    assert!(files > 40, "{files}");
}

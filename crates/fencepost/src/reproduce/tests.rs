//! Tests of the paper data: the files parse, their names are defined, and errors in them are
//! reported.

use super::paper::{Entry, Paper};
use super::run::{Runner, is_reached, lower};
use fencepost_corpus::{PAPERS, PROGRAMS, program};
use fencepost_engines::{Budget, Engine, Settings, Task, Translate};
use fencepost_models::ModelSpec;
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_search::{Cancel, Progress};
use fencepost_translate::contexts::Bound;
use std::collections::BTreeSet;
use std::path::Path;

fn text(name: &str) -> &'static str {
    PAPERS.iter().find(|(other, _)| *other == name).expect("the paper is embedded").1
}

fn parsed(name: &str) -> Paper {
    Paper::parse(name, text(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn number(figure: Option<&Figure>) -> f64 {
    match figure {
        Some(Figure::Number(number)) => *number as f64,
        Some(Figure::Seconds(seconds)) => *seconds,
        Some(Figure::Flag(_) | Figure::Word(_) | Figure::List(_)) | None => 0.0,
    }
}

/// Visits every entry of every paper.
fn for_all(mut visit: impl FnMut(&str, &Entry<'_>)) {
    for (name, _) in PAPERS {
        let paper = parsed(name);
        paper.entries().for_each(|entry| visit(name, &entry));
    }
}

#[test]
fn every_file_is_embedded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/papers");
    let files = std::fs::read_dir(dir).expect("the corpus exists");
    let files = files.map(|file| file.expect("a file").file_name().into_string().expect("a name"));
    let files: BTreeSet<String> = files.filter(|name| name.ends_with(".toml")).collect();
    let expected = PAPERS.iter().map(|(name, _)| format!("{name}.toml"));
    assert_eq!(files, expected.chain(["expected.toml".into()]).collect());
}

#[test]
fn every_row_has_its_program_and_client() {
    let mut used = BTreeSet::new();
    let mut rows = 0;
    for_all(|_, entry| {
        let source = entry.source();
        let problems = lower(&source);
        if let Some(client) = &entry.row.client {
            assert!(problems.iter().any(|problem| problem.name == *client), "{}", entry.name());
        }
        if let Some(at) = &entry.row.at {
            let threads = &problems[0].program.threads;
            assert!(threads.iter().any(|thread| thread.name == at.thread), "{}", entry.name());
            assert!(
                source.lines().any(|line| line.trim().starts_with(&at.before)),
                "{}",
                entry.name()
            );
        }
        let fixed = entry.row.fixed.as_ref();
        let has_one_program =
            |fixed: &String| lower(program(fixed).expect("it is embedded")).len() == 1;
        assert!(fixed.is_none_or(has_one_program));
        used.extend([Some(&entry.row.program), fixed].into_iter().flatten().cloned());
        rows += 1;
    });
    let embedded = PROGRAMS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(used, embedded, "programs of rows, and programs in corpus/lib.rs");
    assert_eq!(rows, 144 + 116 + 27 + 21 + 76);
}

/// An unused note means that a row has lost its reference to it.
#[test]
fn every_note_is_used() {
    for (name, text) in PAPERS {
        let data: toml::Table = text.parse().expect("the file is TOML");
        for note in data["notes"].as_table().expect("notes").keys() {
            let used = ["note", "remark"].map(|field| format!("{field} = \"{note}\""));
            assert!(used.iter().any(|used| text.contains(used.as_str())), "{name}: {note}");
        }
    }
}

/// A version with fences has fences, and a version without has none.
#[test]
fn programs_fit_their_rows() {
    let is_fenced = |source: &str| source.lines().any(|line| line.trim() == "fence;");
    for_all(|paper, entry| {
        let (name, source) = (entry.name(), entry.source());
        let head: String = source.lines().take_while(|line| line.starts_with("//")).collect();
        let paper_word = |figure: &str| match entry.column.paper.get(figure) {
            Some(Figure::Word(word)) => word.clone(),
            _ => String::new(),
        };
        match (paper, entry.part_title()) {
            ("sober", _) => {
                assert!(!is_fenced(&source) && is_fenced(entry.fixed_source()), "{name}");
                assert!(head.contains("[BM08]"), "{name}");
            }
            ("automata", "Table 2") if entry.row.group == "Peterson with guards" => {
                assert!(head.contains("Peterson"), "{name}");
                assert_eq!(source.contains("loop {"), name.contains("repeated"), "{name}");
                assert_eq!(source.contains("fence;"), name.ends_with("sync"), "{name}");
            }
            ("automata", "Table 2") => {
                assert!(head.contains(&entry.row.group), "{name}");
                assert_eq!(head.contains("entered once"), name.contains("single"), "{name}");
                assert_eq!(is_fenced(&source), name.ends_with("sync"), "{name}");
            }
            ("pso-to-sc", "Table 5.1") => {
                assert!(head.contains(&entry.row.group), "{name}");
                assert!(paper_word("result") != "safe" || is_fenced(&source), "{name}");
                assert!(paper_word("result") != "unsafe" || !is_fenced(&source), "{name}");
            }
            ("pso-to-sc", _) if entry.row.group == "Litmus" => {
                let test = name.strip_prefix("Litmus ").expect("rows begin with their group");
                assert!(source.starts_with(&format!("// {test}:")), "{name}");
                assert!(source.contains("final exists"), "{name}");
            }
            _ => {}
        }
    });
}

/// Sums of the columns of the papers' tables (paper, part, column, figure) reveal figures that were
/// copied wrongly.
#[test]
fn sums_of_figures_are_those_of_the_papers() {
    let sums: &[(&str, &str, &str, &str, f64)] = &[
        ("fender", "client", "RMO-NOSPEC", "states", 4_074_478.0),
        ("fender", "client", "PSO", "states", 953_861.0),
        ("fender", "client", "TSO", "states", 106_764.0),
        ("fender", "client", "SC", "states", 47_225.0),
        ("fender", "client", "RMO-NOSPEC", "edges", 11_409_131.0),
        ("fender", "client", "PSO", "edges", 2_468_721.0),
        ("fender", "client", "TSO", "edges", 160_266.0),
        ("fender", "client", "SC", "edges", 62_734.0),
        ("fender", "client", "RMO-NOSPEC", "constraints", 52.0),
        ("fender", "client", "PSO", "constraints", 43.0),
        ("fender", "client", "TSO", "constraints", 4.0),
        ("fender", "client", "RMO-NOSPEC", "seconds", 958.71),
        ("blender", "proof", "PSO set", "states", 81_400.0),
        ("blender", "proof", "PSO fd k=0", "states", 47_200.0),
        ("blender", "proof", "PSO fd k=1", "states", 94_600.0),
        ("blender", "fences", "PSO fd k=0", "states", 1_522_900.0),
        ("blender", "fences", "PSO fd k=1", "states", 4_898_700.0),
        ("blender", "fences", "PSO pd k=0", "states", 937_300.0),
        ("blender", "fences", "PSO pd k=1", "states", 6_456_100.0),
        ("blender", "fences", "PSO pd k=2", "states", 6_258_700.0),
        ("automata", "Table 2", "TSO", "stored", 4_467.0),
        ("automata", "Table 2", "TSO", "visited", 8_087.0),
        ("automata", "Table 2", "TSO", "depth", 1_008.0),
        ("automata", "Table 2", "TSO", "errors", 50.0),
        ("automata", "Table 2", "TSO", "seconds", 35.394),
        ("sober", "preemptions", "TSO", "total", 64_867.0),
        ("sober", "preemptions", "TSO", "borderline", 34_350.0),
        ("sober", "preemptions", "TSO", "with", 963.98),
        ("pso-to-sc", "Table 5.1", "PSO k=3", "seconds", 17.51 + 453.68),
    ];
    for (name, part, column, figure, expected) in sums {
        let paper = parsed(name);
        let entries = paper.entries();
        // A second encoding of an algorithm is compared with the same figures.
        let entries = entries.filter(|entry| entry.row.group != "Peterson with guards");
        let here = entries.filter(|e| e.part_title() == *part && e.column_name() == *column);
        let sum: f64 = here.map(|entry| number(entry.column.paper.get(*figure))).sum();
        assert!((sum - expected).abs() < 0.001, "{name} {part} {column} {figure}: {sum}");
    }
    let marks = [
        ("proof", "proved", 10),
        ("proof", "spurious", 8),
        ("fences", "optimal", 14),
        ("fences", "sub-optimal", 13),
        ("fences", "unfixable", 4),
        ("fences", "out of memory", 14),
    ];
    for (part, mark, expected) in marks {
        let paper = parsed("blender");
        let count = paper.entries().filter(|entry| {
            let is_in_table = entry.column_name().starts_with("PSO") && entry.row.group != "Fig. 6";
            let result = entry.column.paper.get("result");
            entry.part_title() == part && is_in_table && result == Some(&Figure::Word(mark.into()))
        });
        assert_eq!(count.count(), expected, "{part} {mark}");
    }
}

/// Each case is a file, a change of it, and the error message.
#[test]
fn errors_in_the_data_are_reported() {
    let cases = [
        ("sober", "preemptions = 5", "preemption = 5", "unknown field `preemption`"),
        ("sober", "test = \"same-sign\"", "test = \"same-sigh\"", "unknown variant `same-sigh`"),
        ("sober", "note = \"slow\"", "note = \"slov\"", "part `preemptions`: unknown note `slov`"),
        (
            "sober",
            "part = \"traces\"",
            "part = \"trace\"",
            "row `Fig. 1(b) one run for each trace`: unknown part `trace`",
        ),
        ("sober", "model = \"tso\"", "model = \"tos\"", "row `Fig. 1(b) all`: unknown model `tos`"),
        (
            "sober",
            "program = \"papers/sober-dekker\"",
            "program = \"papers/dekker\"",
            "row `dekker 1`: the program `papers/dekker` is not in corpus/lib.rs",
        ),
        (
            "sober",
            "fixed = \"papers/sober-fig4b-fenced\"",
            "",
            "requires a version with fences: `fixed`",
        ),
        ("sober", "total = 10", "totals = 10", "part `unbounded` shows no figure `totals`"),
        (
            "sober",
            "total = 10",
            "total = { a = 1 }",
            "a count, seconds, a flag, a word, or a list of texts",
        ),
        ("sober", "\"overhead\"]", "\"overheat\"]", "the command computes no figure `overheat`"),
        ("sober", "tag = \"BM08\"", "tag = \"BM09\"", "the title does not name [BM09]"),
        ("blender", "domain = \"set\", k = 0, ", "", "the command requires `domain`"),
        ("blender", "domain = \"set\"", "domain = \"sets\"", "unknown domain `sets`"),
        (
            "automata",
            "from = \"thread p {\"",
            "from = \"thread z {\"",
            "does not contain \"thread z {\"",
        ),
    ];
    for (name, from, to, message) in cases {
        assert!(text(name).contains(from), "{name}: {from}");
        let changed = text(name).replace(from, to);
        let error = Paper::parse(name, &changed).expect_err(message).to_string();
        assert!(error.starts_with(&format!("corpus/papers/{name}.toml: ")), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

fn with_budget<T>(work: impl FnOnce(Budget<'_>) -> T) -> T {
    work(Budget { cancel: &Cancel::default(), progress: &Progress::default() })
}

fn smallest_bound_figures(row: &str, part: &str, column: &str) -> Figures {
    let paper = parsed("pso-to-sc");
    let mut entries = paper.entries();
    let entry = entries.find(|entry| {
        entry.name() == row && entry.part_title() == part && entry.column_name() == column
    });
    let entry = entry.expect("the row exists");
    let run = |budget: Budget<'_>| Runner::new(Settings::default()).run(&entry, budget);
    with_budget(run).expect("no limit is reached")
}

/// A final state has no pending store, so a relaxed outcome needs a second context. In a violation,
/// stores may stay pending.
#[test]
fn smallest_bounds_are_exact() {
    for (row, column, possible, contexts, delay) in [
        ("Litmus SB", "TSO", true, Some(1), Some(1)),
        ("Litmus SB", "PSO", true, Some(1), Some(1)),
        ("Litmus MP", "TSO", false, None, None),
        ("Litmus MP", "PSO", true, Some(1), Some(1)),
        ("Litmus LB", "TSO", false, None, None),
        ("Litmus LB", "PSO", false, None, None),
        ("Dekker dekker0", "TSO", true, Some(0), Some(0)),
        // The thread that waits at the barrier must run again after the other thread has passed it.
        ("Sense barrier sense0", "PSO", true, Some(1), Some(0)),
        ("Ticket lock ticket-lock", "TSO", false, None, None),
    ] {
        let found = smallest_bound_figures(row, "smallest k", column);
        let k = |k: Option<u64>| k.map_or(Figure::Word("none".into()), Figure::Number);
        assert_eq!(found.get("possible"), Some(&Figure::Flag(possible)), "{row} {column}");
        assert_eq!(found.get("contexts"), Some(&k(contexts)), "{row} {column}");
        assert_eq!(found.get("delay"), Some(&k(delay)), "{row} {column}");
    }
}

/// The search for the smallest bound relies on this: if no bound on delays reaches the target, then
/// no bound on context switches does.
#[test]
fn context_switches_reach_no_more_than_delays() {
    for name in ["MP", "LB", "SB+full+full", "CoRR"] {
        let source = program(&format!("litmus/{name}")).expect("it is embedded");
        let model = ModelSpec::by_name("tso").expect("a built-in model");
        let task = Task { problem: &lower(source)[0], model: &model };
        let engine = Translate { bound: Bound::Switches(3) };
        let answer = with_budget(|budget| engine.run(task, Settings::default(), budget));
        let target = super::paper::Target::Witness;
        let is_reached = is_reached(&answer, target).expect("no limit is reached");
        assert!(!is_reached, "{name}");
    }
}

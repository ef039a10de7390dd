//! Tests of blocks, tables, comparisons and JSON with hand-written results.

use super::block::{block, warning};
use super::expect::{RecordComparison, Records};
use super::json::LitmusReport;
use super::table::{Totals, table};
use super::{Entry, Incomplete, ModelResult, TestRun};
use crate::paint::Paint;
use fencepost_frontends::litmus;
use fencepost_ir::{Diagnostics, Quantifier, Value};
use fencepost_models::ModelSpec;
use std::collections::BTreeSet;

/// Returns store buffering with this condition.
fn run(condition: &str, models: Vec<(&str, Result<ModelResult, String>)>) -> TestRun {
    let source = format!(
        "X86 SB\n{{ x=0; y=0; }}\nP0|P1;MOV [x],$1|MOV [y],$1;MOV EAX,[y]|MOV EAX,[x];\n{condition}"
    );
    let test = litmus::read(&source, "t", false, &mut Diagnostics::new()).expect("a test");
    let model = |name: &str| ModelSpec::by_name(name).expect("a built-in model");
    let models = models.into_iter().map(|(name, result)| (model(name), result)).collect();
    TestRun { file: "tests/SB.litmus".into(), test, models }
}

const SC: &[[Value; 2]] = &[[0, 1], [1, 0], [1, 1]];
const TSO: &[[Value; 2]] = &[[0, 0], [0, 1], [1, 0], [1, 1]];

/// Returns a result with these states.
fn result(run: &TestRun, states: &[[Value; 2]], incomplete: Option<Incomplete>) -> ModelResult {
    let outcomes: BTreeSet<Vec<Value>> = states.iter().map(|state| state.to_vec()).collect();
    ModelResult {
        shown: run.test.evaluate(&outcomes).expect("values compare"),
        incomplete,
        seconds: 0.014,
    }
}

const CONDITION: &str = "(0:EAX=0 /\\ 1:EAX=0)";

#[test]
fn a_block_is_what_herd_prints() {
    let run = run(&format!("exists {CONDITION}"), Vec::new());
    let expected = "\
Test SB Allowed
States 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:EAX=0 /\\ 1:EAX=0)
Observation SB Sometimes 1 3
Time SB 0.01
Hash=7dbd6b8e6dd4abc2ef3d48b0376fb2e3

";
    let result = result(&run, TSO, None);
    assert_eq!(block(&run, &result, true), expected);
    let without: Vec<&str> = expected.lines().filter(|line| !line.starts_with("Time")).collect();
    assert_eq!(block(&run, &result, false), without.join("\n") + "\n");
    assert_eq!(warning(&run, &result), None);
}

/// `~exists` swaps the witnesses but not the observation.
#[test]
fn kind_verdict_witnesses_and_observation_follow_the_quantifier() {
    for (quantifier, states, kind, verdict, witnesses, observation) in [
        ("exists", SC, "Allowed", "No", "Positive: 0 Negative: 3", "Never 0 3"),
        ("exists", TSO, "Allowed", "Ok", "Positive: 1 Negative: 3", "Sometimes 1 3"),
        ("~exists", SC, "Forbidden", "Ok", "Positive: 3 Negative: 0", "Never 0 3"),
        ("~exists", TSO, "Forbidden", "No", "Positive: 3 Negative: 1", "Sometimes 1 3"),
        ("forall", TSO, "Required", "No", "Positive: 1 Negative: 3", "Sometimes 1 3"),
        ("forall", &TSO[..1], "Required", "Ok", "Positive: 1 Negative: 0", "Always 1 0"),
        ("exists", &[], "Allowed", "No", "Positive: 0 Negative: 0", "Never 0 0"),
    ] {
        let run = run(&format!("{quantifier} {CONDITION}"), Vec::new());
        let text = block(&run, &result(&run, states, None), false);
        let lines: Vec<&str> = text.lines().collect();
        let at = states.len();
        assert_eq!(lines[0], format!("Test SB {kind}"));
        assert_eq!(lines[1], format!("States {at}"));
        assert_eq!(lines[at + 2..at + 5], [verdict, "Witnesses", witnesses], "{quantifier}");
        assert_eq!(lines[at + 6], format!("Observation SB {observation}"));
    }
}

/// One state can decide a condition of an incomplete result. The opposite answer needs all states.
#[test]
fn incomplete_results_have_loop_or_undef_verdicts_and_a_warning() {
    let buffers = || Some(Incomplete::Buffers(4));
    let limit = || Some(Incomplete::Limit("time limit reached".into()));
    for (quantifier, states, incomplete, verdict) in [
        (Quantifier::Exists, TSO, buffers(), "Ok"),
        (Quantifier::Exists, SC, buffers(), "Loop No"),
        (Quantifier::Exists, SC, limit(), "Undef"),
        (Quantifier::Never, TSO, buffers(), "No"),
        (Quantifier::Never, SC, buffers(), "Loop Ok"),
        (Quantifier::Forall, TSO, limit(), "No"),
        (Quantifier::Forall, &TSO[..1], limit(), "Undef"),
        (Quantifier::Forall, &TSO[..1], buffers(), "Loop Ok"),
    ] {
        let run = run(&format!("exists {CONDITION}"), Vec::new());
        let result = result(&run, states, incomplete.clone());
        assert_eq!(result.verdict(quantifier), verdict, "{quantifier:?} {incomplete:?}");
        let warning = warning(&run, &result).expect("an incomplete result has a warning");
        let why = if incomplete == buffers() { "more than 4" } else { "time limit reached" };
        assert!(warning.starts_with("tests/SB.litmus: ") && warning.contains(why), "{warning}");
    }
}

/// Returns two tests under two models, and an unsupported file.
fn entries() -> Vec<Entry> {
    let condition = format!("exists {CONDITION}");
    let bare = run(&condition, Vec::new());
    let faulty = vec![
        ("sc", Err("it faults".to_string())),
        ("tso", Ok(result(&bare, SC, Some(Incomplete::Buffers(2))))),
    ];
    let fine = vec![("sc", Ok(result(&bare, SC, None))), ("tso", Ok(result(&bare, TSO, None)))];
    vec![
        Entry::TestRun(Box::new(run(&condition, fine))),
        Entry::Unsupported("odd.litmus".into(), "line 3: what is this".into()),
        Entry::TestRun(Box::new(run(&condition, faulty))),
    ]
}

#[test]
fn a_table_has_a_row_for_each_file() {
    let models = ["sc", "tso"].map(|name| ModelSpec::by_name(name).expect("a built-in model"));
    let expected = "\
test        kind         SC        TSO
SB          Allowed      No Never  Ok Sometimes
odd.litmus  unsupported
SB          Allowed      fault     Loop No Never
";
    assert_eq!(table(&entries(), &models, Paint::Plain), expected);
    let totals = Totals::of(&entries());
    let counted = Totals { tests: 2, unsupported: 1, ok: 1, no: 1, undecided: 1, faults: 1 };
    assert_eq!(totals, counted);
    let line =
        "2 tests, 2 models, 1 Ok, 1 No, 1 undecided, 1 with a fault, 1 unsupported (0.25 s)\n";
    assert_eq!(totals.line(2, 0.25), line);
}

#[test]
fn json_has_the_results_of_each_file() {
    let report = LitmusReport::new("1.2.3", &entries());
    let json = serde_json::to_value(&report).expect("plain data serialises as JSON");
    assert_eq!(json["fencepost"], "1.2.3");
    let results = json["results"].as_array().expect("a list");
    let tso = &results[0]["test"]["models"][1];
    assert_eq!(tso["verdict"], "Ok");
    assert_eq!((tso["positive"].as_u64(), tso["negative"].as_u64()), (Some(1), Some(3)));
    assert_eq!(tso["states"][0], "0:EAX=0; 1:EAX=0;");
    assert_eq!(tso.get("incomplete"), None);
    assert_eq!(results[1]["unsupported"], "line 3: what is this");
    assert_eq!(results[1].get("test"), None);
    let models = &results[2]["test"]["models"];
    assert_eq!(models[0]["fault"], "it faults");
    assert_eq!(models[0].get("verdict"), None);
    assert_eq!(models[1]["incomplete"], "at most 2 pending accesses");
}

fn records(text: &str) -> Records {
    let mut records = Records::default();
    records.read(text).expect("records");
    records
}

/// Compares store buffering under TSO with a table.
fn compared(rows: &str) -> RecordComparison {
    let run = run(&format!("exists {CONDITION}"), Vec::new());
    records(rows).compare(&run, "tso", Ok(&result(&run, TSO, None)))
}

#[test]
fn only_recorded_columns_are_compared() {
    let head = "test\tmodel\tverdict\tobservation\tnstates\tstates\n";
    let all = "0:EAX=1; 1:EAX=1; | 0:EAX=0; 1:EAX=0; | 0:EAX=0; 1:EAX=1; | 0:EAX=1; 1:EAX=0;";
    let row = |text: &str| compared(&format!("# a comment\n{head}{text}\n"));
    assert_eq!(row(&format!("SB\ttso\tOk\tSometimes\t4\t{all}")), RecordComparison::Same);
    assert_eq!(row("SB\tTSO\tOk"), RecordComparison::Same, "absent cells are not compared");
    for unknown in ["MP\ttso\tOk", "SB\tsc\tOk", "SB\ttso\tLoop Ok", "SB\ttso\tERROR"] {
        assert_eq!(row(unknown), RecordComparison::Unknown, "{unknown}");
    }
    for (wrong, why) in [
        ("SB\ttso", "line 2 has no verdict"),
        ("SB\ttso\tMaybe", "line 2: `Maybe` is not a verdict"),
        ("SB\ttso\tOk\tNever\tmany", "line 2: `many` is not a number of states"),
        ("SB\ttso\tOk\nSB\ttso\tNo", "line 3 contradicts an earlier record"),
        ("SB\ttso\tOk\t\t\t\tmore", "line 2 has 7 cells for 6 columns"),
    ] {
        let read = Records::default().read(&format!("{head}{wrong}\n"));
        assert_eq!(read.expect_err("the line is invalid").to_string(), why);
    }
    let different =
        |lines: &[&str]| RecordComparison::Different(lines.iter().map(|l| l.to_string()).collect());
    assert_eq!(
        row("SB\ttso\tNo\tNever\t3"),
        different(&[
            "verdict: recorded No, found Ok",
            "observation: recorded Never, found Sometimes",
            "number of states: recorded 3, found 4",
        ])
    );
    let other = all.replace("0:EAX=0; 1:EAX=0;", "0:EAX=2; 1:EAX=0;");
    assert_eq!(
        row(&format!("SB\ttso\tOk\tSometimes\t4\t{other}")),
        different(&[
            "recorded, but not found: 0:EAX=2; 1:EAX=0;",
            "found, but not recorded: 0:EAX=0; 1:EAX=0;",
        ])
    );
}

/// The file name has precedence over the test name.
#[test]
fn records_are_found_by_file_test_and_model() {
    let run = run(&format!("exists {CONDITION}"), Vec::new());
    let head = "file\tmodel\tverdict\tkind\tcondition\thash\n";
    let hash = "7dbd6b8e6dd4abc2ef3d48b0376fb2e3";
    let rest = format!("Ok\tAllowed\texists {CONDITION}\t{hash}");
    let mut records = records(&format!("{head}SB.litmus\trmo-nospec\t{rest}\n"));
    let tso = result(&run, TSO, None);
    assert_eq!(records.compare(&run, "rmo-nospec", Ok(&tso)), RecordComparison::Same);
    assert_eq!(records.compare(&run, "pso", Ok(&tso)), RecordComparison::Unknown);
    let mut wrong = records_of_log("Forbidden", "exists (true)", "0");
    assert!(
        matches!(wrong.compare(&run, "tso", Ok(&tso)), RecordComparison::Different(lines) if lines.len() == 3)
    );
}

/// Compares store buffering in a file with records of its verdict, and returns what is found.
fn compared_file(records: &mut Records, file: &str) -> RecordComparison {
    let mut run = run(&format!("exists {CONDITION}"), Vec::new());
    run.file = file.into();
    let seen = result(&run, TSO, None);
    records.compare(&run, "tso", Ok(&seen))
}

#[test]
fn records_with_equal_file_names_are_told_apart_by_their_directories() {
    let head = "file\ttest\tmodel\tverdict\n";
    let mut both = records(&format!("{head}a/SB.litmus\tSB\ttso\tNo\nb/SB.litmus\tSB\ttso\tOk\n"));
    assert_eq!(compared_file(&mut both, "tests/b/SB.litmus"), RecordComparison::Same);
    let in_a = compared_file(&mut both, "tests/a/SB.litmus");
    assert!(matches!(in_a, RecordComparison::Different(_)), "{in_a:?}");
    assert_eq!(compared_file(&mut both, "c/SB.litmus"), RecordComparison::Unknown);
    // Without directories, it is not known which record is meant.
    let bare = compared_file(&mut both, "SB.litmus");
    assert!(matches!(bare, RecordComparison::Ambiguous(_)), "{bare:?}");
}

#[test]
fn a_record_is_compared_with_one_test_only() {
    let mut by_test = records("test\tmodel\tverdict\nSB\ttso\tOk\n");
    assert_eq!(compared_file(&mut by_test, "a/SB.litmus"), RecordComparison::Same);
    assert_eq!(compared_file(&mut by_test, "a/SB.litmus"), RecordComparison::Same);
    let other = compared_file(&mut by_test, "b/SB.litmus");
    assert!(
        matches!(&other, RecordComparison::Ambiguous(why) if why.contains("a/SB.litmus")),
        "{other:?}"
    );
    let hash = "7dbd6b8e6dd4abc2ef3d48b0376fb2e3";
    let mut by_hash = records(&format!("test\tmodel\tverdict\thash\nSB\ttso\tOk\t{hash}\n"));
    assert_eq!(compared_file(&mut by_hash, "a/SB.litmus"), RecordComparison::Same);
    assert_eq!(compared_file(&mut by_hash, "b/SB.litmus"), RecordComparison::Same);
    let mut log = Records::default();
    let twice = "Test SB Allowed\nOk\n\nTest SB Allowed\nNo\n";
    let error = log.read(twice).expect_err("two results of one test");
    assert_eq!(error.to_string(), "line 4 contradicts an earlier record");
}

#[test]
fn records_without_a_test_are_listed() {
    let head = "file\tmodel\tverdict\n";
    let mut some = records(&format!(
        "{head}x/SB.litmus\ttso\tOk\nx/SB.litmus\tsc\tNo\nx/MP.litmus\ttso\tNo\n"
    ));
    assert_eq!(compared_file(&mut some, "x/SB.litmus"), RecordComparison::Same);
    let unmatched = |some: &Records, models: &[&str]| -> Vec<(String, Option<String>)> {
        some.unmatched(models).into_iter().map(|record| (record.test, record.model)).collect()
    };
    let entry = |test: &str, model: &str| (test.to_string(), Some(model.to_string()));
    assert_eq!(unmatched(&some, &["tso"]), [entry("x/MP.litmus", "tso")]);
    let both = [entry("x/MP.litmus", "tso"), entry("x/SB.litmus", "sc")];
    assert_eq!(unmatched(&some, &["tso", "sc"]), both);
}

#[test]
fn hexadecimal_values_equal_decimal_ones() {
    let head = "test\tmodel\tverdict\tstates\n";
    let states =
        "0:EAX=0x0; 1:EAX=0X00; | 0:EAX=0; 1:EAX=1; | 0:EAX=0x1; 1:EAX=0; | 0:EAX=1; 1:EAX=0x1;";
    assert_eq!(compared(&format!("{head}SB\ttso\tOk\t{states}\n")), RecordComparison::Same);
    let other = states.replace("0x0;", "0x10;");
    let found = compared(&format!("{head}SB\ttso\tOk\t{other}\n"));
    let RecordComparison::Different(lines) = found else { panic!("{found:?}") };
    assert_eq!(lines[0], "recorded, but not found: 0:EAX=16; 1:EAX=0;");
    let head = "test\tmodel\tverdict\tcondition\n";
    let condition = "exists (0:EAX=0x0 /\\ 1:EAX=0)";
    assert_eq!(compared(&format!("{head}SB\ttso\tOk\t{condition}\n")), RecordComparison::Same);
}

fn records_of_log(kind: &str, condition: &str, hash: &str) -> Records {
    let states = "0:EAX=0; 1:EAX=0;\n0:EAX=0; 1:EAX=1;\n0:EAX=1; 1:EAX=0;\n0:EAX=1; 1:EAX=1;";
    records(&format!(
        "Test SB {kind}\nStates 4\n{states}\nOk\nWitnesses\nPositive: 9 Negative: 9\n\
         Condition {condition}\nObservation SB Sometimes 9 9\nTime SB 9.00\nHash={hash}\n\n"
    ))
}

#[test]
fn herd_logs_are_records() {
    let run = run(&format!("exists {CONDITION}"), Vec::new());
    let condition = format!("exists {CONDITION}");
    let mut log = records_of_log("Allowed", &condition, "7dbd6b8e6dd4abc2ef3d48b0376fb2e3");
    for model in ["sc", "tso"] {
        assert_eq!(log.compare(&run, model, Ok(&result(&run, TSO, None))), RecordComparison::Same);
    }
    let under_sc = log.compare(&run, "sc", Ok(&result(&run, SC, None)));
    let RecordComparison::Different(lines) = under_sc else { panic!("{under_sc:?}") };
    assert!(lines.contains(&"recorded, but not found: 0:EAX=0; 1:EAX=0;".to_string()), "{lines:?}");
    // So are tables that do not name their model.
    let mut table = records("test\tverdict\tnstates\nSB\tOk\t4\n");
    assert_eq!(table.compare(&run, "tso", Ok(&result(&run, TSO, None))), RecordComparison::Same);
    let under_sc = table.compare(&run, "sc", Ok(&result(&run, SC, None)));
    assert!(matches!(under_sc, RecordComparison::Different(_)), "{under_sc:?}");
    // Our own output can be read back.
    let text = block(&run, &result(&run, TSO, None), true);
    assert_eq!(
        records(&text).compare(&run, "tso", Ok(&result(&run, TSO, None))),
        RecordComparison::Same
    );
}

#[test]
fn invalid_records_are_rejected() {
    for (text, expected) in [
        ("", "no records"),
        ("# only a comment\n", "no records"),
        ("some prose\n", "neither a table of records nor a herd log"),
        ("name\tmodel\nSB\ttso\n", "neither a `test` nor a `file` column"),
        ("test\tmodel\nSB\n", "line 2 has too few columns"),
        ("Test SB\n", "line 1 does not start a block"),
    ] {
        let error = Records::default().read(text).expect_err("the text has no valid records");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

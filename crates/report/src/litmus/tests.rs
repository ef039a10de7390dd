//! Blocks, tables, comparisons and JSON, of results made up by hand.

use super::block::{block, warning};
use super::expect::{Compared, Records};
use super::json::LitmusReport;
use super::table::{Totals, table};
use super::{Cut, Entry, Ran, Seen};
use crate::paint::Paint;
use fencepost_frontends::litmus;
use fencepost_ir::{Diagnostics, Quantifier, Value};
use fencepost_models::ModelSpec;
use std::collections::BTreeSet;

/// Store buffering, with this question.
fn ran(question: &str, models: Vec<(&str, Result<Seen, String>)>) -> Ran {
    let source = format!(
        "X86 SB\n{{ x=0; y=0; }}\nP0|P1;MOV [x],$1|MOV [y],$1;MOV EAX,[y]|MOV EAX,[x];\n{question}"
    );
    let test = litmus::read(&source, "t", false, &mut Diagnostics::new()).expect("a test");
    let model = |name: &str| ModelSpec::by_name(name).expect("a built-in model");
    let models = models.into_iter().map(|(name, seen)| (model(name), seen)).collect();
    Ran { file: "tests/SB.litmus".into(), test, models }
}

const SC: &[[Value; 2]] = &[[0, 1], [1, 0], [1, 1]];
const TSO: &[[Value; 2]] = &[[0, 0], [0, 1], [1, 0], [1, 1]];

/// What these states show of a test.
fn seen(ran: &Ran, states: &[[Value; 2]], cut: Option<Cut>) -> Seen {
    let outcomes: BTreeSet<Vec<Value>> = states.iter().map(|state| state.to_vec()).collect();
    Seen { shown: ran.test.show(&outcomes).expect("values compare"), cut, seconds: 0.014 }
}

const ASKED: &str = "(0:EAX=0 /\\ 1:EAX=0)";

#[test]
fn a_block_is_what_herd_prints() {
    let ran = ran(&format!("exists {ASKED}"), Vec::new());
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
    let seen = seen(&ran, TSO, None);
    assert_eq!(block(&ran, &seen, true), expected);
    let without: Vec<&str> = expected.lines().filter(|line| !line.starts_with("Time")).collect();
    assert_eq!(block(&ran, &seen, false), without.join("\n") + "\n");
    assert_eq!(warning(&ran, &seen), None);
}

/// For `~exists` the witnesses change places, the observation does not.
#[test]
fn kinds_verdicts_and_witnesses() {
    for (question, states, kind, verdict, witnesses, observation) in [
        ("exists", SC, "Allowed", "No", "Positive: 0 Negative: 3", "Never 0 3"),
        ("exists", TSO, "Allowed", "Ok", "Positive: 1 Negative: 3", "Sometimes 1 3"),
        ("~exists", SC, "Forbidden", "Ok", "Positive: 3 Negative: 0", "Never 0 3"),
        ("~exists", TSO, "Forbidden", "No", "Positive: 3 Negative: 1", "Sometimes 1 3"),
        ("forall", TSO, "Required", "No", "Positive: 1 Negative: 3", "Sometimes 1 3"),
        ("forall", &TSO[..1], "Required", "Ok", "Positive: 1 Negative: 0", "Always 1 0"),
        ("exists", &[], "Allowed", "No", "Positive: 0 Negative: 0", "Never 0 0"),
    ] {
        let ran = ran(&format!("{question} {ASKED}"), Vec::new());
        let text = block(&ran, &seen(&ran, states, None), false);
        let lines: Vec<&str> = text.lines().collect();
        let at = states.len();
        assert_eq!(lines[0], format!("Test SB {kind}"));
        assert_eq!(lines[1], format!("States {at}"));
        assert_eq!(lines[at + 2..at + 5], [verdict, "Witnesses", witnesses], "{question}");
        assert_eq!(lines[at + 6], format!("Observation SB {observation}"));
    }
}

/// One state can settle a question though not all are known; the other way it takes all.
#[test]
fn what_is_cut_short_says_so() {
    let buffers = || Some(Cut::Buffers(4));
    let limit = || Some(Cut::Limit("the time is over".into()));
    for (question, states, cut, verdict) in [
        (Quantifier::Exists, TSO, buffers(), "Ok"),
        (Quantifier::Exists, SC, buffers(), "Loop No"),
        (Quantifier::Exists, SC, limit(), "Undef"),
        (Quantifier::Never, TSO, buffers(), "No"),
        (Quantifier::Never, SC, buffers(), "Loop Ok"),
        (Quantifier::Forall, TSO, limit(), "No"),
        (Quantifier::Forall, &TSO[..1], limit(), "Undef"),
        (Quantifier::Forall, &TSO[..1], buffers(), "Loop Ok"),
    ] {
        let ran = ran(&format!("exists {ASKED}"), Vec::new());
        let seen = seen(&ran, states, cut.clone());
        assert_eq!(seen.verdict(question), verdict, "{question:?} {cut:?}");
        let told = warning(&ran, &seen).expect("something is missing");
        let why = if cut == buffers() { "more than 4" } else { "the time is over" };
        assert!(told.starts_with("tests/SB.litmus: ") && told.contains(why), "{told}");
    }
}

/// Two models, and a file that is no test.
fn entries() -> Vec<Entry> {
    let question = format!("exists {ASKED}");
    let bare = ran(&question, Vec::new());
    let faulty = vec![
        ("sc", Err("it faults".to_string())),
        ("tso", Ok(seen(&bare, SC, Some(Cut::Buffers(2))))),
    ];
    let fine = vec![("sc", Ok(seen(&bare, SC, None))), ("tso", Ok(seen(&bare, TSO, None)))];
    vec![
        Entry::Ran(Box::new(ran(&question, fine))),
        Entry::Unsupported("odd.litmus".into(), "line 3: what is this".into()),
        Entry::Ran(Box::new(ran(&question, faulty))),
    ]
}

#[test]
fn tables_have_a_row_for_each_file() {
    let models = ["sc", "tso"].map(|name| ModelSpec::by_name(name).expect("a built-in model"));
    let expected = "\
test        kind         SC        TSO
SB          Allowed      No Never  Ok Sometimes
odd.litmus  unsupported
SB          Allowed      fault     Loop No Never
";
    assert_eq!(table(&entries(), &models, Paint::Plain), expected);
    let totals = Totals::of(&entries());
    let counted = Totals { tests: 2, unsupported: 1, ok: 1, no: 1, unsure: 1, faults: 1 };
    assert_eq!(totals, counted);
    let line = "2 tests, 2 models, 1 Ok, 1 No, 1 without an answer, 1 with a fault, 1 unsupported (0.25 s)\n";
    assert_eq!(totals.line(2, 0.25), line);
}

#[test]
fn programs_read_the_same() {
    let report = LitmusReport::new("1.2.3", &entries());
    let json = serde_json::to_value(&report).expect("plain data");
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

/// How store buffering under TSO compares with a table.
fn compared(rows: &str) -> Compared {
    let ran = ran(&format!("exists {ASKED}"), Vec::new());
    records(rows).compare(&ran, "tso", &seen(&ran, TSO, None))
}

#[test]
fn what_is_recorded_is_compared() {
    let head = "test\tmodel\tverdict\tobservation\tnstates\tstates\n";
    let all = "0:EAX=1; 1:EAX=1; | 0:EAX=0; 1:EAX=0; | 0:EAX=0; 1:EAX=1; | 0:EAX=1; 1:EAX=0;";
    let row = |text: &str| compared(&format!("# a comment\n{head}{text}\n"));
    assert_eq!(row(&format!("SB\ttso\tOk\tSometimes\t4\t{all}")), Compared::Same);
    assert_eq!(row("SB\tTSO\tOk"), Compared::Same, "what is absent is not compared");
    for unknown in ["MP\ttso\tOk", "SB\tsc\tOk", "SB\ttso\tLoop Ok", "SB\ttso\tERROR"] {
        assert_eq!(row(unknown), Compared::Unknown, "{unknown}");
    }
    for (wrong, why) in [
        ("SB\ttso", "line 2 has no verdict"),
        ("SB\ttso\tMaybe", "line 2: `Maybe` is no verdict"),
        ("SB\ttso\tOk\tNever\tmany", "line 2: `many` is no number of states"),
        ("SB\ttso\tOk\nSB\ttso\tNo", "line 3 contradicts an earlier record"),
        ("SB\ttso\tOk\t\t\t\tmore", "line 2 has 7 cells for 6 columns"),
    ] {
        let read = Records::default().read(&format!("{head}{wrong}\n"));
        assert_eq!(read.expect_err("a wrong line").to_string(), why);
    }
    let different =
        |lines: &[&str]| Compared::Different(lines.iter().map(|l| l.to_string()).collect());
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

/// By the name of the file before that of the test; RMO without speculation is ours.
#[test]
fn records_are_found_by_file_test_and_model() {
    let ran = ran(&format!("exists {ASKED}"), Vec::new());
    let head = "file\tmodel\tverdict\tkind\tcondition\thash\n";
    let hash = "7dbd6b8e6dd4abc2ef3d48b0376fb2e3";
    let rest = format!("Ok\tAllowed\texists {ASKED}\t{hash}");
    let records = records(&format!("{head}SB.litmus\trmo-nospec\t{rest}\n"));
    let tso = seen(&ran, TSO, None);
    assert_eq!(records.compare(&ran, "rmo", &tso), Compared::Same);
    assert_eq!(records.compare(&ran, "pso", &tso), Compared::Unknown);
    let wrong = records_of_log("Forbidden", "exists (true)", "0");
    assert!(
        matches!(wrong.compare(&ran, "tso", &tso), Compared::Different(lines) if lines.len() == 3)
    );
}

fn records_of_log(kind: &str, condition: &str, hash: &str) -> Records {
    let states = "0:EAX=0; 1:EAX=0;\n0:EAX=0; 1:EAX=1;\n0:EAX=1; 1:EAX=0;\n0:EAX=1; 1:EAX=1;";
    records(&format!(
        "Test SB {kind}\nStates 4\n{states}\nOk\nWitnesses\nPositive: 9 Negative: 9\n\
         Condition {condition}\nObservation SB Sometimes 9 9\nTime SB 9.00\nHash={hash}\n\n"
    ))
}

#[test]
fn logs_of_herd_are_records() {
    let ran = ran(&format!("exists {ASKED}"), Vec::new());
    let asked = format!("exists {ASKED}");
    let log = records_of_log("Allowed", &asked, "7dbd6b8e6dd4abc2ef3d48b0376fb2e3");
    for model in ["sc", "tso"] {
        assert_eq!(log.compare(&ran, model, &seen(&ran, TSO, None)), Compared::Same);
    }
    let under_sc = log.compare(&ran, "sc", &seen(&ran, SC, None));
    let Compared::Different(lines) = under_sc else { panic!("{under_sc:?}") };
    assert!(lines.contains(&"recorded, but not found: 0:EAX=0; 1:EAX=0;".to_string()), "{lines:?}");
    // What the program itself prints reads back as the same.
    let text = block(&ran, &seen(&ran, TSO, None), true);
    assert_eq!(records(&text).compare(&ran, "tso", &seen(&ran, TSO, None)), Compared::Same);
}

#[test]
fn what_is_no_record_is_refused() {
    for (text, said) in [
        ("", "no records"),
        ("# only a comment\n", "no records"),
        ("some prose\n", "neither a table of records nor a log"),
        ("name\tmodel\nSB\ttso\n", "neither a column `test`"),
        ("test\tverdict\nSB\tOk\n", "no column `model`"),
        ("test\tmodel\nSB\n", "line 2 has too few columns"),
        ("Test SB\n", "line 1 is no beginning"),
    ] {
        let told = Records::default().read(text).expect_err("no records");
        assert!(told.to_string().contains(said), "{told}");
    }
}

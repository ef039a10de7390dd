//! Tests of `reproduce` in the real binary: the format of its report, and the results of fast rows.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Output};

const SCHEMA: &str = include_str!("../../../book/src/reproduce.schema.json");

fn reproduce(table: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(["reproduce", table]).args(args).env("NO_COLOR", "1");
    command.output().expect("the binary runs")
}

fn json(table: &str, args: &[&str]) -> (Value, Option<i32>) {
    let output = reproduce(table, &[args, &["--format", "json"]].concat());
    let value = serde_json::from_slice(&output.stdout).expect("JSON");
    (value, output.status.code())
}

fn rows(value: &Value) -> &[Value] {
    value["rows"].as_array().expect("a list of rows")
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn required(schema: &Value) -> BTreeSet<&str> {
    let required = schema["required"].as_array().expect("a list of keys").iter();
    required.map(|key| key.as_str().expect("a key")).collect()
}

/// Returns the row with this name and column.
fn row<'v>(value: &'v Value, name: &str, column: &str) -> &'v Value {
    let found = rows(value).iter().find(|row| row["row"] == name && row["column"] == column);
    found.unwrap_or_else(|| panic!("no row {name} {column}"))
}

#[test]
fn treiber_has_the_expected_figures() {
    let (value, code) = json("fender", &["--only", "treiber"]);
    assert_eq!(code, Some(0));
    assert_eq!(value["table"], "fender");
    assert_eq!(rows(&value).len(), 3 * 4 + 3 + 2 * 2);
    for row in rows(&value) {
        let name = row["row"].as_str().expect("a name");
        assert!(name.starts_with("Treiber "), "{name}");
        assert_eq!(row["ran"], true, "{row}");
        assert!(row["ours"]["seconds"].is_number(), "{row}");
    }
    let pairs = row(&value, "Treiber pp|tt", "RMO-NOSPEC");
    assert_eq!(pairs["paper"]["constraints"], 2);
    assert_eq!(pairs["ours"]["constraints"], 2);
    assert_eq!(pairs["agrees"], true);
    // Fewer constraints than in the paper.
    let single = row(&value, "Treiber p|t", "PSO");
    assert_eq!((&single["ours"]["constraints"], &single["agrees"]), (&1.into(), &false.into()));
    // The variants that check the final stack have the paper's number.
    for name in ["Treiber p|t, final stack, arbitrary links", "Treiber pt|tp, final stack"] {
        for column in ["RMO-NOSPEC", "PSO"] {
            let variant = row(&value, name, column);
            assert_eq!(
                (&variant["ours"]["constraints"], &variant["agrees"]),
                (&2.into(), &true.into())
            );
        }
    }
    for (column, fences, constraints) in [("RMO-NOSPEC", 1, 2), ("PSO", 1, 2), ("TSO", 0, 0)] {
        let ours = &row(&value, "Treiber all clients", column)["ours"];
        assert_eq!(ours["fences"], fences, "{column}");
        assert_eq!(ours["constraints"], constraints, "{column}");
        assert_eq!(ours["verified"], true, "{column}");
    }
}

/// Returns every row with its figures, its status and the start of its note, without times.
fn statuses(value: &Value) -> String {
    let mut out = String::new();
    for row in rows(value) {
        let text = |key: &str| row[key].as_str().expect("a text");
        let figures = row["ours"].as_object().expect("figures").iter();
        let figures = figures.filter(|(name, _)| *name != "seconds");
        let figures: Vec<String> =
            figures.map(|(name, figure)| format!("{name} {figure}")).collect();
        let note: String = text("note").chars().take(60).collect();
        let all = [text("row"), text("column"), &figures.join(", "), text("status"), &note];
        out.push_str(all.join(" | ").trim_end_matches(" | "));
        out.push('\n');
    }
    out
}

/// The rows that take little time, and whose comparison does not depend on times.
#[test]
fn fast_rows_have_known_figures_and_statuses() {
    for (table, only) in [
        ("fender", "Treiber"),
        ("fender", "Dekker"),
        ("blender", "Fig. 6"),
        ("blender", "Sense"),
        ("automata", "Fig."),
        ("automata", "Dekker"),
    ] {
        let (value, code) = json(table, &["--only", only]);
        assert_eq!(code, Some(0), "{table} {only}");
        let name = format!("{table}_{}", only.to_lowercase().replace(['.', ' '], ""));
        insta::assert_snapshot!(name, statuses(&value));
    }
}

/// Returns our figure in a row.
fn ours<'v>(value: &'v Value, name: &str, column: &str, figure: &str) -> &'v Value {
    &row(value, name, column)["ours"][figure]
}

#[test]
fn peterson_is_proved_and_repaired_as_in_the_paper() {
    // On a slow machine, the method of the paper may reach the time limit.
    let (value, code) = json("blender", &["--only", "Peterson", "--time", "2"]);
    assert!(matches!(code, Some(0 | 5)), "{code:?}");
    assert_eq!(value["table"], "blender");
    assert_eq!(rows(&value).len(), 3 + 4 + (1 + 5) + (1 + 3));
    let (fenced, bare) = ("Peterson peterson2", "Peterson peterson0");
    assert_eq!(ours(&value, fenced, "PSO set", "result"), "spurious");
    assert_eq!(ours(&value, fenced, "PSO fd k=0", "result"), "proved");
    assert_eq!(ours(&value, fenced, "PSO fd k=1", "result"), "proved");
    for column in ["PSO set", "PSO fd k=0", "PSO fd k=1"] {
        assert_eq!(row(&value, fenced, column)["status"], "agrees", "{column}");
    }
    for (column, fences) in [("PSO lazy", 2), ("TSO lazy", 1)] {
        assert_eq!(ours(&value, bare, column, "fences"), fences, "{column}");
        assert_eq!(ours(&value, bare, column, "proved"), true, "{column}");
    }
}

#[test]
fn longer_heads_remove_the_redundant_fence_of_figure_6() {
    let (value, code) = json("blender", &["--only", "Fig. 6"]);
    assert_eq!(code, Some(0));
    let name = "Fig. 6 blender-fig6";
    for (column, fences) in [("PSO lazy", 0), ("PSO fd k=0", 1), ("PSO fd k=1", 0)] {
        assert_eq!(ours(&value, name, column, "fences"), fences, "{column}");
        assert_eq!(row(&value, name, column)["agrees"], true, "{column}");
    }
}

#[test]
fn mutual_exclusion_with_buffer_automata_agrees_with_the_paper() {
    let (value, code) = json("automata", &["--only", "e"]);
    assert_eq!(code, Some(0));
    let mut compared = 0;
    for row in rows(&value).iter().filter(|row| !row["ours"]["result"].is_null()) {
        assert_eq!(row["ours"]["result"], row["paper"]["result"], "{row}");
        let errors = |whose: &str| row[whose]["errors"].as_u64().expect("a number");
        assert_eq!(errors("ours") > 0, errors("paper") > 0, "{row}");
        for figure in ["stored", "visited", "depth", "seconds"] {
            assert!(row["ours"][figure].is_number() && row["paper"][figure].is_number(), "{row}");
        }
        compared += 1;
    }
    assert_eq!(compared, 12);
    assert_eq!(ours(&value, "Peterson with guards single entry", "TSO", "depth"), 15);
    for name in ["single entry", "single entry + sync", "repeated entry", "repeated entry + sync"] {
        assert_eq!(row(&value, &format!("Dekker {name}"), "TSO")["agrees"], true, "{name}");
    }
    for (column, possible) in [("SC", false), ("TSO", true)] {
        assert_eq!(ours(&value, "Table 1 both finish", column, "possible"), possible, "{column}");
    }
}

#[test]
fn examples_of_buffer_automata_agree_with_the_paper() {
    let (value, code) = json("automata", &["--only", "Fig."]);
    assert_eq!(code, Some(0));
    for row in rows(&value) {
        assert_ne!(row["status"], "differs", "{row}");
    }
    let saved = &row(&value, "Fig. 2 statements first", "TSO")["ours"];
    assert_eq!((&saved["fewer"], &saved["ends without"]), (&true.into(), &false.into()));
    let contents = |name: &str| ours(&value, name, "TSO", "contents").clone();
    let list = |text: &str| serde_json::json!([text]);
    assert_eq!(contents("Fig. 2 p before x = 0"), list("(x,1)?((x,0)(x,1))*"));
    assert_eq!(contents("Fig. 4 p before x = 1"), list("(x,0)?((x,1)(x,0))*"));
    assert_eq!(contents("Fig. 4 q before y = 1"), list("(y,0)?((y,1)(y,0))*"));
    assert_eq!(ours(&value, "Fig. 4 both at once", "TSO", "rounds"), 4);
    let possible = |name: &str, column: &str| {
        ours(&value, &format!("Fig. 4 {name}"), column, "possible").as_bool().expect("a flag")
    };
    for column in ["SC", "TSO"] {
        assert!(possible("deadlock in state 4", column), "{column}");
    }
    assert!(!possible("both go on from state 4", "SC"));
    assert!(possible("both go on from state 4", "TSO"));
}

#[test]
fn a_user_limit_does_not_count_as_nontermination() {
    let (value, code) = json("automata", &["--only", "Fig. 2", "--max-states", "20"]);
    assert_eq!(code, Some(5));
    for row in rows(&value) {
        assert_eq!((&row["ran"], &row["agrees"]), (&false.into(), &false.into()), "{row}");
    }
}

#[test]
fn reports_match_the_schema() {
    assert_matches_schema("automata", "Fig. 2");
    assert_matches_schema("fender", "Treiber");
    assert_matches_schema("blender", "Fig. 6");
}

fn assert_matches_schema(table: &str, only: &str) {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let (value, _) = json(table, &["--only", only]);
    assert_eq!(keys(&value), required(&schema));
    assert_eq!(keys(&schema["properties"]), required(&schema));
    let row_schema = &schema["$defs"]["row"];
    assert_eq!(keys(&row_schema["properties"]), required(row_schema));
    for row in rows(&value) {
        assert_eq!(keys(row), required(row_schema));
        for figure in [&row["paper"], &row["ours"]].iter().flat_map(|f| f.as_object()).flatten() {
            let (name, figure) = figure;
            let texts = figure.as_array().map(|list| list.iter().all(Value::is_string));
            let single = figure.is_number() || figure.is_boolean() || figure.is_string();
            let known = single || texts == Some(true);
            assert!(known, "{name}: {figure}");
        }
    }
}

#[test]
fn a_row_stopped_by_a_limit_is_reported() {
    let (value, code) = json("fender", &["--only", "Treiber", "--max-states", "5"]);
    assert_eq!(code, Some(5));
    let stopped = row(&value, "Treiber pt|tp", "RMO-NOSPEC");
    assert_eq!((&stopped["ran"], &stopped["agrees"]), (&false.into(), &false.into()));
    assert_eq!(stopped["ours"], serde_json::json!({}));
    assert!(stopped["note"].as_str().expect("a note").contains("limit"), "{stopped}");
    let text = reproduce("fender", &["--only", "Treiber", "--max-states", "5"]);
    assert_eq!(text.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&text.stdout).contains("reached a limit"));
}

#[test]
fn an_unknown_row_is_an_error() {
    let output = reproduce("fender", &["--only", "Vitanyi"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no row matches --only"));
}

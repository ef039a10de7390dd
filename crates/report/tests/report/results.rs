//! Tests of the JSON output against its schema, and of stored traces.

use crate::common::{MESSAGE, PETERSON, STORE_BUFFERING, find, lower, model};
use fencepost_engines::Settings;
use fencepost_ir::Diagnostics;
use fencepost_report::TraceRows;
use fencepost_report::finding::QueryResult;
use fencepost_report::json::{BufferRecord, CheckReport, CheckResult, InputError};
use fencepost_report::trace_file::TraceFile;
use fencepost_search::Limits;
use serde_json::Value;
use std::borrow::Cow;

const SCHEMA: &str = include_str!("../../../../book/src/check.schema.json");

/// Validates a value against the subset of JSON Schema that our schemas use.
pub(crate) fn validate(
    schema: &Value,
    root: &Value,
    value: &Value,
    at: &str,
) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.strip_prefix('#').expect("a local reference"));
        return validate(target.expect("a definition"), root, value, at);
    }
    let known = ["$schema", "$id", "$defs", "title", "description", "type", "enum", "required"];
    let known = [&known[..], &["properties", "additionalProperties", "items"]].concat();
    for key in schema.as_object().expect("a schema is an object").keys() {
        assert!(known.contains(&key.as_str()), "the schema uses the unsupported keyword {key}");
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{at}: {value} is not one of {allowed:?}"));
    }
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema has a type {other}"),
    };
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        other => panic!("a type is a name or a list, not {other}"),
    };
    if !fits {
        return Err(format!("{at}: {value} is not of type {}", schema["type"]));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().expect("a name")).is_none() {
            return Err(format!("{at}: {name} is missing"));
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => validate(schema, root, member, &format!("{at}.{name}"))?,
            None if schema["additionalProperties"] == Value::Bool(false) => {
                return Err(format!("{at}: {name} is not in the schema"));
            }
            None => {}
        }
    }
    if schema.get("items").is_some() {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            validate(&schema["items"], root, item, &format!("{at}[{index}]"))?;
        }
    }
    Ok(())
}

fn results(source: &str, settings: Settings) -> Vec<CheckResult> {
    let problem = lower(source);
    ["sc", "tso", "pso", "rmo"]
        .iter()
        .map(|name| {
            let model = model(name);
            let finding = find(&problem, &model, settings);
            CheckResult::new(&finding, finding.trace_rows().as_ref())
        })
        .collect()
}

#[test]
fn every_result_matches_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let fault = "record N { int v; }\npool N[1];\nshared int x;\n\
                 thread p { n = new N; if (choose(0..2) == 1) { m = new N; } atomic { x = 1; } }\n\
                 thread q { r = cas(x, 0, 1); fence load_load; drain x; critical { skip; } }\n";
    let few = Limits { states: 3, ..Limits::default() };
    let mut all = Vec::new();
    for source in [PETERSON, MESSAGE, STORE_BUFFERING, fault] {
        all.extend(results(source, Settings::default()));
    }
    all.extend(results(PETERSON, Settings { limits: few, ..Settings::default() }));
    all.extend(results(
        "shared int x;\nthread p { loop { x = 1; } }\n",
        Settings { max_buffer: Some(3), ..Settings::default() },
    ));
    let (problem, sc) = (lower(PETERSON), model("sc"));
    for result in [QueryResult::NotRun, QueryResult::Crashed("a bug".into())] {
        let mut finding = find(&problem, &sc, Settings::default());
        finding.result = result;
        all.push(CheckResult::new(&finding, None));
    }
    let mut with_buffers = results(MESSAGE, Settings::default()).swap_remove(1);
    with_buffers.engine = "automata".into();
    with_buffers.buffers_complete = Some(true);
    let record = |dot_file| BufferRecord {
        thread: "p".into(),
        line: 2,
        contents: "((x,1)(x,0))*".into(),
        finite: false,
        dot_file,
    };
    with_buffers.buffers = Some(vec![record(Some("out/m-tso-p-2.dot".into())), record(None)]);
    all.push(with_buffers);
    let mut diagnostics = Diagnostics::new();
    assert!(fencepost_frontends::fp::lower("shared int", &mut diagnostics).is_none());
    let errors: Vec<InputError> = diagnostics.iter().map(|d| InputError::new("x.fp", d)).collect();
    assert!(!errors.is_empty());
    for verdict in ["verified", "violated", "inconclusive"] {
        assert!(all.iter().any(|result| result.verdict == verdict), "{verdict}");
    }
    let report = serde_json::to_value(CheckReport::new("1.2.3", all, errors))
        .expect("plain data serialises as JSON");
    validate(&schema, &schema, &report, "report").expect("the report matches the schema");
}

#[test]
fn the_schema_rejects_undocumented_output() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let report = |results: &str| -> Value {
        let text = format!("{{\"fencepost\":\"1\",\"command\":\"check\",\"results\":{results}}}");
        serde_json::from_str(&text).expect("JSON")
    };
    assert!(validate(&schema, &schema, &report("[]"), "").is_ok());
    assert!(validate(&schema, &schema, &report("[{}]"), "").is_err());
    assert!(validate(&schema, &schema, &report("7"), "").is_err());
}

#[test]
fn message_passing_as_json() {
    let result = results(MESSAGE, Settings::default()).swap_remove(2);
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&result).expect("plain data serialises as JSON")
    );
}

#[test]
fn a_bounded_result_is_not_verified() {
    let source = "shared int x;\nthread p { loop { x = 1; } }\n";
    let settings = Settings { max_buffer: Some(3), ..Settings::default() };
    let results = results(source, settings);
    assert_eq!((results[0].verdict, results[0].reason), ("verified", None));
    for result in &results[1..3] {
        assert_eq!((result.verdict, result.reason), ("inconclusive", Some("buffers")));
        assert_eq!(result.clean_up_to, Some(3));
        let message = result.message.as_deref().expect("a reason");
        assert_eq!(message, "no violation with buffers up to 3, but they can grow further");
    }
}

fn trace_file(source: &str, name: &str) -> TraceFile {
    let problem = lower(source);
    let model = model(name);
    let finding = find(&problem, &model, Settings::default());
    let trace_rows = finding.trace_rows().expect("a run");
    let message = finding.message(Some(&trace_rows)).expect("a violation");
    TraceFile::new("1.2.3", ("test.fp", source), (&model, finding.reductions), &trace_rows, message)
}

#[test]
fn stored_traces_replay() {
    for source in [PETERSON, MESSAGE, STORE_BUFFERING] {
        for name in ["pso", "rmo", "table-pso"] {
            let stored = trace_file(source, name);
            let file = TraceFile::parse(&stored.to_text()).expect("a written trace file is valid");
            assert_eq!(file, stored);
            let problem = lower(&file.source);
            let model = file.model.model().expect("a written model is valid");
            let trace = file.trace(&problem.program).expect("the program has the recorded threads");
            let run = model
                .replay(&problem, file.reductions(), &trace)
                .expect("the stored trace replays");
            let trace_rows = TraceRows::new(&problem, Cow::Owned(run));
            assert_eq!(file.compare_events(&trace_rows, file.steps.len()), Ok(()));
        }
    }
}

#[test]
fn a_changed_trace_is_detected() {
    let mut file = trace_file(MESSAGE, "pso");
    let problem = lower(MESSAGE);
    let trace = file.trace(&problem.program).expect("the program has the recorded threads");
    let run =
        model("pso").replay(&problem, file.reductions(), &trace).expect("the stored trace replays");
    let trace_rows = TraceRows::new(&problem, Cow::Owned(run));
    file.events[2].value = Some("2".into());
    let difference = file.compare_events(&trace_rows, 99).expect_err("a difference");
    assert_eq!(difference.step, Some(2));
    assert_eq!(
        difference.what,
        "recorded `p commit flag = 2` (:4), but replayed `p commit flag = 1` (:4)"
    );
    file.steps[0].thread = "nobody".into();
    assert_eq!(file.trace(&problem.program).expect_err("an unknown thread").step, Some(0));
}

#[test]
fn invalid_trace_files_have_specific_errors() {
    let error = |text: &str| TraceFile::parse(text).expect_err("an invalid file").to_string();
    assert!(error("").starts_with("this is not a trace file"));
    assert!(error("[]").starts_with("this is not a trace file"));
    assert!(error("{\"trace_version\": 9}").contains("version 9"));
    assert!(error("{\"trace_version\": 1}").starts_with("the trace file is damaged"));
    let mut file = trace_file(MESSAGE, "pso");
    file.model.relax.pop();
    assert!(
        file.model.model().expect_err("not the relaxations of PSO").to_string().contains("`relax`")
    );
    file.model.kind = "quantum".into();
    assert!(file.model.model().is_err());
}

#[test]
fn inconsistent_operation_results_are_described() {
    let library = |consistency: &str| {
        format!(
            "shared int x, y;
             operation void put(int v) as p {{ x = v; }}
             operation int get() as g {{ int r = x; return r; }}
             operation void set() as s {{ y = 1; }}
             operation int test() as t {{ int r = y; return r; }}
             property {consistency} operations;
             client pt|sg;"
        )
    };
    let problem = lower(&library("sequentially_consistent"));
    let model = model("tso");
    let finding = find(&problem, &model, Settings::default());
    let trace_rows = finding.trace_rows();
    let result = CheckResult::new(&finding, trace_rows.as_ref());
    assert_eq!(result.reason, Some("operations"));
    assert_eq!(result.property.as_deref(), Some("sequentially_consistent operations"));
    let message = "operations: client(0): t1 = 0; client(1): g1 = 0: \
                   no interleaving of the operations explains these results";
    assert_eq!(result.message.as_deref(), Some(message));

    let problem = lower(&library("linearizable").replace("pt|sg", "p|g"));
    let finding = find(&problem, &model, Settings::default());
    let trace_rows = finding.trace_rows();
    let result = CheckResult::new(&finding, trace_rows.as_ref());
    assert_eq!(result.property.as_deref(), Some("linearizable operations"));
    let message = "operations: client(1): g1 = 0: not linearizable: no order of the operations \
                   that respects real time explains these results";
    assert_eq!(result.message.as_deref(), Some(message));
}

//! Results for programs: the schema is the truth, and stored traces replay.

use crate::common::{MESSAGE, PETERSON, STORE_BUFFERING, find, lower, model};
use fencepost_engines::Settings;
use fencepost_ir::Diagnostics;
use fencepost_report::Story;
use fencepost_report::finding::Found;
use fencepost_report::json::{BufferRecord, CheckReport, CheckResult, InputError};
use fencepost_report::trace_file::TraceFile;
use fencepost_search::Limits;
use serde_json::Value;
use std::borrow::Cow;

const SCHEMA: &str = include_str!("../../../../book/src/check.schema.json");

/// Validates against the part of JSON Schema that our schema uses.
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
        assert!(known.contains(&key.as_str()), "the schema uses {key}, which nobody checks");
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
            CheckResult::new(&finding, finding.story().as_ref())
        })
        .collect()
}

#[test]
fn every_result_keeps_to_the_schema() {
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
    for result in [Found::NotRun, Found::Crashed("a bug".into())] {
        let mut finding = find(&problem, &sc, Settings::default());
        finding.result = result;
        all.push(CheckResult::new(&finding, None));
    }
    let mut drawn = results(MESSAGE, Settings::default()).swap_remove(1);
    drawn.engine = "automata".into();
    drawn.buffers_complete = Some(true);
    let record = |dot_file| BufferRecord {
        thread: "p".into(),
        line: 2,
        contents: "((x,1)(x,0))*".into(),
        finite: false,
        dot_file,
    };
    drawn.buffers = Some(vec![record(Some("out/m-tso-p-2.dot".into())), record(None)]);
    all.push(drawn);
    let mut diagnostics = Diagnostics::new();
    assert!(fencepost_frontends::fp::lower("shared int", &mut diagnostics).is_none());
    let errors: Vec<InputError> = diagnostics.iter().map(|d| InputError::new("x.fp", d)).collect();
    assert!(!errors.is_empty());
    for verdict in ["verified", "violated", "inconclusive"] {
        assert!(all.iter().any(|result| result.verdict == verdict), "{verdict}");
    }
    let report = serde_json::to_value(CheckReport::new("1.2.3", all, errors)).expect("plain data");
    validate(&schema, &schema, &report, "report").expect("as documented");
}

#[test]
fn the_schema_refuses_what_is_not_documented() {
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
    insta::assert_snapshot!(serde_json::to_string_pretty(&result).expect("plain data"));
}

#[test]
fn bounded_is_not_verified() {
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
    let story = finding.story().expect("a run");
    let said = finding.message(Some(&story)).expect("a violation");
    TraceFile::new("1.2.3", ("test.fp", source), (&model, finding.reductions), &story, said)
}

#[test]
fn stored_traces_replay() {
    for source in [PETERSON, MESSAGE, STORE_BUFFERING] {
        for name in ["pso", "rmo", "table-pso"] {
            let stored = trace_file(source, name);
            let file = TraceFile::parse(&stored.to_text()).expect("it was just written");
            assert_eq!(file, stored);
            let problem = lower(&file.source);
            let model = file.model.model().expect("it was just written");
            let trace = file.trace(&problem.program).expect("its own threads");
            let run = model.replay(&problem, file.reductions(), &trace).expect("it replays");
            let story = Story::new(&problem, Cow::Owned(run));
            assert_eq!(file.compare_events(&story, file.steps.len()), Ok(()));
        }
    }
}

#[test]
fn a_changed_trace_is_noticed() {
    let mut file = trace_file(MESSAGE, "pso");
    let problem = lower(MESSAGE);
    let trace = file.trace(&problem.program).expect("its own threads");
    let run = model("pso").replay(&problem, file.reductions(), &trace).expect("it replays");
    let story = Story::new(&problem, Cow::Owned(run));
    file.events[2].value = Some("2".into());
    let difference = file.compare_events(&story, 99).expect_err("a difference");
    assert_eq!(difference.step, Some(2));
    assert_eq!(
        difference.what,
        "recorded `p commit flag = 2` (:4), but now `p commit flag = 1` (:4)"
    );
    file.steps[0].thread = "nobody".into();
    assert_eq!(file.trace(&problem.program).expect_err("a stranger").step, Some(0));
}

#[test]
fn a_file_that_is_no_trace_is_told_apart_from_a_damaged_one() {
    let wrong = |text: &str| TraceFile::parse(text).expect_err("no trace").to_string();
    assert!(wrong("").starts_with("this is not a trace file"));
    assert!(wrong("[]").starts_with("this is not a trace file"));
    assert!(wrong("{\"trace_version\": 9}").contains("version 9"));
    assert!(wrong("{\"trace_version\": 1}").starts_with("the trace file is damaged"));
    let mut file = trace_file(MESSAGE, "pso");
    file.model.relax.pop();
    assert!(file.model.model().expect_err("no such PSO").to_string().contains("`relax`"));
    file.model.kind = "quantum".into();
    assert!(file.model.model().is_err());
}

#[test]
fn results_that_no_order_explains() {
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
    let story = finding.story();
    let result = CheckResult::new(&finding, story.as_ref());
    assert_eq!(result.reason, Some("operations"));
    assert_eq!(result.property.as_deref(), Some("sequentially_consistent operations"));
    let message = "operations: client(0): t1 = 0; client(1): g1 = 0: \
                   no order of the operations returns this";
    assert_eq!(result.message.as_deref(), Some(message));

    let problem = lower(&library("linearizable").replace("pt|sg", "p|g"));
    let finding = find(&problem, &model, Settings::default());
    let story = finding.story();
    let result = CheckResult::new(&finding, story.as_ref());
    assert_eq!(result.property.as_deref(), Some("linearizable operations"));
    let message = "operations: client(1): g1 = 0: no order of the operations returns this \
                   that keeps those in order of which one returned before the other began";
    assert_eq!(result.message.as_deref(), Some(message));
}

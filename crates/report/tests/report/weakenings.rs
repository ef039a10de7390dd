//! Tests of the answer of `infer --weaken` as JSON.

use crate::common::model;
use crate::results::validate;
use fencepost_engines::{Budget, Explicit, Settings};
use fencepost_frontends::{FpFrontend, Frontend, Request};
use fencepost_infer::weaken::{WeakenQuery, parts_of_original, weaken};
use fencepost_ir::{Diagnostics, FenceKinds};
use fencepost_report::json::InputError;
use fencepost_report::repair_json::ReportExtras;
use fencepost_report::weakening::WeakenSubject;
use fencepost_report::weakening_json::WeakenReport;
use fencepost_search::{Cancel, Limits, Progress};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../book/src/infer.schema.json");

/// Returns the report of a weakening under TSO and PSO, after comparing it with the schema.
fn report(source: &str, settings: Settings) -> Value {
    let mut diagnostics = Diagnostics::new();
    let request = Request { places: true, orders: true, ..Request::default() };
    let problems = FpFrontend.lower_for(source, &request, &mut diagnostics);
    let problems = problems.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let models = [model("tso"), model("pso")];
    let kinds = FenceKinds::SINGLE.map(|(kinds, _)| kinds);
    let parts = parts_of_original(&problems[0].program, &models, &kinds);
    let query = WeakenQuery {
        problems: &problems,
        models: &models,
        parts: &parts,
        engine: &Explicit,
        settings,
    };
    let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
    let answer = weaken(query, budget);
    let subject = WeakenSubject { file: "test.fp", models: &models, problems: &problems };
    matching(&WeakenReport::new(&subject, &answer, &ReportExtras::default()))
}

fn matching(report: &WeakenReport) -> Value {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let report = serde_json::to_value(report).expect("plain data serialises as JSON");
    validate(&schema["$defs"]["weaken"], &schema, &report, "report")
        .expect("the report matches the schema");
    report
}

fn message(store: &str, fence: &str, load: &str) -> String {
    format!(
        "shared int data, flag;\nthread p {{ data.store(1, relaxed); {fence}flag.store(1, {store}); \
         }}\nthread q {{ f = flag.load({load}); d = data.load(relaxed); }}\n\
         final forall q.f == 0 || q.d == 1;\n"
    )
}

#[test]
fn every_answer_matches_the_schema() {
    let weaker = report(&message("release", "fence; ", "acquire"), Settings::default());
    assert_eq!((&weaker["result"], &weaker["complete"]), (&json!("weaker"), &json!(true)));
    let weakenings = weaker["weakenings"].as_array().expect("a list");
    assert_eq!(weakenings.len(), 2, "the fence or the release is needed: {weaker}");
    let removed = |weakening: &Value| {
        let parts = weakening["parts"].as_array().expect("a list");
        parts.iter().any(|part| part["access"] == "fence" && part["to"].is_null())
    };
    assert_eq!(weakenings.iter().filter(|weakening| removed(weakening)).count(), 1);
    assert!(weaker["needs"][0]["violation"]["events"].is_array(), "{weaker}");
    let results = [
        (message("release", "", "relaxed"), Settings::default()),
        (message("relaxed", "", "relaxed"), Settings::default()),
        ("shared int x;\nthread p { x = 1; }\n".into(), Settings::default()),
        (
            message("release", "", "acquire"),
            Settings { limits: Limits { states: 2, ..Limits::default() }, ..Settings::default() },
        ),
    ]
    .map(|(source, settings)| report(&source, settings)["result"].clone());
    assert_eq!(results, ["minimal", "violated", "nothing_to_weaken", "gave_up"]);
    let mut diagnostics = Diagnostics::new();
    assert!(FpFrontend.lower("shared int", &mut diagnostics).is_none());
    let errors = diagnostics.iter().map(|d| InputError::new("x.fp", d)).collect();
    matching(&WeakenReport::unusable("1.2.3", "x.fp", vec!["tso".into()], errors));
}

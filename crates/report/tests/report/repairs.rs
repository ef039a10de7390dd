//! Tests of the answer of inference, as text and JSON.

use crate::common::{MESSAGE, PETERSON, model};
use crate::results::validate;
use fencepost_engines::{Budget, Engine, Explicit, Settings};
use fencepost_frontends::litmus::LitmusFrontend;
use fencepost_frontends::{FenceSyntax, FpFrontend, Frontend, Request};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::lazy::{self, Query};
use fencepost_infer::repair::Inference;
use fencepost_ir::{Diagnostics, Placement, Problem, WrittenFences};
use fencepost_report::Paint;
use fencepost_report::json::InputError;
use fencepost_report::repair::{self, Subject};
use fencepost_report::repair_json::{InferReport, MultiModelReport, ReportExtras};
use fencepost_search::{Cancel, Limits, Progress};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../book/src/infer.schema.json");

/// A program with one fence that is redundant under PSO, and one that is too strong.
const FENCED: &str = "\
shared int data, flag;
thread p {
  data = 1;
  fence;
  flag = 1;
  fence store_load;
}
thread q {
  if (flag == 1) {
    d = data;
    assert(d == 1);
  }
}
";

/// A library whose operations need a fence.
const LIBRARY: &str = "\
shared int data, full;
operation void put(int v) as p { data = v; full = 1; }
operation int get() as g { int r = -1; if (full == 1) r = data; return r; }
client p|g; client p|gg; client g|g;
property sequentially_consistent operations;
";

struct Inferred {
    problems: Vec<Problem>,
    candidates: Candidates,
    inference: Inference,
    model: fencepost_models::ModelSpec,
    settings: Settings,
    fences: FenceSyntax,
}

fn infer(source: &str, name: &str, written: WrittenFences, settings: Settings) -> Inferred {
    infer_in(&FpFrontend, source, (name, written, settings))
}

fn infer_in(
    frontend: &dyn Frontend,
    source: &str,
    (name, written, settings): (&str, WrittenFences, Settings),
) -> Inferred {
    let mut diagnostics = Diagnostics::new();
    let request = Request { places: true, ..Request::default() };
    let problems = frontend.lower_for(source, &request, &mut diagnostics);
    let problems = problems.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let model = model(name);
    let fences = frontend.fences(source, &request);
    let fence_costs = FenceCosts::effective(
        &model,
        fences.default_fences().map(|fence| (fence.kinds, fence.cost)),
    );
    let candidates = Candidates::new(&problems, &fence_costs, &Restrictions::default(), written);
    let query = Query {
        problems: &problems,
        model: &model,
        candidates: &candidates,
        engine: &Explicit,
        settings,
        all: true,
        abstraction: None,
    };
    let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
    let inference = lazy::infer(query, budget);
    Inferred { problems, candidates, inference, model, settings, fences }
}

impl Inferred {
    fn subject(&self) -> Subject<'_> {
        Subject {
            file: "test.fp",
            model: &self.model,
            method: "lazy",
            engine: Explicit.name(),
            definition: None,
            problems: &self.problems,
            candidates: &self.candidates,
            fences: &self.fences,
            reductions: self.settings.reductions,
        }
    }

    fn json(&self) -> Value {
        let extras = ReportExtras {
            version: "1.2.3".into(),
            diff: "--- a/test.fp\n".into(),
            trace_files: vec![Some("t.trace.json".into())],
            ..ReportExtras::default()
        };
        let report = InferReport::new(&self.subject(), &self.inference, &model("sc"), &extras);
        serde_json::to_value(report).expect("plain data serialises as JSON")
    }
}

#[test]
fn every_answer_matches_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let few =
        Settings { limits: Limits { states: 30, ..Limits::default() }, ..Settings::default() };
    let short = Settings { max_buffer: Some(2), ..Settings::default() };
    let counting =
        "shared int x;\nthread p(i in 0..2) { r = x; x = r + 1; }\nfinal forall x == 2;\n";
    let one = "shared int x, y;\nthread p { x = 1; fence; y = 1; }\n\
               thread q { r = y * 2 + x; assert(r != 2); }\n";
    let growing = "shared int x;\nthread p { loop { x = 1; } }\n";
    let mut results = Vec::new();
    for (source, name, written, settings) in [
        (PETERSON, "pso", WrittenFences::Kept, Settings::default()),
        (PETERSON, "sc", WrittenFences::Kept, Settings::default()),
        (PETERSON, "rmo", WrittenFences::Kept, few),
        (MESSAGE, "rmo", WrittenFences::Kept, Settings::default()),
        (FENCED, "pso", WrittenFences::Dropped, Settings::default()),
        (LIBRARY, "pso", WrittenFences::Kept, Settings::default()),
        (counting, "tso", WrittenFences::Kept, Settings::default()),
        (one, "rmo", WrittenFences::Kept, Settings::default()),
        (growing, "tso", WrittenFences::Kept, short),
    ] {
        let report = infer(source, name, written, settings).json();
        validate(&schema, &schema, &report, "report").expect("the report matches the schema");
        let of = |key: &str| report[key].as_str().unwrap_or("").to_string();
        results.push([of("result"), of("reason"), of("sufficient")].join(" "));
    }
    let expected = [
        "repaired  verified",
        "correct  verified",
        "gave_up states ",
        "repaired  verified",
        "repaired  verified",
        "repaired  verified",
        "unrepairable sc ",
        "unrepairable out-of-reach ",
        "correct  bounded",
    ];
    assert_eq!(results, expected);
    let mut diagnostics = Diagnostics::new();
    assert!(FpFrontend.lower("shared int", &mut diagnostics).is_none());
    let errors = diagnostics.iter().map(|d| InputError::new("x.fp", d)).collect();
    let mut unusable = InferReport::unusable("1.2.3", "x.fp", "tso", errors);
    (unusable.method, unusable.engine) = ("lazy".into(), "explicit".into());
    let several = MultiModelReport::new("1.2.3", "x.fp", vec![unusable.clone()], Vec::new());
    let unusable = serde_json::to_value(unusable).expect("plain data serialises as JSON");
    validate(&schema, &schema, &unusable, "report").expect("the report matches the schema");
    let several = serde_json::to_value(several).expect("plain data serialises as JSON");
    validate(&schema["$defs"]["several"], &schema, &several, "reports")
        .expect("the report matches the schema");
}

/// Threads of a litmus test share lines, so the text names the thread. Fences are instructions.
#[test]
fn fences_of_litmus_tests_have_thread_and_instruction() {
    let source = "X86 R\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$2 ;\n MOV [y],$1 | LFENCE ;\n \
                  | MOV EAX,[x] ;\n~exists (y=2 /\\ 1:EAX=0)\n";
    let options = ("rmo", WrittenFences::Kept, Settings::default());
    let mut inferred = infer_in(&LitmusFrontend, source, options);
    let Inference::Repaired(found) = &inferred.inference else { panic!("a repair") };
    assert_eq!(
        inferred.subject().placement_text(&found.placements[0]),
        "P0: SFENCE before `MOV [y],$1` (line 5), P1: MFENCE instead of `LFENCE` (line 5)"
    );
    let fences = inferred.json()["placements"][0]["fences"].clone();
    assert_eq!(
        (&fences[0]["kind"], &fences[0]["statement"]),
        (&"store_store".into(), &"SFENCE".into())
    );
    assert_eq!((&fences[1]["kind"], &fences[1]["function"]), (&"full".into(), &"P1".into()));
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    validate(&schema, &schema, &inferred.json(), "report").expect("the report matches the schema");
    inferred.candidates.written = WrittenFences::Dropped;
    assert_eq!(
        repair::redundant(&inferred.subject(), &Placement::default()),
        "  :5  `LFENCE` in P1 is redundant\n"
    );
}

#[test]
fn every_fence_has_a_run_as_justification() {
    let report = infer(PETERSON, "pso", WrittenFences::Kept, Settings::default()).json();
    let fences = report["placements"][0]["fences"].as_array().expect("a list");
    assert_eq!(fences.len(), 2);
    for (fence, (kind, before)) in
        fences.iter().zip([("store_store", "turn = 1 - i"), ("store_load", "do")])
    {
        assert_eq!((&fence["kind"], &fence["position"]["before"]), (&kind.into(), &before.into()));
        let run = &fence["justification"];
        assert_eq!(run["reason"], "mutual-exclusion");
        assert!(run["events"].as_array().is_some_and(|events| events.len() > 5), "{run}");
        // The run contains the other fence.
        let kinds = run["events"].as_array().into_iter().flatten().map(|event| &event["kind"]);
        assert!(kinds.into_iter().any(|kind| kind == "fence"), "{run}");
    }
    assert_eq!(fences[0]["justification"]["trace_file"], "t.trace.json");
    assert_eq!(report["clients"][0]["verdict"], "verified");
}

#[test]
fn redundant_and_too_strong_fences_are_reported() {
    let inferred = infer(FENCED, "pso", WrittenFences::Dropped, Settings::default());
    let Inference::Repaired(found) = &inferred.inference else { panic!("a repair") };
    let subject = inferred.subject();
    assert_eq!(
        repair::redundant(&subject, &found.placements[0]),
        "  :4  `fence` can be weaker: store_store is enough\n  :6  `fence store_load` is redundant\n"
    );
    let head = repair::headline(&subject, &inferred.inference, Paint::Plain);
    assert!(head.starts_with("test.fp  PSO  NEEDS 1 fence (cost 2; cheapest possible;"), "{head}");
    let report = inferred.json();
    assert_eq!(report["redundant"][0]["instead"], "store_store");
    assert_eq!(report["redundant"][1]["instead"], Value::Null);
}

#[test]
fn clients_are_counted_and_undecided_clients_are_named() {
    let inferred = infer(LIBRARY, "pso", WrittenFences::Kept, Settings::default());
    let head = repair::headline(&inferred.subject(), &inferred.inference, Paint::Plain);
    assert!(head.contains("REPAIRED with 1 fence"), "{head}");
    assert!(head.contains("; 3 clients verified by explicit search, "), "{head}");
    let few = Settings { limits: Limits { states: 9, ..Limits::default() }, ..Settings::default() };
    let inferred = infer(LIBRARY, "pso", WrittenFences::Kept, few);
    let Inference::GaveUp(gave_up) = &inferred.inference else {
        panic!("{:?}", inferred.inference)
    };
    let text = repair::gave_up(&inferred.subject(), gave_up);
    assert!(text.contains("  client p|gg: state limit reached;"), "{text}");
}

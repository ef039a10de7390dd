//! Test programs, and helpers that check them.

use fencepost_engines::{Budget, Engine, Explicit, Settings, Statistics, Task};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_report::finding::{Finding, QueryResult};
use fencepost_search::{Cancel, Progress};
pub(crate) use fencepost_testkit::problem as lower;

/// Returns a built-in model.
pub(crate) fn model(name: &str) -> ModelSpec {
    ModelSpec::by_name(name).expect("a built-in model")
}

/// Checks a program under a model with the explicit engine.
pub(crate) fn find<'a>(
    problem: &'a Problem,
    model: &'a ModelSpec,
    settings: Settings,
) -> Finding<'a> {
    let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
    let mut answer = Explicit.run(Task { problem, model }, settings, budget);
    // The number of states may change with the engine. The snapshots must not depend on it.
    let Statistics { states, bound, .. } = answer.statistics;
    answer.statistics = Statistics { states: states.min(1), bound, ..Statistics::default() };
    Finding {
        file: "test.fp",
        problem,
        model: model.clone(),
        engine: Explicit.name(),
        definition: None,
        reductions: settings.reductions,
        seconds: 0.0,
        cpu_seconds: None,
        result: QueryResult::Answer(Box::new(answer)),
    }
}

/// Peterson's algorithm without fences.
pub(crate) const PETERSON: &str = "\
shared bool want[2];
shared int  turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    turn = 1 - i;
    do { w = want[1 - i]; t = turn; } while (w && t == 1 - i);
    critical { skip; }
    want[i] = false;
  }
}

property mutual_exclusion;
";

/// Message passing without a fence between data and flag.
pub(crate) const MESSAGE: &str = "\
shared int data, flag;
thread p {
  data = 1;
  flag = 1;
}
thread q {
  if (flag == 1) {
    d = data;
    assert(d == 1);
  }
}
";

/// Store buffering with a `final exists`.
pub(crate) const STORE_BUFFERING: &str = "\
shared int x, y;
thread p { x = 1; r = y; }
thread q { y = 1; r = x; }
final exists p.r == 0 && q.r == 0;
";

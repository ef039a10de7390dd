//! The papers' inference on programs of the corpus.

mod common;

use common::{corpus, model, settings};
use fencepost_engines::{Budget, Settings, Task};
use fencepost_infer::fixpoint::{Avoidance, avoidance};
use fencepost_ir::{Diagnostics, Problem};
use fencepost_search::{Cancel, Progress};

/// The problems of a file, ready for repair.
fn problems(path: &str) -> Vec<Problem> {
    let source = std::fs::read_to_string(corpus().join(path)).expect("a file of the corpus");
    let frontend = fencepost_frontends::by_extension("fp").expect("our own language");
    let request = fencepost_frontends::Request { places: true, ..Default::default() };
    frontend.lower_for(&source, &request, &mut Diagnostics::new()).expect("no errors")
}

fn formula(problem: &Problem, name: &str, settings: Settings) -> Avoidance {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = model(name);
    avoidance(Task { problem, model: &model }, settings, budget).expect("no limits are set")
}

#[test]
#[ignore]
fn try_it() {
    let path = std::env::var("FP").expect("FP");
    let models = std::env::var("MODELS").unwrap_or("sc tso pso rmo".into());
    let mut settings = settings(2);
    settings.fixed_buffer = std::env::var("BOUND").ok().map(|b| b.parse().unwrap());
    settings.max_buffer = std::env::var("MAXB").ok().map(|b| b.parse().unwrap());
    for problem in problems(&path) {
        for name in models.split(' ') {
            let t = std::time::Instant::now();
            let a = formula(&problem, name, settings);
            println!("{} {name}: {} states {} edges bound {:?} acyclic {} passes {} constraints {} clauses {} unavoidable {} #C {:?} {:?}",
                problem.name, a.states, a.edges, a.bound, a.acyclic, a.passes, a.constraints.len(), a.formula.len(), a.unavoidable, a.fewest(), t.elapsed());
            for c in a.formula.iter().take(6) {
                let names: Vec<String> = a.named(c).iter().map(|c| format!("[{} < {}]", problem.program.label(c.before).text, problem.program.label(c.after).text)).collect();
                println!("    {}", names.join(" or "));
            }
        }
    }
}

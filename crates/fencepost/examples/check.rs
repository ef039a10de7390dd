//! Checks a program under three models and prints the verdicts, with a trace of the violation.
//!
//! Run it with `cargo run --package fencepost --example check`.

use fencepost::{Model, Paint, Source, SourceError};
use std::time::Duration;

const MESSAGE_PASSING: &str = "
shared int data, flag;
thread producer { data = 42; flag = 1; }
thread consumer { f = flag; d = data; }
final forall consumer.f == 0 || consumer.d == 42;
";

fn main() -> Result<(), SourceError> {
    let source = Source::parse("message.fp", MESSAGE_PASSING)?;
    for model in [Model::SC, Model::TSO, Model::PSO] {
        let findings = source.check(model).time_limit(Duration::from_secs(10)).run();
        for finding in findings {
            print!("{}", finding.text(Paint::Plain));
        }
    }
    Ok(())
}

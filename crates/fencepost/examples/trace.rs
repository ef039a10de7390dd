//! Prints the run of a violation step by step, with the contents of memory and the number of
//! pending stores.
//!
//! Run it with `cargo run --package fencepost --example trace`.

use fencepost::{Evidence, Model, Source, SourceError, Verdict};

const STORE_BUFFERING: &str = "
shared int x, y;
thread p { x = 1; a = y; }
thread q { y = 1; b = x; }
final forall p.a == 1 || q.b == 1;
";

fn main() -> Result<(), SourceError> {
    let source = Source::parse("sb.fp", STORE_BUFFERING)?;
    let findings = source.check(Model::TSO).run();
    let program = &source.programs()[0].program;
    let evidence = findings[0].verdict().and_then(Verdict::evidence);
    let Some(run) = evidence.and_then(Evidence::run) else {
        println!("no violation");
        return Ok(());
    };
    for (number, step) in run.steps.iter().enumerate() {
        let thread = &program.thread(step.step.thread).name;
        let pending: usize = step.pending.iter().map(Vec::len).sum();
        let memory: Vec<String> = (program.locations.iter().zip(&step.memory))
            .map(|(location, value)| format!("{} = {value}", location.name))
            .collect();
        println!("{number:2}  {thread}  {pending} pending  {}", memory.join(", "));
    }
    Ok(())
}

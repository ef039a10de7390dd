//! Finds the cheapest fences for a program and prints the diff.
//!
//! Run it with `cargo run --package fencepost --example repair`.

use fencepost::{Model, Paint, Source};
use std::error::Error;

const STORE_BUFFERING: &str = "
shared int x, y;
thread p { x = 1; a = y; }
thread q { y = 1; b = x; }
final forall p.a == 1 || q.b == 1;
";

fn main() -> Result<(), Box<dyn Error>> {
    let source = Source::parse("sb.fp", STORE_BUFFERING)?;
    let repaired = source.repair(Model::TSO).run()?;
    print!("{}", repaired.summary(Paint::Plain));
    Ok(())
}

//! Defines a memory model by the pairs of accesses that may be reordered, and lists the outcomes it
//! allows.
//!
//! Run it with `cargo run --package fencepost --example custom_model`.

use fencepost::{Model, Paint, Source};
use std::error::Error;

/// Only loads may be reordered with later loads.
const LOADS_ONLY: &str = r#"
name = "loads-only"
relax = ["R->R"]
"#;

const TWO_READERS: &str = "
shared int x, y;
thread writer { x = 1; y = 1; }
thread reader { a = y; b = x; }
observe reader.a, reader.b;
";

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::from_toml(LOADS_ONLY)?;
    let source = Source::parse("readers.fp", TWO_READERS)?;
    for answer in source.outcomes(vec![Model::SC, model]).run() {
        print!("{}", answer.text(Paint::Plain));
    }
    Ok(())
}

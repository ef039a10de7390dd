//! The list of memory models, with the reorderings that each allows.

use crate::paint::{Paint, width};
use crate::trace_file::relaxed_pairs;
use fencepost_models::ModelSpec;
use serde::Serialize;
use std::fmt::Write;

/// Returns the list as text.
pub fn table(models: &[ModelSpec], paint: Paint) -> String {
    let names = models.iter().map(|m| width(&m.name)).max().unwrap_or(0);
    let pairs = |model: &ModelSpec| match relaxed_pairs(model.relaxes()) {
        pairs if pairs.is_empty() => "nothing".into(),
        pairs => pairs.join(" "),
    };
    let relaxes = models.iter().map(|m| width(&pairs(m))).max().unwrap_or(0);
    let mut out = format!("{:<names$}  {:<relaxes$}  about\n", "model", "relaxes");
    for model in models {
        let name = paint.strong(&format!("{:<names$}", model.name));
        writeln!(out, "{name}  {:<relaxes$}  {}", pairs(model), model.about)
            .expect("writing to a string cannot fail");
    }
    out
}

/// One model as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ModelEntry {
    /// The model's name.
    pub name: String,
    /// The pairs of accesses that may be reordered.
    pub relaxes: Vec<&'static str>,
    /// Whether a load may read its thread's own pending store.
    pub read_own_writes_early: bool,
    /// A description in one line.
    pub about: String,
}

impl ModelEntry {
    /// Creates the record of a model.
    pub fn new(model: &ModelSpec) -> Self {
        ModelEntry {
            name: model.name.to_string(),
            relaxes: relaxed_pairs(model.relaxes()),
            read_own_writes_early: model.relaxes().read_own_early,
            about: model.about.to_string(),
        }
    }
}

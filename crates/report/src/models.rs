//! The list of models, with what each relaxes.

use crate::paint::{Paint, width};
use crate::trace_file::relaxed;
use fencepost_models::ModelSpec;
use serde::Serialize;
use std::fmt::Write;

/// The list for people.
pub fn table(models: &[ModelSpec], paint: Paint) -> String {
    let names = models.iter().map(|m| width(&m.name)).max().unwrap_or(0);
    let pairs = |model: &ModelSpec| match relaxed(model.relaxes()) {
        pairs if pairs.is_empty() => "nothing".into(),
        pairs => pairs.join(" "),
    };
    let relaxes = models.iter().map(|m| width(&pairs(m))).max().unwrap_or(0);
    let mut out = format!("{:<names$}  {:<relaxes$}  about\n", "model", "relaxes");
    for model in models {
        let name = paint.strong(&format!("{:<names$}", model.name));
        writeln!(out, "{name}  {:<relaxes$}  {}", pairs(model), model.about)
            .expect("strings take text");
    }
    out
}

/// One model for programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ModelEntry {
    /// Its name.
    pub name: String,
    /// Which pairs may change places.
    pub relaxes: Vec<&'static str>,
    /// Whether a load may read its thread's own pending store.
    pub read_own_writes_early: bool,
    /// What it is, in one line.
    pub about: String,
}

impl ModelEntry {
    /// A model for programs.
    pub fn new(model: &ModelSpec) -> Self {
        ModelEntry {
            name: model.name.to_string(),
            relaxes: relaxed(model.relaxes()),
            read_own_writes_early: model.relaxes().read_own_early,
            about: model.about.to_string(),
        }
    }
}

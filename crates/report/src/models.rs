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
    models.iter().find_map(coverage_note).into_iter().for_each(|note| out.push_str(&note));
    out
}

/// Returns a line which says that a verdict under this model does not cover similar models of other
/// architectures and languages. `None` if there is nothing to say.
pub fn coverage_note(model: &ModelSpec) -> Option<String> {
    let (last, others) = model.not_covered().split_last()?;
    let others = others.join(", ");
    Some(format!("note: RMO is SPARC's model; {others} and {last} are other models, not covered\n"))
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
    /// Whether a load may be performed before an earlier branch is resolved.
    pub speculation: bool,
    /// A description in one line.
    pub about: String,
    /// Similar models that a verdict does not cover.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub not_covered: &'static [&'static str],
}

impl ModelEntry {
    /// Creates the record of a model.
    pub fn new(model: &ModelSpec) -> Self {
        ModelEntry {
            name: model.name.to_string(),
            relaxes: relaxed_pairs(model.relaxes()),
            read_own_writes_early: model.relaxes().read_own_early,
            speculation: model.relaxes().speculation,
            about: model.about.to_string(),
            not_covered: model.not_covered(),
        }
    }
}

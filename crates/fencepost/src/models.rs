//! `fencepost models`: lists the built-in memory models.

use crate::args::{Format, Models};
use crate::exit::Exit;
use crate::output::Output;
use fencepost_models::ModelSpec;
use fencepost_report::models::{ModelEntry, table};

/// Lists the built-in models.
pub(crate) fn run(options: &Models, output: &mut Output) -> Exit {
    let models = ModelSpec::builtin();
    let text = match options.format {
        Format::Text => table(&models, output.paint),
        Format::Json => {
            let entries: Vec<ModelEntry> = models.iter().map(ModelEntry::new).collect();
            let report = serde_json::json!({
                "fencepost": env!("CARGO_PKG_VERSION"),
                "command": "models",
                "models": entries,
            });
            let text = serde_json::to_string_pretty(&report).expect("a report serialises to JSON");
            format!("{text}\n")
        }
    };
    output.print(&text);
    Exit::Success
}

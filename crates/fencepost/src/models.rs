//! `fencepost models`: lists the built-in memory models.

use crate::args::{Format, Models};
use crate::exit::Exit;
use crate::output::Output;
use fencepost_models::ModelSpec;
use fencepost_report::models::{ModelEntry, table};

/// Lists the built-in models.
pub(crate) fn run(options: &Models, output: &mut Output) -> Exit {
    let models = ModelSpec::builtin();
    match options.format {
        Format::Text => output.print(&table(&models, output.paint)),
        Format::Json => {
            let entries: Vec<ModelEntry> = models.iter().map(ModelEntry::new).collect();
            output.json(&serde_json::json!({
                "fencepost": env!("CARGO_PKG_VERSION"),
                "command": "models",
                "models": entries,
            }));
        }
    }
    Exit::Success
}

//! `fencepost clients`: lists the clients of a library up to a size.

use crate::args::{CPrograms, Clients, Format};
use crate::exit::Exit;
use crate::input::InputFile;
use crate::output::Output;
use fencepost_frontends::fp::generate::{self, Bounds};
use fencepost_ir::Diagnostics;
use fencepost_report::diagnostics::render;
use fencepost_report::paint::{count, counted};

/// Lists clients, one per line, and prints their number to standard error.
pub(crate) fn run(options: &Clients, output: &mut Output) -> Exit {
    let source = match InputFile::read(&options.file, &CPrograms::default()) {
        Ok(source) => source,
        Err(message) => {
            output.error(&message);
            return Exit::Unusable;
        }
    };
    let Clients { threads, init, ops: operations, limit, .. } = *options;
    let bounds = Bounds { threads, init, operations, limit };
    let mut diagnostics = Diagnostics::new();
    let text = source.text(&mut diagnostics);
    let found = match diagnostics.has_errors() {
        true => None,
        false => generate::clients(&text, &bounds, &mut diagnostics),
    };
    output.message(&render(&diagnostics, &source.name, &text, output.paint_messages));
    let Some(found) = found else { return Exit::Unusable };
    let listed = found.texts.len() as u128;
    match options.format {
        Format::Json => {
            let report = serde_json::json!({
                "fencepost": env!("CARGO_PKG_VERSION"),
                "command": "clients",
                "file": source.name,
                "total": u64::try_from(found.total).ok(),
                "complete": listed == found.total,
                "clients": found.texts,
            });
            output.json(&report);
        }
        Format::Text => {
            let lines: String = found.texts.iter().map(|text| format!("{text}\n")).collect();
            output.print(&lines);
        }
    }
    let total = match u64::try_from(found.total) {
        Ok(total) => counted(total, "client"),
        Err(_) => format!("more than {} clients", count(u64::MAX)),
    };
    let summary = if listed == found.total {
        total
    } else {
        format!("{total}; only the first {} are listed (see --limit)", count(listed as u64))
    };
    output.message(&format!("{summary}\n"));
    if listed == 0 { Exit::Nothing } else { Exit::Success }
}

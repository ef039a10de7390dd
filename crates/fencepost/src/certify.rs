//! `fencepost certify`: checks a certificate against its program, without a search.
//!
//! - [`optimality`]: certificates of `fencepost infer`.

mod optimality;

use crate::args::{Certify, Format};
use crate::exit::Exit;
use crate::input::{InputFile, display_path};
use crate::output::Output;
use fencepost_certify::{Certified, Header, OptimalityHeader, Rejection, check};
use fencepost_report::paint::{counted, printable};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::Path;

/// The number of bytes of the header line that are read, at most.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// Checks a certificate.
pub(crate) fn run(options: &Certify, output: &mut Output) -> Exit {
    let name = display_path(&options.certificate);
    let source = match InputFile::read(&options.program) {
        Ok(source) => source,
        Err(message) => {
            output.error(&message);
            return Exit::Unusable;
        }
    };
    let (mut file, kind) = match open(&options.certificate) {
        Ok(opened) => opened,
        Err(error) => {
            output.error(&format!("cannot read {name}: {error}"));
            return Exit::Unusable;
        }
    };
    let client = match kind {
        Kind::Program { client } => client,
        Kind::Optimality => return optimality::run(options, &source, &mut file, output),
    };
    // A certificate must not choose its own subject: a client that is not in the file must be given
    // with `--client`.
    let clients = options.client.clone();
    let allow_hangs = options.hangs.allow_hangs;
    let Ok(parsed) = source.parse(&clients, allow_hangs, output) else { return Exit::Unusable };
    let problems = parsed.programs();
    let Some(problem) = problems.iter().find(|p| p.name == client) else {
        let clients: Vec<String> = problems.iter().map(|p| format!("`{}`", p.name)).collect();
        let (client, clients) = (printable(&client), printable(&clients.join(", ")));
        let first = problems.first().map_or("", |problem| &problem.name);
        output.error(&match (client.as_str(), first) {
            ("", _) => format!(
                "{name} is for a program without clients, but {} has the clients {clients}",
                source.name
            ),
            (_, "") => {
                format!("{name} is for client `{client}`, but {} has no clients", source.name)
            }
            _ => format!(
                "{name} is for client `{client}`, but {} has the clients {clients}. \
                 Name the client with --client",
                source.name
            ),
        });
        return Exit::Violated;
    };
    let program = match problem.name.as_str() {
        "" => source.name.clone(),
        client => format!("{}  client {}", source.name, printable(client)),
    };
    let checked = check(problem, &mut file);
    let text = match options.format {
        Format::Text => text_report(&name, &program, &checked),
        Format::Json => {
            let report = json_report(&name, (&source.name, &problem.name), &checked);
            let text = serde_json::to_string_pretty(&report).expect("a report serialises to JSON");
            format!("{text}\n")
        }
    };
    output.print(&text);
    if checked.is_ok() { Exit::Success } else { Exit::Violated }
}

/// The kind of a certificate, from its header.
enum Kind {
    /// A certificate of a program, for this client or an empty string.
    Program { client: String },
    /// A certificate of optimality.
    Optimality,
}

/// Opens a certificate. Also returns its kind.
fn open(path: &Path) -> io::Result<(BufReader<File>, Kind)> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    io::Read::take(&mut file, MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
    file.rewind()?;
    let kind = if OptimalityHeader::parse(&line).is_ok() {
        Kind::Optimality
    } else {
        let header = serde_json::from_slice::<Header>(&line);
        Kind::Program { client: header.map_or(String::new(), |header| header.client) }
    };
    Ok((file, kind))
}

fn text_report(name: &str, program: &str, checked: &Result<Certified, Rejection>) -> String {
    match checked {
        Ok(certified) => {
            let Certified { states, model, domain, k, properties } = certified;
            let states = counted(*states as u64, "state");
            let (model, domain) = (model.name().to_uppercase(), domain.name());
            let proved: String =
                properties.iter().map(|p| format!("  {}\n", printable(p))).collect();
            format!("{program} is verified under {model}: {states}, {domain} k={k}\n{proved}")
        }
        Err(rejected) => {
            let why: String =
                rejected.to_string().lines().map(|line| format!("{}\n", printable(line))).collect();
            format!("{name} is rejected: it does not prove {program} correct\n{why}")
        }
    }
}

fn json_report(
    name: &str,
    (program, client): (&str, &str),
    checked: &Result<Certified, Rejection>,
) -> serde_json::Value {
    let mut report = json!({
        "fencepost": env!("CARGO_PKG_VERSION"),
        "command": "certify",
        "certificate": name,
        "program": program,
        "client": client,
        "accepted": checked.is_ok(),
    });
    let more = match checked {
        Ok(Certified { states, model, domain, k, properties }) => json!({
            "states": states,
            "model": model.name(),
            "domain": domain.name(),
            "k": k,
            "properties": properties,
        }),
        Err(rejected) => json!({
            "reason": rejected.reason.name(),
            "line": rejected.line,
            "message": rejected.to_string(),
        }),
    };
    if let (Some(report), Some(more)) = (report.as_object_mut(), more.as_object()) {
        report.extend(more.clone());
    }
    report
}

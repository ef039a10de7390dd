//! `fencepost certify`: checks a certificate against its program, without a search.
//!
//! A program of which no run starts, and a check that a limit stops, are inconclusive.
//!
//! - [`optimality`]: certificates of `fencepost infer`.

mod optimality;

use crate::args::{Certify, Format};
use crate::exit::Exit;
use crate::input::{InputFile, display_path};
use crate::output::Output;
use crate::session::Session;
use fencepost_certify::{
    Certified, Header, Limits, OptimalityHeader, Rejection, RejectionReason, check_within,
};
use fencepost_engines::Budget;
use fencepost_report::paint::{counted, printable};
use fencepost_report::verdict_line::limit_text;
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The number of bytes of the header line that are read, at most.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// Checks a certificate.
pub(crate) fn run(options: &Certify, output: &mut Output) -> Exit {
    let name = display_path(&options.certificate);
    let source = match InputFile::read(&options.program, &options.c) {
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
    let checked = within_limits(options, &name, |limits| check_within(problem, &mut file, limits));
    match options.format {
        Format::Text => output.print(&text_report(&name, &program, &checked)),
        Format::Json => {
            output.json(&json_report(&name, (&source.name, &problem.name), &checked));
        }
    }
    exit(&checked)
}

/// Runs a check within the limits of the options, and shows that it runs.
fn within_limits<T>(options: &Certify, name: &str, check: impl FnOnce(&Limits<'_>) -> T) -> T {
    let session = Session::new(&options.limits, true);
    let run = |_: Budget<'_>| {
        let stop = || session.cancel().reason().map(limit_text);
        check(&Limits { bytes: options.limits.bytes(), stop: &stop })
    };
    session.run(name, run).0
}

/// Returns the exit code of a check.
fn exit<T>(checked: &Result<T, Rejection>) -> Exit {
    match checked {
        Ok(_) => Exit::Success,
        Err(rejection) if is_undecided(rejection) => Exit::Inconclusive,
        Err(_) => Exit::Violated,
    }
}

/// Whether the certificate is neither accepted nor wrong.
fn is_undecided(rejection: &Rejection) -> bool {
    matches!(rejection.reason, RejectionReason::NoRun | RejectionReason::Stopped)
}

/// Returns the text for a certificate that is not accepted. `claim` states what it should prove.
fn rejection_text(name: &str, claim: &str, rejection: &Rejection) -> String {
    let word = if is_undecided(rejection) { "inconclusive" } else { "rejected" };
    let why: String =
        rejection.to_string().lines().map(|line| format!("{}\n", printable(line))).collect();
    format!("{name} is {word}: it does not prove {claim}\n{why}")
}

/// The kind of a certificate, from its header.
enum Kind {
    /// A certificate of a program, for this client or an empty string.
    Program { client: String },
    /// A certificate of optimality.
    Optimality,
}

/// Opens a certificate. Also returns its kind. The file may be a pipe, which is read only once.
fn open(path: &Path) -> io::Result<(impl BufRead, Kind)> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    file.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
    let kind = if OptimalityHeader::parse(&line).is_ok() {
        Kind::Optimality
    } else {
        let header = serde_json::from_slice::<Header>(&line);
        Kind::Program { client: header.map_or(String::new(), |header| header.client) }
    };
    Ok((io::Cursor::new(line).chain(file), kind))
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
        Err(rejection) => rejection_text(name, &format!("{program} correct"), rejection),
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

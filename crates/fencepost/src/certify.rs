//! `fencepost certify`: a certificate checked against its program, without any search.

use crate::args::{Certify, Format};
use crate::exit::Exit;
use crate::input::{InputFile, shown};
use crate::output::Output;
use fencepost_certify::{Certified, Header, Rejected, check};
use fencepost_report::paint::{counted, printable};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::Path;

/// The longest first line that is looked at.
const HEADER: u64 = 1 << 16;

/// Checks a certificate.
pub(crate) fn run(options: &Certify, output: &mut Output) -> Exit {
    let name = shown(&options.certificate);
    let source = match InputFile::read(&options.program) {
        Ok(source) => source,
        Err(message) => {
            output.error(&message);
            return Exit::Unusable;
        }
    };
    let (mut file, client) = match open(&options.certificate) {
        Ok(opened) => opened,
        Err(error) => {
            output.error(&format!("cannot read {name}: {error}"));
            return Exit::Unusable;
        }
    };
    // A certificate does not choose what it is about: other clients than those of the file must be named.
    let asked: Vec<String> = options.client.iter().cloned().collect();
    let Ok(parsed) = source.parse(&asked, output) else { return Exit::Unusable };
    let problems = parsed.programs();
    let Some(problem) = problems.iter().find(|p| p.name == client) else {
        let clients: Vec<String> = problems.iter().map(|p| format!("`{}`", p.name)).collect();
        let (client, clients) = (printable(&client), printable(&clients.join(", ")));
        let first = problems.first().map_or("", |problem| &problem.name);
        output.error(&match (client.as_str(), first) {
            ("", _) => format!("{name} is about no client; {} has {clients}", source.name),
            (_, "") => format!("{name} is about client `{client}`; {} has none", source.name),
            _ => format!(
                "{name} is about client `{client}`; {} has {clients}. Name another with --client",
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
        Format::Text => told(&name, &program, &checked),
        Format::Json => {
            let report = record(&name, (&source.name, &problem.name), &checked);
            let text = serde_json::to_string_pretty(&report).expect("plain data becomes JSON");
            format!("{text}\n")
        }
    };
    output.print(&text);
    if checked.is_ok() { Exit::Fine } else { Exit::Violated }
}

/// Opens a certificate; with the client that it says to be about: empty for none.
fn open(path: &Path) -> io::Result<(BufReader<File>, String)> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    io::Read::take(&mut file, HEADER).read_until(b'\n', &mut line)?;
    file.rewind()?;
    let client = serde_json::from_slice::<Header>(&line).map_or(String::new(), |h| h.client);
    Ok((file, client))
}

fn told(name: &str, program: &str, checked: &Result<Certified, Rejected>) -> String {
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
            format!("{name} is rejected: it does not prove {program} right\n{why}")
        }
    }
}

fn record(
    name: &str,
    (program, client): (&str, &str),
    checked: &Result<Certified, Rejected>,
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
            "reason": rejected.reason.words(),
            "line": rejected.line,
            "message": rejected.to_string(),
        }),
    };
    if let (Some(report), Some(more)) = (report.as_object_mut(), more.as_object()) {
        report.extend(more.clone());
    }
    report
}

//! `fencepost certify`: a certificate checked against its program, without any search.

use crate::args::{Certify, Format};
use crate::exit::Exit;
use crate::input::{Source, shown};
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
    let source = match Source::read(&options.program) {
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
    let Ok((_, problems)) = source.lower_clients(&client, output) else { return Exit::Unusable };
    let wanted = client.first().map_or("", String::as_str);
    let Some(problem) = problems.iter().find(|p| p.name == wanted).or(problems.first()) else {
        output.error(&format!("{}: there is no program", source.name));
        return Exit::Unusable;
    };
    let checked = check(problem, &mut file);
    let text = match options.format {
        Format::Text => told(&name, &source.name, &checked),
        Format::Json => {
            let report = record(&name, &source.name, &checked);
            let text = serde_json::to_string_pretty(&report).expect("plain data becomes JSON");
            format!("{text}\n")
        }
    };
    output.print(&text);
    if checked.is_ok() { Exit::Fine } else { Exit::Violated }
}

/// Opens a certificate; with the client that it says to be about, if any.
fn open(path: &Path) -> io::Result<(BufReader<File>, Vec<String>)> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    io::Read::take(&mut file, HEADER).read_until(b'\n', &mut line)?;
    file.rewind()?;
    let client = serde_json::from_slice::<Header>(&line).map_or(String::new(), |h| h.client);
    Ok((file, Some(client).filter(|client| !client.is_empty()).into_iter().collect()))
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

fn record(name: &str, program: &str, checked: &Result<Certified, Rejected>) -> serde_json::Value {
    let mut report = json!({
        "fencepost": env!("CARGO_PKG_VERSION"),
        "command": "certify",
        "certificate": name,
        "program": program,
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

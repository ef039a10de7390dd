//! `fencepost certify` for a certificate of `fencepost infer`: the fences suffice, and no cheaper
//! ones do.

use super::{Format, exit, rejection_text, within_limits};
use crate::args::Certify;
use crate::exit::Exit;
use crate::input::{InputFile, display_path};
use crate::output::Output;
use fencepost::{Lowering, Problem};
use fencepost_certify::optimality::fence_text;
use fencepost_certify::{Optimal, Rejection, check_optimality_within};
use fencepost_report::paint::{counted, printable};
use serde_json::json;
use std::io::BufRead;

/// Checks a certificate of optimality.
pub(super) fn run(
    options: &Certify,
    file: &InputFile,
    text: &mut impl BufRead,
    output: &mut Output,
) -> Exit {
    let (clients, allow_hangs) = (options.client.clone(), options.hangs.allow_hangs);
    let lowering = Lowering { clients, places: true, allow_hangs, ..Lowering::default() };
    let Ok(source) = file.parse_with(lowering, output) else { return Exit::Unusable };
    let (problems, condition) = source.programs_to_repair();
    let name = display_path(&options.certificate);
    let checked =
        within_limits(options, &name, |limits| check_optimality_within(&problems, text, limits));
    match options.format {
        Format::Text => output.print(&match &checked {
            Ok(optimal) => accepted(source.name(), &problems, condition.as_deref(), optimal),
            Err(rejection) => {
                let claim = format!("cheapest fences for {}", source.name());
                rejection_text(&name, &claim, rejection)
            }
        }),
        Format::Json => {
            output.json(&json_report(&name, source.name(), &problems, condition, &checked));
        }
    }
    exit(&checked)
}

/// Returns the fences of the placement as text.
fn fences(problems: &[Problem], optimal: &Optimal) -> Vec<String> {
    let text = |atom: &_| printable(&fence_text(&problems[0], *atom));
    optimal.placement.atoms.iter().map(text).collect()
}

/// Returns the text for an accepted certificate.
fn accepted(
    program: &str,
    problems: &[Problem],
    condition: Option<&str>,
    optimal: &Optimal,
) -> String {
    let header = &optimal.header;
    let cost = header.cost;
    let model = header.model.name().to_uppercase();
    let fences = fences(problems, optimal);
    let with = match fences.len() {
        0 => "without a new fence".into(),
        fences => format!("with {} (cost {cost})", counted(fences as u64, "fence")),
    };
    let mut text = format!("{program} is verified under {model} {with}\n");
    let mut line = |content: String| text.push_str(&format!("  {content}\n"));
    fences.into_iter().for_each(&mut line);
    for (certified, problem) in optimal.clients.iter().zip(problems) {
        let states = counted(certified.states as u64, "state");
        let proof = format!("{states}, {} k={}", certified.domain.name(), certified.k);
        match problem.name.as_str() {
            "" => line(format!("proof: {proof}")),
            client => line(format!("proof for client {}: {proof}", printable(client))),
        }
    }
    if let Some(condition) = condition {
        line(format!("the condition is read as: {}", printable(condition)));
    }
    let properties = optimal.clients.first().map_or(&[][..], |first| &first.properties);
    properties.iter().for_each(|property| line(printable(property)));
    if header.may_hang {
        line("hangs are allowed".into());
    }
    text.push_str(&match cost {
        0 => "optimal: the program needs no new fence\n".into(),
        _ => format!("optimal: no placement of cost below {cost} is sufficient\n"),
    });
    let mut line = |content: String| text.push_str(&format!("  {content}\n"));
    line(format!("fences: {}", kinds(optimal)));
    line(format!("places: {}", places(optimal)));
    let existing =
        if header.keeps_written { "kept" } else { "removed, or kept as part of the placement" };
    line(format!("fences in the program: {existing}"));
    line(format!("proof: {}", counted(header.clauses, "violating run")));
    text
}

/// Returns the fence kinds with their costs as text.
fn kinds(optimal: &Optimal) -> String {
    let kinds = optimal.header.fences.iter().map(|kind| format!("{}={}", kind.0, kind.1));
    kinds.collect::<Vec<_>>().join(", ")
}

/// Returns the places as text.
fn places(optimal: &Optimal) -> String {
    let header = &optimal.header;
    let mut text = counted(optimal.places as u64, "place");
    if header.forbidden_lines.is_empty() && header.only_in.is_empty() {
        return format!("all {text}");
    }
    if !header.only_in.is_empty() {
        text.push_str(&format!(", only in {}", printable(&header.only_in.join(", "))));
    }
    if !header.forbidden_lines.is_empty() {
        let lines: Vec<String> = header.forbidden_lines.iter().map(u32::to_string).collect();
        text.push_str(&format!(", not before line {}", lines.join(", ")));
    }
    text
}

fn json_report(
    name: &str,
    program: &str,
    problems: &[Problem],
    condition: Option<String>,
    checked: &Result<Optimal, Rejection>,
) -> serde_json::Value {
    match checked {
        Ok(optimal) => {
            let header = &optimal.header;
            let first = optimal.clients.first();
            json!({
                "fencepost": env!("CARGO_PKG_VERSION"),
                "command": "certify",
                "certificate": name,
                "program": program,
                "accepted": true,
                "optimal": true,
                "model": header.model.name(),
                "cost": header.cost,
                "placement": fences(problems, optimal),
                "fences": header.fences.iter().map(|kind| (kind.0.clone(), kind.1.into()))
                    .collect::<serde_json::Map<String, serde_json::Value>>(),
                "places": optimal.places,
                "forbidden_lines": header.forbidden_lines,
                "only_in": header.only_in,
                "keeps_written": header.keeps_written,
                "may_hang": header.may_hang,
                "clauses": header.clauses,
                "clients": header.clients,
                "states": optimal.clients.iter().map(|client| client.states).sum::<usize>(),
                "condition": condition,
                "properties": first.map(|first| &first.properties),
            })
        }
        Err(why) => json!({
            "fencepost": env!("CARGO_PKG_VERSION"),
            "command": "certify",
            "certificate": name,
            "program": program,
            "accepted": false,
            "reason": why.reason.name(),
            "line": why.line,
            "message": why.to_string(),
        }),
    }
}

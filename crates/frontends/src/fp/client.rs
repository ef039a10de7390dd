//! Clients: `client e(ed|d);` becomes operations that run first and threads that call operations.

use fencepost_ir::{Diagnostics, Span};

use super::ast::{self, ItemKind};
use super::codes;
use super::limits;
use super::names::{Globals, too_many};
use super::tree::{Client, Unit};
use super::types::ProcId;

/// Checks the clients of a file.
pub fn check(file: &ast::File, globals: &Globals, unit: &mut Unit, diagnostics: &mut Diagnostics) {
    for item in &file.items {
        let ItemKind::Client(client) = &item.kind else { continue };
        if client.threads.len() as u64 > limits::THREADS {
            let found = client.threads.len() as u64;
            too_many(diagnostics, item.span, "threads", found, limits::THREADS);
            continue;
        }
        let first = client.first.as_ref().map_or(Some(Vec::new()), |letters| {
            operations(letters, globals, diagnostics)
        });
        let threads: Vec<_> =
            client.threads.iter().map(|letters| operations(letters, globals, diagnostics)).collect();
        let threads: Option<Vec<_>> = threads.into_iter().collect();
        let (Some(first), Some(threads)) = (first, threads) else { continue };
        let text = text(client);
        if let Some(twin) = unit.clients.iter().find(|c| c.text == text) {
            diagnostics
                .error(codes::DUPLICATE, item.span, format!("client `{text}` is there twice"))
                .label("second one")
                .related(twin.span, "first one");
            continue;
        }
        unit.clients.push(Client { text, span: item.span, first, threads });
    }
}

/// A client as its name shows it.
fn text(client: &ast::Client) -> String {
    let letters = |name: &ast::Name| name.text.replace(' ', "");
    let threads: Vec<String> = client.threads.iter().map(letters).collect();
    let threads = threads.join("|");
    if client.parens {
        format!("{}({threads})", client.first.as_ref().map(letters).unwrap_or_default())
    } else {
        threads
    }
}

/// The operations that letters name, each with the span of its letter.
fn operations(
    letters: &ast::Name,
    globals: &Globals,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<(ProcId, Span)>> {
    let mut found = Vec::new();
    let mut complete = true;
    // The text is padded so that positions in it are positions in the source.
    for (at, letter) in letters.text.char_indices().filter(|(_, c)| *c != ' ') {
        let start = letters.span.start + at as u32;
        let span = Span {
            start,
            end: start + letter.len_utf8() as u32,
            line: letters.span.line,
            column: letters.span.column + at as u32,
        };
        match globals.procs.iter().position(|p| p.letter == Some(letter)) {
            Some(id) => found.push((ProcId(id as u32), span)),
            None => {
                let known: Vec<String> = globals
                    .procs
                    .iter()
                    .filter_map(|p| p.letter.map(|l| format!("`{l}` ({})", p.name)))
                    .collect();
                let hint = if known.is_empty() {
                    "declare it: `operation void f() as e { ... }`".to_string()
                } else {
                    format!("there are {}", known.join(", "))
                };
                diagnostics
                    .error(codes::CLIENT, span, format!("no operation has the letter `{letter}`"))
                    .label("unknown letter")
                    .hint(hint);
                complete = false;
            }
        }
    }
    complete.then_some(found)
}

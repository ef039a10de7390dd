//! Clients: `client e(ed|d);` becomes operations that run first and threads that call operations.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use super::ast::{self, ItemKind};
use super::codes;
use super::limits;
use super::names::{Globals, too_many};
use super::tree::{Client, Unit};
use super::types::ProcId;

/// Checks the clients of a file.
pub fn check(file: &ast::File, globals: &Globals, unit: &mut Unit, diagnostics: &mut Diagnostics) {
    let letters = Letters::new(globals);
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for item in &file.items {
        let ItemKind::Client(client) = &item.kind else {
            continue;
        };
        let found = client.threads.len() as u64;
        if found > limits::THREADS {
            too_many(diagnostics, item.span, "threads", found, limits::THREADS);
            continue;
        }
        let none = Some(Vec::new());
        let first = client.first.as_ref().map_or(none, |l| letters.operations(l, diagnostics));
        let threads: Vec<_> =
            client.threads.iter().map(|l| letters.operations(l, diagnostics)).collect();
        let threads: Option<Vec<_>> = threads.into_iter().collect();
        let (Some(first), Some(threads)) = (first, threads) else {
            continue;
        };
        let text = text(client);
        if let Some(twin) = seen.insert(text.clone(), item.span) {
            diagnostics
                .error(codes::DUPLICATE, item.span, format!("client `{text}` is there twice"))
                .label("second one")
                .related(twin, "first one");
            continue;
        }
        if unit.clients.len() == limits::CLIENTS {
            let limit = limits::CLIENTS as u64;
            too_many(diagnostics, item.span, "clients", limit + 1, limit);
            return;
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

/// The operations by their letters.
struct Letters<'a> {
    globals: &'a Globals,
    known: BTreeMap<char, ProcId>,
}

impl<'a> Letters<'a> {
    fn new(globals: &'a Globals) -> Self {
        let procs = globals.procs.iter().enumerate();
        let known = procs.filter_map(|(at, p)| p.letter.map(|l| (l, ProcId(at as u32)))).collect();
        Letters { globals, known }
    }

    /// The operations that letters name, each with the span of its letter.
    fn operations(
        &self,
        letters: &ast::Name,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<(ProcId, Span)>> {
        let mut found = Vec::new();
        let mut complete = true;
        // The text is padded so that positions in it are positions in the source.
        for (at, letter) in letters.text.char_indices().filter(|(_, c)| *c != ' ') {
            let start = letters.span.start + at as u32;
            let end = start + letter.len_utf8() as u32;
            let column = letters.span.column + at as u32;
            let span = Span { start, end, line: letters.span.line, column };
            match self.known.get(&letter) {
                Some(id) => found.push((*id, span)),
                None => {
                    self.unknown(letter, span, diagnostics);
                    complete = false;
                }
            }
        }
        complete.then_some(found)
    }

    fn unknown(&self, letter: char, span: Span, diagnostics: &mut Diagnostics) {
        let known = self
            .known
            .iter()
            .map(|(letter, id)| format!("`{letter}` ({})", self.globals.procs[id.index()].name));
        let known: Vec<String> = known.collect();
        let hint = if known.is_empty() {
            format!("declare it: `operation void f() as {letter} {{ ... }}`")
        } else {
            format!("there are {}", known.join(", "))
        };
        diagnostics
            .error(codes::CLIENT, span, format!("no operation has the letter `{letter}`"))
            .label("unknown letter")
            .hint(hint);
    }
}

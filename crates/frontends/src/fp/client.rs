//! Checks clients: `client e(ed|d)d;` becomes initial operations, threads that call operations, and
//! operations after the threads.
//!
//! A client is part of the file or comes from the command line. A client from the command line that
//! the file also declares is the declared one, so its traces have the same positions either way. Any
//! other client from the command line has no position in the source. Diagnostics about it point to
//! the start of the file and quote its text.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use super::ast::{self, ItemKind};
use super::codes;
use super::lexer;
use super::limits;
use super::names::{Globals, too_many};
use super::parser;
use super::tree::{Client, Unit};
use super::types::ProcId;

#[cfg(test)]
mod tests;

/// The start of the file.
pub const START: Span = Span { start: 0, end: 0, line: 1, column: 1 };

/// Checks the clients of a file.
pub fn check(file: &ast::File, globals: &Globals, unit: &mut Unit, diagnostics: &mut Diagnostics) {
    let letters = Letters::new(globals);
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for item in &file.items {
        let ItemKind::Client(client) = &item.kind else {
            continue;
        };
        let Some(client) = letters.client(client, item.span, diagnostics) else {
            continue;
        };
        if let Some(twin) = seen.insert(client.text.clone(), item.span) {
            let message = format!("client `{}` is declared twice", client.text);
            diagnostics
                .error(codes::DUPLICATE, item.span, message)
                .label("second declaration")
                .related(twin, "first declaration")
                .hint("remove one of them");
            continue;
        }
        if !add(unit, client, diagnostics) {
            return;
        }
    }
}

/// Checks clients from the command line.
pub fn check_texts(
    texts: &[String],
    file: &ast::File,
    globals: &Globals,
    unit: &mut Unit,
    diagnostics: &mut Diagnostics,
) {
    let letters = Letters::new(globals);
    for text in texts {
        if limits::error_limit_reached(diagnostics) {
            return;
        }
        let mut own = Diagnostics::new();
        let client = letters.text(text, &mut own);
        for found in own.iter() {
            let at = text.get(..found.span.start as usize).unwrap_or(text).chars().count() + 1;
            let what = found.message.replace("the end of the file", "the end of the client");
            let message = format!("client `{}`, character {at}: {what}", shortened(text));
            let diagnostic = diagnostics.error(found.code, START, message);
            diagnostic.label(found.label.clone()).hint.clone_from(&found.hint);
        }
        let Some(client) = client.filter(|_| !own.has_errors()) else {
            continue;
        };
        if unit.clients.iter().any(|c| c.text == client.text) {
            let message = format!("client `{}` is given twice", shortened(&client.text));
            diagnostics.error(codes::DUPLICATE, START, message).hint("remove one of them");
            continue;
        }
        let client = letters.declared(file, &client.text).unwrap_or(client);
        if !add(unit, client, diagnostics) {
            return;
        }
    }
}

/// Adds a client. Reports an error and returns `false` if there are too many clients.
fn add(unit: &mut Unit, client: Client, diagnostics: &mut Diagnostics) -> bool {
    if unit.clients.len() == limits::CLIENTS {
        let limit = limits::CLIENTS as u64;
        too_many(diagnostics, client.span, "clients", limit + 1, limit);
        return false;
    }
    unit.clients.push(client);
    true
}

/// Shortens the text of a client for messages.
fn shortened(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= limits::SHOWN_NAME {
        return line;
    }
    let start: String = line.chars().take(limits::SHOWN_NAME - 3).collect();
    format!("{start}...")
}

/// Returns the name of a client: its text without spaces.
fn text(client: &ast::Client) -> String {
    let letters = |name: &ast::Name| name.text.replace(' ', "");
    let threads: Vec<String> = client.threads.iter().map(letters).collect();
    let threads = threads.join("|");
    if client.parens {
        let outside = |part: &Option<ast::Name>| part.as_ref().map(letters).unwrap_or_default();
        format!("{}({threads}){}", outside(&client.first), outside(&client.last))
    } else {
        threads
    }
}

/// The operations by letter.
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

    /// Parses and checks a client from the command line. Spans of diagnostics are offsets in
    /// `text`.
    fn text(&self, text: &str, diagnostics: &mut Diagnostics) -> Option<Client> {
        if text.len() > limits::SOURCE {
            too_many(diagnostics, START, "bytes", text.len() as u64, limits::SOURCE as u64);
            return None;
        }
        let lexed = lexer::lex(text, diagnostics);
        if diagnostics.has_errors() {
            return None;
        }
        let parsed = parser::parse_client(text, &lexed, diagnostics)?;
        let mut client = self.client(&parsed, START, diagnostics)?;
        // Later passes need positions in the file.
        let outside = client.first.iter_mut().chain(&mut client.last);
        for (proc, span) in outside.chain(client.threads.iter_mut().flatten()) {
            *span = self.globals.procs[proc.index()].span;
        }
        Some(client)
    }

    /// Returns the client of the file with this text.
    fn declared(&self, file: &ast::File, name: &str) -> Option<Client> {
        file.items.iter().find_map(|item| match &item.kind {
            // Errors in it were reported for the text from the command line.
            ItemKind::Client(client) if text(client) == name => {
                self.client(client, item.span, &mut Diagnostics::new())
            }
            _ => None,
        })
    }

    fn client(
        &self,
        client: &ast::Client,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<Client> {
        let found = client.threads.len() as u64;
        if found > limits::THREADS {
            too_many(diagnostics, span, "threads", found, limits::THREADS);
            return None;
        }
        let mut outside = |part: &Option<ast::Name>| {
            part.as_ref().map_or(Some(Vec::new()), |l| self.operations(l, diagnostics))
        };
        let (first, last) = (outside(&client.first), outside(&client.last));
        let threads: Vec<_> =
            client.threads.iter().map(|l| self.operations(l, diagnostics)).collect();
        let threads: Vec<_> = threads.into_iter().collect::<Option<_>>()?;
        self.owners(&threads, diagnostics);
        Some(Client { text: text(client), span, first: first?, threads, last: last? })
    }

    /// Reports uses of `owner` operations by threads other than the first.
    fn owners(&self, threads: &[Vec<(ProcId, Span)>], diagnostics: &mut Diagnostics) {
        for (proc, span) in threads.iter().skip(1).flatten() {
            let signature = &self.globals.procs[proc.index()];
            if signature.attributes.owner {
                let message = format!(
                    "only the first thread can use the `owner` operation `{}`",
                    signature.name
                );
                diagnostics
                    .error(codes::CLIENT, *span, message)
                    .label("used by another thread")
                    .hint("move the operation to the first thread, or remove `owner`");
            }
        }
    }

    /// Resolves operation letters. Returns each operation with the span of its letter.
    fn operations(
        &self,
        letters: &ast::Name,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<(ProcId, Span)>> {
        let mut found = Vec::new();
        let mut complete = true;
        // The parser pads the text, so that offsets in the text equal offsets in the source.
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
            format!("the letters are {}", known.join(", "))
        };
        diagnostics
            .error(codes::CLIENT, span, format!("no operation has the letter `{letter}`"))
            .label("unknown letter")
            .hint(hint);
    }
}

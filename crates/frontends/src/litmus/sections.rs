//! The sections of a file: header, initial state, program, constraint; and its comments, blanked out.
//!
//! ```text
//! X86 SB (texname) "doc"        header: language, name
//! Cycle=Fre PodWR Fre PodWR     metadata, or any text, up to the first brace
//! { x=0; }                      initial state
//!  P0         | P1         ;    program
//!  MOV [x],$1 | MOV [y],$1 ;
//! exists (...)                  constraint, up to `<<` or the end
//! ```
//!
//! Comments are `(* ... *)`, nested; in a C program `//` and `/* */` instead. In an X86 program `#` hides
//! the rest of its line. A comment becomes spaces, byte by byte, so that positions stay what they are.

use fencepost_ir::Span;

use super::ast::Arch;
use super::tokens::Lines;
use super::wrong::Wrong;

/// A file cut into sections. Each is a range of bytes.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    /// The text with comments blanked out.
    pub(super) clean: String,
    pub(super) arch: Arch,
    /// As written; `--` stands for the name of the file.
    pub(super) name: String,
    /// Where the name is, or should be.
    pub(super) named: Span,
    pub(super) doc: Option<String>,
    pub(super) metadata: Vec<(String, String)>,
    /// Between the braces.
    pub(super) init: (usize, usize),
    /// The program, and for X86 the constraint as well, which its rows lead up to.
    pub(super) program: (usize, usize),
    /// The constraint of a C test.
    pub(super) constraint: (usize, usize),
}

/// Words that begin a constraint.
pub(super) const CONSTRAINT: [&str; 8] =
    ["exists", "forall", "locations", "filter", "not", "final", "observed", "with"];

/// Cuts a file into sections.
pub(super) fn sections(source: &str, lines: &Lines<'_>) -> Result<Sections, Wrong> {
    let mut clean = source.as_bytes().to_vec();
    let whole = lines.span(0, source.len().min(1));
    let open = blank_up_to(&mut clean, 0, b'{', lines)?.ok_or_else(|| {
        Wrong::syntax(whole, "there is no initial state: a test has `{ ... }` before its program")
    })?;
    let close = blank_up_to(&mut clean, open + 1, b'}', lines)?
        .ok_or_else(|| Wrong::syntax(lines.span(open, open + 1), "this brace is never closed"))?;
    let header = std::str::from_utf8(&clean[..open]).expect("blanks are ASCII, whole comments go");
    let (arch, (name, named), doc, metadata) = read_header(header, lines)?;
    let rest = close + 1;
    let (program, constraint) = match arch {
        Arch::X86 | Arch::X86_64 => {
            blank_nested(&mut clean, rest, source.len(), lines)?;
            blank_hashes(&mut clean, rest);
            ((rest, source.len()), (source.len(), source.len()))
        }
        Arch::C => {
            let end = blank_functions(&mut clean, rest, lines)?;
            blank_nested(&mut clean, end, source.len(), lines)?;
            ((rest, end), (end, source.len()))
        }
    };
    let clean = String::from_utf8(clean).expect("blanks are ASCII, whole comments go");
    let init = (open + 1, close);
    Ok(Sections { clean, arch, name, named, doc, metadata, init, program, constraint })
}

/// Language, name and where it is, text in quotes, metadata.
type Header = (Arch, (String, Span), Option<String>, Vec<(String, String)>);

fn read_header(header: &str, lines: &Lines<'_>) -> Result<Header, Wrong> {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let word = |from: usize, ends: &dyn Fn(char) -> bool| {
        let start = from + header[from..].find(|c| !blank(c)).unwrap_or(header.len() - from);
        let end = start + header[start..].find(ends).unwrap_or(header.len() - start);
        (start, end)
    };
    let (start, end) = word(0, &char::is_whitespace);
    let span = lines.span(start, end);
    let arch = match &header[start..end] {
        "X86" => Arch::X86,
        "X86_64" => Arch::X86_64,
        "C" => Arch::C,
        "" => return Err(Wrong::syntax(span, "this is empty: a test begins with `X86 NAME`")),
        other => {
            let named = other.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let message = format!("tests for `{other}` are not supported");
            return Err(if named {
                Wrong::unsupported(span, message).hint("we read X86, X86_64 and C")
            } else {
                Wrong::syntax(span, "a litmus test begins with its language and its name")
                    .hint("as in `X86 SB`")
            });
        }
    };
    let (start, end) = word(end, &|c| c.is_whitespace() || "\"({;".contains(c));
    let name = header[start..end].to_string();
    let named = lines.span(start, end);
    let rest = &header[end..];
    let doc = rest.split_once('"').and_then(|(_, rest)| rest.split_once('"'));
    let doc = doc.map(|(doc, _)| doc.to_string());
    let metadata = rest.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
        is_key.then(|| (key.to_string(), value.trim().to_string()))
    });
    Ok((arch, (name, named), doc, metadata.collect()))
}

/// Blanks nested comments between two offsets. Quotes do not hide them.
fn blank_nested(text: &mut [u8], start: usize, end: usize, lines: &Lines<'_>) -> Result<(), Wrong> {
    let mut at = start;
    while at < end {
        at = skip_nested(text, at, lines)?.max(at + 1);
    }
    Ok(())
}

/// Blanks nested comments up to a brace that is neither between quotes nor in braces of its own. Where it is.
fn blank_up_to(
    text: &mut [u8],
    start: usize,
    wanted: u8,
    lines: &Lines<'_>,
) -> Result<Option<usize>, Wrong> {
    let (mut at, mut depth, mut quoted) = (start, 0u32, false);
    while at < text.len() {
        let next = skip_nested(text, at, lines)?;
        if next > at {
            at = next;
            continue;
        }
        match text[at] {
            byte if byte == wanted && depth == 0 && !quoted => return Ok(Some(at)),
            b'"' => quoted = !quoted,
            b'\n' => quoted = false,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(None)
}

/// Blanks a nested comment that begins here. Where it ends; here, if there is none.
fn skip_nested(text: &mut [u8], start: usize, lines: &Lines<'_>) -> Result<usize, Wrong> {
    let (mut at, mut depth) = (start, 0u32);
    loop {
        match text.get(at..at + 2) {
            Some(b"(*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*)") if depth > 0 => {
                depth -= 1;
                at += 2;
            }
            _ if depth == 0 => break,
            _ if at >= text.len() => {
                let span = lines.span(start, start + 2);
                return Err(Wrong::syntax(span, "this comment is never closed"));
            }
            _ => at += 1,
        }
    }
    blank(&mut text[start..at]);
    Ok(at)
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Blanks what `#` hides.
fn blank_hashes(text: &mut [u8], start: usize) {
    for line in text[start..].split_mut(|byte| *byte == b'\n') {
        if let Some(at) = line.iter().position(|byte| *byte == b'#') {
            blank(&mut line[at..]);
        }
    }
}

/// Blanks the comments of C functions. Where the last function ends.
fn blank_functions(text: &mut [u8], start: usize, lines: &Lines<'_>) -> Result<usize, Wrong> {
    let mut done = start;
    loop {
        let mut at = skip_blanks(text, done, lines)?;
        let word =
            at + text[at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
        let name = std::str::from_utf8(&text[at..word]).unwrap_or("");
        if name.is_empty() || CONSTRAINT.contains(&name) {
            return Ok(done);
        }
        let (first, mut depth, mut ended) = (at, 0i32, false);
        while at < text.len() {
            at = skip_comment(text, at, lines)?;
            match text.get(at) {
                Some(b'{') => depth += 1,
                Some(b'}') => depth -= 1,
                _ => {}
            }
            let closes = text.get(at) == Some(&b'}');
            at = (at + 1).min(text.len());
            if depth == 0 && closes {
                ended = true;
                break;
            }
        }
        if !ended {
            let span = lines.span(first, word);
            return Err(Wrong::syntax(span, "this function has no end"));
        }
        done = at;
    }
}

/// The first byte from `at` on that is neither blank nor in a comment, which becomes blank.
fn skip_blanks(text: &mut [u8], mut at: usize, lines: &Lines<'_>) -> Result<usize, Wrong> {
    while at < text.len() {
        let next = skip_comment(text, at, lines)?;
        if next == at && !text[at].is_ascii_whitespace() && text[at] != b';' {
            break;
        }
        at = next.max(at + 1);
    }
    Ok(at.min(text.len()))
}

/// Blanks a comment of C that begins here. Where it ends; here, if there is none.
fn skip_comment(text: &mut [u8], at: usize, lines: &Lines<'_>) -> Result<usize, Wrong> {
    let end = match text.get(at..at + 2) {
        Some(b"//") => {
            let line = text[at..].iter().position(|byte| *byte == b'\n');
            at + line.unwrap_or(text.len() - at)
        }
        Some(b"/*") => {
            let close = text[at + 2..].windows(2).position(|two| two == b"*/");
            let close = close.ok_or_else(|| {
                Wrong::syntax(lines.span(at, at + 2), "this comment is never closed")
            })?;
            at + 2 + close + 2
        }
        _ => return Ok(at),
    };
    blank(&mut text[at..end]);
    Ok(end)
}

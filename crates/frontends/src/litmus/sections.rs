//! Splits a file into its sections and replaces comments by spaces.
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
//! Comments are `(* ... *)` and nest. C programs have `//` and `/* */` instead. In an X86 program
//! `#` starts a comment that ends with the line. Each byte of a comment becomes a space, except
//! line breaks, so that all offsets stay valid.

use fencepost_ir::Span;

use super::ast::Arch;
use super::error::LitmusError;
use super::tokens::Lines;

/// The sections of a file, as byte ranges.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    /// The text with comments replaced by spaces.
    pub(super) clean: String,
    pub(super) arch: Arch,
    /// The name as written; `--` stands for the name of the file. May be empty.
    pub(super) name: String,
    /// The span of the name; if the name is missing, the position where it should be.
    pub(super) name_span: Span,
    pub(super) doc: Option<String>,
    pub(super) metadata: Vec<(String, String)>,
    /// The initial state, without its braces.
    pub(super) init: (usize, usize),
    /// The program. For a table this range includes the constraint: only the parser of the table can
    /// find the start of the constraint.
    pub(super) program: (usize, usize),
    /// The constraint of a C test; empty for a table.
    pub(super) constraint: (usize, usize),
}

/// Words that start a constraint.
pub(super) const CONSTRAINT_KEYWORDS: [&str; 8] =
    ["exists", "forall", "locations", "filter", "not", "final", "observed", "with"];

/// Splits a file into sections.
pub(super) fn split_sections(source: &str, lines: &Lines<'_>) -> Result<Sections, LitmusError> {
    let mut clean = source.as_bytes().to_vec();
    let whole = lines.span(0, source.len().min(1));
    let open = blank_comments_until(&mut clean, 0, b'{', lines)?.ok_or_else(|| {
        LitmusError::syntax(
            whole,
            "the test has no initial state: write `{ ... }` before the program",
        )
    })?;
    let close = blank_comments_until(&mut clean, open + 1, b'}', lines)?.ok_or_else(|| {
        LitmusError::syntax(lines.span(open, open + 1), "this brace is never closed: add `}`")
    })?;
    let header =
        std::str::from_utf8(&clean[..open]).expect("whole comments are replaced by ASCII spaces");
    let (arch, (name, name_span), doc, metadata) = read_header(header, lines)?;
    let rest = close + 1;
    let (program, constraint) = match arch {
        Arch::X86 | Arch::X86_64 | Arch::AArch64 => {
            blank_nested_comments(&mut clean, rest, source.len(), lines)?;
            if arch != Arch::AArch64 {
                blank_hash_comments(&mut clean, rest);
            }
            ((rest, source.len()), (source.len(), source.len()))
        }
        Arch::C => {
            let end = blank_c_comments(&mut clean, rest, lines)?;
            blank_nested_comments(&mut clean, end, source.len(), lines)?;
            ((rest, end), (end, source.len()))
        }
    };
    let clean = String::from_utf8(clean).expect("whole comments are replaced by ASCII spaces");
    let init = (open + 1, close);
    Ok(Sections { clean, arch, name, name_span, doc, metadata, init, program, constraint })
}

/// The language, the name with its span, the quoted text, and the metadata.
type Header = (Arch, (String, Span), Option<String>, Vec<(String, String)>);

fn read_header(header: &str, lines: &Lines<'_>) -> Result<Header, LitmusError> {
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
        "AArch64" => Arch::AArch64,
        "C" => Arch::C,
        "" => {
            return Err(LitmusError::syntax(
                span,
                "the header is empty: start the test with its language and name, as in `X86 SB`",
            ));
        }
        other => {
            let name_span = other.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let message = format!("tests for `{other}` are not supported");
            return Err(if name_span {
                LitmusError::unsupported(span, message)
                    .hint("the supported languages are X86, X86_64, AArch64 and C")
            } else {
                LitmusError::syntax(span, "a litmus test starts with its language and its name")
                    .hint("write `X86 NAME`, `X86_64 NAME`, `AArch64 NAME` or `C NAME`")
            });
        }
    };
    let (start, end) = word(end, &|c| c.is_whitespace() || "\"({;".contains(c));
    let name = header[start..end].to_string();
    let name_span = lines.span(start, end);
    let rest = &header[end..];
    let doc = rest.split_once('"').and_then(|(_, rest)| rest.split_once('"'));
    let doc = doc.map(|(doc, _)| doc.to_string());
    let metadata = rest.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
        is_key.then(|| (key.to_string(), value.trim().to_string()))
    });
    Ok((arch, (name, name_span), doc, metadata.collect()))
}

/// Blanks all `(* *)` comments between two offsets, also those inside of quotes.
fn blank_nested_comments(
    text: &mut [u8],
    start: usize,
    end: usize,
    lines: &Lines<'_>,
) -> Result<(), LitmusError> {
    let mut at = start;
    while at < end {
        at = blank_nested_comment(text, at, lines)?.max(at + 1);
    }
    Ok(())
}

/// Blanks `(* *)` comments up to the brace `wanted`. Ignores braces in quotes and nested pairs of
/// braces. Returns the offset of the brace.
fn blank_comments_until(
    text: &mut [u8],
    start: usize,
    wanted: u8,
    lines: &Lines<'_>,
) -> Result<Option<usize>, LitmusError> {
    let (mut at, mut depth, mut quoted) = (start, 0u32, false);
    while at < text.len() {
        let next = blank_nested_comment(text, at, lines)?;
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

/// Blanks the `(* *)` comment at `start`, if there is one. Returns the offset after the comment, or
/// `start`.
fn blank_nested_comment(
    text: &mut [u8],
    start: usize,
    lines: &Lines<'_>,
) -> Result<usize, LitmusError> {
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
                return Err(LitmusError::syntax(span, "this comment is never closed: add `*)`"));
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

/// Blanks `#` comments.
fn blank_hash_comments(text: &mut [u8], start: usize) {
    for line in text[start..].split_mut(|byte| *byte == b'\n') {
        if let Some(at) = line.iter().position(|byte| *byte == b'#') {
            blank(&mut line[at..]);
        }
    }
}

/// Blanks the comments in the C functions. Returns the offset after the last function.
fn blank_c_comments(
    text: &mut [u8],
    start: usize,
    lines: &Lines<'_>,
) -> Result<usize, LitmusError> {
    let mut done = start;
    loop {
        let mut at = skip_whitespace_and_comments(text, done, lines)?;
        let word =
            at + text[at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
        let name = std::str::from_utf8(&text[at..word]).unwrap_or("");
        if name.is_empty() || CONSTRAINT_KEYWORDS.contains(&name) {
            return Ok(done);
        }
        let (first, mut depth, mut ended) = (at, 0i32, false);
        while at < text.len() {
            at = blank_c_comment(text, at, lines)?;
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
            return Err(LitmusError::syntax(span, "this function is never closed: add `}`"));
        }
        done = at;
    }
}

/// Skips whitespace, semicolons and C comments from `at`, and blanks the comments. Returns the
/// offset of the next byte.
fn skip_whitespace_and_comments(
    text: &mut [u8],
    mut at: usize,
    lines: &Lines<'_>,
) -> Result<usize, LitmusError> {
    while at < text.len() {
        let next = blank_c_comment(text, at, lines)?;
        if next == at && !text[at].is_ascii_whitespace() && text[at] != b';' {
            break;
        }
        at = next.max(at + 1);
    }
    Ok(at.min(text.len()))
}

/// Blanks the C comment at `at`, if there is one. Returns the offset after the comment, or `at`.
fn blank_c_comment(text: &mut [u8], at: usize, lines: &Lines<'_>) -> Result<usize, LitmusError> {
    let end = match text.get(at..at + 2) {
        Some(b"//") => {
            let line = text[at..].iter().position(|byte| *byte == b'\n');
            at + line.unwrap_or(text.len() - at)
        }
        Some(b"/*") => {
            let close = text[at + 2..].windows(2).position(|two| two == b"*/");
            let close = close.ok_or_else(|| {
                LitmusError::syntax(
                    lines.span(at, at + 2),
                    "this comment is never closed: add `*/`",
                )
            })?;
            at + 2 + close + 2
        }
        _ => return Ok(at),
    };
    blank(&mut text[at..end]);
    Ok(end)
}

//! Text that is safe to print on a terminal.
//!
//! Names, comments and messages come from inputs, and an input can be hostile. A control character
//! can move the cursor, hide text or change the title of a terminal. A bidirectional override can
//! show text in another order. Such characters are shown escaped, as in `\u{1b}`.
//!
//! Our own colours are escape codes, too. The command line marks them with a secret
//! ([`ColourMark`]), escapes the whole text, and then removes the mark. So no text from an input has
//! to be escaped where it is read or formatted, and no input can imitate a colour. Rejected:
//! escaping each text where it is formatted. One omission is enough for an attack.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Whether a character has an effect on a terminal beyond its own cell: control characters, line
/// separators, and marks and overrides of the text direction.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a text of several lines. Newlines and tabs remain.
///
/// ```
/// use fencepost_report::terminal::escaped;
/// assert_eq!(escaped("a\u{1b}[31m\n\tb\r\n"), "a\\u{1b}[31m\n\tb\r\n");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_unsafe(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n');
        if !is_unsafe(c) || c == '\n' || c == '\t' || ends_line {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    Cow::Owned(out)
}

/// Escapes a text that is part of a line. Newlines and tabs are escaped, too.
pub fn printable(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Escapes JSON text. The result has the same meaning: only strings contain these characters, and
/// `serde_json` escapes only some of them.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    let must_escape = |c: char| is_unsafe(c) && c != '\n';
    if !text.contains(must_escape) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for c in text.chars() {
        match must_escape(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A secret that marks our own escape codes. It is random, so no input contains it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColourMark(u64);

impl ColourMark {
    /// Creates a mark.
    pub fn random() -> Self {
        ColourMark(RandomState::new().build_hasher().finish())
    }

    /// Returns the marked form of the character that starts an escape code.
    fn start(self) -> String {
        format!("\u{1b}{:016x}", self.0)
    }

    /// Marks all escape codes in a text. The text must not contain codes from an input.
    pub fn marked(self, text: &str) -> String {
        text.replace('\u{1b}', &self.start())
    }

    /// Escapes a text for a terminal. Marked codes become escape codes.
    pub fn resolved(self, text: &str) -> String {
        let parts: Vec<_> = text.split(&self.start()).map(escaped).collect();
        parts.join("\u{1b}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Paint;

    #[test]
    fn effects_on_a_terminal_are_escaped() {
        assert_eq!(printable("a\u{1b}[31mb\nc\t\r"), "a\\u{1b}[31mb\\nc\\t\\r");
        assert_eq!(
            escaped("x\u{9b}2J\u{202e}y\u{7}\u{2066}\u{7f}é→"),
            "x\\u{9b}2J\\u{202e}y\\u{7}\\u{2066}\\u{7f}é→"
        );
        assert_eq!(escaped("a\rb\r\nc"), "a\\u{d}b\r\nc");
        assert!(matches!(escaped("line\n\tline\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn escaped_json_has_the_same_meaning() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{1b}[2J\n\u{202e}", "\u{7f}\u{2028}é"] });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let safe = escaped_json(&text);
        assert!(!safe.contains(|c: char| is_unsafe(c) && c != '\n'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), value);
    }

    #[test]
    fn only_marked_colours_survive() {
        let mark = ColourMark::random();
        let paint = Paint::Marked(mark);
        let hostile = Paint::Coloured.bad("fake");
        let text = format!("{} {hostile}", paint.bad("real"));
        let expected = format!("{} {}", Paint::Coloured.bad("real"), escaped(&hostile));
        assert_eq!(mark.resolved(&text), expected);
        assert_ne!(ColourMark::random(), mark);
    }
}

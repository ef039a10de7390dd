//! What changes in a source text, as a unified diff that `patch -p1` and `git apply` understand.

use crate::paint::Paint;
use similar::TextDiff;
use std::fmt::Write;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The diff from one text to another, under the name of the file. Empty when they are the same.
pub fn unified(file: &str, old: &str, new: &str) -> String {
    // An absolute path becomes one relative to the root, as everywhere else.
    let file = file.trim_start_matches('/');
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header(&format!("a/{file}"), &format!("b/{file}")).to_string()
}

/// A diff with colours. On a terminal, control characters from the source do no harm.
pub fn painted(diff: &str, paint: Paint) -> String {
    if paint == Paint::Plain {
        return diff.into();
    }
    let mut out = String::new();
    for (at, line) in diff.lines().enumerate() {
        let safe = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
        let line: String = line.trim_end_matches('\r').chars().map(safe).collect();
        let line = match line.chars().next() {
            _ if at < 2 => paint.strong(&line), // the names
            Some('@') => paint.faint(&line),
            Some('+') => paint.good(&line),
            Some('-') => paint.bad(&line),
            Some(_) | None => line,
        };
        writeln!(out, "{line}").expect("strings take text");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a\nb\nc\nd\ne\n";
    const NEW: &str = "a\nb\nc\nc2\nd\ne\n";

    #[test]
    fn a_line_more() {
        let diff = "--- a/dir/x.fp\n+++ b/dir/x.fp\n@@ -1,5 +1,6 @@\n a\n b\n c\n+c2\n d\n e\n";
        assert_eq!(unified("dir/x.fp", OLD, NEW), diff);
        assert_eq!(unified("/dir/x.fp", OLD, NEW), diff);
        assert_eq!(unified("x.fp", OLD, OLD), "");
        assert_eq!(painted(diff, Paint::Plain), diff);
        let coloured = painted(diff, Paint::Coloured);
        assert!(coloured.contains("m+c2\u{1b}["), "{coloured:?}");
    }

    #[test]
    fn line_ends_are_kept_for_programs_and_not_for_terminals() {
        let diff = unified("x.fp", "a\r\n", "a\r\n\u{1b}[2Jb\r\n");
        assert!(diff.ends_with(" a\r\n+\u{1b}[2Jb\r\n"), "{diff:?}");
        let coloured = painted(&diff, Paint::Coloured);
        assert!(!coloured.contains('\r') && !coloured.contains("\u{1b}[2J"), "{coloured:?}");
    }
}

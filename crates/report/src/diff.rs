//! A change of a source text as a unified diff, for `patch -p1` and `git apply`.

use crate::paint::Paint;
use crate::terminal::escaped;
use similar::TextDiff;
use std::fmt::Write;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// Returns the diff from `old` to `new`, with the name of the file; empty when the texts are equal.
pub fn unified(file: &str, old: &str, new: &str) -> String {
    // The header has prefixes `a/` and `b/`, so an absolute path loses its leading slash.
    let file = file.trim_start_matches('/');
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header(&format!("a/{file}"), &format!("b/{file}")).to_string()
}

/// Colours a diff. With colours, control characters of the source are escaped: the text goes to a
/// terminal. Without colours, the diff is returned unchanged.
pub fn painted(diff: &str, paint: Paint) -> String {
    if paint == Paint::Plain {
        return diff.into();
    }
    let mut out = String::new();
    let mut lines = diff.lines().peekable();
    let mut names = 0_u8; // lines of file names that follow
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if line.starts_with("--- a/") && next.starts_with("+++ b/") {
            names = 2;
        }
        let line = escaped(line.trim_end_matches('\r'));
        let line = match line.chars().next() {
            _ if names > 0 => paint.strong(&line),
            Some('@') => paint.faint(&line),
            Some('+') => paint.good(&line),
            Some('-') => paint.bad(&line),
            Some(_) | None => line.into_owned(),
        };
        names = names.saturating_sub(1);
        writeln!(out, "{line}").expect("writing to a string cannot fail");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a\nb\nc\nd\ne\n";
    const NEW: &str = "a\nb\nc\nc2\nd\ne\n";

    #[test]
    fn an_added_line_is_shown_with_context() {
        let diff = "--- a/dir/x.fp\n+++ b/dir/x.fp\n@@ -1,5 +1,6 @@\n a\n b\n c\n+c2\n d\n e\n";
        assert_eq!(unified("dir/x.fp", OLD, NEW), diff);
        assert_eq!(unified("/dir/x.fp", OLD, NEW), diff);
        assert_eq!(unified("x.fp", OLD, OLD), "");
        assert_eq!(painted(diff, Paint::Plain), diff);
        let coloured = painted(diff, Paint::Coloured);
        assert!(coloured.contains("m+c2\u{1b}["), "{coloured:?}");
    }

    #[test]
    fn the_names_of_every_file_are_painted_alike() {
        let diff = unified("x.fp", OLD, NEW) + &unified("y.fp", "-- a/b\n", "++ c\n");
        let coloured = painted(&diff, Paint::Coloured);
        let strong = |text: &str| coloured.contains(&Paint::Coloured.strong(text));
        assert!(strong("--- a/x.fp") && strong("+++ b/y.fp"), "{coloured:?}");
        assert!(!strong("--- a/b") && !strong("+++ c"), "{coloured:?}");
    }

    #[test]
    fn line_endings_are_kept_only_without_colours() {
        let diff = unified("x.fp", "a\r\n", "a\r\n\u{1b}[2Jb\r\n");
        assert!(diff.ends_with(" a\r\n+\u{1b}[2Jb\r\n"), "{diff:?}");
        let coloured = painted(&diff, Paint::Coloured);
        assert!(!coloured.contains('\r') && !coloured.contains("\u{1b}[2J"), "{coloured:?}");
    }
}

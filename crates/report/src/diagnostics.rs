//! Diagnostics of a front end as text: source line, caret, code and hint.

use crate::paint::Paint;
use crate::terminal::{escaped, printable};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use fencepost_ir::{Diagnostic, Diagnostics, Severity, Span};
use std::ops::Range;

/// The maximal number of diagnostics shown for one source.
const MAX_SHOWN: usize = 50;

/// Renders the diagnostics of a source in the order of their positions. `name` is the name of the
/// source file. At most 50 are rendered, errors in preference to warnings; the others are
/// counted.
pub fn render(diagnostics: &Diagnostics, name: &str, source: &str, paint: Paint) -> String {
    let renderer = match paint {
        Paint::Plain => Renderer::plain(),
        Paint::Coloured | Paint::Marked(_) => Renderer::styled(),
    };
    // The renderer escapes the source lines. It need not escape the other texts.
    let name = &printable(name);
    let mut text = String::new();
    let sorted = diagnostics.sorted();
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    let errors = sorted.iter().filter(|d| is_error(d)).count().min(MAX_SHOWN);
    let (mut errors, mut warnings) = (errors, MAX_SHOWN - errors);
    for diagnostic in &sorted {
        let remaining = if is_error(diagnostic) { &mut errors } else { &mut warnings };
        if *remaining > 0 {
            *remaining -= 1;
            let rendered = renderer.render(&groups(&escaped_texts(diagnostic), name, source));
            text.push_str(&match paint {
                Paint::Marked(mark) => mark.marked(&rendered),
                Paint::Plain | Paint::Coloured => rendered,
            });
            text.push_str("\n\n");
        }
    }
    if sorted.len() > MAX_SHOWN {
        text.push_str(&format!("and {} more\n\n", sorted.len() - MAX_SHOWN));
    }
    text
}

/// Returns a diagnostic with escaped texts.
fn escaped_texts(diagnostic: &Diagnostic) -> Diagnostic {
    let text = |text: &String| escaped(text).into_owned();
    Diagnostic {
        message: text(&diagnostic.message),
        label: text(&diagnostic.label),
        related: diagnostic.related.iter().map(|(span, about)| (*span, text(about))).collect(),
        hint: diagnostic.hint.as_ref().map(text),
        ..diagnostic.clone()
    }
}

fn groups<'a>(diagnostic: &'a Diagnostic, name: &'a str, source: &'a str) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let window = window(diagnostic, source);
    let within = |span: Span| {
        let Range { start, end } = range(span, source);
        start - window.start..end - window.start
    };
    let mut primary = AnnotationKind::Primary.span(within(diagnostic.span));
    if !diagnostic.label.is_empty() {
        primary = primary.label(diagnostic.label.as_str());
    }
    let related = diagnostic
        .related
        .iter()
        .map(|(span, text)| AnnotationKind::Context.span(within(*span)).label(text.as_str()));
    let before = source.as_bytes()[..window.start].iter().filter(|byte| **byte == b'\n').count();
    let snippet = Snippet::source(&source[window.clone()])
        .line_start(before + 1)
        .path(name)
        .annotation(primary)
        .annotations(related);
    let mut groups =
        vec![level.primary_title(diagnostic.message.as_str()).id(diagnostic.code).element(snippet)];
    if let Some(hint) = &diagnostic.hint {
        let last = groups.pop().expect("`groups` has one element");
        groups.push(last.element(Level::HELP.message(hint.as_str())));
    }
    groups
}

/// Returns the byte range of the whole lines that a diagnostic refers to. Only these lines are
/// passed to the renderer, because its cost grows with the text that it is given.
fn window(diagnostic: &Diagnostic, source: &str) -> Range<usize> {
    let related = diagnostic.related.iter().map(|(span, _)| *span);
    let ranges = std::iter::once(diagnostic.span).chain(related).map(|span| range(span, source));
    let (start, end) =
        ranges.fold((source.len(), 0), |(start, end), r| (start.min(r.start), end.max(r.end)));
    let line = source[..start].rfind('\n').map_or(0, |at| at + 1);
    line..source[end..].find('\n').map_or(source.len(), |at| end + at + 1)
}

/// Returns the byte range of a span, moved to character boundaries within the source.
fn range(span: Span, source: &str) -> Range<usize> {
    let boundary = |at: u32| {
        let mut at = (at as usize).min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u32, end: u32) -> Span {
        Span { start, end, line: 1, column: 1 }
    }

    #[test]
    fn a_message_shows_its_place() {
        let source = "shared int x;\nthread p { y = z; }\n";
        let mut diagnostics = Diagnostics::new();
        diagnostics
            .error("FP0020", at(29, 30), "unknown name `z`")
            .label("not declared")
            .related(at(11, 12), "`x` is declared here")
            .hint("did you mean `x`?");
        diagnostics.warning("FP0090", at(25, 26), "register `y` is never read");
        insta::assert_snapshot!(render(&diagnostics, "some.fp", source, Paint::Plain));
    }

    #[test]
    fn every_invalid_span_can_be_rendered() {
        let source = "é\n";
        let mut diagnostics = Diagnostics::new();
        for (start, end) in [(0, 1), (1, 1), (1, 9), (9, 2), (3, 3), (u32::MAX, u32::MAX)] {
            diagnostics.error("FP0001", at(start, end), "strange");
        }
        assert_eq!(
            render(&diagnostics, "x.fp", source, Paint::Plain).matches("strange").count(),
            6
        );
        assert!(render(&diagnostics, "", "", Paint::Coloured).contains("strange"));
    }

    #[test]
    fn excess_diagnostics_are_counted() {
        let source = "x = y;\n".repeat(100_000);
        let mut diagnostics = Diagnostics::new();
        for line in 0..100_000 {
            let span = at(line * 7 + 4, line * 7 + 5);
            if line == 99_998 {
                diagnostics.error("FP0011", span, "unknown name");
            } else {
                diagnostics.warning("FP0090", span, "strange");
            }
        }
        let text = render(&diagnostics, "x.fp", &source, Paint::Plain);
        assert_eq!(text.matches("strange").count(), MAX_SHOWN - 1);
        assert!(text.contains(" --> x.fp:49:5\n"), "{text}");
        assert!(text.contains(" --> x.fp:99999:5\n"), "an error has precedence over warnings");
        assert!(text.ends_with("\n\nand 99950 more\n\n"), "{text}");
    }
}

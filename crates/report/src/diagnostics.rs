//! What a front end says about its input, with the source line, a caret, the code and a hint.

use crate::paint::Paint;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use fencepost_ir::{Diagnostic, Diagnostics, Severity, Span};
use std::ops::Range;

/// All messages about a source, by position, each ending in a new line. `name` is what the reader
/// calls the source.
pub fn render(diagnostics: &Diagnostics, name: &str, source: &str, paint: Paint) -> String {
    let renderer = match paint {
        Paint::Plain => Renderer::plain(),
        Paint::Coloured => Renderer::styled(),
    };
    let mut text = String::new();
    for diagnostic in diagnostics.sorted() {
        text.push_str(&renderer.render(&groups(diagnostic, name, source)));
        text.push_str("\n\n");
    }
    text
}

fn groups<'a>(diagnostic: &'a Diagnostic, name: &'a str, source: &'a str) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut primary = AnnotationKind::Primary.span(range(diagnostic.span, source));
    if !diagnostic.label.is_empty() {
        primary = primary.label(diagnostic.label.as_str());
    }
    let related = diagnostic.related.iter().map(|(span, text)| {
        AnnotationKind::Context.span(range(*span, source)).label(text.as_str())
    });
    let snippet = Snippet::source(source).path(name).annotation(primary).annotations(related);
    let mut groups =
        vec![level.primary_title(diagnostic.message.as_str()).id(diagnostic.code).element(snippet)];
    if let Some(hint) = &diagnostic.hint {
        let last = groups.pop().expect("just made");
        groups.push(last.element(Level::HELP.message(hint.as_str())));
    }
    groups
}

/// The bytes of a span, moved to where the source can be cut.
fn range(span: Span, source: &str) -> Range<usize> {
    let cut = |at: u32| {
        let mut at = (at as usize).min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = cut(span.start);
    start..cut(span.end).max(start)
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
    fn no_span_is_too_wrong_to_print() {
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
}

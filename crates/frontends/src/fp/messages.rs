//! Limits the output: at most [`limits::ERRORS`] errors, and shortened names.
//!
//! The limits are applied once, at the end. The code that builds messages does not need to consider
//! them.

use fencepost_ir::{Diagnostic, Diagnostics, Severity};

use super::{codes, limits};

/// Appends the diagnostics of `own` to `diagnostics`. If errors are omitted, appends an error that
/// says so.
pub fn append_limited(own: &Diagnostics, diagnostics: &mut Diagnostics) {
    let mut errors = 0;
    for found in own.iter() {
        match found.severity {
            Severity::Error => errors += 1,
            Severity::Warning => {}
        }
        if errors > limits::ERRORS {
            let message = format!("there are more than {} errors", limits::ERRORS);
            diagnostics
                .error(codes::TOO_MANY_ERRORS, found.span, message)
                .label("this error and later errors are not shown")
                .hint("fix the first errors and try again");
            return;
        }
        *diagnostics.error(found.code, found.span, "") = shortened(found);
    }
}

fn shortened(found: &Diagnostic) -> Diagnostic {
    Diagnostic {
        message: shorten(&found.message),
        label: shorten(&found.label),
        hint: found.hint.as_deref().map(shorten),
        related: found.related.iter().map(|(span, text)| (*span, shorten(text))).collect(),
        ..found.clone()
    }
}

/// Shortens every long word of a text.
fn shorten(text: &str) -> String {
    if text.len() <= limits::SHOWN_NAME {
        return text.to_string();
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.chars().count() > limits::SHOWN_NAME {
            out.extend(word.chars().take(limits::SHOWN_NAME - 3));
            out.push_str("...");
        } else {
            out.push_str(word);
        }
        let end = after.find(is_word).unwrap_or(after.len());
        out.push_str(&after[..end]);
        rest = &after[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_words_are_shortened() {
        let long = "x".repeat(41);
        let text = format!("`{long}` is never read, and {} is", "y".repeat(40));
        let cut = format!("`{}...` is never read, and {} is", "x".repeat(37), "y".repeat(40));
        assert_eq!(shorten(&text), cut);
    }
}

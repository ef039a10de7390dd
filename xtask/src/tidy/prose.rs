//! Rules for prose: plain phrases in all texts, wrapped lines in Markdown.
//!
//! The list of phrases is short on purpose. It names wording that occurred before and that readers
//! misunderstood; CONTRIBUTING.md has the guidelines.

/// The maximum number of columns of a Markdown line.
const MAX_COLUMNS: usize = 100;

/// Phrases that must not occur, in lower case, each with a replacement.
const PHRASES: &[(&str, &str)] = &[
    ("all the same", "still"),
    ("are told", "name who says what"),
    ("believed", "validated"),
    ("but for", "except"),
    ("come to nothing", "fail"),
    ("comes to nothing", "fails"),
    ("for want of", "without"),
    ("go round", "iterate"),
    ("goes about", "works on"),
    ("goes ahead of", "is reordered before"),
    ("goes round", "iterates"),
    ("going round", "iterating"),
    ("in vain", "without effect"),
    ("is told", "name who says what"),
    ("mend", "repair"),
    ("others can tell", "is observable"),
    ("the house", "the code"),
    ("to be had", "available"),
    ("told so", "name who says what"),
    ("wants to know", "needs"),
    ("whoever", "name the reader or caller"),
];

/// Files that quote the phrases in order to forbid them.
const QUOTING: &[&str] = &["CONTRIBUTING.md", "xtask/src/tidy/prose.rs"];

/// Reports each line with one of the [`PHRASES`].
pub(super) fn phrases(name: &str, text: &str, findings: &mut Vec<String>) {
    if QUOTING.contains(&name) {
        return;
    }
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.to_lowercase();
        for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| contains(&line, phrase)) {
            findings.push(format!("{name}:{number}: instead of `{phrase}`, write: {instead}"));
        }
    }
}

/// Returns whether a line contains a phrase as whole words.
fn contains(line: &str, phrase: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

/// Reports each Markdown line of more than [`MAX_COLUMNS`] columns. Code blocks, tables and lines without a
/// space cannot be wrapped and are exempt.
pub(super) fn line_length(name: &str, text: &str, findings: &mut Vec<String>) {
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.trim_start();
        if content.starts_with("```") {
            is_code = !is_code;
        }
        let is_exempt = is_code || content.starts_with('|') || !content.contains(' ');
        let columns = line.chars().count();
        if columns > MAX_COLUMNS && !is_exempt {
            findings.push(format!("{name}:{number}: {columns} columns; wrap at {MAX_COLUMNS}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_phrases_are_found_as_whole_words() {
        let mut findings = Vec::new();
        phrases("a.rs", "fine\nGoes Round twice\nrecommended", &mut findings);
        assert_eq!(findings, ["a.rs:2: instead of `goes round`, write: iterates"]);
        phrases("CONTRIBUTING.md", "in vain", &mut findings);
        assert_eq!(findings.len(), 1, "quotations are exempt");
    }

    #[test]
    fn long_markdown_lines_are_found_outside_of_code_and_tables() {
        let long = "word ".repeat(21);
        let text = format!("{long}\n```\n{long}\n```\n| {long}|\n{}\n", "x".repeat(120));
        let mut findings = Vec::new();
        line_length("a.md", &text, &mut findings);
        assert_eq!(findings, ["a.md:1: 105 columns; wrap at 100"]);
    }
}

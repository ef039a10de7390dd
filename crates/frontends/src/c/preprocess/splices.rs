//! Line continuations: removes each backslash at the end of a line together with the line break.

use std::borrow::Cow;

/// A text without line continuations, and where its characters are in the original text.
#[derive(Clone, Debug)]
pub struct Splices<'a> {
    text: Cow<'a, str>,
    /// For each continuation: the offset in the new text, and how many bytes are removed up to there.
    removed: Vec<(usize, usize)>,
}

impl<'a> Splices<'a> {
    /// Removes the line continuations of a text.
    pub fn new(original: &'a str) -> Self {
        if !original.contains("\\\n") && !original.contains("\\\r\n") {
            return Splices { text: Cow::Borrowed(original), removed: Vec::new() };
        }
        let (mut text, mut removed) = (String::with_capacity(original.len()), Vec::new());
        let (mut rest, mut total) = (original, 0);
        while let Some(at) = rest.find('\\') {
            let after = &rest[at + 1..];
            let length = match after {
                _ if after.starts_with('\n') => 2,
                _ if after.starts_with("\r\n") => 3,
                _ => {
                    text.push_str(&rest[..=at]);
                    rest = after;
                    continue;
                }
            };
            text.push_str(&rest[..at]);
            rest = &rest[at + length..];
            total += length;
            removed.push((text.len(), total));
        }
        text.push_str(rest);
        Splices { text: Cow::Owned(text), removed }
    }

    /// Returns the text without line continuations.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the offset in the original text of a character of the new text.
    pub fn original(&self, offset: usize) -> usize {
        let before = self.removed.partition_point(|(at, _)| *at <= offset);
        offset + before.checked_sub(1).map_or(0, |last| self.removed[last].1)
    }

    /// Returns the end in the original text of a token that ends at this offset of the new text.
    pub fn end(&self, offset: usize) -> usize {
        offset.checked_sub(1).map_or(0, |last| self.original(last) + 1)
    }
}

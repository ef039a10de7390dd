//! Fence syntax: which fences a language has, how it writes each, and what each costs.
//!
//! A front end describes the fences of its language, or of the dialect that a text is written in, as plain data.
//! Inference takes kinds and costs from it; text edits and reports take the statements. Kinds that no single
//! statement has are written as several statements in a row.

use fencepost_ir::{FenceKinds, Label, Program};

use crate::edit::EditError;

/// A fence statement of a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fence {
    /// What it orders.
    pub kinds: FenceKinds,
    /// The whole statement.
    pub text: String,
    /// What it costs, in the units of [`FenceKinds::usual_cost`].
    pub cost: u32,
    /// When it may be inserted.
    pub offer: Offer,
}

/// When a fence may be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// Unless the user wants others.
    Always,
    /// When the user asks for its kinds.
    OnRequest,
    /// Never; only a fence that the author wrote may become it.
    Rewriting,
}

/// How a language writes fences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenceSyntax {
    /// The language, for messages.
    pub language: &'static str,
    /// Its fences; of two that serve, the first is used.
    pub fences: Vec<Fence>,
    /// The word before a location in the statement that waits for the stores to it, if there is one.
    pub drain: Option<&'static str>,
    /// Whether statements are in blocks, which have ends.
    pub has_blocks: bool,
    /// Whether readers find a fence by its thread and statement, rather than by its line and kinds.
    pub told_by_thread: bool,
}

impl Fence {
    /// A fence at the usual cost of its kinds.
    pub fn new(kinds: FenceKinds, text: impl Into<String>, offer: Offer) -> Fence {
        Fence { kinds, text: text.into(), cost: kinds.usual_cost(), offer }
    }

    /// What may be inserted without being asked for.
    pub fn always(kinds: FenceKinds, text: impl Into<String>) -> Fence {
        Fence::new(kinds, text, Offer::Always)
    }

    /// The statement without what ends it.
    pub fn short(&self) -> &str {
        self.text.trim_end_matches(';')
    }
}

impl FenceSyntax {
    /// The fences that may be inserted without being asked for.
    pub fn offered(&self) -> impl Iterator<Item = &Fence> {
        self.fences.iter().filter(|fence| fence.offer == Offer::Always)
    }

    /// The single statement that has just these kinds and may be inserted.
    pub fn insertable(&self, kinds: FenceKinds) -> Option<&Fence> {
        let mut fences = self.fences.iter().filter(|fence| fence.offer != Offer::Rewriting);
        fences.find(|fence| fence.kinds == kinds)
    }

    /// A fence of these kinds, as statements; none for no kinds.
    pub fn fence(&self, kinds: FenceKinds) -> Result<Vec<String>, EditError> {
        if let Some(fence) = self.fences.iter().find(|fence| fence.kinds == kinds) {
            return Ok(vec![fence.text.clone()]);
        }
        let mut covered = FenceKinds::default();
        let mut texts = Vec::new();
        for fence in &self.fences {
            if kinds.contains(fence.kinds) && !covered.contains(fence.kinds) {
                covered = covered.union(fence.kinds);
                texts.push(fence.text.clone());
            }
        }
        let language = self.language;
        if covered == kinds { Ok(texts) } else { Err(EditError::NoSuchFence { language, kinds }) }
    }

    /// A fence and drains, as statements.
    pub fn statements(
        &self,
        program: &Program,
        kinds: FenceKinds,
        drains: &[Label],
    ) -> Result<Vec<String>, EditError> {
        let mut texts = self.fence(kinds)?;
        for store in drains {
            let word = self.drain.ok_or(EditError::NoDrain { language: self.language })?;
            texts.push(format!("{word} {};", target(program, *store)));
        }
        Ok(texts)
    }
}

/// What a store is to, as the source writes it: what comes before the operator.
fn target(program: &Program, store: Label) -> &str {
    let text = &program.label(store).text;
    let mut depth = 0;
    let end = text.find(|c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && !(c.is_alphanumeric() || c.is_whitespace() || "_.]".contains(c))
    });
    text[..end.unwrap_or(text.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{LabelInfo, Span};

    #[test]
    fn what_a_store_is_to() {
        for (text, place) in [
            ("x = 1", "x"),
            ("x++", "x"),
            ("a[i + 1] = b[2]", "a[i + 1]"),
            ("a[b[1] - 2] -= 7", "a[b[1] - 2]"),
            ("n.slot[i] |= 4", "n.slot[i]"),
            ("n . next=m", "n . next"),
        ] {
            let info = LabelInfo { span: Span::default(), text: text.into(), function: "p".into() };
            let program = Program { labels: vec![info], ..Program::default() };
            assert_eq!(target(&program, Label(0)), place);
        }
    }
}

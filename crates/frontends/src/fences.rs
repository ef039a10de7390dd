//! Fence syntax: the fences of a language, their statements and their costs.
//!
//! A front end describes the fences of its language, or of the dialect of a source text, as plain
//! data. Fence inference uses the kinds and the costs. Text edits and reports use the statements. A
//! combination of kinds without a single statement becomes several consecutive statements.

use fencepost_ir::{FenceKinds, Label, Program};

use crate::edit::EditError;

/// A fence statement of a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fence {
    /// The pairs of accesses that the fence orders.
    pub kinds: FenceKinds,
    /// The whole statement.
    pub text: String,
    /// The cost, in the units of [`FenceKinds::default_cost`].
    pub cost: u32,
    /// When inference may insert the fence.
    pub availability: Availability,
}

/// When inference may insert a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Availability {
    /// By default, unless the user selects other kinds.
    ByDefault,
    /// Only if the user selects its kinds.
    OnRequest,
    /// Never. Only an existing fence of the source text can be rewritten to this fence.
    RewriteOnly,
}

/// The fence statements of a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenceSyntax {
    /// The name of the language, for messages.
    pub language: &'static str,
    /// The fences. If several fences match, the first is used.
    pub fences: Vec<Fence>,
    /// The keyword of the statement that drains the stores to one location, if the language has
    /// such a statement.
    pub drain: Option<&'static str>,
    /// Whether statements are in blocks with closing braces.
    pub has_blocks: bool,
    /// Whether reports locate a fence by thread and statement instead of line and kinds.
    pub located_by_thread: bool,
}

impl Fence {
    /// Creates a fence with the usual cost of its kinds.
    pub fn new(kinds: FenceKinds, text: impl Into<String>, availability: Availability) -> Fence {
        Fence { kinds, text: text.into(), cost: kinds.default_cost(), availability }
    }

    /// Creates a fence that inference may insert by default.
    pub fn by_default(kinds: FenceKinds, text: impl Into<String>) -> Fence {
        Fence::new(kinds, text, Availability::ByDefault)
    }

    /// Returns the statement without its semicolon.
    pub fn without_semicolon(&self) -> &str {
        self.text.trim_end_matches(';')
    }
}

impl FenceSyntax {
    /// Returns the fences that inference may insert by default.
    pub fn default_fences(&self) -> impl Iterator<Item = &Fence> {
        self.fences.iter().filter(|fence| fence.availability == Availability::ByDefault)
    }

    /// Returns the single insertable fence with exactly these kinds.
    pub fn insertable(&self, kinds: FenceKinds) -> Option<&Fence> {
        let mut fences =
            self.fences.iter().filter(|fence| fence.availability != Availability::RewriteOnly);
        fences.find(|fence| fence.kinds == kinds)
    }

    /// Returns statements that together have exactly these kinds. The list is empty if there are
    /// no kinds.
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

    /// Returns the statements for a fence and for drains of the locations of the given stores.
    pub fn statements(
        &self,
        program: &Program,
        kinds: FenceKinds,
        drains: &[Label],
    ) -> Result<Vec<String>, EditError> {
        let mut texts = self.fence(kinds)?;
        for store in drains {
            let word = self.drain.ok_or(EditError::NoDrain { language: self.language })?;
            texts.push(format!("{word} {};", store_target(program, *store)));
        }
        Ok(texts)
    }
}

/// Returns the target of a store as source text: the text before the assignment operator, or before
/// `.store(`.
fn store_target(program: &Program, store: Label) -> &str {
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
    let target = text[..end.unwrap_or(text.len())].trim_end();
    let is_method = end.is_some_and(|end| text[end..].starts_with('('));
    let receiver = target.strip_suffix("store").map(str::trim_end);
    let receiver = receiver.and_then(|rest| rest.strip_suffix('.')).filter(|_| is_method);
    receiver.map_or(target, str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{LabelInfo, Span};

    #[test]
    fn store_target_is_the_text_before_the_operator() {
        for (text, place) in [
            ("x = 1", "x"),
            ("x++", "x"),
            ("a[i + 1] = b[2]", "a[i + 1]"),
            ("a[b[1] - 2] -= 7", "a[b[1] - 2]"),
            ("n.slot[i] |= 4", "n.slot[i]"),
            ("n . next=m", "n . next"),
            ("x.store(1, release)", "x"),
            ("ring[i + 1].seq . store (x = 1)", "ring[i + 1].seq"),
            ("n.store = 1", "n.store"),
        ] {
            let info = LabelInfo { span: Span::default(), text: text.into(), function: "p".into() };
            let program = Program { labels: vec![info], ..Program::default() };
            assert_eq!(store_target(&program, Label(0)), place);
        }
    }
}

//! Enumeration of the choices inside one step.
//!
//! A step that executes `choose` represents several steps. [`Choices`] enumerates all combinations
//! like an odometer: run the step, call [`advance`](Choices::advance), rewind and run the step
//! again, until `advance` returns false.

/// The alternatives taken in a step, and the number of options at each choice.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    taken: Vec<u32>,
    options: Vec<u32>,
    at: usize,
    /// The number of earlier combinations.
    before: u32,
}

/// The maximal number of combinations of one step.
const MAX_COMBINATIONS: u32 = 1 << 16;

/// The entry of a script at which the number of combinations exceeds the limit.
const TOO_MANY: u32 = u32::MAX;

impl Choices {
    /// Returns the choices of a recorded step.
    pub fn scripted(script: &[u32]) -> Self {
        Choices { taken: script.to_vec(), ..Choices::default() }
    }

    /// Prepares for another step: returns to its first combination.
    #[inline]
    pub fn reset(&mut self) {
        self.taken.clear();
        self.options.clear();
        (self.at, self.before) = (0, 0);
    }

    /// Returns to the first choice. Call this before each run of the step.
    #[inline]
    pub fn rewind(&mut self) {
        self.at = 0;
        self.options.clear();
    }

    /// Returns the alternative to take at the next choice, below `options` (at least one). Returns
    /// 0 if the script has no entry for this choice or an entry out of range.
    pub fn choose(&mut self, options: u32) -> u32 {
        debug_assert!(options > 0, "a choice has at least one option");
        if self.at == self.taken.len() {
            self.taken.push(0);
        }
        self.options.push(options);
        self.at += 1;
        let chosen = &mut self.taken[self.at - 1];
        if *chosen >= options {
            *chosen = 0;
        }
        *chosen
    }

    /// Advances to the next combination. Returns false after the last one.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        if self.before >= MAX_COMBINATIONS {
            return false;
        }
        self.before += 1;
        while let (Some(taken), Some(options)) = (self.taken.pop(), self.options.pop()) {
            if taken + 1 < options {
                self.taken.push(taken + 1);
                return true;
            }
        }
        false
    }

    /// Returns whether the step has more combinations than allowed. The script records this, so
    /// that the step fails in the same way when it is taken again.
    pub fn exceeds_limit(&mut self) -> bool {
        let recorded = self.taken.get(self.at) == Some(&TOO_MANY);
        if self.before < MAX_COMBINATIONS && !recorded {
            return false;
        }
        self.taken.truncate(self.at);
        self.taken.push(TOO_MANY);
        self.at += 1;
        true
    }

    /// Returns the alternatives taken in the last run.
    pub fn script(&self) -> &[u32] {
        &self.taken[..self.at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_occurs_once() {
        let mut choices = Choices::default();
        let mut seen = Vec::new();
        loop {
            choices.rewind();
            // The number of later choices depends on the first.
            let first = choices.choose(3);
            let rest: Vec<u32> = (0..first).map(|_| choices.choose(2)).collect();
            seen.push((first, rest));
            if !choices.advance() {
                break;
            }
        }
        assert_eq!(seen.len(), 1 + 2 + 4);
        seen.dedup();
        assert_eq!(seen.len(), 7);
    }
}

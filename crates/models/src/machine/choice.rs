//! Which way `choose` goes inside one step.
//!
//! A step that meets `choose` stands for several. [`Choices`] goes through them like an odometer: run
//! the step, [`advance`](Choices::advance), rewind, run again, until it says no.

/// The alternatives taken in a step, and how many there were at each choice.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    taken: Vec<u32>,
    options: Vec<u32>,
    at: usize,
    /// How many combinations came before this one.
    before: u32,
}

/// How many combinations of choices one step may stand for.
const COMBINATIONS: u32 = 1 << 16;

/// In a script: here the combinations became too many.
const TOO_MANY: u32 = u32::MAX;

impl Choices {
    /// Takes the alternatives of a recorded step.
    pub fn scripted(script: &[u32]) -> Self {
        Choices { taken: script.to_vec(), ..Choices::default() }
    }

    /// Before a run of the step.
    #[inline]
    pub fn rewind(&mut self) {
        self.at = 0;
        self.options.clear();
    }

    /// Which of `options` alternatives (at least one) to take at the next choice. Where a script says nothing, or
    /// something impossible, the first.
    pub fn choose(&mut self, options: u32) -> u32 {
        debug_assert!(options > 0, "there is something to choose from");
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

    /// Moves on to the next combination. False when all were run.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        if self.before >= COMBINATIONS {
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

    /// Whether the step stands for more combinations than allowed. Noted in the script, so that it
    /// goes wrong in the same way when it is taken again.
    pub fn are_too_many(&mut self) -> bool {
        let noted = self.taken.get(self.at) == Some(&TOO_MANY);
        if self.before < COMBINATIONS && !noted {
            return false;
        }
        self.taken.truncate(self.at);
        self.taken.push(TOO_MANY);
        self.at += 1;
        true
    }

    /// The alternatives taken in the last run.
    pub fn script(&self) -> &[u32] {
        &self.taken[..self.at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once() {
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

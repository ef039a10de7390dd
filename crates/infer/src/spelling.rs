//! Spellings: how the language of a source writes fences, and which of them it has a word for.
//!
//! | spelling | full | others |
//! |---|---|---|
//! | our own | `fence full;` | `fence KIND, ...;` for every set of kinds |
//! | x86 | `MFENCE` | `SFENCE`: store_store; `LFENCE`: acquire |
//! | C11 | `atomic_thread_fence(memory_order_seq_cst);` | `..._release`, `..._acquire` |
//! | Linux | `smp_mb();` | `smp_wmb();`: store_store; `smp_rmb();`: load_load |
//!
//! *Acquire* is load_load + load_store, *release* is load_store + store_store. What has no word of its own is
//! written as several fences in a row.

use fencepost_ir::FenceKinds;

/// How fences are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spelling {
    /// In our own language.
    #[default]
    Own,
    /// As x86 instructions.
    X86 {
        /// Whether instructions are in lower case.
        lower: bool,
    },
    /// As C11 does.
    C11,
    /// As Linux does.
    Linux,
}

impl Spelling {
    /// The language, for a message.
    pub fn language(self) -> &'static str {
        match self {
            Spelling::Own => "Fencepost's language",
            Spelling::X86 { .. } => "x86",
            Spelling::C11 => "C11",
            Spelling::Linux => "Linux",
        }
    }

    /// The fences that have a word, the full one first; none where every set of kinds has one.
    pub fn words(self) -> Vec<(FenceKinds, &'static str)> {
        let (full, store, load) =
            (FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD);
        match self {
            Spelling::Own => Vec::new(),
            Spelling::X86 { lower: false } => {
                vec![(full, "MFENCE"), (store, "SFENCE"), (FenceKinds::ACQUIRE, "LFENCE")]
            }
            Spelling::X86 { lower: true } => {
                vec![(full, "mfence"), (store, "sfence"), (FenceKinds::ACQUIRE, "lfence")]
            }
            Spelling::C11 => vec![
                (full, "atomic_thread_fence(memory_order_seq_cst);"),
                (FenceKinds::RELEASE, "atomic_thread_fence(memory_order_release);"),
                (FenceKinds::ACQUIRE, "atomic_thread_fence(memory_order_acquire);"),
            ],
            Spelling::Linux => {
                vec![(full, "smp_mb();"), (store, "smp_wmb();"), (load, "smp_rmb();")]
            }
        }
    }

    /// Whether one word says just these kinds.
    pub fn has_word_for(self, kinds: FenceKinds) -> bool {
        self == Spelling::Own || self.words().iter().any(|(word, _)| *word == kinds)
    }

    /// A fence of these kinds, as statements.
    ///
    /// # Panics
    /// When no fences of the language make up just these kinds.
    pub fn fence(self, kinds: FenceKinds) -> Vec<String> {
        if kinds == FenceKinds::default() {
            return Vec::new();
        }
        if self == Spelling::Own {
            return vec![format!("fence {};", kinds.name().replace(" + ", ", "))];
        }
        let mut words = self.words();
        let both = (
            FenceKinds::ACQUIRE.union(FenceKinds::RELEASE),
            "atomic_thread_fence(memory_order_acq_rel);",
        );
        match self {
            Spelling::Own | Spelling::X86 { .. } => {}
            // What the author wrote may be in the other's words.
            Spelling::C11 => words.extend([both].into_iter().chain(Spelling::Linux.words())),
            Spelling::Linux => words.extend([both].into_iter().chain(Spelling::C11.words())),
        }
        if let Some((_, word)) = words.iter().find(|(word, _)| *word == kinds) {
            return vec![(*word).into()];
        }
        let mut said = FenceKinds::default();
        let mut texts = Vec::new();
        for (word, text) in words {
            if kinds.contains(word) && !said.contains(word) {
                said = said.union(word);
                texts.push(text.to_string());
            }
        }
        assert!(said == kinds, "only what has a word is put into a source");
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_word_takes_several() {
        let x86 = Spelling::X86 { lower: false };
        let (store, load) = (FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD);
        assert_eq!(x86.fence(store.union(FenceKinds::ACQUIRE)), ["SFENCE", "LFENCE"]);
        assert_eq!(x86.fence(FenceKinds::FULL), ["MFENCE"]);
        assert_eq!(Spelling::Linux.fence(store.union(load)), ["smp_wmb();", "smp_rmb();"]);
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        assert_eq!(Spelling::C11.fence(both), ["atomic_thread_fence(memory_order_acq_rel);"]);
        assert_eq!(Spelling::Own.fence(both), ["fence store_store, load_load, load_store;"]);
    }

    #[test]
    fn a_fence_in_the_words_of_another_can_be_written_again() {
        assert_eq!(Spelling::C11.fence(FenceKinds::LOAD_LOAD), ["smp_rmb();"]);
        let release = ["atomic_thread_fence(memory_order_release);"];
        assert_eq!(Spelling::Linux.fence(FenceKinds::RELEASE), release);
    }

    #[test]
    #[should_panic(expected = "only what has a word")]
    fn x86_has_no_word_for_stores_before_loads() {
        Spelling::X86 { lower: true }.fence(FenceKinds::STORE_LOAD);
    }
}

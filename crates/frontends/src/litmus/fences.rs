//! The fences of litmus tests, in each dialect.
//!
//! | dialect | full | others |
//! |---|---|---|
//! | x86 | `MFENCE` | `SFENCE`: store_store; `LFENCE`: acquire |
//! | C11 | `atomic_thread_fence(memory_order_seq_cst);` | `..._release`, `..._acquire` |
//! | Linux | `smp_mb();` | `smp_wmb();`: store_store; `smp_rmb();`: load_load |
//!
//! A test gets fences like those it has: x86 instructions in its own case, and those of Linux where it uses
//! others of Linux.

use fencepost_ir::FenceKinds;

use super::ast::{Arch, Body, File};
use crate::fences::{Fence, FenceSyntax, Offer};

/// A way to write fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
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

impl Dialect {
    /// That of a test.
    pub(super) fn of(file: &File, source: &str) -> Dialect {
        match &file.body {
            Body::X86(columns) => {
                let cells = columns.iter().flat_map(|column| &column.cells);
                let first = cells.filter_map(|cell| cell.instruction.as_ref()).next();
                let lower = match first {
                    Some(instruction) => {
                        instruction.span.text(source).starts_with(|c: char| c.is_ascii_lowercase())
                    }
                    None => file.arch == Arch::X86_64,
                };
                Dialect::X86 { lower }
            }
            Body::C(functions) => {
                let mut linux = false;
                for function in functions {
                    function.body.for_each(&mut |expression| {
                        let call = expression.span.text(source);
                        linux |= call.starts_with("smp_") || is_once(call);
                    });
                }
                if linux { Dialect::Linux } else { Dialect::C11 }
            }
        }
    }

    /// Its fences.
    pub(super) fn syntax(self) -> FenceSyntax {
        let (language, has_blocks) = match self {
            Dialect::X86 { .. } => ("x86", false),
            Dialect::C11 => ("C11", true),
            Dialect::Linux => ("Linux", true),
        };
        let mut fences: Vec<Fence> =
            self.words().into_iter().map(|(kinds, text)| Fence::always(kinds, text)).collect();
        // What the author wrote may be in the words of the other dialect of C.
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        let both = (both, "atomic_thread_fence(memory_order_acq_rel);");
        let other = match self {
            Dialect::X86 { .. } => None,
            Dialect::C11 => Some(Dialect::Linux),
            Dialect::Linux => Some(Dialect::C11),
        };
        let others = other.into_iter().flat_map(|other| [both].into_iter().chain(other.words()));
        fences.extend(others.map(|(kinds, text)| Fence::new(kinds, text, Offer::Rewriting)));
        FenceSyntax { language, fences, drain: None, has_blocks, told_by_thread: true }
    }

    /// The fences with a word of the dialect.
    fn words(self) -> [(FenceKinds, &'static str); 3] {
        let (full, store, load) =
            (FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD);
        let (acquire, release) = (FenceKinds::ACQUIRE, FenceKinds::RELEASE);
        match self {
            Dialect::X86 { lower: false } => {
                [(full, "MFENCE"), (store, "SFENCE"), (acquire, "LFENCE")]
            }
            Dialect::X86 { lower: true } => {
                [(full, "mfence"), (store, "sfence"), (acquire, "lfence")]
            }
            Dialect::C11 => [
                (full, "atomic_thread_fence(memory_order_seq_cst);"),
                (release, "atomic_thread_fence(memory_order_release);"),
                (acquire, "atomic_thread_fence(memory_order_acquire);"),
            ],
            Dialect::Linux => [(full, "smp_mb();"), (store, "smp_wmb();"), (load, "smp_rmb();")],
        }
    }
}

/// Whether this is a call of `READ_ONCE` or its like.
fn is_once(call: &str) -> bool {
    call.split('(').next().is_some_and(|name| name.trim_end().ends_with("_ONCE"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::EditError;

    fn fence(dialect: Dialect, kinds: FenceKinds) -> Vec<String> {
        dialect.syntax().fence(kinds).expect("the dialect has such fences")
    }

    #[test]
    fn what_has_no_word_takes_several() {
        let x86 = Dialect::X86 { lower: false };
        let (store, load) = (FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD);
        assert_eq!(fence(x86, store.union(FenceKinds::ACQUIRE)), ["SFENCE", "LFENCE"]);
        assert_eq!(fence(x86, FenceKinds::FULL), ["MFENCE"]);
        assert_eq!(fence(Dialect::Linux, store.union(load)), ["smp_wmb();", "smp_rmb();"]);
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        assert_eq!(fence(Dialect::C11, both), ["atomic_thread_fence(memory_order_acq_rel);"]);
    }

    #[test]
    fn a_fence_in_the_words_of_another_can_be_written_again_but_is_not_inserted() {
        assert_eq!(fence(Dialect::C11, FenceKinds::LOAD_LOAD), ["smp_rmb();"]);
        assert_eq!(Dialect::C11.syntax().insertable(FenceKinds::LOAD_LOAD), None);
        let release = ["atomic_thread_fence(memory_order_release);"];
        assert_eq!(fence(Dialect::Linux, FenceKinds::RELEASE), release);
    }

    #[test]
    fn x86_has_no_word_for_stores_before_loads() {
        let said = Dialect::X86 { lower: true }.syntax().fence(FenceKinds::STORE_LOAD);
        assert!(matches!(said, Err(EditError::NoSuchFence { language: "x86", .. })), "{said:?}");
    }
}

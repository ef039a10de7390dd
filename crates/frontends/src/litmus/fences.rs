//! The fences of litmus tests, in each dialect.
//!
//! | dialect | full | others |
//! |---|---|---|
//! | x86 | `MFENCE` | `SFENCE`: store_store; `LFENCE`: acquire |
//! | AArch64 | `DMB SY` | `DMB ST`: store_store; `DMB LD`: acquire |
//! | C11 | `atomic_thread_fence(memory_order_seq_cst);` | `..._release`, `..._acquire` |
//! | Linux | `smp_mb();` | `smp_wmb();`: store_store; `smp_rmb();`: load_load |
//!
//! New fences match the test: instructions in its letter case, and Linux fences if the test
//! calls other Linux functions.

use fencepost_ir::FenceKinds;

use super::ast::{Arch, Body, File};
use super::table::{Column, TableInstruction};
use crate::fences::{Availability, Fence, FenceSyntax};

/// The dialect in which a test writes fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// x86 instructions.
    X86 {
        /// Whether instructions are in lower case.
        lower: bool,
    },
    /// AArch64 instructions.
    AArch64 {
        /// Whether instructions are in lower case.
        lower: bool,
    },
    /// C11 functions.
    C11,
    /// Linux kernel macros.
    Linux,
}

impl Dialect {
    /// Determines the dialect of a test.
    pub(super) fn of(file: &File, source: &str) -> Dialect {
        match &file.body {
            Body::X86(columns) => {
                let lower = is_lower_case(columns, source);
                Dialect::X86 { lower: lower.unwrap_or(file.arch == Arch::X86_64) }
            }
            Body::AArch64(columns) => {
                Dialect::AArch64 { lower: is_lower_case(columns, source).unwrap_or(false) }
            }
            Body::C(functions) => {
                let mut linux = false;
                for function in functions {
                    function.body.for_each(&mut |expression| {
                        let call = expression.span.text(source);
                        linux |= call.starts_with("smp_") || is_once_macro(call);
                    });
                }
                if linux { Dialect::Linux } else { Dialect::C11 }
            }
        }
    }

    /// Returns the fence syntax of the dialect.
    pub(super) fn syntax(self) -> FenceSyntax {
        let (language, has_blocks) = match self {
            Dialect::X86 { .. } => ("x86", false),
            Dialect::AArch64 { .. } => ("AArch64", false),
            Dialect::C11 => ("C11", true),
            Dialect::Linux => ("Linux", true),
        };
        let mut fences: Vec<Fence> = self
            .fence_texts()
            .into_iter()
            .map(|(kinds, text)| Fence::by_default(kinds, text))
            .collect();
        // The source may contain fences of the other C dialect.
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        let both = (both, "atomic_thread_fence(memory_order_acq_rel);");
        let other = match self {
            Dialect::X86 { .. } | Dialect::AArch64 { .. } => None,
            Dialect::C11 => Some(Dialect::Linux),
            Dialect::Linux => Some(Dialect::C11),
        };
        let others =
            other.into_iter().flat_map(|other| [both].into_iter().chain(other.fence_texts()));
        fences
            .extend(others.map(|(kinds, text)| Fence::new(kinds, text, Availability::RewriteOnly)));
        FenceSyntax { language, fences, drain: None, has_blocks, located_by_thread: true }
    }

    /// Returns the fences that the dialect inserts, with their text.
    fn fence_texts(self) -> [(FenceKinds, &'static str); 3] {
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
            Dialect::AArch64 { lower: false } => {
                [(full, "DMB SY"), (store, "DMB ST"), (acquire, "DMB LD")]
            }
            Dialect::AArch64 { lower: true } => {
                [(full, "dmb sy"), (store, "dmb st"), (acquire, "dmb ld")]
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

/// Returns whether the first instruction of a table is in lower case; `None` if there is none.
fn is_lower_case<I: TableInstruction>(columns: &[Column<I>], source: &str) -> Option<bool> {
    let first = columns.iter().flat_map(Column::instructions).next()?;
    Some(first.span().text(source).starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Returns whether the text is a call of `READ_ONCE`, `WRITE_ONCE` or a similar macro.
fn is_once_macro(call: &str) -> bool {
    call.split('(').next().is_some_and(|name| name.trim_end().ends_with("_ONCE"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::EditError;

    fn fence(dialect: Dialect, kinds: FenceKinds) -> Vec<String> {
        dialect.syntax().fence(kinds).expect("the dialect can write these kinds")
    }

    #[test]
    fn kinds_without_a_single_fence_use_several_fences() {
        let x86 = Dialect::X86 { lower: false };
        let (store, load) = (FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD);
        assert_eq!(fence(x86, store.union(FenceKinds::ACQUIRE)), ["SFENCE", "LFENCE"]);
        assert_eq!(fence(x86, FenceKinds::FULL), ["MFENCE"]);
        assert_eq!(fence(Dialect::Linux, store.union(load)), ["smp_wmb();", "smp_rmb();"]);
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        assert_eq!(fence(Dialect::C11, both), ["atomic_thread_fence(memory_order_acq_rel);"]);
    }

    #[test]
    fn fences_of_the_other_c_dialect_are_rewritten_but_not_inserted() {
        assert_eq!(fence(Dialect::C11, FenceKinds::LOAD_LOAD), ["smp_rmb();"]);
        assert_eq!(Dialect::C11.syntax().insertable(FenceKinds::LOAD_LOAD), None);
        let release = ["atomic_thread_fence(memory_order_release);"];
        assert_eq!(fence(Dialect::Linux, FenceKinds::RELEASE), release);
    }

    #[test]
    fn x86_has_no_fence_for_store_load_alone() {
        let result = Dialect::X86 { lower: true }.syntax().fence(FenceKinds::STORE_LOAD);
        let is_missing = matches!(result, Err(EditError::NoSuchFence { language: "x86", .. }));
        assert!(is_missing, "{result:?}");
    }
}

//! The fences of C programs, in the style of the file.
//!
//! | style | full | others |
//! |---|---|---|
//! | C11 | `atomic_thread_fence(memory_order_seq_cst);` | `..._release`, `..._acquire`, `..._acq_rel` |
//! | GCC | `__atomic_thread_fence(__ATOMIC_SEQ_CST);` | `..._RELEASE`, `..._ACQUIRE`, `..._ACQ_REL` |
//! | Linux | `smp_mb();` | `smp_wmb();`: store_store; `smp_rmb();`: load_load |
//! | x86 | `asm volatile("mfence" ::: "memory");` | `sfence`: store_store; `lfence`: acquire |
//!
//! A program that already has fences gets more of the same style. Otherwise its accesses decide.
//! GCC's builtins need no header, so they are the style of programs without atomic accesses, and of
//! programs whose files have different styles: a header for one file may come after another file.

use fencepost_ir::FenceKinds;

use super::source_map::{FileKind, SourceMap};
use crate::fences::{Availability, Fence, FenceSyntax};

/// The style in which a file writes fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `<stdatomic.h>`.
    C11,
    /// GCC's `__atomic` builtins.
    Gcc,
    /// Macros of the Linux kernel.
    Linux,
    /// Inline assembly for x86.
    X86,
}

/// Words that show a style, the strongest sign first.
const SIGNS: [(&str, Style); 16] = [
    ("smp_mb", Style::Linux),
    ("smp_wmb", Style::Linux),
    ("mfence", Style::X86),
    ("atomic_thread_fence", Style::C11),
    ("__atomic_thread_fence", Style::Gcc),
    ("__sync_synchronize", Style::Gcc),
    ("READ_ONCE", Style::Linux),
    ("WRITE_ONCE", Style::Linux),
    ("smp_store_release", Style::Linux),
    ("smp_load_acquire", Style::Linux),
    ("stdatomic.h", Style::C11),
    ("_Atomic", Style::C11),
    ("atomic_store_explicit", Style::C11),
    ("atomic_load_explicit", Style::C11),
    ("atomic_store", Style::C11),
    ("atomic_load", Style::C11),
];

impl Style {
    const ALL: [Style; 4] = [Style::C11, Style::Gcc, Style::Linux, Style::X86];

    /// Determines the style of a text. Returns `None` for a text without a sign of a style.
    fn of_text(text: &str) -> Option<Style> {
        let found = SIGNS.iter().find(|(word, _)| contains_word(text, word));
        found.map(|(_, style)| *style)
    }

    /// Determines the style of a program from the texts of its files.
    fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Style {
        let mut styles = texts.into_iter().filter_map(Style::of_text);
        let first = styles.next().unwrap_or(Style::Gcc);
        if styles.all(|style| style == first) { first } else { Style::Gcc }
    }

    fn language(self) -> &'static str {
        match self {
            Style::C11 => "C11",
            Style::Gcc => "C with GCC's builtins",
            Style::Linux => "C of the Linux kernel",
            Style::X86 => "C with assembly for x86",
        }
    }

    /// Returns the fences of the style, with their statements.
    fn fences(self) -> Vec<(FenceKinds, &'static str)> {
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        match self {
            Style::C11 => vec![
                (FenceKinds::FULL, "atomic_thread_fence(memory_order_seq_cst);"),
                (FenceKinds::RELEASE, "atomic_thread_fence(memory_order_release);"),
                (FenceKinds::ACQUIRE, "atomic_thread_fence(memory_order_acquire);"),
                (both, "atomic_thread_fence(memory_order_acq_rel);"),
            ],
            Style::Gcc => vec![
                (FenceKinds::FULL, "__atomic_thread_fence(__ATOMIC_SEQ_CST);"),
                (FenceKinds::RELEASE, "__atomic_thread_fence(__ATOMIC_RELEASE);"),
                (FenceKinds::ACQUIRE, "__atomic_thread_fence(__ATOMIC_ACQUIRE);"),
                (both, "__atomic_thread_fence(__ATOMIC_ACQ_REL);"),
            ],
            Style::Linux => vec![
                (FenceKinds::FULL, "smp_mb();"),
                (FenceKinds::STORE_STORE, "smp_wmb();"),
                (FenceKinds::LOAD_LOAD, "smp_rmb();"),
            ],
            Style::X86 => vec![
                (FenceKinds::FULL, "asm volatile(\"mfence\" ::: \"memory\");"),
                (FenceKinds::STORE_STORE, "asm volatile(\"sfence\" ::: \"memory\");"),
                (FenceKinds::ACQUIRE, "asm volatile(\"lfence\" ::: \"memory\");"),
            ],
        }
    }
}

/// Returns the fence syntax of a program.
pub(super) fn syntax(sources: &SourceMap) -> FenceSyntax {
    let users = sources.files().iter().filter(|file| file.kind != FileKind::BuiltIn);
    syntax_of(Style::of(users.map(|file| &*file.text)))
}

fn syntax_of(style: Style) -> FenceSyntax {
    let own = style.fences().into_iter().map(|(kinds, text)| Fence::by_default(kinds, text));
    // The source may contain fences of another style.
    let others = Style::ALL.into_iter().filter(|other| *other != style);
    let others = others.flat_map(Style::fences);
    let others = others.map(|(kinds, text)| Fence::new(kinds, text, Availability::RewriteOnly));
    FenceSyntax {
        language: style.language(),
        fences: own.chain(others).collect(),
        drain: None,
        has_blocks: true,
        located_by_thread: false,
    }
}

/// Returns whether a text contains a word that is not part of a longer identifier.
fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_have_the_style_of_the_file() {
        for (text, style) in [
            ("#include <stdatomic.h>\natomic_int x;", Style::C11),
            ("#include <stdatomic.h>\nvoid f(void) { smp_mb(); }", Style::Linux),
            ("int r = READ_ONCE(x);", Style::Linux),
            ("asm volatile(\"mfence\" ::: \"memory\");", Style::X86),
            ("__atomic_thread_fence(__ATOMIC_SEQ_CST);", Style::Gcc),
            ("volatile int x;", Style::Gcc),
            ("#include \"lock.h\"\nint f(void) { return atomic_load(&x); }", Style::C11),
            ("int smp_mbx;", Style::Gcc),
        ] {
            assert_eq!(Style::of([text]), style, "{text}");
        }
    }

    #[test]
    fn files_of_different_styles_get_builtins() {
        let (c11, linux) = ("atomic_int x; int r = atomic_load(&x);", "smp_mb();");
        assert_eq!(Style::of([c11, "int main(void) {}"]), Style::C11);
        assert_eq!(Style::of(["int main(void) {}", c11]), Style::C11);
        assert_eq!(Style::of([c11, linux]), Style::Gcc);
    }

    #[test]
    fn a_full_fence_of_the_own_style_comes_first() {
        let texts = syntax_of(Style::C11).fence(FenceKinds::FULL).expect("a fence");
        assert_eq!(texts, ["atomic_thread_fence(memory_order_seq_cst);"]);
        let texts = syntax_of(Style::Linux).fence(FenceKinds::STORE_STORE).expect("a fence");
        assert_eq!(texts, ["smp_wmb();"]);
    }
}

//! Inline assembly: fences and hints that programs write as instructions.
//!
//! An instruction is recognised by its template, without comments, spaces and operands. Source of
//! the meanings: the manuals of Intel (volume 3, 8.2.5) and Arm (`DMB`).

use fencepost_ir::{FenceKinds, Span};

use super::{Checker, void};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{Expr, ExprKind, Intrinsic};

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    NoEffect,
    Fence(FenceKinds),
}

/// Returns the instructions of a template in lower case, without comments and extra spaces.
fn instructions(template: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some(start) = rest.find("/*") {
        text.push_str(&rest[..start]);
        text.push(' ');
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    text.push_str(rest);
    text.lines()
        .map(|line| line.split(['#', '@']).next().unwrap_or(""))
        .map(|line| line.split("//").next().unwrap_or(""))
        .flat_map(|line| line.split(';'))
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
        .filter(|part| !part.is_empty())
        .collect()
}

/// Returns the meaning of a whole template.
fn meaning(template: &str) -> Option<Meaning> {
    let parts = instructions(template);
    let mut fences: Option<FenceKinds> = None;
    let mut locked = false;
    for part in &parts {
        let (word, operands) = part.split_once(' ').unwrap_or((part, ""));
        let added = match (word, operands) {
            ("lock", "") => {
                locked = true;
                continue;
            }
            ("rep" | "repz", "" | "nop") => None,
            ("pause" | "nop" | "yield" | "isb" | "hint" | "wfe" | "sev", _) => None,
            ("mfence", "") => Some(FenceKinds::FULL),
            ("sfence", "") => Some(FenceKinds::STORE_STORE),
            ("lfence", "") => Some(FenceKinds::ACQUIRE),
            // An atomic update that changes nothing: `lock; addl $0,0(%%esp)`.
            ("lock", _) if is_idle_update(operands) => Some(FenceKinds::FULL),
            (_, _) if locked && is_idle_update(part) => Some(FenceKinds::FULL),
            ("dmb" | "dsb", "ish" | "sy" | "") => Some(FenceKinds::FULL),
            ("dmb" | "dsb", "ishst" | "st") => Some(FenceKinds::STORE_STORE),
            ("dmb" | "dsb", "ishld" | "ld") => Some(FenceKinds::ACQUIRE),
            _ => return None,
        };
        if let Some(added) = added {
            fences = Some(fences.map_or(added, |fences| fences.union(added)));
        }
    }
    Some(fences.map_or(Meaning::NoEffect, Meaning::Fence))
}

/// Returns whether an instruction adds or ors 0.
fn is_idle_update(instruction: &str) -> bool {
    let Some((word, operands)) = instruction.split_once(' ') else { return false };
    let is_update = matches!(word, "addl" | "addq" | "add" | "orl" | "orq" | "or" | "orb" | "addb");
    is_update && matches!(operands.split(',').next(), Some("$0" | "$0x0"))
}

impl Checker<'_> {
    /// Checks inline assembly: a fence, or nothing.
    pub(super) fn assembly(&mut self, asm: &ast::Asm, span: Span) -> Option<Expr> {
        let intrinsic = match meaning(&asm.template) {
            Some(Meaning::NoEffect) => Intrinsic::NoEffect { arguments: Vec::new() },
            Some(Meaning::Fence(kinds)) => Intrinsic::MachineFence(kinds),
            None => {
                self.error(codes::ASM, span, "this inline assembly is not understood")
                    .label("neither a known fence nor a hint to the processor")
                    .hint(
                        "known are an empty template, `mfence`, `sfence`, `lfence`, \
                         `lock; addl $0, ...`, `pause`, `dmb`, `isb` and `yield`; use \
                         `<stdatomic.h>` for other operations",
                    );
                return None;
            }
        };
        Some(Expr { kind: ExprKind::Intrinsic(Box::new(intrinsic)), ty: void(), span })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_instructions_are_understood() {
        let fence = |kinds| Some(Meaning::Fence(kinds));
        for (template, expected) in [
            ("", Some(Meaning::NoEffect)),
            (" # a comment", Some(Meaning::NoEffect)),
            ("/* barrier */", Some(Meaning::NoEffect)),
            ("mfence", fence(FenceKinds::FULL)),
            ("\tMFENCE\n", fence(FenceKinds::FULL)),
            ("sfence ;", fence(FenceKinds::STORE_STORE)),
            ("lfence", fence(FenceKinds::ACQUIRE)),
            ("lock; addl $0,0(%%esp)", fence(FenceKinds::FULL)),
            ("lock; addl $0, 0(%%rsp)", fence(FenceKinds::FULL)),
            ("lock orl $0, (%rsp)", fence(FenceKinds::FULL)),
            ("lock; addl $1, (%0)", None),
            ("addl $0, (%0)", None),
            ("rep; nop", Some(Meaning::NoEffect)),
            ("pause", Some(Meaning::NoEffect)),
            ("dmb ish", fence(FenceKinds::FULL)),
            ("dmb\tishst", fence(FenceKinds::STORE_STORE)),
            ("dmb ishld", fence(FenceKinds::ACQUIRE)),
            ("isb", Some(Meaning::NoEffect)),
            ("xchgl %0, %1", None),
            ("sfence; lfence", fence(FenceKinds::STORE_STORE.union(FenceKinds::ACQUIRE))),
        ] {
            assert_eq!(meaning(template), expected, "{template:?}");
        }
    }
}

//! Store buffering in a ring of n threads: thread i stores x_i and then loads x_{i+1}.
//!
//! Source: the litmus test SB with n threads (3.SB for n = 3). All loads read 0 if at least one
//! thread reorders its store after its load. So the repair needs a fence in each of the n threads.

use crate::Fences;

/// Writes the program for n threads.
///
/// ```
/// use fencepost_bench::{Fences, ring};
/// let text = ring(5, Fences::Present);
/// assert!(text.contains("thread p4 {\n  x4 = true;\n  fence;\n  r = x0;\n}\n"));
/// ```
pub fn ring(n: u32, fences: Fences) -> String {
    let (fence, expected) = match fences {
        Fences::Present => ("  fence;\n", "Expected: verified under SC, TSO and PSO."),
        Fences::Removed => ("", "Expected: SC verified; TSO and PSO violated."),
    };
    let join = |part: &dyn Fn(u32) -> String, separator: &str| {
        (0..n).map(part).collect::<Vec<String>>().join(separator)
    };
    let locations = join(&|i| format!("x{i}"), ", ");
    let threads = join(
        &|i| format!("thread p{i} {{\n  x{i} = true;\n{fence}  r = x{};\n}}\n", (i + 1) % n),
        "\n",
    );
    let all_zero = join(&|i| format!("!p{i}.r"), " && ");
    format!(
        "// Store buffering in a ring of {n} threads. No order of the accesses gives 0 to all loads.
// Source: the litmus test SB with {n} threads.
// {expected}

shared bool {locations};

{threads}
final never {all_zero};
"
    )
}

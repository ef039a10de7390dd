//! Runs work that recurses deeply on a stack of known size.
//!
//! All passes over the syntax tree are recursive. The limits of the parser
//! ([`MAX_NESTING`](super::parse::MAX_NESTING), [`MAX_HEIGHT`](super::parse::MAX_HEIGHT)) bound the
//! depth. In builds without optimisation, the deepest permitted input needs up to 8 MB, and a thread
//! has only 2 MB unless its creator asks for more. So the front end gets a thread of its own.
//!
//! Rejected: limits that are sufficient for 2 MB. About 40 levels would remain, and the C standard
//! requires 63 levels of parentheses and 127 levels of blocks.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// The size of the stack, in bytes: twice what the deepest permitted input needs.
const STACK_SIZE: usize = 16 << 20;

/// Returns the result of `work`, which runs on a large stack. Without such a stack, it runs on that
/// of the caller.
pub(super) fn on_large_stack<T: Send>(mut work: impl FnMut() -> T + Send) -> T {
    let result = scope(|scope| {
        let thread = Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, &mut work);
        thread.ok().map(|thread| thread.join())
    });
    match result {
        Some(Ok(value)) => value,
        Some(Err(panic)) => resume_unwind(panic),
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use crate::Request;
    use crate::c::codes;
    use crate::c::frontend::compile;
    use crate::c::parse::{MAX_HEIGHT, MAX_NESTING};
    use fencepost_ir::Diagnostics;
    use std::thread::Builder;

    /// Nested code: the text before, the text that opens a level, the innermost text, the text that
    /// closes a level, and the text after.
    const NESTED: [[&str; 5]; 16] = [
        ["r = ", "(", "x", ")", ";"],
        ["r = ", "!", "x", "", ";"],
        ["r = ", "(int)", "x", "", ";"],
        ["r = ", "x ? 1 : ", "x", "", ";"],
        ["r = ", "x + (", "x", ")", ";"],
        ["r = ", "", "x", " + 1", ";"],
        ["r = ", "f(", "x", ")", ";"],
        ["r = ", "a[", "x", "]", ";"],
        ["r = ", "atomic_fetch_add(&y, ", "x", ")", ";"],
        ["r = ", "({ if (x) r = 1; ", "x", "; })", ";"],
        ["", "{", "x = 1;", "}", ""],
        ["", "if (x) {} else ", "x = 1;", "", ""],
        ["", "while (x) {", "x = 1;", "}", ""],
        ["", "switch (x) { case 1: ", "x = 1;", "}", ""],
        ["", "do ", "x = 1;", " while (x);", ""],
        ["int ", "(", "z", ")", ";"],
    ];

    fn nested([before, open, inner, close, after]: [&str; 5], depth: usize) -> String {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!(
            "#include <stdatomic.h>\nint x, a[9]; _Atomic int y; int f(int p) {{ return p; }}\n\
             int main(void) {{ int r; {before}{open}{inner}{close}{after} return 0; }}"
        )
    }

    /// The test fails with an overflow of the stack, which ends the process.
    #[test]
    fn deep_nesting_needs_little_of_the_stack_of_the_caller() {
        let check = || {
            for shape in NESTED {
                for depth in [63, 90, MAX_NESTING - 10, MAX_NESTING, MAX_HEIGHT, 5_000] {
                    let mut diagnostics = Diagnostics::new();
                    let request = Request { places: true, ..Request::default() };
                    let source = nested(shape, depth as usize);
                    let problem = compile(&source, &request, &mut diagnostics);
                    let errors: Vec<&str> = diagnostics.iter().map(|found| found.code).collect();
                    assert!(problem.is_some() || depth > 63, "{shape:?} {depth} {errors:?}");
                    assert!(
                        problem.is_some() || errors.contains(&codes::TOO_DEEP),
                        "{shape:?} {depth}"
                    );
                }
            }
        };
        let thread = Builder::new().stack_size(2 << 20).spawn(check).expect("a thread");
        thread.join().expect("no panic");
    }
}

//! Small random programs, as `.fp` source text.
//!
//! The generators return text, not [`Problem`](fencepost_ir::Problem)s. So a failing program can be
//! saved as a file of the regression corpus, and the tests exercise the front end too. The same
//! profile and seed always give the same text, because the random numbers are our own ([`Random`]).
//!
//! The programs cover the corner cases of the semantics: register re-use, address dependencies,
//! several stores to one location, every kind of fence, loops that fill buffers. They stay small:
//! values stay small, unbounded loops contain no counters, and most programs have at most some
//! thousand states. Some have more: limit the search and skip programs that exceed the limit.
//!
//! | module | programs |
//! |---|---|
//! | [`profiles`] | programs of all kinds |
//! | [`mod@unbounded_buffers`] | programs whose store buffers grow without bound |
//! | [`mod@bounded`] | programs with few enough runs to enumerate them all |
//! | [`mod@litmus`] | litmus tests |
//! | [`mod@c_like`] | memory orders, integers that wrap, arrays of records, local arrays, `switch` |
//! | [`mod@silent_loops`] | loops over registers only, many of which never end |
//! | [`mod@finally`] | programs of all kinds with a `finally` block |
//! | [`mod@interchangeable`] | threads of one template that are interchangeable, or almost |
//! | [`mod@rcu`] | litmus tests in C with RCU; not as `.fp` |
//! | [`mod@arm`] | programs for the model `arm`, with a text form of their own; not as `.fp` |
//! | [`synchronization`] | critical sections, invariants, blocking statements, spin loops |
//!
//! [`mod@shrink`] minimises a failing program.
//!
//! [`Random`]: crate::Random
//!
//! ```
//! use fencepost_testkit::programs::{Profile, program};
//!
//! let source = program(Profile::Mixed, 7).to_string();
//! assert!(source.contains("thread t0"));
//! assert_eq!(source, program(Profile::Mixed, 7).to_string());
//! ```

mod arm;
mod bounded;
mod c_like;
mod finally;
mod interchangeable;
mod litmus;
mod profiles;
mod rcu;
mod shrink;
mod silent_loops;
mod synchronization;
mod unbounded_buffers;

use std::fmt;

pub use arm::{ArmProgram, arm, shrink_arm};
pub use bounded::{bounded, bounded_with_spin_loops};
pub use c_like::c_like;
pub use finally::with_finally;
pub use interchangeable::interchangeable;
pub use litmus::litmus;
pub use profiles::program;
pub use rcu::rcu;
pub use shrink::shrink;
pub use silent_loops::silent_loops;
pub use synchronization::{
    critical_sections, deadlocks, guarded_alternatives, invariants, many_executions, spin_loops,
    turn_taking,
};
pub use unbounded_buffers::unbounded_buffers;

/// The kind of programs to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// No loops: litmus tests of up to three threads with branches, updates, fences, arrays.
    Straight,
    /// Two threads with loops: bounded loops, spin loops, and loops that fill buffers.
    Loops,
    /// Two threads that share records, with `new` and `free`.
    Records,
    /// All features, including `atomic`, critical sections, `init` and invariants.
    Mixed,
    /// Two threads with many stores to few locations, fences of every kind between the stores, and
    /// unbounded loops that store.
    Buffers,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 5] =
        [Profile::Straight, Profile::Loops, Profile::Records, Profile::Mixed, Profile::Buffers];
}

/// A random program. Its `Display` form is the source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RandomProgram {
    /// The generator and the seed, for the first line of the text.
    origin: String,
    /// The declarations of shared memory. Unused ones are not written.
    shared: Vec<SharedDeclaration>,
    /// The `init` block.
    init: Vec<Statement>,
    /// The threads `t0`, `t1`, ... Shrinking may remove some.
    threads: Vec<(String, Vec<Statement>)>,
    /// The `finally` block.
    finally: Vec<Statement>,
    /// Properties and invariants.
    properties: Vec<String>,
}

/// A declaration of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SharedDeclaration {
    name: &'static str,
    text: String,
    /// The entries of this declaration in `observe`.
    observed: Vec<String>,
}

/// A statement, as the text around its nested statements.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Statement {
    /// A statement without nested statements.
    Line(String),
    /// `head { body }` for each arm, then the tail: `if` and `else`, `do` and its `while`.
    Block { arms: Vec<(String, Vec<Statement>)>, tail: String },
}

/// The registers of a thread and their types. A register has the same type in every thread, so any
/// statement fits any thread.
const REGISTERS: [(&str, &str); 7] = [
    ("r0", "int"),
    ("r1", "int"),
    ("r2", "int"),
    ("r3", "bool"),
    ("r4", "Node"),
    ("r5", "Node"),
    (COUNTER, "int"),
];

/// The loop counter register. It is not observed.
const COUNTER: &str = "k";

impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = String::new();
        if !self.init.is_empty() {
            body += "\ninit {\n";
            write_statements(&self.init, 1, &mut body);
            body += "}\n";
        }
        let mut observed = Vec::new();
        for (name, statements) in &self.threads {
            let mut text = String::new();
            write_statements(statements, 1, &mut text);
            body += &format!("\nthread {name} {{\n");
            for (reg, ty) in REGISTERS {
                let qualified = format!("{name}.{reg}");
                let in_property =
                    self.properties.iter().any(|property| property.contains(&qualified));
                if in_property || mentions(&text, reg) {
                    body += &format!("  {ty} {reg};\n");
                    if reg != COUNTER {
                        observed.push(qualified);
                    }
                }
            }
            body += &text;
            body += "}\n";
        }
        if !self.finally.is_empty() {
            let mut text = String::new();
            write_statements(&self.finally, 1, &mut text);
            body += "\nfinally {\n";
            for (reg, ty) in REGISTERS.iter().filter(|(reg, _)| mentions(&text, reg)) {
                body += &format!("  {ty} {reg};\n");
            }
            body += &text;
            body += "}\n";
        }
        body += "\n";
        for property in &self.properties {
            body += &format!("{property}\n");
        }
        writeln!(f, "// {}", self.origin)?;
        if mentions(&body, "Node") || mentions(&body, "head") {
            writeln!(f, "record Node {{ int v; Node next; int slot[2]; }}\npool Node[2];")?;
        }
        let mut shown = Vec::new();
        for shared in &self.shared {
            // A program must observe something, so the first declaration is always written.
            if mentions(&body, shared.name) || shared == &self.shared[0] {
                writeln!(f, "{}", shared.text)?;
                shown.extend(shared.observed.iter().cloned());
            }
        }
        shown.extend(observed);
        writeln!(f, "{body}observe {};", shown.join(", "))
    }
}

fn write_statements(statements: &[Statement], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for statement in statements {
        match statement {
            Statement::Line(text) => *out += &format!("{indent}{text}\n"),
            Statement::Block { arms, tail } => {
                *out += &indent;
                for (at, (head, body)) in arms.iter().enumerate() {
                    let space = if at == 0 { "" } else { " " };
                    *out += &format!("{space}{head} {{\n");
                    write_statements(body, depth + 1, out);
                    *out += &format!("{indent}}}");
                }
                *out += &format!("{tail}\n");
            }
        }
    }
}

/// Returns whether a name occurs in a text as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

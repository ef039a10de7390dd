//! Small random programs, as `.fp` source text.
//!
//! Text and not [`Problem`](fencepost_ir::Problem)s, so that a failing seed prints itself as a file
//! for the regression corpus, and the front end is exercised on the way. The same profile and seed
//! give the same text for ever: the generator of random numbers is our own.
//!
//! The programs are made to meet the corners of the semantics (register re-use, address
//! dependencies, several stores to one location, every kind of fence, loops that fill buffers) and
//! to stay small: values stay within a few units, whatever is iterated without limit does not
//! count, and most programs have at most some thousand states. Not all have, so search with a
//! limit and skip those that exceed it.
//!
//! [`grow`] draws programs of all kinds, [`mod@endless`] those whose buffers grow without end, [`mod@bounded`] those
//! with few enough runs to write them all down, [`mod@litmus`] litmus tests, [`mod@sections`] critical sections, invariants
//! and waits; [`mod@shrink`] makes a failing one small.
//!
//! ```
//! use fencepost_testkit::programs::{Profile, program};
//!
//! let source = program(Profile::Kitchen, 7).to_string();
//! assert!(source.contains("thread t0"));
//! assert_eq!(source, program(Profile::Kitchen, 7).to_string());
//! ```

mod bounded;
mod endless;
mod grow;
mod litmus;
mod sections;
mod shrink;

use std::fmt;

pub use bounded::{bounded, waiting};
pub use endless::endless;
pub use grow::program;
pub use litmus::litmus;
pub use sections::{deadlocks, invariants, many_runs, sections, turns, waits};
pub use shrink::shrink;

/// What kind of programs to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// No loops: litmus tests of up to three threads with branches, updates, fences, arrays.
    Straight,
    /// Two threads with loops: bounded ones, spinning ones, and ones that fill buffers.
    Loops,
    /// Two threads that share records, with `new` and `free`.
    Records,
    /// Everything, with `atomic`, critical sections, `init`, invariants.
    Kitchen,
    /// Two threads that store and store: many stores to few locations, fences of every kind between
    /// them, loops that never stop storing.
    Buffers,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 5] =
        [Profile::Straight, Profile::Loops, Profile::Records, Profile::Kitchen, Profile::Buffers];
}

/// A random program. Displays as the source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RandomProgram {
    /// Where it came from, for its first line.
    origin: String,
    /// Declarations: what is declared, and the text. Those nobody mentions are not written.
    shared: Vec<Shared>,
    /// The `init` block.
    init: Vec<Tree>,
    /// The threads `t0`, `t1`, ... that are left.
    threads: Vec<(String, Vec<Tree>)>,
    /// Properties and invariants.
    claims: Vec<String>,
}

/// A declaration of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shared {
    name: &'static str,
    text: String,
    /// What `observe` shows of it.
    observed: Vec<String>,
}

/// A statement, as the text between the statements inside it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Tree {
    /// A statement without others inside.
    Line(String),
    /// `head { body }` for each arm, then the tail: `if` and `else`, `do` and its `while`.
    Block { arms: Vec<(String, Vec<Tree>)>, tail: String },
}

/// The registers of a thread and how each is declared. Their names say their types, so any
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

/// The register that counts rounds. It is not observed.
const COUNTER: &str = "k";

impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = String::new();
        if !self.init.is_empty() {
            body += "\ninit {\n";
            write_trees(&self.init, 1, &mut body);
            body += "}\n";
        }
        let mut observed = Vec::new();
        for (name, trees) in &self.threads {
            let mut text = String::new();
            write_trees(trees, 1, &mut text);
            body += &format!("\nthread {name} {{\n");
            for (reg, ty) in REGISTERS {
                let seen = format!("{name}.{reg}");
                let claimed = self.claims.iter().any(|claim| claim.contains(&seen));
                if claimed || mentions(&text, reg) {
                    body += &format!("  {ty} {reg};\n");
                    if reg != COUNTER {
                        observed.push(seen);
                    }
                }
            }
            body += &text;
            body += "}\n";
        }
        body += "\n";
        for claim in &self.claims {
            body += &format!("{claim}\n");
        }
        writeln!(f, "// {}", self.origin)?;
        if mentions(&body, "Node") || mentions(&body, "head") {
            writeln!(f, "record Node {{ int v; Node next; int slot[2]; }}\npool Node[2];")?;
        }
        let mut shown = Vec::new();
        for shared in &self.shared {
            // A program observes something: the first declaration stays.
            if mentions(&body, shared.name) || shared == &self.shared[0] {
                writeln!(f, "{}", shared.text)?;
                shown.extend(shared.observed.iter().cloned());
            }
        }
        shown.extend(observed);
        writeln!(f, "{body}observe {};", shown.join(", "))
    }
}

fn write_trees(trees: &[Tree], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for tree in trees {
        match tree {
            Tree::Line(text) => *out += &format!("{indent}{text}\n"),
            Tree::Block { arms, tail } => {
                *out += &indent;
                for (at, (head, body)) in arms.iter().enumerate() {
                    let space = if at == 0 { "" } else { " " };
                    *out += &format!("{space}{head} {{\n");
                    write_trees(body, depth + 1, out);
                    *out += &format!("{indent}}}");
                }
                *out += &format!("{tail}\n");
            }
        }
    }
}

/// Whether a name occurs in a text as a word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

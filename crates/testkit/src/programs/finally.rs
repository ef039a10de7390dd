//! Adds a random `finally` block to the programs of a [`Profile`].
//!
//! The block reads and writes the locations of the threads and adds what it reads to a location of
//! its own, `end`. Its loops have few iterations, except for rare ones that follow the links of
//! records, which may have cycles.

use super::profiles::{block, line, program};
use super::{Profile, RandomProgram, SharedDeclaration, Statement};
use crate::Random;

/// Generates the program of a profile and a seed, with a `finally` block.
///
/// ```
/// use fencepost_testkit::programs::{Profile, with_finally};
///
/// let source = with_finally(Profile::Mixed, 7).to_string();
/// assert!(source.contains("finally {"));
/// assert_eq!(source, with_finally(Profile::Mixed, 7).to_string());
/// ```
pub fn with_finally(profile: Profile, seed: u64) -> RandomProgram {
    let mut drawn = program(profile, seed);
    drawn.origin += ", with finally";
    let is_int = |shared: &&SharedDeclaration| shared.observed == [shared.name];
    let ints = drawn.shared.iter().filter(|shared| shared.text.starts_with("shared int"));
    let mut generator = Generator {
        random: Random::new(seed ^ (0xf1a1 + profile as u64) << 32),
        ints: ints.filter(is_int).map(|shared| shared.name).collect(),
        records: drawn.shared.iter().any(|shared| shared.name == "head"),
    };
    let text = "shared int end;".into();
    drawn.shared.push(SharedDeclaration { name: "end", text, observed: vec!["end".into()] });
    let statements = generator.random.within(1, 4);
    drawn.finally = (0..statements).map(|_| generator.statement()).collect();
    drawn
}

struct Generator {
    random: Random,
    ints: Vec<&'static str>,
    records: bool,
}

impl Generator {
    fn statement(&mut self) -> Statement {
        let (x, y) = (self.random.pick(&self.ints), self.random.pick(&self.ints));
        if self.records && self.random.percent(40) {
            return self.record_statement();
        }
        match self.random.below(100) {
            0..30 => line(format!("end = 3 * end + {x};")),
            30..40 => line(format!("r0 = {x};")),
            40..50 => line(format!("{x} = r0 + 1;")),
            50..60 => block(format!("if ({x} == {y})"), vec![line("end = end + 1;")]),
            60..70 => line(format!("assert({x} != 2 || {y} != 1);")),
            70..76 => line("r1 = choose(0..=1);"),
            76..82 => line("end = end + r1;"),
            82..88 => block("for (r2 = 0; r2 < 2; r2++)", vec![line(format!("end += {y};"))]),
            88..92 => line(format!("r3 = cas({x}, 1, 2);")),
            92..94 => block("critical", vec![line(format!("{x} = 0;"))]),
            94..96 => block("atomic", vec![line(format!("{x} = {y};"))]),
            96..98 => line("fence;"),
            _ => block(format!("if ({x} == 1)"), vec![line("return;")]),
        }
    }

    fn record_statement(&mut self) -> Statement {
        let walk = vec![line("end = end + 1;"), line("r4 = r4.next;")];
        match self.random.below(10) {
            0..4 => line("r4 = head;"),
            4..7 => block("if (r4 != null)", vec![line("end = 3 * end + r4.v;")]),
            7 => line("head = r4;"),
            8 => line("r4 = new Node;"),
            _ => block("while (r4 != null)", walk),
        }
    }
}

//! Generates random programs that are small enough to enumerate all their traces. Their only loops
//! are spin loops.
//!
//! A program has two or three threads, two or three locations, and about eight accesses in total.
//! Most threads are built around a cycle: thread `ti` accesses the i-th location first and the next
//! location last. The other statements are all kinds of fences, `drain`, updates, `atomic` blocks
//! (with and without `assume`; those with `assume` may block), `assume`, branches and `choose`.
//! There are no faults and no assertions, so no run fails.

use super::profiles::{block, line};
use super::{RandomProgram, SharedDeclaration, Statement};
use crate::Random;

/// Generates the loop-free program of a seed.
///
/// ```
/// use fencepost_testkit::programs::bounded;
///
/// let source = bounded(7).to_string();
/// assert!(source.contains("thread t1"));
/// assert_eq!(source, bounded(7).to_string());
/// ```
pub fn bounded(seed: u64) -> RandomProgram {
    let random = Random::new(seed ^ 0xb0bd_ed00 << 32);
    generate(random, false, format!("random bounded program, seed {seed}"))
}

/// Generates the program of a seed, with spin loops: loops that only re-read until a condition
/// holds.
pub fn bounded_with_spin_loops(seed: u64) -> RandomProgram {
    let random = Random::new(seed ^ 0x3a17_1116 << 32);
    generate(random, true, format!("random bounded program with spin loops, seed {seed}"))
}

fn generate(mut random: Random, spin_loops: bool, origin: String) -> RandomProgram {
    let count = if random.percent(70) { 2 } else { 3 };
    let locations = ["x", "y", "z"][..count.max(random.within(2, 3))].to_vec();
    let accesses = random.within(count + 2, 8);
    let mut generator = Generator { random, locations, spin_loops };
    let shared = generator.locations.clone().into_iter().map(|name| SharedDeclaration {
        name,
        text: format!("shared int {name};"),
        observed: vec![name.into()],
    });
    let shared = shared.collect();
    let thread = |at| (format!("t{at}"), generator.thread(at, count, accesses / count));
    let threads = (0..count).map(thread).collect();
    RandomProgram {
        origin,
        shared,
        init: Vec::new(),
        threads,
        finally: Vec::new(),
        properties: Vec::new(),
    }
}

struct Generator {
    random: Random,
    locations: Vec<&'static str>,
    spin_loops: bool,
}

impl Generator {
    fn thread(&mut self, at: usize, threads: usize, accesses: usize) -> Vec<Statement> {
        let mut body = Vec::new();
        let cycle = self.random.percent(75);
        let mut left = accesses;
        if cycle {
            let x = self.locations[at % self.locations.len()];
            let stores = self.random.percent(70);
            body.push(if stores { self.store(x) } else { line(format!("r0 = {x};")) });
            left = left.saturating_sub(2);
        }
        while left > 0 {
            left -= self.statement(left, &mut body);
        }
        if self.random.percent(30) {
            body.push(self.fence());
        }
        if cycle {
            let x = self.locations[(at + 1) % threads];
            let loads = self.random.percent(70);
            if self.spin_loops && self.random.percent(30) {
                let spin_loop = self.spin_loop();
                body.push(spin_loop);
            }
            body.push(if loads { line(format!("r1 = {x};")) } else { self.store(x) });
            if self.random.percent(10) {
                let condition = self.condition();
                body.push(line(format!("assume({condition});")));
            }
        }
        body
    }

    /// Generates a statement, perhaps after another one that makes no access. Returns the number of
    /// accesses, which is at most `left`.
    fn statement(&mut self, left: usize, body: &mut Vec<Statement>) -> usize {
        match self.random.below(100) {
            0..16 => body.push(self.fence()),
            16..20 => body.push(line("r0 = choose(0..=1);")),
            20..24 => {
                let condition = self.condition();
                body.push(line(format!("assume({condition});")));
            }
            _ => {}
        }
        if self.spin_loops && self.random.percent(30) {
            body.push(self.spin_loop());
            return 1;
        }
        match self.random.below(100) {
            0..14 => {
                let mut arms = vec![(format!("if ({})", self.condition()), vec![self.access()])];
                if self.random.percent(40) {
                    let inner = if self.random.percent(30) { self.fence() } else { self.access() };
                    arms.push(("else".into(), vec![inner]));
                }
                body.push(Statement::Block { arms, tail: String::new() });
                1
            }
            14..28 => {
                let max = left.min(3);
                let (inner, accesses) = self.atomic_body(max);
                body.push(block("atomic", inner));
                accesses
            }
            _ => {
                body.push(self.access());
                1
            }
        }
    }

    /// Generates the body of an `atomic` block, with at least one access. Returns the number of
    /// accesses too.
    fn atomic_body(&mut self, max: usize) -> (Vec<Statement>, usize) {
        let accesses = self.random.within(1, max);
        let mut inner = Vec::new();
        if self.random.percent(10) {
            inner.push(line("r1 = choose(0..=1);"));
        }
        if self.random.percent(50) {
            let x = self.location();
            inner.push(line(format!("r0 = {x};")));
            if self.random.percent(75) {
                let condition = self.random.pick(&["r0 == 0", "r0 == 1", "r0 != 0", "r0 == r1"]);
                inner.push(line(format!("assume({condition});")));
            }
        } else {
            inner.push(self.access());
        }
        for _ in 1..accesses {
            if self.random.percent(20) {
                let condition = self.condition();
                let access = self.access();
                inner.push(block(format!("if ({condition})"), vec![access]));
            } else {
                inner.push(self.access());
            }
        }
        (inner, accesses)
    }

    fn access(&mut self) -> Statement {
        let x = self.location();
        let reg = self.random.pick(&["r0", "r1"]);
        match self.random.below(100) {
            0..36 => line(format!("{reg} = {x};")),
            36..74 => self.store(x),
            74..84 => {
                let expected = self.random.below(2);
                match self.random.below(4) {
                    0 => line(format!("cas({x}, {expected}, 2);")),
                    1 => line(format!("{reg} = cmpxchg({x}, {expected}, 2);")),
                    _ => line(format!("r3 = cas({x}, {expected}, 2);")),
                }
            }
            84..92 => line(format!("{reg} = swap({x}, {});", self.random.within(1, 2))),
            _ => line(format!("{reg} = fetch_add({x}, 1);")),
        }
    }

    fn spin_loop(&mut self) -> Statement {
        let x = self.location();
        match self.random.below(3) {
            0 => line(format!("while ({x} == 0) {{ }}")),
            1 => line(format!("do {{ r1 = {x}; }} while (r1 == r0);")),
            _ => line(format!("while (!cas({x}, {}, 0)) {{ }}", self.random.within(0, 1))),
        }
    }

    fn store(&mut self, x: &str) -> Statement {
        let value = self.random.pick(&["1", "1", "2", "r0 + 1"]);
        line(format!("{x} = {value};"))
    }

    fn condition(&mut self) -> &'static str {
        self.random.pick(&["r0 == 0", "r0 != 0", "r1 == 0", "r0 == r1", "r1 != 2", "!r3"])
    }

    fn fence(&mut self) -> Statement {
        if self.random.percent(20) {
            return line(format!("drain {};", self.location()));
        }
        let mut kinds = vec!["store_store", "store_load", "load_load", "load_store"];
        match self.random.below(100) {
            0..35 => return line("fence;"),
            35..80 => kinds = vec![self.random.pick(&kinds)],
            _ => kinds.retain(|_| self.random.percent(60)),
        }
        line(format!("fence {};", kinds.join(", ")))
    }

    fn location(&mut self) -> &'static str {
        let at = self.random.below(self.locations.len());
        self.locations[at]
    }
}

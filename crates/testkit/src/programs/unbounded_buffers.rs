//! Generates random programs whose store buffers grow without bound.
//!
//! A program has two threads, two or three locations, and values from 0 to 2. Most loops end by
//! `choose`, so most programs can terminate and have outcomes. Inside and between the loops are
//! stores, loads of locations that either thread stores to, fences of every kind, updates and
//! drains. Loops may be nested or in sequence. There are no counters: only the buffers are
//! unbounded.

use super::profiles::{block, line};
use super::{RandomProgram, SharedDeclaration, Statement};
use crate::Random;

/// Generates the program of a seed. It has at least one loop that stores.
///
/// ```
/// use fencepost_testkit::programs::unbounded_buffers;
///
/// let source = unbounded_buffers(7).to_string();
/// assert!(source.contains("thread t1"));
/// assert_eq!(source, unbounded_buffers(7).to_string());
/// ```
pub fn unbounded_buffers(seed: u64) -> RandomProgram {
    let mut random = Random::new(seed ^ 0xe4d1_e550 << 32);
    let locations = ["x", "y", "z"][..if random.percent(25) { 3 } else { 2 }].to_vec();
    let mut generator = Generator { random, locations };
    let shared = generator.locations.iter().map(|name| SharedDeclaration {
        name,
        text: format!("shared int {name};"),
        observed: vec![(*name).into()],
    });
    let shared = shared.collect();
    let threads = (0..2).map(|at| (format!("t{at}"), generator.thread(at))).collect();
    let properties = generator.properties();
    let origin = format!("random program with unbounded buffers, seed {seed}");
    RandomProgram { origin, shared, init: Vec::new(), threads, finally: Vec::new(), properties }
}

/// The maximum nesting depth of loops.
const MAX_LOOP_DEPTH: usize = 2;

struct Generator {
    random: Random,
    locations: Vec<&'static str>,
}

impl Generator {
    /// Generates a thread. The first thread always has a loop that stores. The second may have one,
    /// or it only observes.
    fn thread(&mut self, at: usize) -> Vec<Statement> {
        let mut body = Vec::new();
        let loops = if at == 0 { self.random.within(1, 2) } else { self.random.below(2) };
        for _ in 0..loops {
            if self.random.percent(35) {
                body.push(self.statement());
            }
            let stored = self.store();
            body.push(self.loop_statement(1, Some(stored)));
        }
        let rest = if at == 0 { self.random.below(3) } else { self.random.within(1, 3) };
        for _ in 0..rest {
            body.push(self.statement());
        }
        if self.random.percent(20) {
            let condition = self.random.pick(&["r0 != 2", "r0 == 0 || r1 != 1", "r0 <= r1"]);
            body.push(line(format!("assert({condition});")));
        }
        body
    }

    fn properties(&mut self) -> Vec<String> {
        let mut properties = Vec::new();
        if self.random.percent(25) {
            properties.push("property deadlock_free;".into());
        }
        if self.random.percent(30) {
            let (x, y) = (self.location(), self.location());
            let invariant =
                self.random.pick(&["X <= 1", "X != 2 || Y == 0", "X + Y < 3", "X <= Y"]);
            properties.push(format!("invariant {};", invariant.replace('X', x).replace('Y', y)));
        }
        properties
    }

    /// Generates a loop at this nesting depth. The outermost loop has depth 1.
    fn loop_statement(&mut self, depth: usize, first: Option<Statement>) -> Statement {
        let mut inner: Vec<Statement> = first.into_iter().collect();
        for _ in 0..self.random.below(3) {
            inner.push(self.loop_body_statement(depth));
        }
        if inner.is_empty() {
            inner.push(self.loop_body_statement(depth));
        }
        match self.random.below(100) {
            0..55 => block("while (choose(0..=1) == 1)", inner),
            55..75 => {
                let at = self.random.below(inner.len() + 1);
                inner.insert(at, line("if (choose(0..=1) == 1) break;"));
                block("loop", inner)
            }
            75..85 => {
                let tail = " while (choose(0..=1) == 1);".into();
                Statement::Block { arms: vec![("do".into(), inner)], tail }
            }
            85..95 => {
                let (x, value) = (self.location(), self.random.below(2));
                block(format!("while ({x} == {value})"), inner)
            }
            _ => block("loop", inner),
        }
    }

    /// Generates a statement of the body of a loop at this nesting depth.
    fn loop_body_statement(&mut self, depth: usize) -> Statement {
        match self.random.below(100) {
            0..12 if depth < MAX_LOOP_DEPTH => {
                let stored = self.store();
                self.loop_statement(depth + 1, Some(stored))
            }
            12..22 => {
                let condition = self.condition();
                let mut arms = vec![(format!("if ({condition})"), vec![self.statement()])];
                if self.random.percent(40) {
                    arms.push(("else".into(), vec![self.statement()]));
                }
                Statement::Block { arms, tail: String::new() }
            }
            _ => self.statement(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(3) {
            0 => "choose(0..=1) == 1".into(),
            1 => format!("{} == {}", self.location(), self.random.below(3)),
            _ => self.random.pick(&["r0 == 0", "r0 == r1", "r1 != 1"]).into(),
        }
    }

    /// Generates a statement without nested statements.
    fn statement(&mut self) -> Statement {
        let x = self.location();
        let reg = self.random.pick(&["r0", "r1"]);
        match self.random.below(100) {
            0..34 => self.store(),
            34..64 => line(format!("{reg} = {x};")),
            64..84 => self.fence(),
            84..89 => line(format!("{reg} = swap({x}, {});", self.random.below(3))),
            89..92 => match self.random.below(4) {
                at @ 0..2 => line(format!("cas({x}, {at}, 1);")),
                at => line(format!("{reg} = cmpxchg({x}, {}, 1);", at - 2)),
            },
            92..94 => line(format!("fetch_xor({x}, 1);")),
            94..97 => line(format!("{x} = {reg};")),
            97..99 => line(format!("assume({reg} != {});", self.random.below(3))),
            _ => line("skip;"),
        }
    }

    fn store(&mut self) -> Statement {
        line(format!("{} = {};", self.location(), self.random.within(0, 2)))
    }

    fn fence(&mut self) -> Statement {
        match self.random.below(100) {
            0..35 => line("fence store_store;"),
            35..65 => line("fence store_load;"),
            65..80 => line("fence store_store, store_load;"),
            80..90 => line(format!("drain {};", self.location())),
            _ => line("fence;"),
        }
    }

    fn location(&mut self) -> &'static str {
        let at = self.random.below(self.locations.len());
        self.locations[at]
    }
}

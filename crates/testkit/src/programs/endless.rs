//! Draws random programs whose store buffers grow without end.
//!
//! Two threads, two or three locations, values from 0 to 2. Loops go on for as long as `choose` says, so that most
//! programs can end and have outcomes; inside and between them are stores, loads of what the thread stores itself
//! and of what the other one does, fences of every kind, updates and drains. Loops stand in loops and after loops.
//! Nothing counts: what is unbounded is the buffers, and nothing else.

use super::grow::{block, line};
use super::{RandomProgram, Shared, Tree};
use crate::Random;

/// The program of a seed: one with a loop that stores.
///
/// ```
/// use fencepost_testkit::programs::endless;
///
/// let source = endless(7).to_string();
/// assert!(source.contains("thread t1"));
/// assert_eq!(source, endless(7).to_string());
/// ```
pub fn endless(seed: u64) -> RandomProgram {
    let mut random = Random::new(seed ^ 0xe4d1_e550 << 32);
    let locations = ["x", "y", "z"][..if random.percent(25) { 3 } else { 2 }].to_vec();
    let mut grower = Grower { random, locations };
    let shared = grower.locations.iter().map(|name| Shared {
        name,
        text: format!("shared int {name};"),
        observed: vec![(*name).into()],
    });
    let shared = shared.collect();
    let threads = (0..2).map(|at| (format!("t{at}"), grower.thread(at))).collect();
    let claims = grower.claims();
    let origin = format!("random endless program, seed {seed}");
    RandomProgram { origin, shared, init: Vec::new(), threads, claims }
}

/// How deep loops stand in loops at most.
const DEEPEST: usize = 2;

struct Grower {
    random: Random,
    locations: Vec<&'static str>,
}

impl Grower {
    /// The first thread always has a loop that stores; the second one perhaps, or it looks on.
    fn thread(&mut self, at: usize) -> Vec<Tree> {
        let mut body = Vec::new();
        let loops = if at == 0 { self.random.within(1, 2) } else { self.random.below(2) };
        for _ in 0..loops {
            if self.random.percent(35) {
                body.push(self.statement());
            }
            let stored = self.store();
            body.push(self.a_loop(1, Some(stored)));
        }
        let rest = if at == 0 { self.random.below(3) } else { self.random.within(1, 3) };
        for _ in 0..rest {
            body.push(self.statement());
        }
        if self.random.percent(20) {
            let claim = self.random.pick(&["r0 != 2", "r0 == 0 || r1 != 1", "r0 <= r1"]);
            body.push(line(format!("assert({claim});")));
        }
        body
    }

    fn claims(&mut self) -> Vec<String> {
        let mut claims = Vec::new();
        if self.random.percent(25) {
            claims.push("property deadlock_free;".into());
        }
        if self.random.percent(30) {
            let (x, y) = (self.location(), self.location());
            let claim = self.random.pick(&["X <= 1", "X != 2 || Y == 0", "X + Y < 3", "X <= Y"]);
            claims.push(format!("invariant {};", claim.replace('X', x).replace('Y', y)));
        }
        claims
    }

    /// A loop with so many others around it, itself included.
    fn a_loop(&mut self, depth: usize, first: Option<Tree>) -> Tree {
        let mut inner: Vec<Tree> = first.into_iter().collect();
        for _ in 0..self.random.below(3) {
            inner.push(self.inside(depth));
        }
        if inner.is_empty() {
            inner.push(self.inside(depth));
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
                Tree::Block { arms: vec![("do".into(), inner)], tail }
            }
            85..95 => {
                let (x, value) = (self.location(), self.random.below(2));
                block(format!("while ({x} == {value})"), inner)
            }
            _ => block("loop", inner),
        }
    }

    /// What stands in a loop.
    fn inside(&mut self, depth: usize) -> Tree {
        match self.random.below(100) {
            0..12 if depth < DEEPEST => {
                let stored = self.store();
                self.a_loop(depth + 1, Some(stored))
            }
            12..22 => {
                let condition = self.condition();
                let mut arms = vec![(format!("if ({condition})"), vec![self.statement()])];
                if self.random.percent(40) {
                    arms.push(("else".into(), vec![self.statement()]));
                }
                Tree::Block { arms, tail: String::new() }
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

    /// A statement without others inside.
    fn statement(&mut self) -> Tree {
        let x = self.location();
        let reg = self.random.pick(&["r0", "r1"]);
        match self.random.below(100) {
            0..34 => self.store(),
            34..64 => line(format!("{reg} = {x};")),
            64..84 => self.fence(),
            84..89 => line(format!("{reg} = swap({x}, {});", self.random.below(3))),
            89..92 => line(format!("cas({x}, {}, {});", self.random.below(2), 1)),
            92..94 => line(format!("fetch_xor({x}, 1);")),
            94..97 => line(format!("{x} = {reg};")),
            97..99 => line(format!("assume({reg} != {});", self.random.below(3))),
            _ => line("skip;"),
        }
    }

    fn store(&mut self) -> Tree {
        line(format!("{} = {};", self.location(), self.random.within(0, 2)))
    }

    fn fence(&mut self) -> Tree {
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

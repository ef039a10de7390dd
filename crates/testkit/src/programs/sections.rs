//! Random programs for what the usual ones seldom have: critical sections of all shapes, invariants of several
//! locations, blocks and conditions that wait, and waits of every kind.
//!
//! A statement here is one text, with all that is inside it. So shrinking leaves out whole statements.

use super::grow::line;
use super::{RandomProgram, Shared};
use crate::Random;

/// A program of these statements, with the locations `x`, `y` and `z`.
fn program(
    origin: String,
    init: Vec<String>,
    threads: Vec<Vec<String>>,
    claims: Vec<String>,
) -> RandomProgram {
    let shared = ["x", "y", "z"].map(|name| Shared {
        name,
        text: format!("shared int {name};"),
        observed: vec![name.into()],
    });
    let lines = |texts: Vec<String>| texts.into_iter().map(line).collect();
    let threads = threads.into_iter().enumerate();
    let threads = threads.map(|(at, body)| (format!("t{at}"), lines(body))).collect();
    RandomProgram { origin, shared: shared.into(), init: lines(init), threads, claims }
}

struct Grower {
    random: Random,
}

impl Grower {
    fn new(seed: u64, kind: u64) -> Self {
        Grower { random: Random::new(seed ^ (0x57a7_e1e5 + kind) << 32) }
    }

    fn threads(&mut self) -> usize {
        if self.random.percent(65) { 2 } else { 3 }
    }

    fn place(&mut self) -> &'static str {
        self.random.pick(&["x", "y", "z"])
    }

    fn access(&mut self) -> String {
        let (x, r) = (self.place(), self.random.pick(&["r0", "r1"]));
        match self.random.below(10) {
            0..4 => format!("{r} = {x};"),
            4..8 => format!("{x} = {};", self.random.pick(&["0", "1", "2", "r0"])),
            8 => format!("cas({x}, {}, 1);", self.random.below(2)),
            _ => format!("{r} = swap({x}, 1);"),
        }
    }

    fn several(&mut self, most: usize) -> String {
        let count = self.random.below(most + 1);
        let all: Vec<String> = (0..count).map(|_| self.access()).collect();
        if all.is_empty() { "skip;".into() } else { all.join(" ") }
    }

    fn condition(&mut self) -> &'static str {
        self.random.pick(&["r0 == 0", "r0 != 0", "r1 == 1", "r0 == r1", "r1 != 2"])
    }

    /// A critical section, with a lock around it or not.
    fn section(&mut self) -> String {
        let inside = self.several(3);
        let inside = match self.random.below(8) {
            0 => format!("if ({}) {{ {inside} }}", self.condition()),
            1 => format!("{inside} fence;"),
            2 => format!("fence; {inside}"),
            _ => inside,
        };
        let section = format!("critical {{ {inside} }}");
        match self.random.below(14) {
            0..2 => format!("while (!cas(z, 0, 1)) {{ }} {section} z = 0;"),
            2 => format!("atomic {{ assume(z == 0); z = 1; }} {section} z = 0;"),
            3 => format!("r0 = {}; if (r0 == 0) {{ {section} }}", self.place()),
            4 => format!("{section} {section}"),
            5 => format!("{section} critical {{ {} }}", self.several(1)),
            6 => format!("for (k = 0; k < 2; k++) {{ {section} }}"),
            7 => format!(
                "for (k = 0; k < 2; k++) {{ critical {{ {} if ({}) break; }} }}",
                self.access(),
                self.condition()
            ),
            8 => format!("while ({} == 0) {{ }} {section}", self.place()),
            9 => format!("r0 = choose(0..=1); if (r0 == 0) {{ {section} }}"),
            10 => format!("critical {{ r0 = choose(0..=1); {inside} }}"),
            11 => format!("critical {{ while ({} == 0) {{ }} }}", self.place()),
            _ => section,
        }
    }

    fn fence(&mut self) -> String {
        self.random.pick(&["fence;", "fence store_store;", "drain x;", "fence store_load;"]).into()
    }

    fn invariant(&mut self) -> String {
        let text = self.random.pick(&[
            "x <= y",
            "x + y < 3",
            "x != 1 || y != 1",
            "x + y + z < 4",
            "x == 0 || y == 0 || z == 0",
            "x <= y + z",
            "x != 2 || y == z",
        ]);
        format!("invariant {text};")
    }

    fn init(&mut self) -> Vec<String> {
        match self.random.below(10) {
            0 => vec!["x = choose(0..=1);".into()],
            1 => vec!["y = 1;".into(), "z = choose(0..=2);".into(), "assume(z != 1);".into()],
            _ => Vec::new(),
        }
    }

    /// Something that may have to wait, or may not go on at all.
    fn pause(&mut self) -> String {
        let (x, y) = (self.place(), self.place());
        let (a, b) = (self.random.below(3), self.random.below(2));
        match self.random.below(8) {
            0 => format!("assume({});", self.condition()),
            1 => format!("r0 = {x}; assume(r0 == {b});"),
            2 => format!("atomic {{ r0 = {x}; assume(r0 == {b}); {} }}", self.several(2)),
            3 => format!("atomic {{ assume({x} != {y}); {y} = {a}; }}"),
            4 => format!("atomic {{ r1 = choose(0..=1); assume({x} == r1); {} }}", self.several(1)),
            5 => format!("while ({x} == {b}) {{ }}"),
            6 => format!("while (!cas({x}, {b}, {a})) {{ }}"),
            _ => format!("while (swap({x}, 1) == 1) {{ }}"),
        }
    }

    /// A loop that re-reads, or almost.
    fn wait(&mut self) -> String {
        let (x, y) = (self.place(), self.place());
        let (a, b) = (self.random.below(3), self.random.below(2));
        let fence = self.fence();
        match self.random.below(18) {
            0 => format!("while ({x} == {b}) {{ }}"),
            1 => format!("while ({x} == 0 && {y} == 0) {{ }}"),
            2 => format!("while ({x} == 0 || {y} == 0) {{ skip; }}"),
            3 => format!("do {{ r0 = {x}; r1 = {y}; }} while (r0 == r1);"),
            4 => format!("do {{ r0 = {x}; r1 = {y}; }} while (r0 == {b} || r1 == {b});"),
            5 => format!("while (!cas({x}, {b}, {a})) {{ }}"),
            6 => format!("while (!cas({x}, {b}, {a})) {{ r1 = {y}; }}"),
            7 => format!("do {{ r0 = {x}; }} while (!cas({x}, r0, r0 + 1));"),
            8 => format!(
                "loop {{ r0 = {x}; if (r0 == {a}) break; r1 = {y}; if (r1 == {b}) break; }}"
            ),
            9 => format!("loop {{ r0 = {x}; {fence} if (r0 != 0) break; }}"),
            10 => format!("while ({x} == 0) {{ {fence} }}"),
            11 => format!("loop {{ while ({x} == 0) {{ }} r1 = {y}; if (r1 != {b}) break; }}"),
            12 => format!("r0 = {b}; do {{ r1 = r0; r0 = {x}; }} while (r0 == r1);"),
            13 => format!("do {{ r0 = {x}; if (r0 == {a}) {{ r1 = {y}; }} }} while (r1 == 0);"),
            14 => format!("loop {{ r0 = {x}; if (r0 == 1) break; r1 = {y}; }}"),
            15 => format!("loop {{ r0 = {x}; assume(r0 != {a}); if (r0 == 1) break; }}"),
            16 => format!("k = {y}; while ({x} == k) {{ }}"),
            _ => format!("loop {{ r0 = {x}; assert(r0 != {a}); if (r0 == 1) break; }}"),
        }
    }
}

/// Critical sections of all shapes.
pub fn sections(seed: u64) -> RandomProgram {
    let mut grower = Grower::new(seed, 1);
    let count = grower.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        let first = grower.random.percent(25);
        if !first {
            body.push(grower.access());
        }
        let sections = 1 + grower.random.below(4 - count);
        for _ in 0..sections {
            body.push(grower.section());
            match grower.random.below(10) {
                0..4 => body.push(grower.access()),
                4..6 => body.push(grower.fence()),
                _ => {}
            }
        }
        threads.push(body);
    }
    let mut claims = vec!["property mutual_exclusion;".to_string()];
    if grower.random.percent(15) {
        claims.push("property deadlock_free;".into());
    }
    let init = grower.init();
    program(format!("sections {seed}"), init, threads, claims)
}

/// Sections in turns: who may enter is said by one location, mostly.
pub fn turns(seed: u64) -> RandomProgram {
    let mut grower = Grower::new(seed, 2);
    let count = grower.threads();
    let mut threads = Vec::new();
    for t in 0..count {
        let mut body = Vec::new();
        let rounds = 1 + grower.random.below(2);
        for _ in 0..rounds {
            let next = if grower.random.percent(90) { (t + 1) % count } else { t };
            let enter = match grower.random.below(4) {
                0 => format!("while (z != {t}) {{ }}"),
                1 => format!("atomic {{ assume(z == {t}); {} }}", grower.several(1)),
                2 => format!("r0 = z; assume(r0 == {t});"),
                _ => format!("while (!cas(z, {t}, {t})) {{ }}"),
            };
            body.push(enter);
            body.push(format!(
                "critical {{ {} }}",
                grower.random.pick(&["skip;", "r1 = x;", "x = 1;", "r1 = x; x = r1;", "fence;"])
            ));
            match grower.random.below(8) {
                0 => body.push("y = 1;".into()),
                1 => body.push(grower.fence()),
                _ => {}
            }
            body.push(format!("z = {next};"));
            if grower.random.percent(10) {
                body.push("critical { skip; }".into());
            }
        }
        threads.push(body);
    }
    let claims = vec!["property mutual_exclusion;".to_string()];
    let init = Vec::new();
    program(format!("turns {seed}"), init, threads, claims)
}

/// Invariants of several locations.
pub fn invariants(seed: u64) -> RandomProgram {
    let mut grower = Grower::new(seed, 3);
    let count = grower.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + grower.random.below(if count == 2 { 4 } else { 3 }) {
            body.push(match grower.random.below(10) {
                0 => format!("atomic {{ {} {} }}", grower.access(), grower.several(2)),
                1 => grower.pause(),
                2 => format!(
                    "r0 = {}; if ({}) {{ {} }}",
                    grower.place(),
                    grower.condition(),
                    grower.access()
                ),
                3 => grower.fence(),
                _ => grower.access(),
            });
        }
        threads.push(body);
    }
    let mut claims = vec![grower.invariant()];
    match grower.random.below(6) {
        0 => claims.push(grower.invariant()),
        1 => claims.push("final forall (x + y + z != 3);".into()),
        2 => claims.push("final exists (x == 1 && y == 1);".into()),
        3 => claims.push("final forall (t0.r0 == 0 || x != 1);".into()),
        _ => {}
    }
    let init = grower.init();
    program(format!("invariants {seed}"), init, threads, claims)
}

/// Whatever may wait for ever.
pub fn deadlocks(seed: u64) -> RandomProgram {
    let mut grower = Grower::new(seed, 4);
    let count = grower.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + grower.random.below(3) {
            if grower.random.percent(60) {
                body.push(grower.access());
            }
            if grower.random.percent(60) {
                body.push(grower.pause());
            }
        }
        threads.push(body);
    }
    let claims = vec!["property deadlock_free;".to_string()];
    let init = grower.init();
    program(format!("deadlocks {seed}"), init, threads, claims)
}

/// Waits of every kind.
pub fn waits(seed: u64) -> RandomProgram {
    let mut grower = Grower::new(seed, 5);
    let count = grower.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + grower.random.below(2) {
            if grower.random.percent(75) {
                body.push(grower.access());
            }
            if grower.random.percent(55) {
                body.push(grower.wait());
            }
        }
        if grower.random.percent(60) {
            body.push(grower.access());
        }
        threads.push(body);
    }
    let mut claims = Vec::new();
    match grower.random.below(4) {
        0 => claims.push("property deadlock_free;".into()),
        1 => claims.push(grower.invariant()),
        _ => {}
    }
    let init = grower.init();
    program(format!("waits {seed}"), init, threads, claims)
}

/// Three threads that access one or two locations all the time: thousands of traces.
pub fn many_runs(seed: u64) -> RandomProgram {
    let mut grower = Grower::new(seed, 6);
    let mut threads = Vec::new();
    for _ in 0..3 {
        let mut body = Vec::new();
        for _ in 0..4 + grower.random.below(2) {
            body.push(match grower.random.below(12) {
                0 => "r0 = choose(0..=1);".into(),
                1 => "atomic { r0 = x; if (r0 == 1) { y = 1; } }".into(),
                2 => "y = 1;".into(),
                3 => "r1 = y;".into(),
                4..7 => "r0 = x;".into(),
                7 => "cas(x, 1, 2);".into(),
                _ => "x = 1;".to_string(),
            });
        }
        threads.push(body);
    }
    let claims = match grower.random.below(3) {
        0 => vec!["final forall (t0.r0 + t1.r0 + t2.r0 != 4 || y == 0);".to_string()],
        1 => vec!["final forall (t0.r1 == 0 || t1.r0 != 2 || t2.r0 != 1);".to_string()],
        _ => Vec::new(),
    };
    let init = Vec::new();
    program(format!("many runs {seed}"), init, threads, claims)
}

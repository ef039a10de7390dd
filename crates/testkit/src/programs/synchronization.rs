//! Generates random programs with features that are rare in the other generators: critical sections
//! of all shapes, invariants over several locations, blocking statements, and spin loops of every
//! kind.
//!
//! A statement here is one text, including its nested statements. So shrinking removes whole
//! statements only.

use super::profiles::line;
use super::{RandomProgram, SharedDeclaration};
use crate::Random;

/// Builds a program from these statements, with the locations `x`, `y` and `z`.
fn program(
    origin: String,
    init: Vec<String>,
    threads: Vec<Vec<String>>,
    properties: Vec<String>,
) -> RandomProgram {
    let shared = ["x", "y", "z"].map(|name| SharedDeclaration {
        name,
        text: format!("shared int {name};"),
        observed: vec![name.into()],
    });
    let lines = |texts: Vec<String>| texts.into_iter().map(line).collect();
    let threads = threads.into_iter().enumerate();
    let threads = threads.map(|(at, body)| (format!("t{at}"), lines(body))).collect();
    RandomProgram {
        origin,
        shared: shared.into(),
        init: lines(init),
        threads,
        finally: Vec::new(),
        properties,
    }
}

struct Generator {
    random: Random,
}

impl Generator {
    fn new(seed: u64, kind: u64) -> Self {
        Generator { random: Random::new(seed ^ (0x57a7_e1e5 + kind) << 32) }
    }

    fn threads(&mut self) -> usize {
        if self.random.percent(65) { 2 } else { 3 }
    }

    fn location(&mut self) -> &'static str {
        self.random.pick(&["x", "y", "z"])
    }

    fn access(&mut self) -> String {
        let (x, r) = (self.location(), self.random.pick(&["r0", "r1"]));
        match self.random.below(10) {
            0..4 => format!("{r} = {x};"),
            4..8 => format!("{x} = {};", self.random.pick(&["0", "1", "2", "r0"])),
            8 => match self.random.below(4) {
                at @ 0..2 => format!("cas({x}, {at}, 1);"),
                at => format!("{r} = cmpxchg({x}, {}, 1);", at - 2),
            },
            _ => format!("{r} = swap({x}, 1);"),
        }
    }

    fn accesses(&mut self, max: usize) -> String {
        let count = self.random.below(max + 1);
        let all: Vec<String> = (0..count).map(|_| self.access()).collect();
        if all.is_empty() { "skip;".into() } else { all.join(" ") }
    }

    fn condition(&mut self) -> &'static str {
        self.random.pick(&["r0 == 0", "r0 != 0", "r1 == 1", "r0 == r1", "r1 != 2"])
    }

    /// Generates a critical section, with or without a lock around it.
    fn section(&mut self) -> String {
        let inside = self.accesses(3);
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
            3 => format!("r0 = {}; if (r0 == 0) {{ {section} }}", self.location()),
            4 => format!("{section} {section}"),
            5 => format!("{section} critical {{ {} }}", self.accesses(1)),
            6 => format!("for (k = 0; k < 2; k++) {{ {section} }}"),
            7 => format!(
                "for (k = 0; k < 2; k++) {{ critical {{ {} if ({}) break; }} }}",
                self.access(),
                self.condition()
            ),
            8 => format!("await({} != 0); {section}", self.location()),
            9 => format!("r0 = choose(0..=1); if (r0 == 0) {{ {section} }}"),
            10 => format!("critical {{ r0 = choose(0..=1); {inside} }}"),
            11 => format!("critical {{ while ({} == 0) {{ }} }}", self.location()),
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

    /// Generates a statement that may block, perhaps forever.
    fn blocking_statement(&mut self) -> String {
        let (x, y) = (self.location(), self.location());
        let (a, b) = (self.random.below(3), self.random.below(2));
        match self.random.below(8) {
            0 => format!("assume({});", self.condition()),
            1 => format!("r0 = {x}; assume(r0 == {b});"),
            2 => format!("atomic {{ r0 = {x}; assume(r0 == {b}); {} }}", self.accesses(2)),
            3 => format!("atomic {{ assume({x} != {y}); {y} = {a}; }}"),
            4 => {
                format!("atomic {{ r1 = choose(0..=1); assume({x} == r1); {} }}", self.accesses(1))
            }
            5 => format!("while ({x} == {b}) {{ }}"),
            6 => format!("while (!cas({x}, {b}, {a})) {{ }}"),
            _ => format!("while (swap({x}, 1) == 1) {{ }}"),
        }
    }

    /// Generates guarded alternatives, some with a branch without a guard.
    fn alternatives(&mut self) -> String {
        let (x, y) = (self.location(), self.location());
        let (a, b) = (self.random.below(3), self.random.below(2));
        let (first, second) = (self.accesses(1), self.accesses(1));
        let fence = self.fence();
        match self.random.below(12) {
            0..4 => {
                format!(
                    "either {{ when({x} == {a}); {first} }} or {{ when({y} != {b}); {second} }}"
                )
            }
            4 => format!("either {{ when({x} == {b}); {first} }}"),
            5 => format!("either {{ {first} }} or {{ when({x} == {b}); {second} }}"),
            6 => format!("either {{ when(r0 == {b}); {first} }} or {{ when({x} == r1); {fence} }}"),
            7 => format!(
                "either {{ when({x} == 0); }} or {{ when({y} == 0); }} or {{ when({x} == 1); }} \
                 critical {{ {first} }}"
            ),
            8 => format!(
                "for (k = 0; k < 2; k++) {{ either {{ when({x} == {a}); break; }} or {{ {second} }} }}"
            ),
            9 => format!(
                "atomic {{ either {{ when({x} == {a}); {first} }} or {{ when({y} == {b}); }} }}"
            ),
            10 => format!(
                "either {{ when({x} == {a}); critical {{ {first} }} }} or {{ critical {{ {second} }} }}"
            ),
            _ => format!(
                "either {{ when(r0 == 0 && {x} == {b}); {first} }} \
                 or {{ either {{ when({y} == {a}); }} or {{ {second} }} }}"
            ),
        }
    }

    /// Generates a spin loop, or a loop that resembles one.
    fn spin_loop(&mut self) -> String {
        let (x, y) = (self.location(), self.location());
        let (a, b) = (self.random.below(3), self.random.below(2));
        let fence = self.fence();
        match self.random.below(20) {
            0 => format!("while ({x} == {b}) {{ }}"),
            1 => format!("while ({x} == 0 && {y} == 0) {{ }}"),
            2 => format!("while ({x} == 0 || {y} == 0) {{ skip; }}"),
            3 => format!("do {{ r0 = {x}; r1 = {y}; }} while (r0 == r1);"),
            4 => format!("do {{ r0 = {x}; r1 = {y}; }} while (r0 == {b} || r1 == {b});"),
            5 => format!("while (!cas({x}, {b}, {a})) {{ }}"),
            6 => format!("while (!cas({x}, {b}, {a})) {{ r1 = {y}; }}"),
            7 => format!("do {{ r0 = {x}; }} while (!cas({x}, r0, r0 + 1));"),
            18 => format!("while (cmpxchg({x}, {b}, {a}) != {b}) {{ }}"),
            19 => format!("do {{ r0 = {y}; r1 = cmpxchg({x}, r0, {a}); }} while (r1 != r0);"),
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

/// Generates a program with guarded alternatives (`either`), in threads, in `atomic` and in `init`.
pub fn guarded_alternatives(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 7);
    let mut threads = Vec::new();
    // A loop that repeats a load has many states under a model with windows.
    for t in 0..2 {
        let mut body = Vec::new();
        if generator.random.percent(70) {
            body.push(generator.access());
        }
        if t == 0 || generator.random.percent(30) {
            body.push(generator.alternatives());
        }
        if generator.random.percent(30) {
            body.push(generator.access());
        }
        threads.push(body);
    }
    let mut properties = Vec::new();
    match generator.random.below(5) {
        0 => properties.push("property deadlock_free;".into()),
        1 => properties.push(generator.invariant()),
        2 => properties.push("property mutual_exclusion;".into()),
        _ => {}
    }
    let mut init = generator.init();
    if generator.random.percent(15) {
        init.push("either { when(x == 0); y = 1; } or { when(y == 0); z = 1; }".into());
    }
    program(format!("random program with alternatives, seed {seed}"), init, threads, properties)
}

/// Generates a program with critical sections of all shapes.
pub fn critical_sections(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 1);
    let count = generator.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        let first = generator.random.percent(25);
        if !first {
            body.push(generator.access());
        }
        let sections = 1 + generator.random.below(4 - count);
        for _ in 0..sections {
            body.push(generator.section());
            match generator.random.below(10) {
                0..4 => body.push(generator.access()),
                4..6 => body.push(generator.fence()),
                _ => {}
            }
        }
        threads.push(body);
    }
    let mut properties = vec!["property mutual_exclusion;".to_string()];
    if generator.random.percent(15) {
        properties.push("property deadlock_free;".into());
    }
    let init = generator.init();
    program(
        format!("random program with critical sections, seed {seed}"),
        init,
        threads,
        properties,
    )
}

/// Generates a program whose threads enter critical sections in turns. A location holds the thread
/// whose turn it is; some programs set it wrongly.
pub fn turn_taking(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 2);
    let count = generator.threads();
    let mut threads = Vec::new();
    for t in 0..count {
        let mut body = Vec::new();
        let entries = 1 + generator.random.below(2);
        for _ in 0..entries {
            let next = if generator.random.percent(90) { (t + 1) % count } else { t };
            let enter = match generator.random.below(4) {
                0 => format!("while (z != {t}) {{ }}"),
                1 => format!("atomic {{ assume(z == {t}); {} }}", generator.accesses(1)),
                2 => format!("r0 = z; assume(r0 == {t});"),
                _ => format!("while (!cas(z, {t}, {t})) {{ }}"),
            };
            body.push(enter);
            body.push(format!(
                "critical {{ {} }}",
                generator.random.pick(&["skip;", "r1 = x;", "x = 1;", "r1 = x; x = r1;", "fence;"])
            ));
            match generator.random.below(8) {
                0 => body.push("y = 1;".into()),
                1 => body.push(generator.fence()),
                _ => {}
            }
            body.push(format!("z = {next};"));
            if generator.random.percent(10) {
                body.push("critical { skip; }".into());
            }
        }
        threads.push(body);
    }
    let properties = vec!["property mutual_exclusion;".to_string()];
    let init = Vec::new();
    program(format!("random program with turn taking, seed {seed}"), init, threads, properties)
}

/// Generates a program with invariants over several locations.
pub fn invariants(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 3);
    let count = generator.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + generator.random.below(if count == 2 { 4 } else { 3 }) {
            body.push(match generator.random.below(10) {
                0 => format!("atomic {{ {} {} }}", generator.access(), generator.accesses(2)),
                1 => generator.blocking_statement(),
                2 => format!(
                    "r0 = {}; if ({}) {{ {} }}",
                    generator.location(),
                    generator.condition(),
                    generator.access()
                ),
                3 => generator.fence(),
                _ => generator.access(),
            });
        }
        threads.push(body);
    }
    let mut properties = vec![generator.invariant()];
    match generator.random.below(6) {
        0 => properties.push(generator.invariant()),
        1 => properties.push("final forall (x + y + z != 3);".into()),
        2 => properties.push("final exists (x == 1 && y == 1);".into()),
        3 => properties.push("final forall (t0.r0 == 0 || x != 1);".into()),
        _ => {}
    }
    let init = generator.init();
    program(format!("random program with invariants, seed {seed}"), init, threads, properties)
}

/// Generates a program with blocking statements that may deadlock.
pub fn deadlocks(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 4);
    let count = generator.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + generator.random.below(3) {
            if generator.random.percent(60) {
                body.push(generator.access());
            }
            if generator.random.percent(60) {
                body.push(generator.blocking_statement());
            }
        }
        threads.push(body);
    }
    let properties = vec!["property deadlock_free;".to_string()];
    let init = generator.init();
    program(
        format!("random program with blocking statements, seed {seed}"),
        init,
        threads,
        properties,
    )
}

/// Generates a program with spin loops of every kind.
pub fn spin_loops(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 5);
    let count = generator.threads();
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + generator.random.below(2) {
            if generator.random.percent(75) {
                body.push(generator.access());
            }
            if generator.random.percent(55) {
                body.push(generator.spin_loop());
            }
        }
        if generator.random.percent(60) {
            body.push(generator.access());
        }
        threads.push(body);
    }
    let mut properties = Vec::new();
    match generator.random.below(4) {
        0 => properties.push("property deadlock_free;".into()),
        1 => properties.push(generator.invariant()),
        _ => {}
    }
    let init = generator.init();
    program(format!("random program with spin loops, seed {seed}"), init, threads, properties)
}

/// Generates a program of three threads that access one or two locations often. It has thousands of
/// executions.
pub fn many_executions(seed: u64) -> RandomProgram {
    let mut generator = Generator::new(seed, 6);
    let mut threads = Vec::new();
    for _ in 0..3 {
        let mut body = Vec::new();
        for _ in 0..4 + generator.random.below(2) {
            body.push(match generator.random.below(12) {
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
    let properties = match generator.random.below(3) {
        0 => vec!["final forall (t0.r0 + t1.r0 + t2.r0 != 4 || y == 0);".to_string()],
        1 => vec!["final forall (t0.r1 == 0 || t1.r0 != 2 || t2.r0 != 1);".to_string()],
        _ => Vec::new(),
    };
    let init = Vec::new();
    program(format!("random program with many executions, seed {seed}"), init, threads, properties)
}

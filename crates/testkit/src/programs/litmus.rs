//! Generates random litmus tests: two to four threads without loops, a few accesses in each, and
//! fences, dependencies and other statements that may order the accesses.
//!
//! Most threads are built around a cycle: thread `ti` accesses the i-th location first and the next
//! location last. Values and addresses often come from registers, so there are address, data and
//! control dependencies, including false ones (`r0 - r0`). Some stores to an array element with an
//! unresolved address come before accesses that may alias it. Some stores come before loads of the
//! same location. There are no faults and no assertions.
//!
//! In such threads a dependency is seldom decisive. So half of the programs are cycles with one
//! *dependent thread*: a load and a last access, ordered by nothing except one random dependency.

use super::profiles::{block, line};
use super::{RandomProgram, SharedDeclaration, Statement};
use crate::Random;

/// Generates the litmus test of a seed.
///
/// ```
/// use fencepost_testkit::programs::litmus;
///
/// let source = litmus(7).to_string();
/// assert!(source.contains("thread t1"));
/// assert_eq!(source, litmus(7).to_string());
/// ```
pub fn litmus(seed: u64) -> RandomProgram {
    let mut random = Random::new(seed ^ 0x1174_0500 << 32);
    let origin = format!("random litmus test, seed {seed}");
    if random.percent(50) {
        return dependency_cycle(random, origin);
    }
    let threads = match random.below(100) {
        0..55 => 2,
        55..85 => 3,
        _ => 4,
    };
    let array = random.percent(30);
    let plain = random.within(if array { 1 } else { 2 }, if array { 2 } else { 3 });
    let mut names = ["x", "y", "z"][..plain].to_vec();
    let mut shared: Vec<SharedDeclaration> = names
        .iter()
        .map(|name| {
            let init = if random.percent(10) { " = 1" } else { "" };
            SharedDeclaration {
                name,
                text: format!("shared int {name}{init};"),
                observed: vec![(*name).into()],
            }
        })
        .collect();
    if array {
        names.extend(["a[0]", "a[1]"]);
        let observed = vec!["a[0]".into(), "a[1]".into()];
        shared.push(SharedDeclaration { name: "a", text: "shared int a[2];".into(), observed });
    }
    let max = [4, 3, 2][threads - 2];
    let mut generator = Generator { random, names, array, stored: Vec::new() };
    let threads = (0..threads).map(|at| (format!("t{at}"), generator.thread(at, threads, max)));
    let threads = threads.collect();
    RandomProgram {
        origin,
        shared,
        init: Vec::new(),
        threads,
        finally: Vec::new(),
        properties: Vec::new(),
    }
}

/// Generates a cycle through `x` and other locations. The first thread is a dependent thread. `w`
/// is an extra location for the dependency.
fn dependency_cycle(mut random: Random, origin: String) -> RandomProgram {
    let threads = if random.percent(80) { 2 } else { 3 };
    let mut names = vec!["x", "a[0]", "y"];
    if random.percent(40) {
        names.swap(1, 2);
    }
    names.truncate(threads);
    let declare = |name, text: &str, observed: &[&str]| {
        let observed = observed.iter().map(|shown| (*shown).into()).collect();
        SharedDeclaration { name, text: format!("shared int {text};"), observed }
    };
    let shared = vec![
        declare("x", "x", &["x"]),
        declare("y", "y", &["y"]),
        declare("w", "w", &["w"]),
        declare("a", "a[2]", &["a[0]", "a[1]"]),
    ];
    let mut generator = Generator { random, names, array: true, stored: Vec::new() };
    let mut bodies = vec![("t0".into(), generator.dependent_thread())];
    for at in 1..threads {
        let (first, last) = (generator.names[at], generator.names[(at + 1) % threads]);
        let mut body = vec![generator.plain_access(first)];
        generator.ordering_statements(&mut body);
        body.push(line(format!("{last} = 1;")));
        bodies.push((format!("t{at}"), body));
    }
    RandomProgram {
        origin,
        shared,
        init: Vec::new(),
        threads: bodies,
        finally: Vec::new(),
        properties: Vec::new(),
    }
}

struct Generator {
    random: Random,
    /// The locations accessed with a fixed address.
    names: Vec<&'static str>,
    /// Whether the program declares `a`, an array of two integers.
    array: bool,
    /// The locations the current thread has stored to so far.
    stored: Vec<String>,
}

impl Generator {
    fn thread(&mut self, at: usize, threads: usize, max: usize) -> Vec<Statement> {
        let mut body = Vec::new();
        self.stored.clear();
        let accesses = self.random.within(1, max);
        let cycle = accesses > 1 && self.random.percent(70);
        let mut left = accesses;
        if cycle {
            let x = self.names[at % self.names.len()];
            body.push(self.plain_access(x));
            left -= 2;
        }
        while left > 0 {
            left -= self.statement(left, &mut body);
        }
        if cycle {
            self.optional_statement(&mut body);
            let x = self.names[(at + 1) % threads % self.names.len()];
            let last = self.plain_access(x);
            if self.random.percent(15) {
                body.push(block(format!("if ({})", self.condition()), vec![last]));
            } else {
                body.push(last);
            }
        }
        body
    }

    /// Generates a load of `x`, a dependency, and an access to the next location.
    fn dependent_thread(&mut self) -> Vec<Statement> {
        let next = self.names[1];
        let mut body = Vec::new();
        body.push(line(self.random.pick(&["r0 = x;", "r0 = x;", "r0 = x;", "r0 = swap(x, 2);"])));
        let dependency: &[&str] = match self.random.below(15) {
            0 => &["r1 = r0;"],
            1 => &["r1 = a[r0 & 1];"],
            2 => &["w = r0;", "r1 = w;"],
            3 => &["w = r0;", "w = 1;", "r1 = w;"],
            4 => &["a[r0 & 1] = 2;"],
            5 => &["a[r0 & 1] = 2;", "a[0] = 3;", "r1 = a[0];"],
            6 => &["a[r0 & 1] = 2;", "r1 = a[1];"],
            7 => &["a[0] = 3;", "a[r0 & 1] = 2;", "r1 = a[0];"],
            8 => &["a[r0 & 1] = 2;", "drain a[0];"],
            9 => &["drain a[r0 & 1];"],
            10 => &["fetch_add(w, r0);", "r1 = w;"],
            11 => &["swap(a[r0 & 1], 2);"],
            12 => &["r3 = cas(w, r0, 1);", "r1 = w;"],
            13 => &["r1 = x;"],
            _ => &["assume(r0 != 2);"],
        };
        body.extend(dependency.iter().map(|text| line(*text)));
        let value = self.random.pick(&["1", "r1", "r1 - r1 + 1", "r1 + 1"]);
        let last = match self.random.below(4) {
            0 => line(format!("r2 = {next};")),
            1 => line("r2 = a[(r1 - r1) & 1];"),
            2 => line(format!("a[(r1 - r1) & 1] = {value};")),
            _ => line(format!("{next} = {value};")),
        };
        if self.random.percent(25) {
            let condition = self.random.pick(&["r1 == 1", "r1 != 2", "!r3"]);
            body.push(block(format!("if ({condition})"), vec![last]));
        } else {
            body.push(last);
        }
        body
    }

    /// Generates statements that order the accesses around them in most models.
    fn ordering_statements(&mut self, body: &mut Vec<Statement>) {
        match self.random.below(100) {
            0..30 => body.push(line("fence;")),
            30..45 => body.push(line("fence load_store, store_store;")),
            45..60 => body.push(block("atomic", vec![line("skip;")])),
            60..80 => {
                body.push(self.fence());
                body.push(self.fence());
            }
            _ => body.push(self.fence()),
        }
    }

    /// Generates a statement without an access, or no statement.
    fn optional_statement(&mut self, body: &mut Vec<Statement>) {
        match self.random.below(100) {
            0..25 => body.push(self.fence()),
            25..29 => body.push(line("r0 = choose(0..=1);")),
            29..33 => body.push(line(format!("assume({});", self.condition()))),
            33..43 => {
                let value = self.random.pick(&["r0 + 1", "r0 + r1", "r1", "1", "r1 - r1"]);
                let reg = self.random.pick(&["r0", "r1", "r2"]);
                body.push(line(format!("{reg} = {value};")));
            }
            43..46 => body.push(block("atomic", vec![line("skip;")])),
            _ => {}
        }
    }

    /// Generates a statement, perhaps after another one that makes no access. Returns the number of
    /// accesses, which is at most `left`.
    fn statement(&mut self, left: usize, body: &mut Vec<Statement>) -> usize {
        self.optional_statement(body);
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
                let (inner, accesses) = self.atomic_body(left);
                body.push(block("atomic", inner));
                accesses
            }
            _ => {
                body.push(self.access());
                1
            }
        }
    }

    /// Generates the body of an `atomic` block. A load with a store to the same location counts as
    /// one access.
    fn atomic_body(&mut self, left: usize) -> (Vec<Statement>, usize) {
        let x = self.location();
        match self.random.below(100) {
            0..40 => (vec![line(format!("r0 = {x};")), line(format!("{x} = r0 + 1;"))], 1),
            40..55 => {
                let condition = self.random.pick(&["r0 == 0", "r0 == 1", "r0 != 0"]);
                let assume = line(format!("assume({condition});"));
                (vec![line(format!("r0 = {x};")), assume, line(format!("{x} = 2;"))], 1)
            }
            55..65 => {
                let inner = line(format!("{x} = 2;"));
                let inner = block(format!("if ({})", self.condition()), vec![inner]);
                (vec![line(format!("r1 = {x};")), inner], 1)
            }
            _ => {
                let accesses = left.min(3);
                ((0..accesses).map(|_| self.access()).collect(), accesses)
            }
        }
    }

    /// Generates a load or a store of `x`.
    fn plain_access(&mut self, x: &str) -> Statement {
        let reg = self.random.pick(&["r0", "r0", "r1", "r2"]);
        if self.random.percent(50) { line(format!("{reg} = {x};")) } else { self.store(x) }
    }

    fn access(&mut self) -> Statement {
        let x = self.location();
        let reg = self.random.pick(&["r0", "r1", "r2"]);
        match self.random.below(100) {
            0..33 => line(format!("{reg} = {x};")),
            33..42 => match self.stored.last() {
                Some(own) => line(format!("{reg} = {own};")),
                None => self.store(&x),
            },
            42..72 => self.store(&x),
            72..82 => {
                let expected = self.random.pick(&["0", "1", "r1"]);
                match self.random.below(4) {
                    0 => line(format!("cas({x}, {expected}, 2);")),
                    1 => line(format!("{reg} = cmpxchg({x}, {expected}, 2);")),
                    _ => line(format!("r3 = cas({x}, {expected}, 2);")),
                }
            }
            82..89 => line(format!("{reg} = swap({x}, {});", self.value())),
            89..96 => line(format!("{reg} = fetch_add({x}, 1);")),
            _ => line(format!("fetch_xor({x}, 1);")),
        }
    }

    fn store(&mut self, x: &str) -> Statement {
        self.stored.push(x.into());
        line(format!("{x} = {};", self.value()))
    }

    fn value(&mut self) -> &'static str {
        self.random.pick(&["1", "1", "2", "2", "3", "r0", "r0 + 1", "r1 - r1 + 1"])
    }

    fn condition(&mut self) -> &'static str {
        self.random.pick(&["r0 == 0", "r0 == 1", "r1 == 0", "r0 == r1", "r1 != 2", "!r3"])
    }

    fn fence(&mut self) -> Statement {
        if self.random.percent(15) {
            return line(format!("drain {};", self.location()));
        }
        let mut kinds = vec!["store_store", "store_load", "load_load", "load_store"];
        match self.random.below(100) {
            0..25 => return line("fence;"),
            25..75 => kinds = vec![self.random.pick(&kinds)],
            _ => {
                let omitted = self.random.below(kinds.len());
                kinds.remove(omitted);
                if self.random.percent(50) {
                    kinds.pop();
                }
            }
        }
        line(format!("fence {};", kinds.join(", ")))
    }

    fn location(&mut self) -> String {
        if self.array && self.random.percent(40) {
            return self.random.pick(&["a[r0 & 1]", "a[r1 & 1]", "a[(r0 - r0) & 1]"]).into();
        }
        let at = self.random.below(self.names.len());
        self.names[at].into()
    }
}

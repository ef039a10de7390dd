//! Draws random litmus tests: two to four threads without loops, a few accesses in each, and everything that
//! may keep them in order or not.
//!
//! Most threads are drawn around a cycle: the thread `ti` accesses the i-th location first and the next one last.
//! Values and addresses come from registers often, so that address, data and control dependencies are there, the
//! false ones (`r0 - r0`) included; a store to an element of an array that is not known yet stands before accesses that
//! may be to it; stores stand before loads of the same location. Nothing faults and nothing is asserted.
//!
//! Threads drawn so seldom have a dependency where it decides. Half of the programs are therefore cycles with one
//! thread that is *linked*: nothing but one dependency, of a kind that is drawn, is between its load and its last access.

use super::grow::{block, line};
use super::{RandomProgram, Shared, Tree};
use crate::Random;

/// The litmus test of a seed.
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
        return linked(random, origin);
    }
    let threads = match random.below(100) {
        0..55 => 2,
        55..85 => 3,
        _ => 4,
    };
    let array = random.percent(30);
    let plain = random.within(if array { 1 } else { 2 }, if array { 2 } else { 3 });
    let mut names = ["x", "y", "z"][..plain].to_vec();
    let mut shared: Vec<Shared> = names
        .iter()
        .map(|name| {
            let init = if random.percent(10) { " = 1" } else { "" };
            Shared {
                name,
                text: format!("shared int {name}{init};"),
                observed: vec![(*name).into()],
            }
        })
        .collect();
    if array {
        names.extend(["a[0]", "a[1]"]);
        let observed = vec!["a[0]".into(), "a[1]".into()];
        shared.push(Shared { name: "a", text: "shared int a[2];".into(), observed });
    }
    let most = [4, 3, 2][threads - 2];
    let mut grower = Grower { random, names, array, stored: Vec::new() };
    let threads = (0..threads).map(|at| (format!("t{at}"), grower.thread(at, threads, most)));
    let threads = threads.collect();
    RandomProgram { origin, shared, init: Vec::new(), threads, claims: Vec::new() }
}

/// A cycle through `x` and others, with a linked thread first. `w` is for what the link needs.
fn linked(mut random: Random, origin: String) -> RandomProgram {
    let threads = if random.percent(80) { 2 } else { 3 };
    let mut names = vec!["x", "a[0]", "y"];
    if random.percent(40) {
        names.swap(1, 2);
    }
    names.truncate(threads);
    let declare = |name, text: &str, observed: &[&str]| {
        let observed = observed.iter().map(|shown| (*shown).into()).collect();
        Shared { name, text: format!("shared int {text};"), observed }
    };
    let shared = vec![
        declare("x", "x", &["x"]),
        declare("y", "y", &["y"]),
        declare("w", "w", &["w"]),
        declare("a", "a[2]", &["a[0]", "a[1]"]),
    ];
    let mut grower = Grower { random, names, array: true, stored: Vec::new() };
    let mut bodies = vec![("t0".into(), grower.linked())];
    for at in 1..threads {
        let (first, last) = (grower.names[at], grower.names[(at + 1) % threads]);
        let mut body = vec![grower.plain(first)];
        grower.strong(&mut body);
        body.push(line(format!("{last} = 1;")));
        bodies.push((format!("t{at}"), body));
    }
    RandomProgram { origin, shared, init: Vec::new(), threads: bodies, claims: Vec::new() }
}

struct Grower {
    random: Random,
    /// What is accessed with a fixed address.
    names: Vec<&'static str>,
    /// Whether there is `a`, an array of two.
    array: bool,
    /// What the thread has stored to so far.
    stored: Vec<String>,
}

impl Grower {
    fn thread(&mut self, at: usize, threads: usize, most: usize) -> Vec<Tree> {
        let mut body = Vec::new();
        self.stored.clear();
        let accesses = self.random.within(1, most);
        let cycle = accesses > 1 && self.random.percent(70);
        let mut left = accesses;
        if cycle {
            let x = self.names[at % self.names.len()];
            body.push(self.plain(x));
            left -= 2;
        }
        while left > 0 {
            left -= self.statement(left, &mut body);
        }
        if cycle {
            self.between(&mut body);
            let x = self.names[(at + 1) % threads % self.names.len()];
            let last = self.plain(x);
            if self.random.percent(15) {
                body.push(block(format!("if ({})", self.condition()), vec![last]));
            } else {
                body.push(last);
            }
        }
        body
    }

    /// A load of `x`, a link, and an access to the next location.
    fn linked(&mut self) -> Vec<Tree> {
        let next = self.names[1];
        let mut body = Vec::new();
        body.push(line(self.random.pick(&["r0 = x;", "r0 = x;", "r0 = x;", "r0 = swap(x, 2);"])));
        let link: &[&str] = match self.random.below(15) {
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
        body.extend(link.iter().map(|text| line(*text)));
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

    /// What keeps two accesses in order in most models.
    fn strong(&mut self, body: &mut Vec<Tree>) {
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

    /// Draws something that accesses nothing, or nothing at all.
    fn between(&mut self, body: &mut Vec<Tree>) {
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

    /// Draws a statement and perhaps something before it; returns how many accesses it has, of at most `left`.
    fn statement(&mut self, left: usize, body: &mut Vec<Tree>) -> usize {
        self.between(body);
        match self.random.below(100) {
            0..14 => {
                let mut arms = vec![(format!("if ({})", self.condition()), vec![self.access()])];
                if self.random.percent(40) {
                    let inner = if self.random.percent(30) { self.fence() } else { self.access() };
                    arms.push(("else".into(), vec![inner]));
                }
                body.push(Tree::Block { arms, tail: String::new() });
                1
            }
            14..28 => {
                let (inner, accesses) = self.inside(left);
                body.push(block("atomic", inner));
                accesses
            }
            _ => {
                body.push(self.access());
                1
            }
        }
    }

    /// What is in an `atomic` block. One that reads and writes back counts as one access.
    fn inside(&mut self, left: usize) -> (Vec<Tree>, usize) {
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

    /// A load or a store at `x`.
    fn plain(&mut self, x: &str) -> Tree {
        let reg = self.random.pick(&["r0", "r0", "r1", "r2"]);
        if self.random.percent(50) { line(format!("{reg} = {x};")) } else { self.store(x) }
    }

    fn access(&mut self) -> Tree {
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
                let target = self.random.pick(&["r3 = ", ""]);
                let expected = self.random.pick(&["0", "1", "r1"]);
                line(format!("{target}cas({x}, {expected}, 2);"))
            }
            82..89 => line(format!("{reg} = swap({x}, {});", self.value())),
            89..96 => line(format!("{reg} = fetch_add({x}, 1);")),
            _ => line(format!("fetch_xor({x}, 1);")),
        }
    }

    fn store(&mut self, x: &str) -> Tree {
        self.stored.push(x.into());
        line(format!("{x} = {};", self.value()))
    }

    fn value(&mut self) -> &'static str {
        self.random.pick(&["1", "1", "2", "2", "3", "r0", "r0 + 1", "r1 - r1 + 1"])
    }

    fn condition(&mut self) -> &'static str {
        self.random.pick(&["r0 == 0", "r0 == 1", "r1 == 0", "r0 == r1", "r1 != 2", "!r3"])
    }

    fn fence(&mut self) -> Tree {
        if self.random.percent(15) {
            return line(format!("drain {};", self.location()));
        }
        let mut kinds = vec!["store_store", "store_load", "load_load", "load_store"];
        match self.random.below(100) {
            0..25 => return line("fence;"),
            25..75 => kinds = vec![self.random.pick(&kinds)],
            _ => {
                let left_out = self.random.below(kinds.len());
                kinds.remove(left_out);
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

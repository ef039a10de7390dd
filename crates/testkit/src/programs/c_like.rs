//! Random programs with what users of C and Rust expect: memory orders, fixed-width integers that
//! wrap, arrays of records and of two dimensions, local arrays, `switch`.

use super::profiles::line;
use super::{RandomProgram, SharedDeclaration, Statement};
use crate::Random;

/// Generates the program of a seed.
///
/// ```
/// use fencepost_testkit::programs::c_like;
///
/// let source = c_like(7).to_string();
/// assert!(source.contains("thread t0"));
/// assert_eq!(source, c_like(7).to_string());
/// ```
pub fn c_like(seed: u64) -> RandomProgram {
    let mut generator = Generator { random: Random::new(seed ^ 0xc11c << 32) };
    let shared = |name, text: &str, observed: &[&str]| SharedDeclaration {
        name,
        text: text.into(),
        observed: observed.iter().map(|text| text.to_string()).collect(),
    };
    let threads = (0..2).map(|at| {
        let statements = generator.random.within(2, 4);
        (format!("t{at}"), (0..statements).map(|_| generator.statement()).collect())
    });
    RandomProgram {
        origin: format!("c_like, seed {seed}"),
        threads: threads.collect(),
        shared: vec![
            shared("x", "shared int x;", &["x"]),
            shared("y", "shared int y;", &["y"]),
            shared("n", "shared u8 n = 254;", &["n"]),
            shared("w", "shared int(-1..2, wrap) w;", &["w"]),
            shared("u", "shared u32 u = 4294967295;", &["u"]),
            shared("big", "shared u64 big = 18446744073709551614;", &["big"]),
            shared("far", "shared i64 far = 9223372036854775807;", &["far"]),
            shared("m", "shared int m[2][2];", &["m"]),
            shared(
                "ring",
                "record Cell { i8 seq; int data[2]; }\nshared Cell ring[2];",
                &["ring[0].seq", "ring[1].seq", "ring[0].data[1]", "ring[1].data[0]"],
            ),
        ],
        init: Vec::new(),
        finally: Vec::new(),
        properties: Vec::new(),
    }
}

struct Generator {
    random: Random,
}

impl Generator {
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        self.random.pick(words)
    }

    fn statement(&mut self) -> Statement {
        let x = self.pick(&["x", "x", "y", "m[1][0]", "ring[1].data[0]"]);
        let load = self.pick(&["relaxed", "acquire", "seq_cst"]);
        let store = self.pick(&["relaxed", "release", "seq_cst"]);
        let update = self.pick(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
        let reg = self.pick(&["r0", "r1", "r2"]);
        let value = self.pick(&["1", "2", "r0 + 1", "r1"]);
        let at = self.random.below(2);
        line(match self.random.below(25) {
            0..3 => format!("{x}.store({value}, {store});"),
            3..6 => format!("{reg} = {x}.load({load});"),
            6 => format!("{reg} = n.fetch_add(3, {update});"),
            7 => format!("{reg} = n.fetch_sub({value}, {update});"),
            8 => format!("r3 = {x}.compare_exchange(0, {value}, {update}, {load});"),
            9 => format!("{reg} = {x}.swap({value}, {update});"),
            10 => format!("fence {};", self.pick(&["acquire", "release", "acq_rel", "seq_cst"])),
            11 => "n = n * n + 1;".into(),
            12 => format!("w = w - {value};"),
            13 => format!("{reg} = fetch_add(w, 2);"),
            14 => format!("m[{reg} & 1][{at}] = {value};"),
            15 => format!("{reg} = m[{at}][r0 & 1];"),
            16 => format!("ring[{reg} & 1].seq -= 100;"),
            17 => format!("ring[{at}].data[{reg} & 1] = {value};"),
            18 => format!("w0 = u.fetch_add(2147483648, {update});"),
            19 => format!("{{ w1 = big.swap({value}, {update}); w1 = w1 / 3; }}"),
            20 => format!("big = big * big - {value};"),
            21 => format!("far += {value};"),
            22 => format!("if (big > {reg} && u <= {reg}) far = u; else u = big >> 31;"),
            23 => format!("{{ int a[2] = {{{value}, 5}}; a[r1 & 1] = {x}; {reg} = a[r0 & 1]; }}"),
            _ => format!(
                "switch ({reg}) {{ case 0: x = 1; case 1: r1 = y; break; \
                 default: y.store({value}, {store}); }}"
            ),
        })
    }
}

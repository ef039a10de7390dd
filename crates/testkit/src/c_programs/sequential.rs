//! Random C programs without threads. They store their results in an array.

use super::expressions::{Expr, Function, Place, Scope};
use super::statements::Writer;
use super::types::{INT, IntType, LONG, UNSIGNED, UNSIGNED_LONG, UNSIGNED_LONG_LONG};
use crate::Random;

/// The length of the array of results.
pub const RESULTS: usize = 6;

/// A program without threads.
#[derive(Clone, Debug)]
pub struct Sequential {
    /// The source text. All names at file scope except `main` end with the number of the seed, so
    /// that several programs can be one file for a compiler.
    pub text: String,
    /// The name of the array of results, of the type `long long`.
    pub results: String,
}

/// Generates the program of a seed.
///
/// ```
/// use fencepost_testkit::c_programs::sequential;
///
/// let program = sequential(7);
/// assert_eq!(program.results, "out_7");
/// assert_eq!(program.text, sequential(7).text);
/// ```
pub fn sequential(seed: u64) -> Sequential {
    let scope = Scope {
        random: Random::new(seed ^ 0xc5e9 << 32),
        places: Vec::new(),
        functions: Vec::new(),
        others: Vec::new(),
        excluded: None,
    };
    let writer = Writer {
        scope,
        lines: Vec::new(),
        indent: 0,
        next_name: 0,
        loops: 0,
        can_break: false,
        templates: Vec::new(),
        checksum: None,
    };
    let mut generator = Generator { writer, seed };
    generator.program();
    let text = generator.writer.lines.join("\n") + "\n";
    Sequential { text, results: format!("out_{seed}") }
}

struct Generator {
    writer: Writer,
    seed: u64,
}

fn place(text: String, lens: &[usize], ty: IntType, group: u32) -> Place {
    Place { text, lens: lens.to_vec(), ty, group, constant: None }
}

impl Generator {
    fn ty(&mut self) -> IntType {
        IntType::random(&mut self.writer.scope.random)
    }

    fn program(&mut self) {
        let (n, w) = (self.seed, &mut self.writer);
        w.line(&format!("// sequential, seed {n}"));
        w.line("#include <stddef.h>\n#include <stdint.h>");
        w.line(&format!("long long out_{n}[{RESULTS}];\nunsigned long long sum_{n};"));
        self.functions();
        let places = self.globals();
        let main = &mut self.writer;
        main.scope.places = places;
        main.checksum = Some(format!("sum_{n}"));
        main.line("int main(void)\n{");
        main.indent = 1;
        main.line(&format!("struct s_{n} ls = {{ 1, .c = {{ 2, 3 }}, .in = {{ .q = 4 }} }};"));
        for at in 0..RESULTS - 1 {
            for _ in 0..main.scope.random.within(1, 3) {
                main.statement(2);
            }
            let value = main.value().text;
            main.line(&format!("out_{n}[{at}] = {value};"));
        }
        main.line(&format!("out_{n}[{}] = sum_{n};\n\treturn 0;", RESULTS - 1));
        main.indent = 0;
        main.line("}");
    }

    /// Writes functions that change nothing, and functions with a static variable.
    fn functions(&mut self) {
        let n = self.seed;
        for at in 0..self.writer.scope.random.within(0, 3) {
            let result = self.ty();
            let is_recursive = self.writer.scope.random.percent(35);
            let mut parameters: Vec<IntType> = vec![self.ty(), self.ty()];
            if is_recursive {
                parameters[0] = INT;
            }
            let name = format!("f{at}_{n}");
            let (first, second) = (parameters[0].name, parameters[1].name);
            let w = &mut self.writer;
            w.line(&format!("static {} {name}({first} a, {second} b)\n{{", result.name));
            w.indent = 1;
            w.scope.places = vec![
                place("a".into(), &[], parameters[0], 1),
                place("b".into(), &[], parameters[1], 2),
            ];
            if is_recursive {
                w.scope.places[0].constant = Some((0, 3));
                let (zero, argument) = (w.scope.expr(2).text, w.scope.expr(2).text);
                w.line(&format!("if (a <= 0) return {zero};"));
                w.line(&format!("b ^= {name}(a - 1, {argument});"));
            }
            for _ in 0..w.scope.random.below(3) {
                w.statement(1);
            }
            let value = w.value().text;
            w.line(&format!("return {value};"));
            w.indent = 0;
            w.line("}");
            let function = Function { name, result, parameters, is_recursive };
            self.writer.scope.functions.push(function);
        }
        let ty = self.ty();
        let w = &mut self.writer;
        w.line(&format!("static {0} count_{n}({0} x)\n{{\n\tstatic unsigned calls = 5;", ty.name));
        w.line("\tcalls = calls * 3 + x;\n\treturn calls;\n}");
    }

    /// Writes types and global variables. Returns the places.
    fn globals(&mut self) -> Vec<Place> {
        let n = self.seed;
        let mut places = Vec::new();
        for at in 0..4 {
            let (ty, value) = (self.ty(), self.writer.scope.random.below(300));
            let qualifier = self.writer.scope.random.pick(&["static ", "", "volatile "]);
            self.writer.line(&format!("{qualifier}{} g{at}_{n} = {value};", ty.name));
            places.push(place(format!("g{at}_{n}"), &[], ty, 10 + at));
        }
        let negative = self.writer.scope.random.percent(50);
        let last = if negative { "-2" } else { "9" };
        self.writer.line(&format!("enum e_{n} {{ A_{n}, B_{n} = 5, C_{n}, D_{n} = {last} }};"));
        self.writer.line(&format!("enum e_{n} ge_{n} = B_{n};"));
        let enumeration = if negative { INT } else { UNSIGNED };
        places.push(place(format!("ge_{n}"), &[], enumeration, 20));
        let fields: Vec<IntType> = (0..5).map(|_| self.ty()).collect();
        let bits = [8, 16, 32, 64][self.writer.scope.random.below(4)];
        // Members of the same size and another sign: left out, because the front end may lose the sign.
        let u = IntType::with_bits(bits, &mut self.writer.scope.random);
        let v = u;
        let item = self.ty();
        let w = &mut self.writer;
        w.line(&format!("struct in_{n} {{ {} p; {} q; }};", fields[0].name, fields[1].name));
        w.line(&format!(
            "struct s_{n} {{ {} a; {} b; {} c[2]; struct in_{n} in; union {{ {} u; {} v; }} un; }};",
            fields[2].name, fields[3].name, fields[4].name, u.name, v.name
        ));
        w.line(&format!(
            "static struct s_{n} gs_{n} = {{ .b = 3, .c = {{ [1] = 7 }}, .in.q = 2, .un = {{ 5 }} }};\n\
             struct s_{n} ga_{n}[3] = {{ [1] = {{ .a = 1, 2, {{ 3 }} }}, {{ 4 }} }};\n\
             struct s_{n} *ps_{n} = &ga_{n}[1];\nstatic struct in_{n} *pin_{n} = &gs_{n}.in;\n\
             static {0} arr_{n}[4] = {{ 1, 2, [3] = 200 }};\n{0} *p_{n} = arr_{n} + 1;\n\
             static {0} grid_{n}[2][3] = {{ {{ 1 }}, 2, 3 }};",
            item.name
        ));
        w.line(&format!(
            "static struct s_{n} swap_{n}(struct s_{n} x, {0} y)\n{{\n\tstruct in_{n} old = x.in;\n\
             \tx.c[y & 1] = old.p; x.in.q = y; x.a ^= x.c[0];\n\treturn x;\n}}",
            fields[1].name
        ));
        for (base, lens, group) in [
            (format!("gs_{n}."), vec![], 30),
            (format!("ga_{n}[#]."), vec![3], 30),
            (format!("ps_{n}->"), vec![], 30),
            ("ls.".to_string(), vec![], 32),
        ] {
            let names = [("in.p", 0), ("in.q", 1), ("a", 2), ("b", 3), ("c[#]", 4)];
            for (name, field) in names {
                let mut lens = lens.clone();
                if name.contains('#') {
                    lens.push(2);
                }
                places.push(place(format!("{base}{name}"), &lens, fields[field], group));
            }
            places.push(place(format!("{base}un.u"), &lens, u, group));
            places.push(place(format!("{base}un.v"), &lens, v, group));
        }
        places.push(place(format!("pin_{n}->q"), &[], fields[1], 30));
        places.push(place(format!("arr_{n}[#]"), &[4], item, 33));
        places.push(place(format!("(*p_{n})"), &[], item, 33));
        places.push(place(format!("p_{n}[(#) - (p_{n} - arr_{n})]"), &[4], item, 33));
        places.push(place(format!("grid_{n}[#][#]"), &[2, 3], item, 34));
        let templates = &mut self.writer.templates;
        templates.extend([
            format!("ls = gs_{n};"),
            format!("gs_{n} = *ps_{n};"),
            format!("ga_{n}[#] = ls;"),
            format!("ps_{n} = &ga_{n}[#];"),
            format!("ps_{n} = ga_{n} + (#) + 1;"),
            format!("*ps_{n} = (struct s_{n}){{ .a = @, .in = {{ @, @ }} }};"),
            format!("ls = swap_{n}(gs_{n}, @);"),
            format!("gs_{n} = swap_{n}(*ps_{n}, @);"),
            format!("sum_{n} += swap_{n}(ls, @).in.p;"),
            format!("ls.in = ga_{n}[#].in;"),
            format!("pin_{n} = @ ? &gs_{n}.in : &ga_{n}[#].in;"),
            format!("p_{n} = &arr_{n}[(#) * 3];"),
            format!("p_{n} = arr_{n} + (#);"),
            format!("if (p_{n} < arr_{n} + 3) sum_{n} += *p_{n}++;"),
            format!("if (p_{n} != arr_{n}) *--p_{n} = 7;"),
            format!("sum_{n} = sum_{n} * 31 + count_{n}(@);"),
            format!("@ && (g0_{n} = 3);"),
            format!("sum_{n} += (@ || (ge_{n} = A_{n}, 1)) ? 3 : 5;"),
            format!("ge_{n} = @ ? C_{n} : D_{n};"),
        ]);
        self.others(places)
    }

    fn others(&mut self, places: Vec<Place>) -> Vec<Place> {
        let n = self.seed;
        let other = |text: String, ty, lo, hi, group| (Expr { text, ty, range: (lo, hi) }, group);
        self.writer.scope.others = vec![
            other(format!("sizeof(struct s_{n})"), UNSIGNED_LONG, 1, 1000, 0),
            other(format!("sizeof(ga_{n})"), UNSIGNED_LONG, 1, 3000, 0),
            other(format!("offsetof(struct s_{n}, in.q)"), UNSIGNED_LONG, 0, 1000, 0),
            other(format!("offsetof(struct s_{n}, un)"), UNSIGNED_LONG, 0, 1000, 0),
            other(format!("(p_{n} - arr_{n})"), LONG, 0, 4, 0),
            other(format!("(arr_{n} - p_{n})"), LONG, -4, 0, 0),
            other(format!("(p_{n} < &arr_{n}[2])"), INT, 0, 1, 0),
            other(format!("(ps_{n} == &ga_{n}[1])"), INT, 0, 1, 0),
            other(format!("(ps_{n} - ga_{n})"), LONG, 0, 3, 0),
            other(format!("(!p_{n})"), INT, 0, 1, 0),
            other(format!("C_{n}"), INT, 6, 6, 0),
            other("\"xyz\"[1]".into(), super::types::CHAR, 121, 121, 0),
            other("sizeof \"xyz\"".into(), UNSIGNED_LONG, 4, 4, 0),
            other(
                "18446744073709551615u".into(),
                UNSIGNED_LONG,
                u64::MAX.into(),
                u64::MAX.into(),
                0,
            ),
            other(format!("sum_{n}"), UNSIGNED_LONG_LONG, 0, u64::MAX.into(), u32::MAX - 1),
        ];
        places
    }
}

//! Small random programs with threads, printed as C and as `.fp`. Both texts have the same
//! outcomes under every model.
//!
//! What a thread reads is stored in global variables at its end, because C observes only these.

use std::fmt::Write as _;

use crate::Random;

/// How a C program writes its atomic accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `atomic_load_explicit(&x, memory_order_acquire)`.
    C11,
    /// `__atomic_load_n(&x, __ATOMIC_ACQUIRE)`.
    Builtins,
    /// `smp_load_acquire(&x)`, `READ_ONCE(x)`, `smp_mb()`. There are no updates.
    Kernel,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 3] = [Dialect::C11, Dialect::Builtins, Dialect::Kernel];
}

/// A program with threads.
#[derive(Clone, Debug)]
pub struct Concurrent {
    /// The program in C.
    pub c: String,
    /// The same program as `.fp`.
    pub fp: String,
}

/// Generates the program of a seed.
///
/// ```
/// use fencepost_testkit::c_programs::{Dialect, concurrent};
///
/// let program = concurrent(Dialect::C11, 7);
/// assert!(program.c.contains("pthread_create") && program.fp.contains("thread t0"));
/// ```
pub fn concurrent(dialect: Dialect, seed: u64) -> Concurrent {
    let mut random = Random::new(seed ^ 0xc0c0 << 32 ^ (dialect as u64) << 56);
    let threads = if random.percent(70) { 2 } else { 3 };
    let most = if threads == 2 { 4 } else { 2 };
    let mut writer =
        Writer { random, dialect, c: String::new(), fp: String::new(), outputs: Vec::new() };
    let mut bodies = Vec::new();
    for thread in 0..threads {
        (writer.c, writer.fp) = (String::new(), String::new());
        let count = writer.random.within(1, most);
        let mut read = Vec::new();
        if thread == 0 {
            // A program must observe something.
            writer.store("x", "1");
        }
        for _ in 0..count {
            writer.statement(thread, &mut read);
        }
        for (name, is_bool) in read {
            let output = format!("o{thread}{name}");
            writer.both(&format!("{output} = {name};"));
            writer.outputs.push((output, is_bool));
        }
        bodies.push((std::mem::take(&mut writer.c), std::mem::take(&mut writer.fp)));
    }
    writer.program(seed, &bodies)
}

struct Writer {
    random: Random,
    dialect: Dialect,
    c: String,
    fp: String,
    /// The global variables for what threads read, and whether they are truth values.
    outputs: Vec<(String, bool)>,
}

const LOADS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const STORES: [&str; 3] = ["relaxed", "release", "seq_cst"];
const UPDATES: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

impl Writer {
    fn both(&mut self, line: &str) {
        self.lines(line, line);
    }

    fn lines(&mut self, c: &str, fp: &str) {
        self.c += &format!("\t{c}\n");
        self.fp += &format!("  {fp}\n");
    }

    /// Returns the name of a memory order in C.
    fn order(&self, order: &str) -> String {
        match self.dialect {
            Dialect::C11 => format!("memory_order_{order}"),
            Dialect::Builtins | Dialect::Kernel => format!("__ATOMIC_{}", order.to_uppercase()),
        }
    }

    /// Writes a statement. Registers are new, so that both programs read the same values.
    fn statement(&mut self, thread: usize, read: &mut Vec<(String, bool)>) {
        let kernel = self.dialect == Dialect::Kernel;
        let x = self.random.pick(&["x", "y"]);
        let registers: Vec<String> =
            read.iter().filter(|(_, is_bool)| !is_bool).map(|(name, _)| name.clone()).collect();
        if !registers.is_empty() && self.random.percent(12) {
            let register = &registers[self.random.below(registers.len())];
            let value = self.random.within(0, 1);
            self.both(&format!("if ({register} == {value}) {{"));
            let value = self.random.within(1, 2).to_string();
            self.store(x, &value);
            self.both("}");
            return;
        }
        let value = match registers.last() {
            Some(register) if self.random.percent(25) => format!("{register} + 1"),
            _ => self.random.within(1, 2).to_string(),
        };
        let number = read.len();
        match self.random.below(if kernel { 9 } else { 13 }) {
            0..4 => self.store(x, &value),
            4..7 => {
                self.load(x, &format!("r{number}"));
                read.push((format!("r{number}"), false));
            }
            7 | 8 => self.fence(),
            9 | 10 => {
                let order = self.random.pick(&UPDATES);
                let (name, fp) = if self.random.percent(50) {
                    ("exchange", "swap")
                } else {
                    ("fetch_add", "fetch_add")
                };
                let c_order = self.order(order);
                let c = match self.dialect {
                    Dialect::C11 => format!("atomic_{name}_explicit(&{x}, {value}, {c_order})"),
                    Dialect::Builtins | Dialect::Kernel => {
                        let suffix = if name == "exchange" { "_n" } else { "" };
                        format!("__atomic_{name}{suffix}(&{x}, {value}, {c_order})")
                    }
                };
                let register = format!("r{number}");
                self.lines(
                    &format!("int {register} = {c};"),
                    &format!("int {register}; {register} = {x}.{fp}({value}, {order});"),
                );
                read.push((register, false));
            }
            _ => {
                let (order, failure) = (self.random.pick(&UPDATES), self.random.pick(&LOADS));
                let (c_order, c_failure) = (self.order(order), self.order(failure));
                let expected = self.random.within(0, 1);
                let (register, old) = (format!("b{number}"), format!("e{thread}{number}"));
                let c = match self.dialect {
                    Dialect::C11 => format!(
                        "atomic_compare_exchange_strong_explicit(&{x}, &{old}, {value}, {c_order}, {c_failure})"
                    ),
                    Dialect::Builtins | Dialect::Kernel => format!(
                        "__atomic_compare_exchange_n(&{x}, &{old}, {value}, 0, {c_order}, {c_failure})"
                    ),
                };
                self.lines(
                    &format!("int {old} = {expected}; int {register} = {c};"),
                    &format!(
                        "bool {register}; {register} = \
                         {x}.compare_exchange({expected}, {value}, {order}, {failure});"
                    ),
                );
                read.push((register, true));
            }
        }
    }

    fn store(&mut self, x: &str, value: &str) {
        let order = match self.dialect {
            Dialect::Kernel => self.random.pick(&["relaxed", "release"]),
            Dialect::C11 | Dialect::Builtins => self.random.pick(&STORES),
        };
        let c_order = self.order(order);
        let c = match (self.dialect, order) {
            (Dialect::C11, "seq_cst") if self.random.percent(50) => format!("{x} = {value};"),
            (Dialect::C11, _) => format!("atomic_store_explicit(&{x}, {value}, {c_order});"),
            (Dialect::Builtins, "relaxed") if self.random.percent(50) => format!("{x} = {value};"),
            (Dialect::Builtins, _) => format!("__atomic_store_n(&{x}, {value}, {c_order});"),
            (Dialect::Kernel, "release") => format!("smp_store_release(&{x}, {value});"),
            (Dialect::Kernel, _) => format!("WRITE_ONCE({x}, {value});"),
        };
        self.lines(&c, &format!("{x}.store({value}, {order});"));
    }

    fn load(&mut self, x: &str, register: &str) {
        let order = match self.dialect {
            Dialect::Kernel => self.random.pick(&["relaxed", "acquire"]),
            Dialect::C11 | Dialect::Builtins => self.random.pick(&LOADS),
        };
        let c_order = self.order(order);
        let c = match (self.dialect, order) {
            (Dialect::C11, "seq_cst") if self.random.percent(50) => x.to_string(),
            (Dialect::C11, _) => format!("atomic_load_explicit(&{x}, {c_order})"),
            (Dialect::Builtins, "relaxed") if self.random.percent(50) => x.to_string(),
            (Dialect::Builtins, _) => format!("__atomic_load_n(&{x}, {c_order})"),
            (Dialect::Kernel, "acquire") => format!("smp_load_acquire(&{x})"),
            (Dialect::Kernel, _) => format!("READ_ONCE({x})"),
        };
        let fp = format!("int {register}; {register} = {x}.load({order});");
        self.lines(&format!("int {register} = {c};"), &fp);
    }

    fn fence(&mut self) {
        let order = self.random.pick(&UPDATES[1..]);
        let c_order = self.order(order);
        match self.dialect {
            Dialect::C11 => {
                self.lines(&format!("atomic_thread_fence({c_order});"), &format!("fence {order};"));
            }
            Dialect::Builtins => {
                let c = format!("__atomic_thread_fence({c_order});");
                self.lines(&c, &format!("fence {order};"));
            }
            Dialect::Kernel => match self.random.below(3) {
                0 => self.lines("smp_mb();", "fence;"),
                1 => self.lines("smp_wmb();", "fence store_store;"),
                _ => self.lines("smp_rmb();", "fence load_load;"),
            },
        }
    }

    fn program(&self, seed: u64, bodies: &[(String, String)]) -> Concurrent {
        let origin = format!("// concurrent, {:?}, seed {seed}\n", self.dialect);
        let (mut c, mut fp) = (origin.clone(), origin);
        if self.dialect == Dialect::C11 {
            c += "#include <stdatomic.h>\n";
        }
        c += "#include <pthread.h>\n#include <stddef.h>\n";
        let ty = if self.dialect == Dialect::C11 { "_Atomic int" } else { "int" };
        // C programs observe only variables that they use.
        let uses_y = bodies.iter().any(|(_, fp)| fp.contains("y."));
        let locations: &[&str] = if uses_y { &["x", "y"] } else { &["x"] };
        c += &format!("{ty} {};\n", locations.join(", "));
        fp += &format!("shared int {};\n", locations.join(", "));
        for (output, is_bool) in &self.outputs {
            c += &format!("int {output};\n");
            fp += &format!("shared {} {output};\n", if *is_bool { "bool" } else { "int" });
        }
        let mut main = String::new();
        for (at, (in_c, in_fp)) in bodies.iter().enumerate() {
            let _ = write!(c, "void *t{at}(void *arg)\n{{\n{in_c}\treturn NULL;\n}}\n");
            let _ = write!(fp, "thread t{at} {{\n{in_fp}}}\n");
            main += &format!("\tpthread_create(&t[{at}], NULL, t{at}, NULL);\n");
        }
        for at in 0..bodies.len() {
            main += &format!("\tpthread_join(t[{at}], NULL);\n");
        }
        let count = bodies.len();
        let _ = write!(c, "int main(void)\n{{\n\tpthread_t t[{count}];\n{main}\treturn 0;\n}}\n");
        let mut observed: Vec<String> = locations.iter().map(ToString::to_string).collect();
        observed.extend(self.outputs.iter().map(|(name, _)| name.clone()));
        let _ = writeln!(fp, "observe {};", observed.join(", "));
        Concurrent { c, fp }
    }
}

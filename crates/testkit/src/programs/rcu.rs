//! Generates random litmus tests in C with RCU: two or three threads with a few accesses,
//! read-side sections, which may be nested or overlap, and grace periods.
//!
//! Some tests hang: a thread waits inside a section, or waits for a grace period there. Some tests
//! end a section that they have not begun. Everything that a thread reads is observed.

use crate::Random;

/// The largest number of statements of all threads, not counting the ends of blocks.
const MAX_STATEMENTS: usize = 9;

/// Generates the litmus test of a seed.
///
/// ```
/// use fencepost_testkit::programs::rcu;
///
/// let source = rcu(7);
/// assert!(source.starts_with("C rcu7"));
/// assert_eq!(source, rcu(7));
/// ```
pub fn rcu(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x4c55 << 32);
    let threads = if random.percent(65) { 2 } else { 3 };
    let waits = random.percent(30);
    let mut generator = Generator { random, left: MAX_STATEMENTS, registers: Vec::new(), waits };
    let mut text = format!("C rcu{seed}\n\n{{}}\n");
    let mut observed = vec!["x".to_string(), "y".to_string()];
    for thread in 0..threads {
        generator.registers.clear();
        let mut body = Vec::new();
        let most = generator.left.saturating_sub(threads - 1 - thread).min(5);
        generator.thread(thread, most.max(1), &mut body);
        text += &format!("\nP{thread}(int *x, int *y, struct srcu_struct *s)\n{{\n");
        for reg in &generator.registers {
            text += &format!("  int {reg} = 0;\n");
            observed.push(format!("{thread}:{reg}"));
        }
        text += &format!("{}\n}}\n", body.join("\n"));
    }
    text + &format!("\nlocations [{};]\nexists (x=0)\n", observed.join("; "))
}

struct Generator {
    random: Random,
    /// The number of statements that may still be generated.
    left: usize,
    /// The registers of the thread.
    registers: Vec<String>,
    /// Whether threads may wait inside of sections.
    waits: bool,
}

impl Generator {
    /// Generates a thread. The first thread has a grace period, the second a section.
    fn thread(&mut self, thread: usize, most: usize, out: &mut Vec<String>) {
        let statements = self.random.within(most.min(2), most);
        let special = self.random.below(statements);
        for at in 0..statements {
            match thread {
                0 if at == special => self.grace_period(out),
                1 if at == special => self.section(out),
                _ => self.statement(0, out),
            }
        }
    }

    fn register(&mut self) -> String {
        let name = format!("r{}", self.registers.len());
        self.registers.push(name.clone());
        name
    }

    fn statement(&mut self, depth: usize, out: &mut Vec<String>) {
        if self.left == 0 {
            return;
        }
        match self.random.below(100) {
            0..15 if depth == 0 => self.section(out),
            0..8 if depth == 1 => self.section(out),
            15..25 if depth == 0 => self.grace_period(out),
            15..18 if self.waits => self.grace_period(out),
            25..32 => {
                let fence = self.random.pick(&["smp_mb();", "smp_wmb();", "smp_rmb();"]);
                out.push(format!("  {fence}"));
            }
            32..36 if self.waits => {
                let loc = self.random.pick(&["x", "y"]);
                self.left -= 1;
                out.push(format!("  while (READ_ONCE(*{loc}) == 0) {{}}"));
            }
            36..42 if !self.registers.is_empty() => {
                let reg = self.registers[self.random.below(self.registers.len())].clone();
                out.push(format!("  if ({reg} == 0) {{"));
                self.access(out);
                out.push("  }".into());
            }
            _ => self.access(out),
        }
    }

    fn access(&mut self, out: &mut Vec<String>) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let loc = self.random.pick(&["x", "y"]);
        if self.random.percent(50) {
            let value = self.random.within(1, 2);
            out.push(format!("  WRITE_ONCE(*{loc}, {value});"));
        } else {
            let reg = self.register();
            out.push(format!("  {reg} = READ_ONCE(*{loc});"));
        }
    }

    fn grace_period(&mut self, out: &mut Vec<String>) {
        let call =
            if self.random.percent(75) { "synchronize_rcu();" } else { "synchronize_srcu(s);" };
        out.push(format!("  {call}"));
    }

    fn section(&mut self, out: &mut Vec<String>) {
        let inside = self.random.within(1, 2);
        match self.random.below(100) {
            0..65 => {
                out.push("  rcu_read_lock();".into());
                (0..inside).for_each(|_| self.statement(1, out));
                out.push("  rcu_read_unlock();".into());
            }
            65..90 => {
                let index = self.register();
                out.push(format!("  {index} = srcu_read_lock(s);"));
                (0..inside).for_each(|_| self.statement(1, out));
                out.push(format!("  srcu_read_unlock(s, {index});"));
            }
            90..97 => {
                let (first, second) = (self.register(), self.register());
                out.push(format!("  {first} = srcu_read_lock(s);"));
                self.statement(1, out);
                out.push(format!("  {second} = srcu_read_lock(s);"));
                out.push(format!("  srcu_read_unlock(s, {first});"));
                self.statement(1, out);
                out.push(format!("  srcu_read_unlock(s, {second});"));
            }
            _ => out.push("  rcu_read_unlock();".into()),
        }
    }
}

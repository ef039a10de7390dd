//! Threads with silent loops: nests of loops over registers only, many of which never end.

use crate::Random;
use std::fmt::Write;

/// The conditions of loops. Some never change.
const CONDITIONS: [&str; 6] = ["true", "r < 2", "q != 1", "r == r", "r + q < 3", "q < 9"];

/// The statements over registers. All values stay below 5.
const STATEMENTS: [&str; 6] =
    ["r = r;", "r = 1 - q % 2;", "q = (q + 1) % 5;", "q = (r + q) % 3;", "skip;", "r = 0;"];

/// The deepest nest of loops.
const MAX_DEPTH: usize = 3;

/// Returns a random program whose threads access two locations before, between and after silent
/// loops. The registers take few values, so the program has few states. With `counting`, some loops
/// count up and reach more states than a search can visit.
pub fn silent_loops(seed: u64, counting: bool) -> String {
    let random = &mut Random::new(seed);
    let mut text = format!("// silent_loops, seed {seed}\nshared int x, y;\n");
    let body = block(random, MAX_DEPTH - 1, false);
    let _ = writeln!(text, "proc void wander() {{ int r = 0; int q = 0; {body} }}");
    for thread in 0..random.within(1, 3) {
        let _ = writeln!(text, "thread t{thread} {{\n  int r = 0; int q = 0; int n = 0;");
        for _ in 0..random.within(1, 4) {
            let part = match random.below(8) {
                0 => "x = 1;".into(),
                1 => "y = r + 1;".into(),
                2 => "r = x;".into(),
                3 => "q = y;".into(),
                4 => "wander();".into(),
                5 if counting => "while (n >= 0) n = n + 1;".into(),
                5 => "assert(r < 2);".into(),
                _ => silent_loop(random, MAX_DEPTH, true),
            };
            let _ = writeln!(text, "  {part}");
        }
        text += "}\n";
    }
    text
}

/// Returns a loop without shared accesses.
fn silent_loop(random: &mut Random, depth: usize, in_thread: bool) -> String {
    let body = block(random, depth - 1, in_thread);
    let condition = random.pick(&CONDITIONS);
    match random.below(4) {
        0 => format!("do {{ {body} }} while ({condition});"),
        1 => format!("loop {{ {body} }}"),
        _ => format!("while ({condition}) {{ {body} }}"),
    }
}

/// Returns some statements without shared accesses.
fn block(random: &mut Random, depth: usize, in_thread: bool) -> String {
    let statement = |random: &mut Random| match random.below(12) {
        0 | 1 if depth > 0 => silent_loop(random, depth, in_thread),
        2 => "if (r < q) { r = q; }".into(),
        3 => "fence;".into(),
        4 => "r = choose(0..=1);".into(),
        5 => "critical { q = 0; }".into(),
        _ => random.pick(&STATEMENTS).to_string(),
    };
    let statements: Vec<String> = (0..random.within(1, 3)).map(|_| statement(random)).collect();
    let exit = if random.percent(25) { " if (q == 2) break;" } else { "" };
    // A `break` needs a loop around it.
    let exit = if in_thread && depth < MAX_DEPTH { exit } else { "" };
    statements.join(" ") + exit
}

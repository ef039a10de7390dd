//! Programs with one thread template whose threads are interchangeable, or almost.
//!
//! The threads store their own numbers, pass them on, compare them and use them as indices. A part of
//! the programs breaks the symmetry at one place: an initial value, a constant, an order, a property of
//! one thread.

use crate::Random;
use std::fmt::Write;

/// The statements of a thread `i`. `nobody` is a value that is no thread; `r` holds a thread or
/// `nobody`, and `s` a small number.
const STATEMENTS: [&str; 22] = [
    "flag[i] = true;",
    "flag[i] = false;",
    "owner = i;",
    "owner = nobody;",
    "r = owner;",
    "r = owner; if (r != nobody) { b = flag[r]; }",
    "r = owner; if (r != nobody) { flag[r] = true; }",
    "r = owner; if (r == i) { s = 1; }",
    "r = swap(owner, i);",
    "b = cas(owner, nobody, i);",
    "b = cas(owner, i, nobody);",
    "link[i] = i;",
    "r = link[i];",
    "r = owner; link[i] = r;",
    "r = owner; if (r != nobody) { link[r] = i; }",
    "r = link[i]; if (r != nobody) { r = link[r]; }",
    "x = 1;",
    "s = x;",
    "s = x; x = s == 0 ? 2 : 1;",
    "fence;",
    "fence store_store;",
    "critical { skip; }",
];

/// Statements that break the symmetry, or may.
const DEFECTS: [&str; 8] = [
    "r = owner; if (r < i) { s = 1; }",
    "if (i == base) { x = 2; }",
    "flag[base + (i + 1) % N] = true;",
    "for (int j = base; j < base + N; j++) { b = flag[j]; if (b) break; }",
    "x = i;",
    "b = flag[base];",
    "r = owner; if (r == base) { s = 1; }",
    "s = i % 2; x = s;",
];

/// Properties that no permutation of the threads changes. `FIRST` and `SECOND` are the numbers of threads.
const PROPERTIES: [&str; 4] = [
    "property mutual_exclusion;",
    "final never (p(FIRST).b && p(SECOND).b);",
    "final forall (p(FIRST).s != 1 || p(SECOND).s != 1);",
    "final exists (owner == nobody);",
];

/// Properties that name one thread.
const UNEQUAL_PROPERTIES: [&str; 3] = [
    "final never (p(FIRST).s == 1 && !p(SECOND).b);",
    "final forall (owner != base);",
    "final exists (p(SECOND).r == base);",
];

/// Returns the program of a seed.
///
/// ```
/// use fencepost_testkit::programs::interchangeable;
///
/// assert!(interchangeable(7).contains("thread p(i in"));
/// assert_eq!(interchangeable(7), interchangeable(7));
/// ```
pub fn interchangeable(seed: u64) -> String {
    let random = &mut Random::new(seed ^ 0x51d3_77e0 << 32);
    let threads = if random.percent(40) { 2 } else { 3 };
    let (base, nobody) = if random.percent(75) { (1, 0) } else { (0, threads) };
    let mut text = format!("// interchangeable threads, seed {seed}\n");
    let first_owner = if random.percent(90) { nobody } else { base };
    let _ = writeln!(text, "const N = {threads};\nconst base = {base};\nconst nobody = {nobody};");
    let _ = writeln!(text, "shared int x;\nshared bool flag[N + 1];");
    let _ =
        writeln!(text, "shared int(0..=N) owner = {first_owner};\nshared int(0..=N) link[N + 1];");
    match random.below(8) {
        0 => text += "init { link[1] = nobody; flag[1] = true; }\n",
        1 | 2 => text += "init { for (int j = 0; j < N + 1; j++) { link[j] = nobody; } }\n",
        _ => {}
    }
    let _ = writeln!(text, "thread p(i in base..base + N) {{");
    let _ = writeln!(text, "  int(0..=N) r = nobody; int s = 0; bool b = false;");
    let count = random.within(2, if threads == 2 { 6 } else { 4 });
    let defect = random.percent(30).then(|| random.below(count));
    for at in 0..count {
        let statement = match defect {
            Some(position) if position == at => random.pick(&DEFECTS),
            Some(_) | None => random.pick(&STATEMENTS),
        };
        let _ = writeln!(text, "  {statement}");
    }
    text += "}\n";
    let is_unequal = random.percent(15);
    let property =
        if is_unequal { random.pick(&UNEQUAL_PROPERTIES) } else { random.pick(&PROPERTIES) };
    let first = base.to_string();
    let second = (base + 1).to_string();
    let property = property.replace("FIRST", &first).replace("SECOND", &second);
    let is_symmetric_for_three = threads == 2 || property.starts_with("property");
    if is_unequal || is_symmetric_for_three || random.percent(30) {
        let _ = writeln!(text, "{property}");
    }
    let _ = writeln!(text, "observe x, owner;");
    text
}

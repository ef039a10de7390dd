//! Canonical numbers of a state, and the numbers that they represent.
//!
//! *Wrapping classes.* The first number of the class in a fixed order, which depends only on the
//! control of the state, becomes its remainder modulo the class's modulus. All other numbers change
//! by the same amount, modulo the size of the type. This is a bijection on states that commutes with
//! every step, because the size is a multiple of the modulus.
//!
//! *Ordered classes.* The numbers of a state and the *anchors* (the smallest and largest constant
//! that the program compares them with) are sorted. What lies between the anchors stays. Going away
//! from the anchors, a gap between neighbours of at least `cut` becomes `cut`, or, with a modulus
//! `m`, the gap from `cut` to `cut + m - 1` of the same remainder. Without anchors, the smallest
//! number becomes its remainder, plus a multiple of `m` so large that no sum is negative.
//!
//! A canonical state with such a gap represents all states with a larger gap of the same remainder.
//! [`Canonical::representatives`] returns states with gaps up to `cut + spread`. *These are enough*:
//! one step compares and computes only `u + c`, where `u` is a number of the state or an anchor, and
//! two such `c` differ by at most `spread` ([`fencepost_ir::counters::Ordered`]). Let `v` be a
//! represented state and let `r` be `v` with every gap of at least `cut + spread` reduced to the
//! smallest such gap of the same remainder. If two numbers differ by at most `spread` in `v`, then no
//! gap between them is reduced, and they differ by the same amount in `r`. Otherwise they differ by
//! more than `spread` in both, in the same direction, because a reduced gap is longer than `spread`
//! (`cut` is positive). So every comparison has the same result, and the step computes the same
//! `u + c`. Two of these that are neighbours afterwards have the same gap in both, or there is a
//! reduced gap between their `u`, and their gap is at least `cut` in both. So both successors have the
//! same canonical state. `r` is one of the representatives.
//!
//! Direction: exact for wrapping classes, over-approximation for ordered ones.

use fencepost_ir::counters::{CounterClass, CounterKind, Ordered};
use fencepost_ir::{Observable, Program, Value, wrap_into};

/// The largest number of states that one canonical state is replaced by.
pub(super) const MAX_REPRESENTATIVES: usize = 1 << 10;

/// How to change the numbers of one class.
#[derive(Clone, Copy, Debug)]
struct Class {
    kind: CounterKind,
    modulus: Value,
    /// For ordered classes: gaps of at least this size are cut.
    cut: Value,
}

/// The classes of a program.
#[derive(Clone, Debug)]
pub(super) struct Canonical {
    classes: Vec<Class>,
    /// By location: its class.
    locations: Vec<Option<usize>>,
    /// By thread and register: its class.
    registers: Vec<Vec<Option<usize>>>,
}

/// New numbers: old, new, in ascending order of the old ones.
pub(super) type Renaming = Vec<(Value, Value)>;

impl Canonical {
    /// `refinement` makes the cut longer.
    pub(super) fn new(program: &Program, classes: &[CounterClass], refinement: u32) -> Self {
        let mut locations = vec![None; program.locations.len()];
        let mut registers: Vec<Vec<Option<usize>>> =
            program.threads.iter().map(|thread| vec![None; thread.registers.len()]).collect();
        for (at, class) in classes.iter().enumerate() {
            class.locations.iter().for_each(|loc| locations[loc.index()] = Some(at));
            for (t, reg) in &class.registers {
                registers[t.index()][reg.index()] = Some(at);
            }
        }
        let class = |class: &CounterClass| {
            let spread = match class.kind {
                CounterKind::Wrapping(_) => 0,
                CounterKind::Ordered(ordered) => ordered.spread,
            };
            let cut = (spread + 1).saturating_mul(1 << refinement);
            Class { kind: class.kind, modulus: class.modulus, cut }
        };
        Canonical { classes: classes.iter().map(class).collect(), locations, registers }
    }

    /// Returns whether states with the same canonical state behave in exactly the same way.
    pub(super) fn is_exact(&self) -> bool {
        self.classes.iter().all(|class| matches!(class.kind, CounterKind::Wrapping(_)))
    }

    /// Returns the class of a variable.
    pub(super) fn class(&self, what: Observable) -> Option<usize> {
        match what {
            Observable::Loc(loc) => self.locations[loc.index()],
            Observable::Reg(t, reg) => self.registers[t.index()][reg.index()],
            Observable::At(..) => None,
        }
    }

    /// Returns the number of classes.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns the canonical numbers for the numbers of a class, in the fixed order. `None` if the
    /// canonical numbers are too large.
    pub(super) fn rename(&self, class: usize, numbers: &[Value]) -> Option<Renaming> {
        let Class { kind, modulus, cut } = self.classes[class];
        match kind {
            CounterKind::Wrapping(range) => Some(rotate(numbers, range, modulus)),
            CounterKind::Ordered(ordered) => reduce(
                numbers,
                ordered,
                |gap| match gap < cut {
                    true => gap,
                    false => cut + (gap - cut) % modulus,
                },
                modulus,
            ),
        }
    }

    /// Returns all renamings of canonical numbers of a class to represented numbers that matter.
    /// `None` if there are too many.
    pub(super) fn representatives(&self, class: usize, numbers: &[Value]) -> Option<Vec<Renaming>> {
        let Class { kind, modulus, cut } = self.classes[class];
        let CounterKind::Ordered(ordered) = kind else {
            return Some(vec![Vec::new()]);
        };
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        // The gaps that may be longer, as positions in the sequence of calls of `reduce`.
        let mut gaps = Vec::new();
        reduce(
            numbers,
            ordered,
            |gap| {
                gaps.push(gap);
                gap
            },
            modulus,
        )?;
        let end = cut + ordered.spread + modulus;
        let choices: Vec<Vec<Value>> = gaps
            .iter()
            .map(|gap| match *gap < cut {
                true => vec![*gap],
                false => {
                    (0..).map(|more| gap + more * modulus).take_while(|gap| *gap < end).collect()
                }
            })
            .collect();
        let count = choices.iter().try_fold(1usize, |count, all| count.checked_mul(all.len()))?;
        if count > MAX_REPRESENTATIVES {
            return None;
        }
        let mut found = Vec::with_capacity(count);
        for at in 0..count {
            let (mut rest, mut gap) = (at, 0);
            found.push(reduce(
                numbers,
                ordered,
                |_| {
                    let all = &choices[gap];
                    gap += 1;
                    let chosen = all[rest % all.len()];
                    rest /= all.len();
                    chosen
                },
                modulus,
            )?);
        }
        Some(found)
    }
}

/// Rotates the numbers of a type, so that the first one becomes its remainder.
fn rotate(numbers: &[Value], range: (Value, Value), modulus: Value) -> Renaming {
    let Some(first) = numbers.first() else { return Vec::new() };
    let by = i128::from(*first) - i128::from(first.rem_euclid(modulus));
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.into_iter().map(|old| (old, wrap_into(i128::from(old) - by, range))).collect()
}

/// Replaces each gap of an ordered class by what `change` returns for it. Gaps are passed from the
/// smallest number above the anchors upwards, then from the greatest number below downwards.
/// Returns `None` if a number leaves 32 bits.
fn reduce(
    numbers: &[Value],
    ordered: Ordered,
    mut change: impl FnMut(Value) -> Value,
    modulus: Value,
) -> Option<Renaming> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let Some(first) = sorted.first().copied() else { return Some(Vec::new()) };
    // Without anchors, the smallest number is one, after a move.
    let base = (ordered.spread / modulus + 1) * modulus;
    let anchors = ordered.anchors.map(|range| (range, range));
    let moved = first.rem_euclid(modulus) + base;
    let ((low, high), (new_low, new_high)) = anchors.unwrap_or(((first, first), (moved, moved)));
    let mut renamed = Vec::with_capacity(sorted.len());
    let (mut old_end, mut new_end) = (high, new_high);
    for number in sorted.iter().copied().filter(|number| *number > high) {
        new_end = new_end.checked_add(change(number - old_end))?;
        old_end = number;
        renamed.push((number, new_end));
    }
    let inside = sorted.iter().copied().filter(|number| (low..=high).contains(number));
    renamed.extend(inside.map(|number| (number, number - low + new_low)));
    let (mut old_end, mut new_end) = (low, new_low);
    for number in sorted.iter().rev().copied().filter(|number| *number < low) {
        new_end = new_end.checked_sub(change(old_end - number))?;
        old_end = number;
        renamed.push((number, new_end));
    }
    renamed.sort_unstable();
    renamed.iter().all(|(_, new)| fencepost_ir::is_int(*new)).then_some(renamed)
}

/// Returns the new number for an old one.
pub(super) fn renamed(renaming: &Renaming, old: Value) -> Value {
    match renaming.binary_search_by_key(&old, |(from, _)| *from) {
        Ok(at) => renaming[at].1,
        Err(_) => old,
    }
}

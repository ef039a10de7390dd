//! Interchangeable threads: permutations of threads that map a problem to itself.
//!
//! Source: scalarsets \[ID96\]. A *renaming* permutes threads and, with them, locations (the element
//! `want[i]` of thread `i`) and the values that stand for threads or their objects (the node that a
//! thread puts into a queue). Registers, program counters and all other values stay the same. If a
//! renaming maps the problem to itself, it maps runs to runs, and a state violates a property if and
//! only if its renamed state does. So a search needs only one state of each set of states that
//! renamings map to each other.
//!
//! 1. `classes` finds which registers and locations exchange values: a *class* is a set of registers
//!    and locations connected by copies and comparisons. A class whose values take part in anything
//!    else (arithmetic, an order, a truth value) is *plain*, and a renaming keeps its values.
//! 2. `families` compares the code of the threads statement for statement. Constants and locations
//!    that differ form *families*: one value or location for each thread.
//! 3. `verify` applies the renaming that exchanges two neighbours to the problem and compares the
//!    result with the problem. Only this step is needed for soundness. The first two only propose a
//!    renaming.
//!
//! If not all threads with the same code are interchangeable, for example because a property names one
//! of them, the analysis looks for smaller groups. `init` and the initial values are not checked here:
//! the search checks that the renamings map initial states to initial states.
//!
//! Direction: exact renamings; not every symmetry is found. A program that visits all threads in a
//! fixed order (filter lock, bakery) has none. Grace periods, sections, and clients with operations are
//! not supported.

mod classes;
mod conditions;
mod families;
mod rename;
mod verify;

use crate::ids::{Loc, ThreadId};
use crate::program::{Problem, Program, Stmt};
use crate::value::Value;
use classes::Classes;

/// The largest number of threads of a program that is analysed.
pub const MAX_THREADS: usize = 15;
/// The largest number of steps of the analysis, approximately.
const MAX_WORK: usize = 50_000_000;

/// A class of registers and locations that exchange values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class(pub u32);

/// Threads that are interchangeable, and what belongs to each of them. The position in every list is
/// the same as in `threads`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The threads, at least two.
    pub threads: Vec<ThreadId>,
    /// The families of locations. A location is in at most one family.
    pub locations: Vec<Vec<Loc>>,
    /// The families of values, each with its class. A value is in at most one family of a class.
    pub values: Vec<(Class, Vec<Value>)>,
}

/// The groups of interchangeable threads of a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symmetry {
    /// The groups. No thread or location is in two groups, and no two groups have values of the same
    /// class.
    pub groups: Vec<Group>,
    /// By thread and register: the class of the register. `None` if a renaming keeps its values.
    pub register_classes: Vec<Vec<Option<Class>>>,
    /// By location: the class of its values.
    pub location_classes: Vec<Option<Class>>,
}

impl Symmetry {
    /// Returns the number of orders of the threads, the largest factor by which there can be fewer
    /// states.
    pub fn orders(&self) -> usize {
        let threads = self.groups.iter().flat_map(|group| 1..=group.threads.len());
        threads.fold(1, usize::saturating_mul)
    }

    /// Finds the interchangeable threads of a problem. `None` if there are none, or if the program is
    /// too large for the analysis.
    pub fn of(problem: &Problem) -> Option<Symmetry> {
        if problem.program.threads.len() > MAX_THREADS || work(&problem.program) > MAX_WORK {
            return None;
        }
        let candidates = families::equal_code(&problem.program);
        if candidates.is_empty() {
            return None;
        }
        let classes = Classes::new(problem, &candidates);
        let mut groups: Vec<Group> = Vec::new();
        for threads in candidates {
            for group in groups_among(problem, &classes, &threads) {
                if groups.iter().all(|other| is_disjoint(other, &group)) {
                    groups.push(group);
                }
            }
        }
        if groups.is_empty() {
            return None;
        }
        let moved = |class: &Class| {
            groups.iter().flat_map(|group| &group.values).any(|(other, _)| other == class)
        };
        let program = &problem.program;
        let of_thread = |t: ThreadId| {
            let registers = 0..program.thread(t).registers.len();
            registers.map(|reg| classes.register(t, reg).filter(moved)).collect()
        };
        let locations = (0..program.locations.len()).map(Loc::from_index);
        Some(Symmetry {
            register_classes: program.thread_ids().map(of_thread).collect(),
            location_classes: locations.map(|loc| classes.location(loc).filter(moved)).collect(),
            groups,
        })
    }
}

/// Returns the approximate number of steps of the analysis: it compares the code of all threads for
/// each pair of threads, with all locations of each access.
fn work(program: &Program) -> usize {
    let weight = |stmt: &Stmt| {
        1 + stmt.op.address().map_or(0, |address| classes::locations(program, address).len())
    };
    let code = program.threads.iter().flat_map(|thread| &thread.code);
    let pairs = program.threads.len().pow(2);
    code.map(weight).fold(program.locations.len(), usize::saturating_add).saturating_mul(pairs)
}

/// Returns whether two groups have no element in common.
fn is_disjoint(a: &Group, b: &Group) -> bool {
    let has_location = |loc: &Loc| b.locations.iter().any(|family| family.contains(loc));
    let has_class = |class: &Class| b.values.iter().any(|(other, _)| other == class);
    !a.locations.iter().flatten().any(has_location)
        && !a.values.iter().any(|(class, _)| has_class(class))
}

/// Returns the groups among threads with equal code: all of them if they are interchangeable, else
/// the sets of threads that are interchangeable in pairs.
fn groups_among(problem: &Problem, classes: &Classes<'_>, threads: &[ThreadId]) -> Vec<Group> {
    let verified = |threads: &[ThreadId]| {
        families::group(&problem.program, classes, threads)
            .filter(|group| verify::is_symmetric(problem, classes, group))
    };
    if let Some(group) = verified(threads) {
        return vec![group];
    }
    let mut sets: Vec<Vec<ThreadId>> = Vec::new();
    for t in threads {
        match sets.iter_mut().find(|set| verified(&[set[0], *t]).is_some()) {
            Some(set) => set.push(*t),
            None => sets.push(vec![*t]),
        }
    }
    sets.retain(|set| set.len() > 1);
    sets.iter().filter_map(|set| verified(set).or_else(|| verified(&set[..2]))).collect()
}

//! The conventional names of cycles: `SB`, `MP+mfence+po`, `IRIW+mfences`.
//!
//! A name has two parts. The *family* is the first and last access of each thread: `WW+RR` for one
//! thread that stores twice and one that loads twice. Many families have a name (`WW+RR` is `MP`,
//! message passing). The accesses are the name of the others. Cycles with one location are `CoRR`,
//! `CoWW` and so on.
//!
//! The suffix describes the edges inside the threads: for each thread with more than one access,
//! its edges, joined by `-`. If all threads have the same edges, they are written once, with an
//! `s` (`mfences`). The suffix is empty if all edges are plain program order.
//!
//! The accesses of program order are omitted, because the family and the neighbouring edges
//! determine them. The exception is the access between two edges of program order: `poW-mfence`.
//! The name and the canonical rotation of a cycle determine each other.

use crate::cycle::{Cycle, ends};
use crate::edge::{Edge, Fence, LocationChange, Reach};

/// The families with a name. Source: the names of diy, after the papers on Power and ARM.
const FAMILIES: &[(&str, &str)] = &[
    ("WR+WR", "SB"),
    ("WR+WR+WR", "3.SB"),
    ("WR+WR+WR+WR", "4.SB"),
    ("RW+RW", "LB"),
    ("RW+RW+RW", "3.LB"),
    ("RW+RW+RW+RW", "4.LB"),
    ("WW+WW", "2+2W"),
    ("WW+WW+WW", "3.2W"),
    ("WW+WW+WW+WW", "4.2W"),
    ("WW+RR", "MP"),
    ("WW+WR", "R"),
    ("WW+RW", "S"),
    ("W+RW+RR", "WRC"),
    ("W+RW+RW", "WWC"),
    ("W+RR+WR", "RWC"),
    ("W+RW+WR", "WRW+WR"),
    ("W+RR+WW", "WRR+2W"),
    ("W+RW+WW", "WRW+2W"),
    ("WW+RR+WR", "W+RWC"),
    ("WW+RW+RR", "ISA2"),
    ("WW+RW+WR", "Z6.0"),
    ("WW+WW+RW", "Z6.1"),
    ("WW+RW+RW", "Z6.2"),
    ("WW+WW+RR", "Z6.3"),
    ("WW+WR+WR", "Z6.4"),
    ("WW+WW+WR", "Z6.5"),
    ("W+RR+W+RR", "IRIW"),
    ("W+RR+W+RW", "IRRWIW"),
    ("W+RW+W+RW", "IRWIW"),
];

/// The families of cycles with one location.
const COHERENCE_FAMILIES: &[(&str, &str)] = &[
    ("WW", "CoWW"),
    ("RW", "CoRW1"),
    ("W+RW", "CoRW2"),
    ("W+WR", "CoWR"),
    ("W+RR", "CoRR"),
    ("WR", "CoWR0"),
];

impl Cycle {
    /// Returns the name of the test, as defined in the module header.
    ///
    /// ```
    /// let cycle: fencepost_cycles::Cycle = "PodWW Rfe MFencedRR Fre".parse()?;
    /// assert_eq!(cycle.name(), "MP+po+mfence");
    /// # Ok::<(), fencepost_cycles::CycleError>(())
    /// ```
    pub fn name(&self) -> String {
        let family = self.family();
        let suffixes: Vec<String> =
            self.threads().filter(|t| t.len() > 1).map(thread_suffix).collect();
        let all_equal = suffixes.windows(2).all(|pair| pair[0] == pair[1]);
        match suffixes.as_slice() {
            [] => family,
            [one, ..] if all_equal && one == "po" => family,
            [one] if one == "pos" => family,
            [one, _, ..] if all_equal => format!("{family}+{one}s"),
            [_, ..] => format!("{family}+{}", suffixes.join("+")),
        }
    }

    /// Returns the family: the first part of the name.
    pub fn family(&self) -> String {
        let threads: Vec<String> = self
            .threads()
            .map(|thread| match ends(thread) {
                (first, None) => first.to_string(),
                (first, Some(last)) => format!("{first}{last}"),
            })
            .collect();
        let key = threads.join("+");
        let known = |table: &[(&str, &str)]| {
            let entry = table.iter().find(|(ends, _)| *ends == key);
            entry.map(|(_, name)| name.to_string())
        };
        let special = if self.has_one_location() { known(COHERENCE_FAMILIES) } else { None };
        special.or_else(|| known(FAMILIES)).unwrap_or(key)
    }
}

/// Returns the suffix of a thread: its edges from the first to the last access.
fn thread_suffix(thread: &[Edge]) -> String {
    let (_, edges) = thread.split_last().expect("a thread has an external edge");
    let mut words = Vec::new();
    for (at, edge) in edges.iter().enumerate() {
        let next = edges.get(at + 1);
        let both_program_order = edge.location_change().is_some()
            && next.is_some_and(|next| next.location_change().is_some());
        let middle = if both_program_order { edge.target().to_string() } else { String::new() };
        words.push(format!("{}{middle}", edge_word(*edge)));
    }
    words.join("-")
}

/// Returns the word for an edge in a name.
fn edge_word(edge: Edge) -> &'static str {
    match edge {
        Edge::ReadFrom(Reach::Internal) => "rfi",
        Edge::ReadFrom(Reach::External) => "rfe",
        Edge::FromRead(Reach::Internal) => "fri",
        Edge::FromRead(Reach::External) => "fre",
        Edge::Coherence(Reach::Internal) => "coi",
        Edge::Coherence(Reach::External) => "coe",
        Edge::ProgramOrder(LocationChange::Same, _, _) => "pos",
        Edge::ProgramOrder(LocationChange::Different, _, _) => "po",
        Edge::Fenced(Fence::Full, LocationChange::Same, _, _) => "mfences",
        Edge::Fenced(Fence::Full, LocationChange::Different, _, _) => "mfence",
        Edge::Fenced(Fence::Stores, LocationChange::Same, _, _) => "sfences",
        Edge::Fenced(Fence::Stores, LocationChange::Different, _, _) => "sfence",
        Edge::Fenced(Fence::Loads, LocationChange::Same, _, _) => "lfences",
        Edge::Fenced(Fence::Loads, LocationChange::Different, _, _) => "lfence",
        Edge::Exchange => "rmw",
    }
}

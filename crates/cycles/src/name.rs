//! Names of cycles, as the community gives them: `SB`, `MP+mfence+po`, `IRIW+mfences`.
//!
//! A name has two parts. The *family* says how the threads begin and end: for each thread its first and last access,
//! `WW+RR` for two threads of which one stores twice and the other loads twice. Many families have names of their own
//! (`WW+RR` is `MP`, message passing); the others are called by the accesses. Cycles about one location are `CoRR`,
//! `CoWW` and so on.
//! The rest says what lies inside the threads: for each thread that has more than one access its edges, joined by
//! `-`. One word stands for all threads when they are alike (`mfences`), none when all is plain program order.
//!
//! Program order is written without its accesses, as they follow from the family and from the neighbours. Only
//! between two edges of program order they do not, and the access in the middle is named: `poW-mfence`.
//! The name and the first rotation of a cycle determine each other.

use crate::cycle::{Cycle, ends};
use crate::edge::{Edge, Fence, Place, Reach};

/// The families with a name of their own. Source: the names of diy, after the papers on Power and ARM.
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

/// The families of cycles about one location.
const COHERENCE: &[(&str, &str)] = &[
    ("WW", "CoWW"),
    ("RW", "CoRW1"),
    ("W+RW", "CoRW2"),
    ("W+WR", "CoWR"),
    ("W+RR", "CoRR"),
    ("WR", "CoWR0"),
];

impl Cycle {
    /// The name of the test: see the header of this file.
    ///
    /// ```
    /// let cycle: fencepost_cycles::Cycle = "PodWW Rfe MFencedRR Fre".parse()?;
    /// assert_eq!(cycle.name(), "MP+po+mfence");
    /// # Ok::<(), fencepost_cycles::Fault>(())
    /// ```
    pub fn name(&self) -> String {
        let family = self.family();
        let inside: Vec<String> = self.threads().filter(|t| t.len() > 1).map(inside).collect();
        let alike = inside.windows(2).all(|pair| pair[0] == pair[1]);
        match inside.as_slice() {
            [] => family,
            [one, ..] if alike && one == "po" => family,
            [one] if one == "pos" => family,
            [one, _, ..] if alike => format!("{family}+{one}s"),
            [_, ..] => format!("{family}+{}", inside.join("+")),
        }
    }

    /// The first part of the name.
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
        let special = if self.one_location() { known(COHERENCE) } else { None };
        special.or_else(|| known(FAMILIES)).unwrap_or(key)
    }
}

/// What a thread does between its first and last access.
fn inside(thread: &[Edge]) -> String {
    let (_, edges) = thread.split_last().expect("a thread has an edge that leaves it");
    let mut words = Vec::new();
    for (at, edge) in edges.iter().enumerate() {
        let next = edges.get(at + 1);
        let both = edge.place().is_some() && next.is_some_and(|next| next.place().is_some());
        let middle = if both { edge.target().to_string() } else { String::new() };
        words.push(format!("{}{middle}", word(*edge)));
    }
    words.join("-")
}

/// An edge's word in a name.
fn word(edge: Edge) -> &'static str {
    match edge {
        Edge::ReadFrom(Reach::Internal) => "rfi",
        Edge::ReadFrom(Reach::External) => "rfe",
        Edge::FromRead(Reach::Internal) => "fri",
        Edge::FromRead(Reach::External) => "fre",
        Edge::Coherence(Reach::Internal) => "coi",
        Edge::Coherence(Reach::External) => "coe",
        Edge::Order(Place::Same, _, _) => "pos",
        Edge::Order(Place::Different, _, _) => "po",
        Edge::Fenced(Fence::Full, Place::Same, _, _) => "mfences",
        Edge::Fenced(Fence::Full, Place::Different, _, _) => "mfence",
        Edge::Fenced(Fence::Stores, Place::Same, _, _) => "sfences",
        Edge::Fenced(Fence::Stores, Place::Different, _, _) => "sfence",
        Edge::Fenced(Fence::Loads, Place::Same, _, _) => "lfences",
        Edge::Fenced(Fence::Loads, Place::Different, _, _) => "lfence",
        Edge::Exchange => "rmw",
    }
}

//! Edges of cycles, with the names of diy.
//!
//! An edge leads from one access to the next. It is a *communication* (read-from, from-read or
//! coherence; external if it leads to another thread), or *program order* (plain or with a fence
//! between the accesses, to the same or to a different location), or leads from the load to the
//! store of an exchange. An edge determines the kinds of its accesses: `PodWR` leads from a store
//! to a load of a different location.

use std::fmt;
use std::str::FromStr;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A store: `W`.
    Store,
    /// A load: `R`.
    Load,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Store => "W",
            Access::Load => "R",
        })
    }
}

/// Whether a communication leads to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// Within one thread: `i`.
    Internal,
    /// To another thread: `e`.
    External,
}

/// Whether an edge of program order changes the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocationChange {
    /// To the same location: `s`.
    Same,
    /// To a different location: `d`.
    Different,
}

/// A fence instruction of x86.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fence {
    /// `MFENCE`, a full fence.
    Full,
    /// `SFENCE`, a store-store fence.
    Stores,
    /// `LFENCE`, a fence after loads.
    Loads,
}

impl Fence {
    /// All fence instructions.
    pub const ALL: [Fence; 3] = [Fence::Full, Fence::Stores, Fence::Loads];

    /// Returns the prefix of an edge with this fence.
    fn edge_prefix(self) -> &'static str {
        match self {
            Fence::Full => "MFence",
            Fence::Stores => "SFence",
            Fence::Loads => "LFence",
        }
    }

    /// Returns the name of the instruction, in lower case.
    pub fn instruction(self) -> &'static str {
        match self {
            Fence::Full => "mfence",
            Fence::Stores => "sfence",
            Fence::Loads => "lfence",
        }
    }
}

/// An edge of a cycle. diy sorts the rotations of a cycle by the order of these variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// Read-from, `Rfe` and `Rfi`: the load reads the value of the store.
    ReadFrom(Reach),
    /// From-read, `Fre` and `Fri`: the load reads a value that the store overwrites.
    FromRead(Reach),
    /// Coherence, `Coe` and `Coi`: the first store reaches memory before the second.
    Coherence(Reach),
    /// Program order, `PodWR`, `PosRR`, ...
    ProgramOrder(LocationChange, Access, Access),
    /// Program order with a fence in between, `MFencedWR`, `SFencesWW`, ...
    Fenced(Fence, LocationChange, Access, Access),
    /// From the load to the store of one `XCHG`: `Exch`.
    Exchange,
}

impl Edge {
    /// Returns the kind of the access at the start of the edge.
    pub fn source(self) -> Access {
        match self {
            Edge::ReadFrom(_) | Edge::Coherence(_) => Access::Store,
            Edge::FromRead(_) | Edge::Exchange => Access::Load,
            Edge::ProgramOrder(_, source, _) | Edge::Fenced(_, _, source, _) => source,
        }
    }

    /// Returns the kind of the access at the end of the edge.
    pub fn target(self) -> Access {
        match self {
            Edge::ReadFrom(_) => Access::Load,
            Edge::FromRead(_) | Edge::Coherence(_) | Edge::Exchange => Access::Store,
            Edge::ProgramOrder(_, _, target) | Edge::Fenced(_, _, _, target) => target,
        }
    }

    /// Returns whether the edge leads to another thread.
    pub fn is_external(self) -> bool {
        self.reach() == Some(Reach::External)
    }

    /// Returns whether the edge leads to a different location.
    pub fn changes_location(self) -> bool {
        self.location_change() == Some(LocationChange::Different)
    }

    /// Returns the reach of a communication, or `None` for other edges.
    pub fn reach(self) -> Option<Reach> {
        match self {
            Edge::ReadFrom(reach) | Edge::FromRead(reach) | Edge::Coherence(reach) => Some(reach),
            Edge::ProgramOrder(..) | Edge::Fenced(..) | Edge::Exchange => None,
        }
    }

    /// Where program order leads, with or without a fence; `None` for the other edges.
    pub fn location_change(self) -> Option<LocationChange> {
        match self {
            Edge::ProgramOrder(change, _, _) | Edge::Fenced(_, change, _, _) => Some(change),
            Edge::ReadFrom(_) | Edge::FromRead(_) | Edge::Coherence(_) | Edge::Exchange => None,
        }
    }

    /// Every edge there is, in order.
    pub fn all() -> Vec<Edge> {
        let mut all = Vec::new();
        for make in [Edge::ReadFrom, Edge::FromRead, Edge::Coherence] {
            all.extend([Reach::Internal, Reach::External].map(make));
        }
        let ends = [Access::Store, Access::Load];
        let ends = ends.iter().flat_map(|a| ends.map(|b| (*a, b)));
        let changes = [LocationChange::Same, LocationChange::Different];
        let orders = || changes.iter().flat_map(|p| ends.clone().map(|(a, b)| (*p, a, b)));
        all.extend(orders().map(|(change, a, b)| Edge::ProgramOrder(change, a, b)));
        for fence in Fence::ALL {
            all.extend(orders().map(|(change, a, b)| Edge::Fenced(fence, change, a, b)));
        }
        all.push(Edge::Exchange);
        all
    }

    /// Returns the edges that match a pattern: the name of an edge, in which `*` matches any
    /// letter. `Pod**` matches the four edges `PodWW PodWR PodRW PodRR`.
    ///
    /// # Errors
    /// If the pattern matches no edge.
    pub fn matching(pattern: &str) -> Result<Vec<Edge>, UnknownEdge> {
        let pattern_now = current_name(pattern);
        let matches = |edge: &Edge| {
            let name = edge.to_string();
            name.len() == pattern_now.len()
                && name
                    .bytes()
                    .zip(pattern_now.bytes())
                    .all(|(is, want)| want == b'*' || is == want)
        };
        let edges: Vec<Edge> = Edge::all().into_iter().filter(matches).collect();
        if edges.is_empty() { Err(UnknownEdge(pattern.to_string())) } else { Ok(edges) }
    }
}

/// Translates diy's old names for coherence (`Ws`, write serialisation) to the current names.
fn current_name(name: &str) -> &str {
    match name {
        "Wse" | "Ws" => "Coe",
        "Wsi" => "Coi",
        other => other,
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, reach) = match self {
            Edge::ReadFrom(reach) => ("Rf", reach),
            Edge::FromRead(reach) => ("Fr", reach),
            Edge::Coherence(reach) => ("Co", reach),
            Edge::ProgramOrder(change, a, b) => return write!(f, "Po{}{a}{b}", change.letter()),
            Edge::Fenced(fence, change, a, b) => {
                return write!(f, "{}{}{a}{b}", fence.edge_prefix(), change.letter());
            }
            Edge::Exchange => return f.write_str("Exch"),
        };
        f.write_str(kind)?;
        f.write_str(match reach {
            Reach::Internal => "i",
            Reach::External => "e",
        })
    }
}

impl LocationChange {
    fn letter(self) -> char {
        match self {
            LocationChange::Same => 's',
            LocationChange::Different => 'd',
        }
    }
}

/// A word that is not the name of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEdge(pub String);

impl fmt::Display for UnknownEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown edge `{}`; examples of edges: PodWR, MFencedWR, Rfe, Fre, Coe", self.0)
    }
}

impl std::error::Error for UnknownEdge {}

impl FromStr for Edge {
    type Err = UnknownEdge;

    fn from_str(name: &str) -> Result<Edge, UnknownEdge> {
        let current = current_name(name);
        let mut all = Edge::all().into_iter();
        all.find(|edge| edge.to_string() == current).ok_or_else(|| UnknownEdge(name.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_is_parsed_from_its_name() {
        let all = Edge::all();
        assert_eq!(all.len(), 6 + 8 + 24 + 1);
        assert!(all.is_sorted());
        for edge in all {
            assert_eq!(edge.to_string().parse(), Ok(edge));
        }
    }

    #[test]
    fn old_names_are_parsed() {
        assert_eq!("Wse".parse(), Ok(Edge::Coherence(Reach::External)));
        assert_eq!("Ws".parse(), Ok(Edge::Coherence(Reach::External)));
        assert_eq!("Wsi".parse(), Ok(Edge::Coherence(Reach::Internal)));
        assert_eq!("Pod".parse::<Edge>(), Err(UnknownEdge("Pod".to_string())));
    }

    #[test]
    fn a_star_matches_any_letter() {
        let names = |pattern| {
            let edges = Edge::matching(pattern).expect("the pattern matches an edge");
            edges.iter().map(Edge::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("Pod**"), "PodWW PodWR PodRW PodRR");
        assert_eq!(names("*FencedWW"), "MFencedWW SFencedWW LFencedWW");
        assert_eq!(names("Wse"), "Coe");
        assert_eq!(names("**e"), "Rfe Fre Coe");
        assert!(Edge::matching("Pad**").is_err());
    }
}

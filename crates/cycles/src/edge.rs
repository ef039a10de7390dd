//! Edges: the steps of a cycle, with the names that diy gives them.
//!
//! An edge goes from one access to the next. It is a *communication* (read-from, from-read, coherence; external when
//! it leaves the thread), or *program order* (plain or with a fence between the accesses, to the same location or to
//! another one), or the inside of an exchange. Each knows what it leaves and what it reaches: `PodWR` starts at a
//! store and ends at a load of a different location.

use std::fmt;
use std::str::FromStr;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It stores: `W`.
    Store,
    /// It loads: `R`.
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

/// Whether a communication stays in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// It stays: `i`.
    Internal,
    /// It goes to another thread: `e`.
    External,
}

/// Where program order leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// To the same location: `s`.
    Same,
    /// To a different location: `d`.
    Different,
}

/// The fence instructions of x86.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fence {
    /// `MFENCE`, a full fence.
    Full,
    /// `SFENCE`, between stores.
    Stores,
    /// `LFENCE`, after loads.
    Loads,
}

impl Fence {
    /// All of them.
    pub const ALL: [Fence; 3] = [Fence::Full, Fence::Stores, Fence::Loads];

    /// The name in an edge.
    fn word(self) -> &'static str {
        match self {
            Fence::Full => "MFence",
            Fence::Stores => "SFence",
            Fence::Loads => "LFence",
        }
    }

    /// The name of the instruction, in lower case.
    pub fn instruction(self) -> &'static str {
        match self {
            Fence::Full => "mfence",
            Fence::Stores => "sfence",
            Fence::Loads => "lfence",
        }
    }
}

/// One step of a cycle. The order of the variants is the order in which diy sorts the rotations of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// Read-from, `Rfe` and `Rfi`: the load gets its value from the store.
    ReadFrom(Reach),
    /// From-read, `Fre` and `Fri`: the load gets its value from before the store.
    FromRead(Reach),
    /// Coherence, `Coe` and `Coi`: the first store reaches memory before the second.
    Coherence(Reach),
    /// Program order, `PodWR`, `PosRR`, ...
    Order(Place, Access, Access),
    /// Program order with a fence in between, `MFencedWR`, `SFencesWW`, ...
    Fenced(Fence, Place, Access, Access),
    /// From the load to the store of one `XCHG`: `Exch`.
    Exchange,
}

impl Edge {
    /// What the edge leaves.
    pub fn source(self) -> Access {
        match self {
            Edge::ReadFrom(_) | Edge::Coherence(_) => Access::Store,
            Edge::FromRead(_) | Edge::Exchange => Access::Load,
            Edge::Order(_, source, _) | Edge::Fenced(_, _, source, _) => source,
        }
    }

    /// What the edge reaches.
    pub fn target(self) -> Access {
        match self {
            Edge::ReadFrom(_) => Access::Load,
            Edge::FromRead(_) | Edge::Coherence(_) | Edge::Exchange => Access::Store,
            Edge::Order(_, _, target) | Edge::Fenced(_, _, _, target) => target,
        }
    }

    /// Whether the edge leaves its thread.
    pub fn is_external(self) -> bool {
        self.reach() == Some(Reach::External)
    }

    /// Whether the edge leaves its location.
    pub fn changes_location(self) -> bool {
        self.place() == Some(Place::Different)
    }

    /// How far a communication reaches; `None` for the other edges.
    pub fn reach(self) -> Option<Reach> {
        match self {
            Edge::ReadFrom(reach) | Edge::FromRead(reach) | Edge::Coherence(reach) => Some(reach),
            Edge::Order(..) | Edge::Fenced(..) | Edge::Exchange => None,
        }
    }

    /// Where program order leads, with or without a fence; `None` for the other edges.
    pub fn place(self) -> Option<Place> {
        match self {
            Edge::Order(place, _, _) | Edge::Fenced(_, place, _, _) => Some(place),
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
        let places = [Place::Same, Place::Different];
        let orders = || places.iter().flat_map(|p| ends.clone().map(|(a, b)| (*p, a, b)));
        all.extend(orders().map(|(place, a, b)| Edge::Order(place, a, b)));
        for fence in Fence::ALL {
            all.extend(orders().map(|(place, a, b)| Edge::Fenced(fence, place, a, b)));
        }
        all.push(Edge::Exchange);
        all
    }

    /// The edges that a pattern stands for: an edge's name, where `*` stands for any one letter. `Pod**` is the four
    /// edges `PodWW PodWR PodRW PodRR`.
    ///
    /// # Errors
    /// When the pattern stands for no edge.
    pub fn matching(pattern: &str) -> Result<Vec<Edge>, UnknownEdge> {
        let modern = modern(pattern);
        let fits = |edge: &Edge| {
            let name = edge.to_string();
            name.len() == modern.len()
                && name.bytes().zip(modern.bytes()).all(|(is, want)| want == b'*' || is == want)
        };
        let edges: Vec<Edge> = Edge::all().into_iter().filter(fits).collect();
        if edges.is_empty() { Err(UnknownEdge(pattern.to_string())) } else { Ok(edges) }
    }
}

/// diy's older names for coherence (`Ws` for write serialisation), in today's words.
fn modern(name: &str) -> &str {
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
            Edge::Order(place, a, b) => return write!(f, "Po{}{a}{b}", place.letter()),
            Edge::Fenced(fence, place, a, b) => {
                return write!(f, "{}{}{a}{b}", fence.word(), place.letter());
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

impl Place {
    fn letter(self) -> char {
        match self {
            Place::Same => 's',
            Place::Different => 'd',
        }
    }
}

/// A word that names no edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEdge(pub String);

impl fmt::Display for UnknownEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` names no edge of a cycle", self.0)
    }
}

impl std::error::Error for UnknownEdge {}

impl FromStr for Edge {
    type Err = UnknownEdge;

    fn from_str(name: &str) -> Result<Edge, UnknownEdge> {
        let modern = modern(name);
        let mut all = Edge::all().into_iter();
        all.find(|edge| edge.to_string() == modern).ok_or_else(|| UnknownEdge(name.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let all = Edge::all();
        assert_eq!(all.len(), 6 + 8 + 24 + 1);
        assert!(all.is_sorted());
        for edge in all {
            assert_eq!(edge.to_string().parse(), Ok(edge));
        }
    }

    #[test]
    fn old_names_are_known() {
        assert_eq!("Wse".parse(), Ok(Edge::Coherence(Reach::External)));
        assert_eq!("Ws".parse(), Ok(Edge::Coherence(Reach::External)));
        assert_eq!("Wsi".parse(), Ok(Edge::Coherence(Reach::Internal)));
        assert_eq!("Pod".parse::<Edge>(), Err(UnknownEdge("Pod".to_string())));
    }

    #[test]
    fn a_star_is_any_letter() {
        let names = |pattern| {
            let edges = Edge::matching(pattern).expect("the pattern fits");
            edges.iter().map(Edge::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("Pod**"), "PodWW PodWR PodRW PodRR");
        assert_eq!(names("*FencedWW"), "MFencedWW SFencedWW LFencedWW");
        assert_eq!(names("Wse"), "Coe");
        assert_eq!(names("**e"), "Rfe Fre Coe");
        assert!(Edge::matching("Pad**").is_err());
    }
}

//! The format of a certificate of optimality: JSON lines.
//!
//! ```text
//! {"optimality":1,"model":"tso","cost":8,...,"clauses":2}
//! {"client":0,"clause":[[2,"full"],[2,"store_load"]],"init":[],"steps":[[0],[1,[2]],[0,4],...]}
//! {"certificate":1,...}
//! [[memory], [allocated], [threads]]
//! ```
//!
//! The header is followed by one line for each clause. Then follows, for each client, a certificate
//! of the repaired program ([`crate::format`]). The book's page "Certificates" has the details.

use fencepost_ir::FenceKinds;
use serde::{Deserialize, Serialize};

use crate::format::Model;

/// The version of the format.
pub const OPTIMALITY_VERSION: u32 = 1;

/// The header: the first line of a certificate of optimality. It states the claim.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimalityHeader {
    /// The format version: [`OPTIMALITY_VERSION`].
    pub optimality: u32,
    /// The memory model.
    pub model: Model,
    /// The cost of the placement. No cheaper placement is sufficient.
    pub cost: u64,
    /// The fence kinds that placements may use, with their costs.
    pub fences: Vec<KindCost>,
    /// Whether placements are added to the fences of the source. If not, those fences are removed.
    pub keeps_written: bool,
    /// The lines before whose statements no fence may be placed.
    pub forbidden_lines: Vec<u32>,
    /// The functions in which fences may be placed. Empty: all.
    pub only_in: Vec<String>,
    /// Whether hangs are allowed.
    pub may_hang: bool,
    /// The names of the problems: the texts of the clients, or one empty text.
    pub clients: Vec<String>,
    /// The placement.
    pub placement: Vec<PlacedFence>,
    /// The number of clauses that follow.
    pub clauses: u64,
}

/// A fence kind and its cost: `["store_load",4]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KindCost(pub String, pub u32);

/// A fence at a place: `[2,"store_load"]`. Places count from 0 in the order of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PlacedFence(pub u32, pub String);

/// A clause with the run that justifies it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// The position of the violated problem in [`OptimalityHeader::clients`].
    pub client: u32,
    /// The fences of the clause: a sufficient placement has at least one of them.
    pub clause: Vec<PlacedFence>,
    /// The choices in `init`, each as the number of its alternative, from 0.
    pub init: Vec<u32>,
    /// The steps of a violating run of the program with all fences that are not in the clause.
    pub steps: Vec<RunStep>,
}

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunStep {
    /// `[thread]`: the thread executes its next statement.
    Statement((u32,)),
    /// `[thread,location]`: the oldest pending store of the thread to the location takes effect.
    Commit(u32, u32),
    /// `[thread,[choice,...]]`: the thread executes its next statement, a `choose` or an atomic
    /// block, with these choices. Each is the number of its alternative, from 0.
    Choices(u32, Vec<u32>),
}

impl OptimalityHeader {
    /// Returns the line without a newline.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a header must be serialisable as JSON")
    }

    /// Parses a header line.
    pub fn parse(line: &[u8]) -> Result<OptimalityHeader, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }
}

impl Clause {
    /// Returns the line without a newline.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a clause must be serialisable as JSON")
    }

    /// Parses a line.
    pub(crate) fn parse(line: &[u8]) -> Result<Clause, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }
}

/// Returns the fence kinds with a name, such as `full` or `load_load + load_store`.
pub(crate) fn parse_kinds(name: &str) -> Option<FenceKinds> {
    let mut kinds = FenceKinds::default();
    for part in name.split(" + ") {
        let single = FenceKinds::SINGLE.iter().find(|(_, known)| *known == part);
        kinds = kinds.union(match single {
            Some((kind, _)) => *kind,
            None if part == FenceKinds::FULL.name() => FenceKinds::FULL,
            None => return None,
        });
    }
    // A set of kinds has one name.
    (kinds.name() == name).then_some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_kinds_has_one_name() {
        for (a, _) in FenceKinds::SINGLE {
            for (b, _) in FenceKinds::SINGLE {
                assert_eq!(parse_kinds(&a.union(b).name()), Some(a.union(b)));
            }
        }
        assert_eq!(parse_kinds("full"), Some(FenceKinds::FULL));
        for name in ["", "drain", "store_load + store_store", "full + store_load", "store_load "] {
            assert_eq!(parse_kinds(name), None, "{name}");
        }
    }
}

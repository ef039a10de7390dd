//! The memory models by name, and model files.
//!
//! A model file is TOML:
//!
//! ```toml
//! name = "my-model"
//! relax = ["W->R", "W->W"]      # the pairs that may be reordered: W->R, W->W, R->R, R->W
//! read-own-writes-early = true  # may a load read its thread's pending store? (default: true)
//! speculation = false           # may a load pass an unresolved branch? (default: false)
//! ```

use crate::arm::Arm;
use crate::buffered::Buffered;
use crate::coherence::{Coherence, Domain};
use crate::model::MemoryModel;
use crate::mutation::Mutated;
use crate::pso::Pso;
use crate::sc::Sc;
use crate::symbolic::Symbolic;
use crate::table::{Bypass, Table};
use crate::tso::Tso;
use fencepost_ir::StoreBuffers;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;

/// The kind of a memory model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelKind {
    /// Sequential consistency.
    Sc,
    /// One FIFO queue for each thread.
    Tso,
    /// One FIFO queue for each thread and location.
    Pso,
    /// An out-of-order window with a bypass table.
    Table(Bypass),
    /// ARMv8-A.
    Arm,
}

/// A memory model by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelSpec {
    /// The name, in lower case.
    pub name: Cow<'static, str>,
    /// A one-line description.
    pub about: Cow<'static, str>,
    /// The kind, which determines the semantics.
    pub kind: ModelKind,
}

/// An error in a model file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelFileError(String);

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelFileError {}

/// An operation that is generic over the memory model.
pub trait Visitor {
    /// The result of the operation.
    type Output;

    /// Runs the operation with a model.
    fn visit<M: MemoryModel>(self, model: M) -> Self::Output;
}

const NO_BYPASS: Bypass = Bypass {
    store_load: false,
    store_store: false,
    load_load: false,
    load_store: false,
    read_own_early: true,
    speculation: false,
};

const TSO_TABLE: Bypass = Bypass { store_load: true, ..NO_BYPASS };
const PSO_TABLE: Bypass = Bypass { store_store: true, ..TSO_TABLE };
const RMO_TABLE: Bypass = Bypass { load_load: true, load_store: true, ..PSO_TABLE };

impl ModelSpec {
    /// Sequential consistency.
    pub const SC: ModelSpec =
        ModelSpec::named("sc", "sequential consistency: nothing is reordered", ModelKind::Sc);
    /// IBM 370: TSO without store forwarding.
    pub const IBM370: ModelSpec = ModelSpec::named(
        "ibm370",
        "loads overtake stores, but a load waits for its own thread's store to the location",
        ModelKind::Table(Bypass { read_own_early: false, ..TSO_TABLE }),
    );
    /// x86 and SPARC TSO.
    pub const TSO: ModelSpec =
        ModelSpec::named("tso", "x86, SPARC TSO: one store buffer for each thread", ModelKind::Tso);
    /// SPARC PSO.
    pub const PSO: ModelSpec = ModelSpec::named(
        "pso",
        "SPARC PSO: one store buffer for each thread and location",
        ModelKind::Pso,
    );
    /// SPARC RMO.
    pub const RMO: ModelSpec = ModelSpec::named(
        "rmo",
        "SPARC RMO: all accesses to different locations may be reordered; loads pass branches",
        ModelKind::Table(Bypass { speculation: true, ..RMO_TABLE }),
    );
    /// SPARC RMO without speculation: the model RMO of \[KVY10\].
    pub const RMO_NOSPEC: ModelSpec = ModelSpec::named(
        "rmo-nospec",
        "RMO without speculation: as rmo, but all accesses wait for earlier branches",
        ModelKind::Table(RMO_TABLE),
    );
    /// ARMv8-A.
    pub const ARM: ModelSpec = ModelSpec::named(
        "arm",
        "ARMv8-A: dependencies, acquire and release accesses, barriers and exclusives",
        ModelKind::Arm,
    );
    /// TSO as a table-driven model.
    pub const TABLE_TSO: ModelSpec = ModelSpec::named(
        "table-tso",
        "TSO as a table-driven model, for comparison",
        ModelKind::Table(TSO_TABLE),
    );
    /// PSO as a table-driven model.
    pub const TABLE_PSO: ModelSpec = ModelSpec::named(
        "table-pso",
        "PSO as a table-driven model, for comparison",
        ModelKind::Table(PSO_TABLE),
    );

    const fn named(name: &'static str, about: &'static str, kind: ModelKind) -> ModelSpec {
        ModelSpec { name: Cow::Borrowed(name), about: Cow::Borrowed(about), kind }
    }

    /// Returns the built-in models, strongest first.
    pub fn builtin() -> Vec<ModelSpec> {
        vec![
            ModelSpec::SC,
            ModelSpec::IBM370,
            ModelSpec::TSO,
            ModelSpec::PSO,
            ModelSpec::RMO_NOSPEC,
            ModelSpec::RMO,
            ModelSpec::ARM,
            ModelSpec::TABLE_TSO,
            ModelSpec::TABLE_PSO,
        ]
    }

    /// Returns the built-in model with this name. Upper and lower case are equal.
    pub fn by_name(name: &str) -> Option<ModelSpec> {
        let name = name.to_ascii_lowercase();
        ModelSpec::builtin().into_iter().find(|m| m.name == name)
    }

    /// Parses a model file.
    pub fn from_toml(text: &str) -> Result<ModelSpec, ModelFileError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        struct File {
            name: String,
            #[serde(default)]
            about: String,
            relax: Vec<String>,
            #[serde(default = "yes")]
            read_own_writes_early: bool,
            #[serde(default)]
            speculation: bool,
        }
        fn yes() -> bool {
            true
        }
        let file: File = toml::from_str(text).map_err(|e| ModelFileError(e.to_string()))?;
        let mut bypass = Bypass {
            read_own_early: file.read_own_writes_early,
            speculation: file.speculation,
            ..NO_BYPASS
        };
        for pair in &file.relax {
            match pair.replace(' ', "").to_ascii_uppercase().as_str() {
                "W->R" => bypass.store_load = true,
                "W->W" => bypass.store_store = true,
                "R->R" => bypass.load_load = true,
                "R->W" => bypass.load_store = true,
                _ => {
                    return Err(ModelFileError(format!(
                        "unknown pair {pair:?} in `relax`: use \"W->R\", \"W->W\", \"R->R\" or \"R->W\""
                    )));
                }
            }
        }
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if file.name.is_empty() || !file.name.chars().all(known) {
            let what = "`name` must consist of letters, digits, `-`, `_`, `.` and `+`";
            return Err(ModelFileError(what.into()));
        }
        Ok(ModelSpec {
            name: file.name.to_ascii_lowercase().into(),
            about: file.about.into(),
            kind: ModelKind::Table(bypass),
        })
    }

    /// Returns the pairs of accesses to different locations that may be reordered, and whether a
    /// load reads its own thread's pending store.
    pub fn relaxes(&self) -> Bypass {
        match self.kind {
            ModelKind::Sc => NO_BYPASS,
            ModelKind::Tso => Bypass { store_load: true, ..NO_BYPASS },
            ModelKind::Pso => Bypass { store_load: true, store_store: true, ..NO_BYPASS },
            ModelKind::Table(bypass) => bypass,
            ModelKind::Arm => crate::arm::BYPASS,
        }
    }

    /// Returns whether the accesses of the machine have orders, so that the order of an access is no
    /// matter of fences ([`fencepost_ir::AccessOrder`]).
    pub fn has_ordered_accesses(&self) -> bool {
        self.kind == ModelKind::Arm
    }

    /// Returns architectures and languages whose models look similar to this one but are others. A
    /// verdict does not cover them.
    pub fn not_covered(&self) -> &'static [&'static str] {
        let is_rmo = [ModelSpec::RMO, ModelSpec::RMO_NOSPEC].iter().any(|m| m.kind == self.kind);
        if is_rmo { &["ARM", "POWER", "C11"] } else { &[] }
    }

    /// Returns whether accesses can be pending, so that a bound on them matters.
    pub fn is_buffered(&self) -> bool {
        self.kind != ModelKind::Sc
    }

    /// Returns the bound that a search starts with: small for queues, where a small bound is often
    /// enough, and larger for windows, which also hold loads and assignments.
    pub fn initial_bound(&self) -> u32 {
        match self.kind {
            ModelKind::Sc => 1,
            ModelKind::Tso | ModelKind::Pso => 2,
            ModelKind::Table(_) | ModelKind::Arm => 8,
        }
    }

    /// Returns the default of the largest bound that a search tries. Larger bounds rarely find
    /// anything new.
    pub fn default_max_bound(&self) -> u32 {
        match self.kind {
            ModelKind::Sc => 1,
            ModelKind::Tso | ModelKind::Pso => 32,
            ModelKind::Table(_) | ModelKind::Arm => 128,
        }
    }

    /// Returns the partial-coherence abstraction of this model, or `None` if the model has no store
    /// buffers.
    pub fn abstracted(
        &self,
        domain: Domain,
        k: u32,
        labelled: bool,
    ) -> Option<Buffered<Coherence>> {
        let grouping = self.store_buffers()?;
        let k = if domain == Domain::Set { 0 } else { k };
        let mutated = Mutated::default();
        Some(Buffered(Coherence { grouping, domain, k, labelled, mutated }))
    }

    /// Returns an over-approximation of a model with windows, for windows of any length, with at most
    /// `bound` entries in a window. `None` if the model has none.
    pub fn forgetting(&self, bound: u32) -> Option<Arm> {
        (self.kind == ModelKind::Arm).then(|| Arm::forgetting(bound, Mutated::default()))
    }

    /// Returns the model with symbolic store buffers, or `None` if the model has no store buffers.
    pub fn symbolic(&self, mutated: Mutated) -> Option<Buffered<Symbolic>> {
        Some(Buffered(Symbolic::new(self.store_buffers()?, mutated)))
    }

    /// Returns the kind of store buffers, or `None` if the model has no store buffers.
    pub fn store_buffers(&self) -> Option<StoreBuffers> {
        match self.kind {
            ModelKind::Tso => Some(StoreBuffers::Tso),
            ModelKind::Pso => Some(StoreBuffers::Pso),
            ModelKind::Sc | ModelKind::Table(_) | ModelKind::Arm => None,
        }
    }

    /// Builds the model with a bound on pending accesses and passes it to the visitor.
    pub fn visit<V: Visitor>(&self, bound: u32, visitor: V) -> V::Output {
        let mutated = Mutated::default();
        match self.kind {
            ModelKind::Sc => visitor.visit(Buffered(Sc)),
            ModelKind::Tso => visitor.visit(Buffered(Tso { bound, mutated })),
            ModelKind::Pso => visitor.visit(Buffered(Pso { bound, mutated })),
            ModelKind::Table(bypass) => visitor.visit(Table { bypass, bound, mutated }),
            ModelKind::Arm => visitor.visit(Arm::new(bound, mutated)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_file_describes_a_table() {
        let text = "name = \"Mine\"\nrelax = [\"W -> R\", \"r->w\"]\nread-own-writes-early = false";
        let model = ModelSpec::from_toml(text).expect("well-formed");
        let expected = Bypass { store_load: true, load_store: true, ..NO_BYPASS };
        assert_eq!(model.kind, ModelKind::Table(Bypass { read_own_early: false, ..expected }));
        assert_eq!(model.name, "mine");
        let speculates =
            |text: &str| ModelSpec::from_toml(text).expect("well-formed").relaxes().speculation;
        assert!(!speculates(text), "the default keeps the meaning of existing files");
        assert!(speculates(&format!("{text}\nspeculation = true")));
    }

    #[test]
    fn an_invalid_model_file_reports_the_error() {
        let error =
            ModelSpec::from_toml("name = \"x\"\nrelax = [\"W->X\"]").unwrap_err().to_string();
        assert!(error.contains("\"W->X\""), "{error}");
        assert!(ModelSpec::from_toml("name = \"x\"").unwrap_err().to_string().contains("relax"));
        assert!(ModelSpec::from_toml("name = \"a b\"\nrelax = []").is_err());
        assert!(ModelSpec::from_toml("\u{0}").is_err());
    }
}

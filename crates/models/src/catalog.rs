//! The memory models by name, and models described in a file.
//!
//! A model file is TOML:
//!
//! ```toml
//! name = "my-model"
//! relax = ["W->R", "W->W"]      # which pairs may change places: W->R, W->W, R->R, R->W
//! read-own-writes-early = true  # may a load see its thread's pending store? (default: true)
//! ```

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

/// How a model is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Sequential consistency.
    Sc,
    /// One queue for each thread.
    Tso,
    /// One queue for each thread and location.
    Pso,
    /// A window and a bypass table.
    Table(Bypass),
}

/// A memory model to check a program under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelSpec {
    /// Its name, in lower case.
    pub name: Cow<'static, str>,
    /// What it is, in one line.
    pub about: Cow<'static, str>,
    /// How it is built.
    pub kind: Kind,
}

/// What is wrong with a model file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelFileError(String);

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelFileError {}

/// Something to do with a model, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<M: MemoryModel>(self, model: M) -> Self::Output;
}

const NOTHING: Bypass = Bypass {
    store_load: false,
    store_store: false,
    load_load: false,
    load_store: false,
    read_own_early: true,
};

const TSO_TABLE: Bypass = Bypass { store_load: true, ..NOTHING };
const PSO_TABLE: Bypass = Bypass { store_store: true, ..TSO_TABLE };

impl ModelSpec {
    /// Sequential consistency.
    pub const SC: ModelSpec =
        ModelSpec::named("sc", "sequential consistency: nothing is reordered", Kind::Sc);
    /// IBM 370: TSO without store forwarding.
    pub const IBM370: ModelSpec = ModelSpec::named(
        "ibm370",
        "loads overtake stores, but a load waits for its own thread's store to the location",
        Kind::Table(Bypass { read_own_early: false, ..TSO_TABLE }),
    );
    /// x86 and SPARC TSO.
    pub const TSO: ModelSpec =
        ModelSpec::named("tso", "x86, SPARC TSO: one store buffer for each thread", Kind::Tso);
    /// SPARC PSO.
    pub const PSO: ModelSpec = ModelSpec::named(
        "pso",
        "SPARC PSO: one store buffer for each thread and location",
        Kind::Pso,
    );
    /// SPARC RMO without speculation.
    pub const RMO: ModelSpec = ModelSpec::named(
        "rmo",
        "SPARC RMO without speculation: all accesses to different locations may change places",
        Kind::Table(Bypass { load_load: true, load_store: true, ..PSO_TABLE }),
    );
    /// TSO as a table-driven model.
    pub const TABLE_TSO: ModelSpec = ModelSpec::named(
        "table-tso",
        "TSO as a table-driven model, for comparison",
        Kind::Table(TSO_TABLE),
    );
    /// PSO as a table-driven model.
    pub const TABLE_PSO: ModelSpec = ModelSpec::named(
        "table-pso",
        "PSO as a table-driven model, for comparison",
        Kind::Table(PSO_TABLE),
    );

    const fn named(name: &'static str, about: &'static str, kind: Kind) -> ModelSpec {
        ModelSpec { name: Cow::Borrowed(name), about: Cow::Borrowed(about), kind }
    }

    /// The models that need no file, strongest first.
    pub fn builtin() -> Vec<ModelSpec> {
        vec![
            ModelSpec::SC,
            ModelSpec::IBM370,
            ModelSpec::TSO,
            ModelSpec::PSO,
            ModelSpec::RMO,
            ModelSpec::TABLE_TSO,
            ModelSpec::TABLE_PSO,
        ]
    }

    /// A model that needs no file.
    pub fn by_name(name: &str) -> Option<ModelSpec> {
        let name = name.to_ascii_lowercase();
        ModelSpec::builtin().into_iter().find(|m| m.name == name)
    }

    /// A model described in a file; what is wrong with it otherwise.
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
        }
        fn yes() -> bool {
            true
        }
        let file: File = toml::from_str(text).map_err(|e| ModelFileError(e.to_string()))?;
        let mut bypass = Bypass { read_own_early: file.read_own_writes_early, ..NOTHING };
        for pair in &file.relax {
            match pair.replace(' ', "").to_ascii_uppercase().as_str() {
                "W->R" => bypass.store_load = true,
                "W->W" => bypass.store_store = true,
                "R->R" => bypass.load_load = true,
                "R->W" => bypass.load_store = true,
                _ => {
                    return Err(ModelFileError(format!(
                        "`relax` holds {pair:?}; it may hold \"W->R\", \"W->W\", \"R->R\", \"R->W\""
                    )));
                }
            }
        }
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if file.name.is_empty() || !file.name.chars().all(known) {
            let what = "`name` must be made of letters, digits, `-`, `_`, `.` and `+`";
            return Err(ModelFileError(what.into()));
        }
        Ok(ModelSpec {
            name: file.name.to_ascii_lowercase().into(),
            about: file.about.into(),
            kind: Kind::Table(bypass),
        })
    }

    /// Which pairs of accesses to different locations may change places, and whether a load reads its
    /// own thread's pending store.
    pub fn relaxes(&self) -> Bypass {
        match self.kind {
            Kind::Sc => NOTHING,
            Kind::Tso => Bypass { store_load: true, ..NOTHING },
            Kind::Pso => Bypass { store_load: true, store_store: true, ..NOTHING },
            Kind::Table(bypass) => bypass,
        }
    }

    /// Whether anything can be pending, so that a bound on it matters.
    pub fn is_buffered(&self) -> bool {
        self.kind != Kind::Sc
    }

    /// The bound a search starts with: small for queues, which often need little, and larger for
    /// windows, which hold loads and assignments, too.
    pub fn first_bound(&self) -> u32 {
        match self.kind {
            Kind::Sc => 1,
            Kind::Tso | Kind::Pso => 2,
            Kind::Table(_) => 8,
        }
    }

    /// The largest bound a search tries unless told otherwise: beyond it, what grows has hardly ever
    /// anything new to show.
    pub fn last_bound(&self) -> u32 {
        match self.kind {
            Kind::Sc => 1,
            Kind::Tso | Kind::Pso => 32,
            Kind::Table(_) => 128,
        }
    }

    /// The abstract model that stands for this one: none for models that are not made of store buffers.
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

    /// The model with sets of contents for buffers: none for models that are not made of store buffers.
    pub fn symbolic(&self, mutated: Mutated) -> Option<Buffered<Symbolic>> {
        Some(Buffered(Symbolic::new(self.store_buffers()?, mutated)))
    }

    /// Its store buffers: none for models that are not made of them.
    pub fn store_buffers(&self) -> Option<StoreBuffers> {
        match self.kind {
            Kind::Tso => Some(StoreBuffers::Tso),
            Kind::Pso => Some(StoreBuffers::Pso),
            Kind::Sc | Kind::Table(_) => None,
        }
    }

    /// Builds the model with a bound on what may be pending and hands it to the visitor.
    pub fn visit<V: Visitor>(&self, bound: u32, visitor: V) -> V::Output {
        let mutated = Mutated::default();
        match self.kind {
            Kind::Sc => visitor.visit(Buffered(Sc)),
            Kind::Tso => visitor.visit(Buffered(Tso { bound, mutated })),
            Kind::Pso => visitor.visit(Buffered(Pso { bound, mutated })),
            Kind::Table(bypass) => visitor.visit(Table { bypass, bound, mutated }),
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
        let expected = Bypass { store_load: true, load_store: true, ..NOTHING };
        assert_eq!(model.kind, Kind::Table(Bypass { read_own_early: false, ..expected }));
        assert_eq!(model.name, "mine");
    }

    #[test]
    fn a_wrong_model_file_says_what_is_wrong() {
        let wrong =
            ModelSpec::from_toml("name = \"x\"\nrelax = [\"W->X\"]").unwrap_err().to_string();
        assert!(wrong.contains("\"W->X\""), "{wrong}");
        assert!(ModelSpec::from_toml("name = \"x\"").unwrap_err().to_string().contains("relax"));
        assert!(ModelSpec::from_toml("name = \"a b\"\nrelax = []").is_err());
        assert!(ModelSpec::from_toml("\u{0}").is_err());
    }
}

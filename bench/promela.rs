//! Promela models of benchmark programs, written by hand as an expert user of SPIN would write them.
//!
//! The models are in `spin/`, one file for each family, with macros for the number of threads, the
//! memory model and the fences. All of them include `memory.pml`, which has the store buffers.
//! `cargo xtask compare spin` runs SPIN on them, on our export and compares both with our search.
//!
//! ```
//! use fencepost_bench::promela;
//! use fencepost_bench::{Fences, family};
//! let model = promela::model("filter").unwrap();
//! assert!(model.text.contains("#include \"memory.pml\""));
//! let macros = promela::macros(3, Fences::Removed, "tso", 2);
//! assert_eq!(macros, ["-DN=3", "-DTSO", "-DB=2", "-DNOFENCES"]);
//! assert!(family(model.family).is_some());
//! ```

use crate::Fences;

/// A model of the programs of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// The name of the family. The file is `spin/FAMILY.pml`.
    pub family: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The file that every model includes: its name and its text.
pub const MEMORY: (&str, &str) = ("memory.pml", include_str!("spin/memory.pml"));

/// All models.
pub const MODELS: &[Model] = &[
    Model { family: "bakery", text: include_str!("spin/bakery.pml") },
    Model { family: "clh", text: include_str!("spin/clh.pml") },
    Model { family: "dijkstra", text: include_str!("spin/dijkstra.pml") },
    Model { family: "filter", text: include_str!("spin/filter.pml") },
    Model { family: "lamport", text: include_str!("spin/lamport.pml") },
    Model { family: "szymanski", text: include_str!("spin/szymanski.pml") },
];

/// Returns the model of a family.
pub fn model(family: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.family == family)
}

/// Returns the options of `spin` that select the number of threads, the fences, the memory model
/// (`sc`, `tso` or `pso`) and the bound on pending stores.
pub fn macros(threads: u32, fences: Fences, model: &str, buffers: u32) -> Vec<String> {
    let mut macros = vec![format!("-DN={threads}")];
    if model != "sc" {
        macros.push(format!("-D{}", model.to_uppercase()));
        macros.push(format!("-DB={buffers}"));
    }
    if fences == Fences::Removed {
        macros.push("-DNOFENCES".into());
    }
    macros
}

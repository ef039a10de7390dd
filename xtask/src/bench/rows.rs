//! The rows of the benchmark: which engine runs on which programs under which models.

use fencepost_bench::{Family, Fences, family};

/// What a row runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Engine {
    /// `check --engine explicit`
    Explicit,
    /// `check --engine abstraction`
    Abstraction,
    /// `check --engine automata`
    Automata,
    /// `check --engine stateless`
    Stateless,
    /// `check --engine auto`
    Auto,
    /// `infer`
    Infer,
    /// `robust`
    Robust,
}

impl Engine {
    /// All engines, in the order of the table.
    pub(super) const ALL: [Engine; 7] = [
        Engine::Explicit,
        Engine::Abstraction,
        Engine::Automata,
        Engine::Stateless,
        Engine::Auto,
        Engine::Infer,
        Engine::Robust,
    ];

    /// Returns the name in tables and records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Engine::Explicit => "explicit",
            Engine::Abstraction => "abstraction",
            Engine::Automata => "automata",
            Engine::Stateless => "stateless",
            Engine::Auto => "auto",
            Engine::Infer => "infer",
            Engine::Robust => "robust",
        }
    }

    /// Returns the arguments of the binary that select the engine.
    pub(super) fn arguments(self) -> Vec<&'static str> {
        match self {
            Engine::Infer => vec!["infer"],
            Engine::Robust => vec!["robust"],
            Engine::Explicit
            | Engine::Abstraction
            | Engine::Automata
            | Engine::Stateless
            | Engine::Auto => vec!["check", "--engine", self.name()],
        }
    }

    /// Returns what the engine counts.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Engine::Explicit
            | Engine::Abstraction
            | Engine::Automata
            | Engine::Auto
            | Engine::Robust => "states",
            Engine::Stateless => "executions",
            Engine::Infer => "rounds",
        }
    }
}

/// A program, an engine and a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) engine: Engine,
    pub(super) family: &'static Family,
    /// The parameter of the family.
    pub(super) value: u32,
    pub(super) fences: Fences,
    pub(super) model: &'static str,
}

impl Row {
    /// Returns the name of the program.
    pub(super) fn program(&self) -> String {
        self.family.program_name(self.value, self.fences)
    }

    /// Returns the name of the row: `explicit bakery3-fenced tso`.
    pub(super) fn name(&self) -> String {
        format!("{} {} {}", self.engine.name(), self.program(), self.model)
    }

    /// Returns the word that a right answer has in its JSON document, if the answer is known.
    pub(super) fn expected(&self) -> Option<&'static str> {
        if !["sc", "tso", "pso"].contains(&self.model) {
            return None;
        }
        let verdict = self.family.expected(self.fences, self.model);
        match self.engine {
            Engine::Explicit
            | Engine::Abstraction
            | Engine::Automata
            | Engine::Stateless
            | Engine::Auto => Some(verdict),
            Engine::Infer if verdict == "violated" => Some("repaired"),
            Engine::Infer => Some("correct"),
            // A correct program may have behaviours that are not sequentially consistent.
            Engine::Robust => None,
        }
    }
}

/// An engine with the programs and models that it runs on: every family with every model.
struct Plan {
    engine: Engine,
    fences: Fences,
    models: &'static [&'static str],
    families: &'static [&'static str],
}

/// The families whose programs every general engine runs on: the locks for two, three and four
/// threads, the rings and the private stores.
const GENERAL: &[&str] = &[
    "bakery",
    "burns",
    "clh",
    "dijkstra",
    "filter",
    "lamport",
    "szymanski",
    "ring",
    "private-stores",
];

/// The rows.
const PLANS: &[Plan] = &[
    Plan {
        engine: Engine::Explicit,
        fences: Fences::Present,
        models: &["sc", "tso", "pso"],
        // Programs with finite buffers.
        families: &["bakery", "clh", "filter", "lamport", "szymanski", "ring", "private-stores"],
    },
    Plan {
        engine: Engine::Abstraction,
        fences: Fences::Present,
        models: &["tso", "pso"],
        families: &["burns", "clh", "dijkstra", "szymanski", "private-stores"],
    },
    Plan {
        engine: Engine::Automata,
        fences: Fences::Present,
        models: &["tso", "pso"],
        families: &["burns", "clh", "dijkstra", "szymanski", "private-stores"],
    },
    Plan {
        engine: Engine::Stateless,
        fences: Fences::Present,
        models: &["tso", "pso"],
        // Programs without infinite loops.
        families: &["ring", "rounds"],
    },
    Plan {
        engine: Engine::Auto,
        fences: Fences::Present,
        models: &["tso", "pso"],
        families: GENERAL,
    },
    Plan {
        engine: Engine::Auto,
        fences: Fences::Removed,
        models: &["pso", "rmo-nospec"],
        families: &["chase-lev", "msn"],
    },
    Plan {
        engine: Engine::Infer,
        fences: Fences::Removed,
        models: &["tso", "pso"],
        families: GENERAL,
    },
    Plan {
        engine: Engine::Infer,
        fences: Fences::Removed,
        models: &["tso", "pso", "rmo-nospec"],
        families: &["chase-lev", "msn"],
    },
    Plan { engine: Engine::Robust, fences: Fences::Present, models: &["tso"], families: GENERAL },
];

/// Returns all rows. The rows of a family under a model are next to each other, in the order of the
/// parameter.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for plan in PLANS {
        for name in plan.families {
            let family = family(name).expect("the plan names families");
            for model in plan.models {
                rows.extend(family.values.iter().map(|value| Row {
                    engine: plan.engine,
                    family,
                    value: *value,
                    fences: plan.fences,
                    model,
                }));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_bench::FAMILIES;
    use std::collections::BTreeSet;

    #[test]
    fn every_family_and_engine_has_rows_with_different_names() {
        let rows = rows();
        let names: BTreeSet<String> = rows.iter().map(Row::name).collect();
        assert_eq!(names.len(), rows.len());
        let of = |family: &&Family| rows.iter().any(|row| row.family.name == family.name);
        assert_eq!(FAMILIES.iter().filter(of).count(), FAMILIES.len());
        for engine in Engine::ALL {
            assert!(rows.iter().any(|row| row.engine == engine), "{engine:?}");
        }
        assert!(rows.iter().all(|row| row.family.has(row.fences)));
    }

    #[test]
    fn expectations_use_the_words_of_the_answers() {
        let of = |name: &str| rows().into_iter().find(|row| row.name() == name);
        let expected = |name: &str| of(name).expect("a row").expected();
        assert_eq!(expected("explicit clh3-fenced pso"), Some("verified"));
        assert_eq!(expected("infer clh3 tso"), Some("correct"));
        assert_eq!(expected("infer clh3 pso"), Some("repaired"));
        assert_eq!(expected("auto msn3 rmo-nospec"), None);
        assert_eq!(expected("robust clh3-fenced tso"), None);
    }
}

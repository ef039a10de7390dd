//! Families of benchmark programs: one text for each family, with a parameter.
//!
//! A file in `programs/` is a complete program for one value of its parameter, with the fences that
//! it needs. [`Family::program`] changes the value in the line `const N = 4;`. It removes the lines
//! that end with `// repair` if the program without fences is wanted. Rejected: a file for each
//! value. The files would differ in one number.
//!
//! The threads of a ring are different texts, because `infer` puts a fence into all copies of a
//! template at once. So [`ring`] writes them.
//!
//! ```
//! use fencepost_bench::{Fences, family};
//! let dijkstra = family("dijkstra").unwrap();
//! let text = dijkstra.program(3, Fences::Removed);
//! assert!(text.contains("const N = 3;") && !text.contains("fence;"));
//! assert_eq!(dijkstra.program_name(3, Fences::Present), "dijkstra3-fenced");
//! ```

pub mod promela;
mod ring;

pub use ring::ring;

/// Whether a program has the fences that make it correct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fences {
    /// The program has the fences of its file.
    Present,
    /// The program has no fences: an input for `infer`.
    Removed,
}

/// The source of the programs of a family.
#[derive(Clone, Copy, Debug)]
pub enum Template {
    /// A program with a parameter: the name and the value of a constant of the program.
    Parameter {
        /// The text.
        text: &'static str,
        /// The name of the constant.
        name: &'static str,
        /// The value of the constant in the text.
        value: u32,
    },
    /// A function that writes the program for a value of the parameter.
    Function(fn(u32, Fences) -> String),
    /// A library of the corpus without fences and its client. There is one program, and its
    /// parameter is the number of threads.
    Client {
        /// The text of the library.
        text: &'static str,
        /// The client, as for `fencepost check --client`.
        client: &'static str,
    },
}

/// Programs that differ only in the value of a parameter and in their fences.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of the family.
    pub name: &'static str,
    /// The source of the programs.
    pub template: Template,
    /// The meaning of the parameter.
    pub parameter: &'static str,
    /// The values of the parameter.
    pub values: &'static [u32],
    /// The models among SC, TSO and PSO that violate a property of the programs without fences.
    pub broken: &'static [&'static str],
}

impl Family {
    /// Returns the text of a program.
    pub fn program(&self, value: u32, fences: Fences) -> String {
        match self.template {
            Template::Parameter { text, name, value: written } => {
                let text = text.replace(
                    &format!("const {name} = {written};"),
                    &format!("const {name} = {value};"),
                );
                let is_kept = |line: &&str| match fences {
                    Fences::Present => true,
                    Fences::Removed => !line.ends_with("// repair"),
                };
                text.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect()
            }
            Template::Function(write) => write(value, fences),
            Template::Client { text, .. } => text.to_string(),
        }
    }

    /// Returns the name of a program: the family, the parameter, and whether it has fences.
    pub fn program_name(&self, value: u32, fences: Fences) -> String {
        let separator = if self.name.contains('-') { "-" } else { "" };
        let suffix = match fences {
            Fences::Present => "-fenced",
            Fences::Removed => "",
        };
        format!("{}{separator}{value}{suffix}", self.name)
    }

    /// Returns the client of a library.
    pub fn client(&self) -> Option<&'static str> {
        match self.template {
            Template::Client { client, .. } => Some(client),
            Template::Parameter { .. } | Template::Function(_) => None,
        }
    }

    /// Returns whether there are programs with these fences.
    pub fn has(&self, fences: Fences) -> bool {
        fences == Fences::Removed || self.client().is_none()
    }

    /// Returns the verdict of a program under `sc`, `tso` or `pso`. It does not depend on the
    /// parameter.
    pub fn expected(&self, fences: Fences, model: &str) -> &'static str {
        match fences {
            Fences::Removed if self.broken.contains(&model) => "violated",
            Fences::Removed | Fences::Present => "verified",
        }
    }
}

/// Returns a family by its name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// A lock for N threads that is entered repeatedly.
const fn lock(name: &'static str, text: &'static str, broken: &'static [&'static str]) -> Family {
    let template = Template::Parameter { text, name: "N", value: 4 };
    Family { name, template, parameter: "threads", values: &[2, 3, 4], broken }
}

/// All families.
pub const FAMILIES: &[Family] = &[
    lock("bakery", include_str!("programs/bakery.fp"), &["tso", "pso"]),
    lock("burns", include_str!("programs/burns.fp"), &["tso", "pso"]),
    lock("clh", include_str!("programs/clh.fp"), &["pso"]),
    lock("dijkstra", include_str!("programs/dijkstra.fp"), &["tso", "pso"]),
    lock("filter", include_str!("programs/filter.fp"), &["tso", "pso"]),
    lock("lamport", include_str!("programs/lamport.fp"), &["tso", "pso"]),
    lock("szymanski", include_str!("programs/szymanski.fp"), &["tso", "pso"]),
    Family {
        name: "chase-lev",
        template: Template::Client {
            text: include_str!("../corpus/structures/chase-lev.fp"),
            client: "pppt(tpt|sss)",
        },
        parameter: "threads",
        values: &[2],
        broken: &["tso", "pso"],
    },
    Family {
        name: "msn",
        template: Template::Client {
            text: include_str!("../corpus/structures/msn-queue.fp"),
            client: "e|e|d",
        },
        parameter: "threads",
        values: &[3],
        broken: &["pso"],
    },
    Family {
        name: "ring",
        template: Template::Function(ring),
        parameter: "threads",
        values: &[5, 6, 7, 8],
        broken: &["tso", "pso"],
    },
    Family {
        name: "private-stores",
        template: Template::Parameter {
            text: include_str!("programs/private-stores.fp"),
            name: "K",
            value: 8,
        },
        parameter: "stores",
        values: &[7, 8, 16],
        broken: &["tso", "pso"],
    },
    Family {
        name: "rounds",
        template: Template::Parameter {
            text: include_str!("programs/rounds.fp"),
            name: "N",
            value: 3,
        },
        parameter: "rounds",
        values: &[1, 2, 3, 4],
        broken: &["tso", "pso"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_gives_a_different_program() {
        for family in FAMILIES {
            let fences = [Fences::Present, Fences::Removed].into_iter().filter(|f| family.has(*f));
            let texts =
                fences.flat_map(|f| family.values.iter().map(move |v| family.program(*v, f)));
            let mut texts: Vec<String> = texts.collect();
            let all = texts.len();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), all, "{}", family.name);
        }
    }

    #[test]
    fn programs_lose_all_their_fences_or_none() {
        for family in FAMILIES.iter().filter(|family| family.has(Fences::Present)) {
            let value = family.values[0];
            let count = |fences| family.program(value, fences).matches("fence;").count();
            assert!(count(Fences::Present) > 0, "{}", family.name);
            assert_eq!(count(Fences::Removed), 0, "{}", family.name);
        }
    }
}

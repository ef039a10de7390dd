//! The tables of the papers and the programs of these tables, as text.
//!
//! `fencepost reproduce` needs them, and an installed binary has no files. They form a separate package,
//! because a package can contain only files below its manifest and other crates also use the corpus.
//!
//! ```
//! let text = fencepost_corpus::program("litmus/SB").unwrap();
//! assert!(text.contains("final exists"));
//! ```

/// The papers: their names on the command line, and the texts of their files.
pub const PAPERS: [(&str, &str); 5] = [
    ("fender", include_str!("papers/fender.toml")),
    ("blender", include_str!("papers/blender.toml")),
    ("automata", include_str!("papers/automata.toml")),
    ("sober", include_str!("papers/sober.toml")),
    ("pso-to-sc", include_str!("papers/pso-to-sc.toml")),
];

macro_rules! programs {
    ($($folder:literal: $($name:literal)*;)*) => {
        &[$($((
            concat!($folder, "/", $name),
            include_str!(concat!($folder, "/", $name, ".fp")),
        )),*),*]
    };
}

/// The programs that the papers' files refer to.
#[rustfmt::skip]
pub const PROGRAMS: &[(&str, &str)] = programs! {
    "litmus":
        "2+2W" "3.2W" "3.SB" "CoRR" "IRIW" "ISA2" "LB" "MP" "MP+ss+po" "R" "RWC" "S" "SB"
        "SB+full+full" "W+RWC" "WRC" "Z6.0" "n6";
    "mutex":
        "bakery0" "bakery2" "bakery2-tso" "burns0" "clh0" "clh2" "dekker-data0"
        "dekker-data0-once" "dekker-data1-tso" "dekker0" "dekker0-once" "dekker1-once-tso"
        "dekker1-tso" "dekker2" "dijkstra0" "fast0" "fast1a" "fast1b" "fast1c" "fast2-tso" "fast3"
        "peterson0" "peterson0-once" "peterson1-once-tso" "peterson1-tso" "peterson2" "sense0"
        "sense1" "szymanski0" "szymanski2" "ticket-lock";
    "papers":
        "automata-fig2" "automata-fig4" "automata-peterson" "automata-table1" "blender-fig6" "sober-bakery"
        "sober-bakery-fenced" "sober-dekker" "sober-dekker-fenced" "sober-fig1b"
        "sober-fig1b-fenced" "sober-fig4b" "sober-fig4b-fenced" "sober-takequeue"
        "sober-takequeue-fenced";
    "structures":
        "chase-lev" "lifo-wsq" "lifo-wsq-final" "msn-queue" "msn-queue-final" "treiber" "treiber-final"
            "vyset" "vyset-final";
};

/// Returns the text of a program by its folder and name: `mutex/dekker0`.
pub fn program(name: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(other, _)| *other == name).map(|(_, text)| *text)
}

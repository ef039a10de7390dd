//! The figures of \[BM08\] Fig. 4(a), and the programs we compare with.

/// One program, in its original version and with fences.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) original: &'static str,
    pub(super) fenced: &'static str,
    /// By bound on preemptions.
    pub(super) lines: &'static [Line],
}

/// One line of the table. The paper says `< 0.1` and the like where something is too quick to tell: then that limit.
pub(super) struct Line {
    /// The bound; none where the paper has none.
    pub(super) bound: Option<u32>,
    pub(super) total: u64,
    pub(super) borderline: u64,
    /// Seconds to the first violation.
    pub(super) first: Option<f64>,
    /// Seconds to verify the fixed version, with the monitor and without.
    pub(super) with: f64,
    pub(super) without: f64,
}

const fn line(
    bound: u32,
    (total, borderline): (u64, u64),
    first: f64,
    (with, without): (f64, f64),
) -> Line {
    Line { bound: Some(bound), total, borderline, first: Some(first), with, without }
}

macro_rules! corpus {
    ($name:literal) => {
        include_str!(concat!("../../../../../corpus/papers/", $name, ".fp"))
    };
}

pub(super) static PROGRAMS: [Program; 4] = [
    Program {
        name: "Fig. 1(b)",
        original: corpus!("sober-fig1b"),
        fenced: corpus!("sober-fig1b-fenced"),
        lines: &[Line {
            bound: None,
            total: 10,
            borderline: 4,
            first: Some(0.1),
            with: 0.2,
            without: 0.2,
        }],
    },
    Program {
        name: "dekker",
        original: corpus!("sober-dekker"),
        fenced: corpus!("sober-dekker-fenced"),
        lines: &[
            line(1, (5, 4), 0.1, (0.2, 0.2)),
            line(2, (36, 23), 0.1, (0.39, 0.37)),
            line(3, (183, 50), 0.1, (1.9, 1.8)),
            line(4, (1_219, 124), 0.1, (13.2, 13.0)),
            line(5, (8_472, 349), 0.1, (106.0, 100.6)),
        ],
    },
    Program {
        name: "bakery",
        original: corpus!("sober-bakery"),
        fenced: corpus!("sober-bakery-fenced"),
        lines: &[
            line(0, (1, 1), 0.1, (0.2, 0.2)),
            line(1, (25, 20), 0.1, (0.47, 0.43)),
            line(2, (742, 533), 0.1, (10.3, 9.8)),
            line(3, (12_436, 8_599), 0.1, (189.0, 181.0)),
        ],
    },
    Program {
        name: "takequeue",
        original: corpus!("sober-takequeue"),
        fenced: corpus!("sober-takequeue-fenced"),
        lines: &[
            Line { bound: Some(0), total: 3, borderline: 0, first: None, with: 0.3, without: 0.3 },
            line(1, (47, 14), 0.34, (0.72, 0.69)),
            line(2, (402, 189), 0.43, (5.2, 4.9)),
            line(3, (2_318, 1_197), 0.74, (28.9, 27.8)),
            line(4, (9_147, 5_321), 0.84, (125.5, 118.9)),
            line(5, (29_821, 17_922), 0.86, (481.5, 461.6)),
        ],
    },
];

/// Fig. 4(b), about which the paper gives no figures.
pub(super) static LOST_WAKE_UP: Program = Program {
    name: "Fig. 4(b)",
    original: corpus!("sober-fig4b"),
    fenced: corpus!("sober-fig4b-fenced"),
    lines: &[],
};

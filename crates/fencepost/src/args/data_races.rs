//! The option for data races.

/// What a data race of a C program is.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum DataRaceMode {
    /// Print a warning; the verdict stays the same
    #[default]
    Warn,
    /// A data race is a violation
    Error,
    /// Do not look for data races
    Off,
}

//! The option about hangs, shared by the commands that check properties.

/// Whether a thread that waits forever is a violation.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Hangs {
    /// Do not report hangs: runs in which every thread that has not finished waits forever; the same
    /// as `property may_hang;` in the program
    #[arg(long)]
    pub(crate) allow_hangs: bool,
}

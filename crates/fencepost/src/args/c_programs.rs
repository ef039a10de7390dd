//! The options for C programs, shared by the commands that read programs.

use std::path::PathBuf;

/// How a C program is preprocessed.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "C programs")]
pub(crate) struct CPrograms {
    /// Define a macro for C programs; repeatable
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,

    /// Look for included files in this directory, too; repeatable
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    /// Include this file before each C program; repeatable
    #[arg(long = "include", value_name = "FILE")]
    pub(crate) includes: Vec<String>,
}

//! The command-line program `fencepost`.
//!
//! Only this crate accesses files, the clock, the environment and terminals.
//!
//! - [`args`]: command-line options; [`exit`]: exit codes.
//! - [`check`], [`infer`], [`robust`], [`translate`], [`litmus`], [`clients`], [`reproduce`],
//!   [`outcomes`], [`replay`], [`monitor`], [`certify`], [`fmt`], [`dump`], [`models`]: the
//!   commands.
//! - [`dot`]: `check --dot`.
//! - [`input`]: reads programs and models; [`reader`]: limits the size of every input; [`pipe`]:
//!   reads a pipe within limits; [`store`]: writes files atomically.
//! - [`session`]: time limit, Ctrl-C and progress bar of a search; [`parallel`]: runs many files.
//! - [`output`]: standard output and standard error; [`guard`]: catches panics.
//! - [`memory_size`]: the memory limit.

mod args;
mod certify;
mod check;
mod clients;
mod data_races;
mod dot;
mod dump;
mod exit;
mod file_names;
mod fmt;
mod guard;
mod infer;
mod input;
mod litmus;
mod memory_size;
mod models;
mod monitor;
mod outcomes;
mod output;
mod parallel;
mod pipe;
mod reader;
mod replay;
mod reproduce;
mod robust;
mod session;
mod store;
mod translate;

use args::{Args, Color, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use exit::Exit;
use output::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    guard::install();
    let exit = guard::catch_panic(|| match parse_arguments() {
        Ok(args) => run(args),
        Err(error) => Output::new(Color::Auto).usage(&error),
    });
    let exit = exit.unwrap_or(Exit::Internal);
    ExitCode::from(exit.code())
}

/// Parses the command line. `litmus` understands options of herd, too.
fn parse_arguments() -> Result<Args, clap::Error> {
    match litmus::herd_options::translate(std::env::args_os().collect()) {
        Ok(arguments) => Args::try_parse_from(arguments),
        Err(message) => Err(Args::command().error(ErrorKind::UnknownArgument, message)),
    }
}

fn run(args: Args) -> Exit {
    let mut output = Output::new(args.color);
    let exit = match args.command {
        Command::Check(options) => check::run(&options, &mut output),
        Command::Infer(options) => infer::run(&options, &mut output),
        Command::Robust(options) => robust::run(&options, &mut output),
        Command::Translate(options) => translate::run(&options, &mut output),
        Command::Clients(options) => clients::run(&options, &mut output),
        Command::Reproduce(options) => reproduce::run(&options, &mut output),
        Command::Litmus(options) => litmus::run(&options, &mut output),
        Command::Outcomes(options) => outcomes::run(&options, &mut output),
        Command::Replay(options) => replay::run(&options, &mut output),
        Command::Monitor(options) => monitor::run(&options, &mut output),
        Command::Certify(options) => certify::run(&options, &mut output),
        Command::Models(options) => models::run(&options, &mut output),
        Command::Fmt(options) => fmt::run(&options, &mut output),
        Command::Dump(options) => dump::run(&options, &mut output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "fencepost", &mut script);
            output.print(&String::from_utf8_lossy(&script));
            Exit::Success
        }
    };
    exit.combine(output.finish())
}

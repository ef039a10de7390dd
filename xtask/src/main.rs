//! Chores of the repository: `cargo xtask tidy`, `cargo xtask campaign`, `cargo xtask bench`, `cargo xtask compare`.

mod campaign;
mod compare;
mod tidy;

use std::path::Path;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask tidy | campaign [SIZE] [TEST...] | bench [PROGRAM...] | compare spin [OPTION...]

  tidy     checks the layer order, file headers, file sizes and leftovers
  campaign runs the random tests with more seeds than `cargo test` does
  bench    measures states per second, bytes per state and growth
  compare  runs SPIN and our explicit engine on the mutex corpus, one after the other";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => {
            let complaints = tidy::complaints(root);
            for complaint in &complaints {
                eprintln!("tidy: {complaint}");
            }
            if complaints.is_empty() {
                println!("tidy: all is well");
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Some("campaign") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            campaign::campaign(root, &arguments)
        }
        Some("bench") => {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let bench = ["bench", "--package", "fencepost-conformance", "--bench", "states"];
            let programs = std::iter::once("--".into()).chain(std::env::args().skip(2));
            match Command::new(cargo).args(bench).args(programs).current_dir(root).status() {
                Ok(status) if status.success() => ExitCode::SUCCESS,
                Ok(_) => ExitCode::FAILURE,
                Err(error) => {
                    eprintln!("cargo does not start: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        Some("compare") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            compare::compare(root, &arguments)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

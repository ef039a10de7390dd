//! Chores of the repository: `cargo xtask tidy`.

mod tidy;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy

  tidy   checks the layer order, file headers, file sizes and leftovers";

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
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

//! Repository tasks: `cargo xtask tidy`, `campaign`, `bench`, `compare` and `trace`.

mod bench;
mod campaign;
mod compare;
mod compare_c;
mod process;
mod record;
mod release;
mod tidy;
mod trace;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy | campaign [SIZE] [TEST...] | bench [OPTION...] | compare spin|c [OPTION...] | trace SIZES...

  tidy     checks layers, file headers, file sizes, leftovers and prose
  campaign runs the random tests with more seeds than `cargo test` uses
  bench    measures every engine on families of programs; `bench --check` counts instructions
  compare  runs SPIN and our explicit engine on locks, or C tests of another checker
  trace    prints a long random execution for `fencepost monitor`";

fn main() -> ExitCode {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace");
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => {
            let findings = tidy::findings(root);
            for finding in &findings {
                eprintln!("tidy: {finding}");
            }
            if findings.is_empty() {
                println!("tidy: no findings");
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
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            bench::bench(root, &arguments)
        }
        Some("compare") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            match arguments.split_first() {
                Some((what, rest)) if what == "c" => compare_c::compare(root, rest),
                Some(_) | None => compare::compare(root, &arguments),
            }
        }
        Some("trace") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            trace::trace(&arguments)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

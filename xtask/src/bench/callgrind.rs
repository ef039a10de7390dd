//! Counts the instructions of a process with callgrind.
//!
//! Two runs of the same binary differ by much less than a percent, on a busy machine, too. So
//! counts can be compared where seconds cannot.

use std::path::PathBuf;
use std::process::Command;

/// The installed callgrind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Callgrind {
    valgrind: PathBuf,
}

impl Callgrind {
    /// Returns callgrind, or `None` if valgrind is not installed.
    pub(super) fn find() -> Option<Callgrind> {
        let path = std::env::var_os("PATH")?;
        let mut candidates = std::env::split_paths(&path).map(|folder| folder.join("valgrind"));
        candidates.find(|file| file.is_file()).map(|valgrind| Callgrind { valgrind })
    }

    /// Runs a program and returns the number of its instructions in all threads. The environment is
    /// empty: its size would change the count.
    pub(super) fn count(&self, program: &mut Command) -> Result<u64, String> {
        let mut command = Command::new(&self.valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(program.get_program()).args(program.get_args()).env_clear();
        let complain = |error: std::io::Error| format!("{}: {error}", self.valgrind.display());
        let output = command.output().map_err(complain)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        collected(&errors).ok_or_else(|| {
            format!("no count of callgrind: {}", errors.lines().last().unwrap_or("no output"))
        })
    }
}

/// Parses the line `==7== Collected : 123`.
fn collected(errors: &str) -> Option<u64> {
    let line = errors.lines().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_parsed() {
        let errors = "==7== Events    : Ir\n==7== Collected : 7352936\n==7== \n";
        assert_eq!(collected(errors), Some(7_352_936));
        assert_eq!(collected("==7== Collected : many"), None);
        assert_eq!(collected("valgrind: no such file"), None);
    }
}

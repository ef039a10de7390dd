//! A temporary directory in which external programs run.

use fencepost_search::{Cancel, Stop};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A temporary directory, removed when dropped.
pub(super) struct TempBuild {
    dir: TempDir,
}

/// The reason why an external program has no result.
pub(super) enum ToolError {
    /// The program was cancelled.
    Stopped(Stop),
    /// The program cannot be run, or one of its files cannot be written.
    Broken(String),
}

/// The output of an external program.
pub(super) struct ToolOutput {
    /// Whether the exit status is success.
    pub(super) success: bool,
    /// Standard output, followed by standard error.
    pub(super) text: String,
}

impl TempBuild {
    /// Creates a directory with a new name. Only this user can read and write it.
    pub(super) fn new() -> Result<Self, ToolError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("fencepost-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let failed =
            |error| ToolError::Broken(format!("cannot create a temporary directory: {error}"));
        Ok(TempBuild { dir: builder.tempdir().map_err(failed)? })
    }

    /// Writes a file into the directory.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), ToolError> {
        let failed = |error| ToolError::Broken(format!("cannot write {name}: {error}"));
        fs::write(self.path(name), text).map_err(failed)
    }

    /// Runs a program in the directory until it exits or is cancelled.
    pub(super) fn run(
        &self,
        program: &str,
        arguments: &[String],
        cancel: &Cancel,
    ) -> Result<ToolOutput, ToolError> {
        let failed = |error| ToolError::Broken(format!("cannot run {program}: {error}"));
        let file = |name: &str| File::create(self.path(name)).map_err(failed);
        // `./` denotes a program that was built in this directory.
        let path = match program.strip_prefix("./") {
            Some(built) => self.path(built),
            None => PathBuf::from(program),
        };
        let mut child = Command::new(path)
            .args(arguments)
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(file("stdout")?)
            .stderr(file("stderr")?)
            .spawn()
            .map_err(failed)?;
        let mut wait = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if let Some(stop) = cancel.reason() {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ToolError::Stopped(stop));
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_millis(20));
        };
        let read = |name: &str| {
            let bytes = fs::read(self.path(name)).map_err(failed)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(ToolOutput { success: status.success(), text: read("stdout")? + &read("stderr")? })
    }

    /// Whether the directory contains a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Whether a program is in the search path.
pub(super) fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| is_file(&dir.join(program)))
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

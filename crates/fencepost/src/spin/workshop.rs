//! A directory to run outside programs in, gone when the work is done.

use fencepost_search::{Cancel, Stop};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A directory of our own.
pub(super) struct Workshop {
    dir: PathBuf,
}

/// Why an outside program has no result.
pub(super) enum Failed {
    /// It was stopped.
    Stopped(Stop),
    /// It cannot be run, or what it needs cannot be written.
    Broken(String),
}

/// What an outside program said.
pub(super) struct Said {
    /// Whether it ended well.
    pub(super) success: bool,
    /// Everything it printed, errors last.
    pub(super) text: String,
}

impl Workshop {
    /// A new directory.
    pub(super) fn new() -> io::Result<Self> {
        let mut last = None;
        for attempt in 0..100 {
            let name = format!("fencepost-{}-{attempt}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            match fs::create_dir(&dir) {
                Ok(()) => return Ok(Workshop { dir }),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("it was tried"))
    }

    /// Writes a file.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Failed> {
        let told = |error| Failed::Broken(format!("cannot write {name}: {error}"));
        fs::write(self.dir.join(name), text).map_err(told)
    }

    /// Runs a program here until it ends or someone wants it to.
    pub(super) fn run(
        &self,
        program: &str,
        arguments: &[String],
        cancel: &Cancel,
    ) -> Result<Said, Failed> {
        let told = |error| Failed::Broken(format!("cannot run {program}: {error}"));
        let file = |name: &str| File::create(self.dir.join(name)).map_err(told);
        // A program of our own making is in this directory.
        let path = match program.strip_prefix("./") {
            Some(own) => self.dir.join(own),
            None => PathBuf::from(program),
        };
        let mut child = Command::new(path)
            .args(arguments)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(file("stdout")?)
            .stderr(file("stderr")?)
            .spawn()
            .map_err(told)?;
        let mut wait = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(told)? {
                break status;
            }
            if let Some(stop) = cancel.raised() {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failed::Stopped(stop));
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_millis(20));
        };
        let read = |name: &str| {
            let bytes = fs::read(self.dir.join(name)).map_err(told)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Said { success: status.success(), text: read("stdout")? + &read("stderr")? })
    }

    /// Whether there is a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Whether a program can be found.
pub(super) fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| is_file(&dir.join(program)))
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

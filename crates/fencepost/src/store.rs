//! Atomic writing of files, and names for trace and automaton files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Replaces a file atomically: writes a temporary file in the same directory and renames it. The
/// old file stays unchanged if writing fails.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(text))
}

/// Replaces a file as [`replace`] does, with contents that `fill` writes.
pub(crate) fn replace_with<T, E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<fs::File>) -> Result<T, E>,
) -> Result<T, E> {
    // Replace the target of a link, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // A device or a pipe cannot be replaced; write to it.
    if fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut file = BufWriter::new(fs::OpenOptions::new().write(true).open(&path)?);
        let result = fill(&mut file)?;
        file.flush()?;
        return Ok(result);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = write_synced(&temporary, fill).and_then(|result| {
        if let Ok(old) = fs::metadata(&path) {
            fs::set_permissions(&temporary, old.permissions())?;
        }
        fs::rename(&temporary, &path)?;
        Ok(result)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Creates a file and waits until its contents are on disk.
fn write_synced<T, E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<fs::File>) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    let result = fill(&mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    Ok(result)
}

/// Unique file names, such as `peterson0-pso.trace.json`.
#[derive(Default)]
pub(crate) struct TraceNames {
    used: BTreeSet<String>,
}

impl TraceNames {
    /// Returns a path for the trace of a program (and client) under a model.
    pub(crate) fn name(&mut self, dir: &Path, source: &str, client: &str, model: &str) -> PathBuf {
        self.numbered(dir, source, &[client, model], "trace.json")
    }

    /// Returns a path with a name that consists of these parts, and a number if the name is already
    /// used.
    pub(crate) fn numbered(
        &mut self,
        dir: &Path,
        source: &str,
        parts: &[&str],
        extension: &str,
    ) -> PathBuf {
        let stem = Path::new(source).file_stem().unwrap_or_default().to_string_lossy();
        let parts = [&*stem].into_iter().chain(parts.iter().copied()).map(safe_name);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let base = parts.join("-");
        let mut name = format!("{base}.{extension}");
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{base}-{number}.{extension}");
        }
        dir.join(name)
    }
}

/// Replaces characters that are special in a shell or a file system.
fn safe_name(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let text: String = text.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    text.trim_matches('_').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_unique() {
        let mut names = TraceNames::default();
        let mut name = |source, client, model| {
            names.name(Path::new("out"), source, client, model).display().to_string()
        };
        assert_eq!(name("a/peterson0.fp", "", "pso"), "out/peterson0-pso.trace.json");
        assert_eq!(name("b/peterson0.fp", "", "pso"), "out/peterson0-pso-2.trace.json");
        assert_eq!(name("queue.fp", "e(ed|d)", "tso"), "out/queue-e_ed_d-tso.trace.json");
        assert_eq!(name("<stdin>", "", "sc"), "out/stdin-sc.trace.json");
        let mut dot = |thread, line| {
            let parts = ["", "pso", thread, line];
            let path = names.numbered(Path::new("out"), "a/peterson0.fp", &parts, "dot");
            path.display().to_string()
        };
        assert_eq!(dot("p(0)", "12"), "out/peterson0-pso-p_0-12.dot");
        assert_eq!(dot("p(0)", "12"), "out/peterson0-pso-p_0-12-2.dot");
        assert_eq!(dot("p/../q", "1"), "out/peterson0-pso-p_.._q-1.dot");
    }
}

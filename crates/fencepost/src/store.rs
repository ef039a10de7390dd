//! Files that are written whole or not at all, and the names of files of traces and automata.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Replaces a file: a new one is written beside it and takes its name, so that nobody ever sees half
/// of it and a full disk leaves the old one alone.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(text))
}

/// The same for a text that is made piece by piece.
pub(crate) fn replace_with<T, E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<fs::File>) -> Result<T, E>,
) -> Result<T, E> {
    // Through a link, the file it leads to.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // A device or a pipe is written to; it must stay what it is.
    if fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut file = BufWriter::new(fs::OpenOptions::new().write(true).open(&path)?);
        let made = fill(&mut file)?;
        file.flush()?;
        return Ok(made);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = written(&beside, fill).and_then(|made| {
        if let Ok(old) = fs::metadata(&path) {
            fs::set_permissions(&beside, old.permissions())?;
        }
        fs::rename(&beside, &path)?;
        Ok(made)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn written<T, E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<fs::File>) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    let made = fill(&mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    Ok(made)
}

/// Names for the files of one run: `peterson0-pso.trace.json`, each given once.
#[derive(Default)]
pub(crate) struct TraceNames {
    given: BTreeSet<String>,
}

impl TraceNames {
    /// A name for the trace of a program (and client) under a model, in a directory.
    pub(crate) fn name(&mut self, dir: &Path, source: &str, client: &str, model: &str) -> PathBuf {
        self.numbered(dir, source, &[client, model], "trace.json")
    }

    /// A name made of these parts; if it was given before, with a number.
    pub(crate) fn numbered(
        &mut self,
        dir: &Path,
        source: &str,
        parts: &[&str],
        extension: &str,
    ) -> PathBuf {
        let stem = Path::new(source).file_stem().unwrap_or_default().to_string_lossy();
        let parts = [&*stem].into_iter().chain(parts.iter().copied()).map(plain);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let base = parts.join("-");
        let mut name = format!("{base}.{extension}");
        let mut number = 1;
        while !self.given.insert(name.clone()) {
            number += 1;
            name = format!("{base}-{number}.{extension}");
        }
        dir.join(name)
    }
}

/// Only characters that need no care in a shell or a file system.
fn plain(text: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let text: String = text.chars().map(|c| if keep(c) { c } else { '_' }).collect();
    text.trim_matches('_').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_gets_a_name_of_its_own() {
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

//! Atomic writing of files, and names for trace and automaton files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Replaces a file atomically: writes a temporary file in the same directory and renames it. The
/// old file stays unchanged if writing fails. The new file has the permissions of the old one.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(text))
}

/// Replaces a file as [`replace`] does, with contents that `fill` writes.
pub(crate) fn replace_with<T, E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&fs::File>) -> Result<T, E>,
) -> Result<T, E> {
    if let Some(stream) = standard_stream(path)? {
        return write_all(&stream, fill);
    }
    let path = target(path)?;
    let old = match fs::metadata(&path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    match &old {
        // A device or a pipe cannot be replaced; write to it.
        Some(old) if !old.is_file() && !old.is_dir() => {
            return write_all(&fs::OpenOptions::new().write(true).open(&path)?, fill);
        }
        Some(old) => check_writable(&path, old)?,
        None => {}
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let temporary = new_temporary(dir.unwrap_or(Path::new(".")))?;
    let result = write_all(temporary.as_file(), fill)?;
    temporary.as_file().sync_all()?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    temporary.persist(&path).map_err(|failed| failed.error)?;
    Ok(result)
}

/// Creates a temporary file with a new, random name and the permissions of a new file. The file is
/// removed when it is dropped.
fn new_temporary(dir: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fencepost-").suffix(".tmp");
    // `create_new` fails if the name exists, also as a link.
    builder.make_in(dir, |path| fs::OpenOptions::new().write(true).create_new(true).open(path))
}

/// Returns the file to replace: the target of a link, not the link.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        // The link of a pipe in `/dev/fd` has no path as target.
        Err(_) if fs::metadata(path).is_ok() => Ok(path.into()),
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            let message = "this is a link to a file that does not exist; write to its target";
            Err(io::Error::new(ErrorKind::NotFound, message))
        }
        Err(_) => Ok(path.into()),
    }
}

/// Fails if a file must not be changed. Renaming would replace it nevertheless.
fn check_writable(path: &Path, file: &fs::Metadata) -> io::Result<()> {
    if file.is_dir() {
        let message = "this is a directory; choose the name of a file";
        return Err(io::Error::new(ErrorKind::IsADirectory, message));
    }
    let opened = fs::OpenOptions::new().write(true).open(path);
    let is_denied = opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    if is_denied || file.permissions().readonly() {
        let message = "the file is read-only; make it writable, or choose another file";
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

/// Returns standard output or standard error, if the path denotes one of them. Opening the path
/// again would not share the position in a file.
#[cfg(unix)]
fn standard_stream(path: &Path) -> io::Result<Option<fs::File>> {
    use std::os::fd::AsFd;
    let stream = match path.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
            io::stdout().as_fd().try_clone_to_owned()
        }
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => {
            io::stderr().as_fd().try_clone_to_owned()
        }
        Some(_) | None => return Ok(None),
    };
    Ok(Some(stream?.into()))
}

#[cfg(not(unix))]
fn standard_stream(_: &Path) -> io::Result<Option<fs::File>> {
    Ok(None)
}

/// Writes the contents to an open file.
fn write_all<T, E: From<io::Error>>(
    file: &fs::File,
    fill: impl FnOnce(&mut BufWriter<&fs::File>) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = BufWriter::new(file);
    let result = fill(&mut file)?;
    file.flush()?;
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

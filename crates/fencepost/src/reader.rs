//! Reads inputs up to a limit on their size, so that an endless input does not exhaust memory.

use fencepost_report::paint::count;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The largest size of a program. The front ends accept less.
pub(crate) const MAX_SOURCE_BYTES: u64 = 1 << 25;

/// The largest size of another input: a stored trace, a model file, a list, records.
const MAX_DATA_BYTES: u64 = 1 << 28;

/// Reads a file of text that is not a program.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    to_text(read_file(path, MAX_DATA_BYTES)?)
}

/// Reads text that is not a program from standard input.
pub(crate) fn read_stdin_text() -> io::Result<String> {
    to_text(read_all(io::stdin().lock(), MAX_DATA_BYTES)?)
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > limit {
        let message = format!(
            "the file has {} bytes, but at most {} are allowed",
            count(metadata.len()),
            count(limit)
        );
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    read_all(file, limit)
}

/// Reads to the end of a stream of at most `limit` bytes.
pub(crate) fn read_all(stream: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message =
            format!("there are more than {} bytes, the limit for this input", count(limit));
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

fn to_text(bytes: Vec<u8>) -> io::Result<String> {
    let invalid = |_| io::Error::new(ErrorKind::InvalidData, "the file is not UTF-8 text");
    String::from_utf8(bytes).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_read_up_to_its_limit() {
        assert_eq!(read_all(&b"abc"[..], 3).expect("within the limit"), b"abc");
        let error = read_all(io::repeat(0), 4000).expect_err("endless");
        assert_eq!(error.to_string(), "there are more than 4,000 bytes, the limit for this input");
    }
}

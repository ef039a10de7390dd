//! The lines of a certificate, with their numbers. No line may be longer than 4 MiB.

use std::io::{BufRead, Read};

use crate::rejection::{Rejection, RejectionReason};

/// The maximum length of a line, in bytes. A state of a program within the size limits needs less.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// A reader of lines.
pub(crate) struct Lines<'t, R> {
    text: &'t mut R,
    read: u64,
}

/// A line.
pub(crate) struct Line {
    /// The line number, from 1.
    pub(crate) number: u64,
    /// The text without the newline.
    pub(crate) bytes: Vec<u8>,
    /// Whether the line ends with a newline.
    pub(crate) ended: bool,
}

impl<'t, R: BufRead> Lines<'t, R> {
    pub(crate) fn new(text: &'t mut R) -> Self {
        Lines { text, read: 0 }
    }

    /// Returns the number of lines that were read.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// Reads a line; `None` at the end of the file.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line>, Rejection> {
        let number = self.read + 1;
        let mut bytes = Vec::new();
        let read = self.text.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let read = read.map_err(|error| {
            Rejection::new(RejectionReason::Unreadable, error.to_string()).at_line(number)
        })?;
        let ended = bytes.pop_if(|byte| *byte == b'\n').is_some();
        if read as u64 == MAX_LINE_BYTES && !ended {
            let detail = "the line is longer than 4 MiB";
            return Err(Rejection::new(RejectionReason::Format, detail).at_line(number));
        }
        if read == 0 {
            return Ok(None);
        }
        self.read = number;
        Ok(Some(Line { number, bytes, ended }))
    }
}

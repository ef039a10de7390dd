//! Input that a limit or Ctrl-C interrupts while it waits for data.
//!
//! A thread reads the input. The thread may wait forever; it ends with the process.

use fencepost_search::Cancel;
use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// The size of a part of the input.
const CHUNK: usize = 1 << 16;

/// The number of parts that are read in advance.
const AHEAD: usize = 4;

/// The interval between two looks at the cancellation flag while there is no data.
const TICK: Duration = Duration::from_millis(50);

/// The input, in parts that a thread reads.
pub(crate) struct PipeReader<'a> {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// The number of bytes of `chunk` that are used.
    used: usize,
    cancel: &'a Cancel,
}

impl<'a> PipeReader<'a> {
    /// Starts to read. `open` may wait, too, as for a named pipe without a writer.
    pub(crate) fn new(
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send + 'static,
        cancel: &'a Cancel,
    ) -> PipeReader<'a> {
        let (sender, chunks) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            let mut input = match open() {
                Ok(input) => input,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = input.read(&mut chunk);
                let part = match read {
                    Ok(0) => return,
                    Ok(length) => {
                        chunk.truncate(length);
                        Ok(chunk)
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = part.is_err();
                // The receiver ends if the rest of the input is not needed.
                if sender.send(part).is_err() || is_last {
                    return;
                }
            }
        });
        PipeReader { chunks, chunk: Vec::new(), used: 0, cancel }
    }
}

impl BufRead for PipeReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.used == self.chunk.len() {
            match self.chunks.recv_timeout(TICK) {
                Ok(chunk) => (self.chunk, self.used) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) if self.cancel.reason().is_some() => {
                    return Err(ErrorKind::TimedOut.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(&self.chunk[self.used..])
    }

    fn consume(&mut self, length: usize) {
        self.used += length;
    }
}

impl Read for PipeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_in_order() {
        let text: Vec<u8> = (0..300_000u32).map(|number| (number % 251) as u8).collect();
        let expected = text.clone();
        let cancel = Cancel::default();
        let open = move || -> io::Result<Box<dyn Read>> { Ok(Box::new(io::Cursor::new(text))) };
        let mut read = Vec::new();
        PipeReader::new(open, &cancel).read_to_end(&mut read).expect("no error");
        assert!(read == expected);
        let fails = || Err(ErrorKind::PermissionDenied.into());
        let error = PipeReader::new(fails, &cancel).read_to_end(&mut read).expect_err("no file");
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_cancelled_reader_does_not_wait() {
        let cancel = Cancel::default();
        cancel.interrupt();
        let (keep, wait) = std::sync::mpsc::channel::<()>();
        let open = move || {
            let _ = wait.recv();
            Err(ErrorKind::NotFound.into())
        };
        let mut reader = PipeReader::new(open, &cancel);
        let error = reader.fill_buf().expect_err("there is no data");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(keep);
    }
}

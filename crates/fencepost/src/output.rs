//! Results go to standard output, messages to standard error.

use crate::args::Color;
use crate::exit::Exit;
use anstream::{AutoStream, ColorChoice};
use fencepost_report::Paint;
use std::io::{self, ErrorKind, Write};

/// Standard output and standard error.
pub(crate) struct Output {
    /// Colours on standard output.
    pub(crate) paint: Paint,
    /// Colours on standard error.
    pub(crate) paint_messages: Paint,
    /// Whether standard output no longer accepts text.
    closed: bool,
    /// Whether writing failed for another reason than a closed pipe.
    failed: bool,
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        let paint = |auto: ColorChoice| match color {
            Color::Always => Paint::Coloured,
            Color::Never => Paint::Plain,
            Color::Auto if auto == ColorChoice::Never => Paint::Plain,
            Color::Auto => Paint::Coloured,
        };
        Output {
            paint: paint(AutoStream::choice(&io::stdout())),
            paint_messages: paint(AutoStream::choice(&io::stderr())),
            closed: false,
            failed: false,
        }
    }

    /// Prints a result. A closed pipe is not an error; later results are dropped.
    pub(crate) fn print(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.closed = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.failed = true;
                self.message(&format!("error: cannot write results: {error}\n"));
            }
        }
    }

    /// Whether standard output no longer accepts text.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Prints a message to standard error.
    pub(crate) fn message(&self, text: &str) {
        // An error here cannot be reported anywhere.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Prints an error that has no position in a source.
    pub(crate) fn error(&self, text: &str) {
        let head = self.paint_messages.bad("error");
        self.message(&format!("{head}: {text}\n"));
    }

    /// Returns whether all results were written.
    pub(crate) fn finish(&self) -> Exit {
        if self.failed { Exit::Unusable } else { Exit::Success }
    }
}

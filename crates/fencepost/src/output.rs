//! Results go to standard output, messages to standard error.
//!
//! All text passes through [`Output`] and is escaped there: text from an input cannot control the
//! terminal. Only marked colours become escape codes (see [`ColourMark`]).

use crate::args::Color;
use crate::exit::Exit;
use anstream::{AutoStream, ColorChoice};
use fencepost_report::Paint;
use fencepost_report::paint::printable;
use fencepost_report::terminal::{ColourMark, escaped, escaped_json};
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Standard output and standard error.
pub(crate) struct Output {
    /// Colours on standard output.
    pub(crate) paint: Paint,
    /// Colours on standard error.
    pub(crate) paint_messages: Paint,
    /// Marks the colours.
    mark: ColourMark,
    /// Whether standard output no longer accepts text.
    closed: bool,
    /// Whether writing failed for another reason than a closed pipe.
    failed: bool,
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        let mark = ColourMark::random();
        let paint = |auto: ColorChoice| match color {
            Color::Always => Paint::Marked(mark),
            Color::Never => Paint::Plain,
            Color::Auto if auto == ColorChoice::Never => Paint::Plain,
            Color::Auto => Paint::Marked(mark),
        };
        Output {
            paint: paint(AutoStream::choice(&io::stdout())),
            paint_messages: paint(AutoStream::choice(&io::stderr())),
            mark,
            closed: false,
            failed: false,
        }
    }

    /// Prints a result. A closed pipe is not an error; later results are dropped.
    pub(crate) fn print(&mut self, text: &str) {
        self.write(&self.mark.resolved(text));
    }

    /// Prints a report as JSON.
    pub(crate) fn json(&mut self, report: &impl Serialize) {
        let text = serde_json::to_string_pretty(report).expect("a report serialises to JSON");
        self.write(&format!("{}\n", escaped_json(&text)));
    }

    /// Prints a program for other programs to read: unchanged, except on a terminal.
    pub(crate) fn program(&mut self, text: &str) {
        match io::stdout().is_terminal() {
            true => self.print(text),
            false => self.write(text),
        }
    }

    fn write(&mut self, text: &str) {
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
        write_message(&self.mark.resolved(text));
    }

    /// Prints an error that has no position in a source.
    pub(crate) fn error(&self, text: &str) {
        let head = self.paint_messages.bad("error");
        self.message(&format!("{head}: {text}\n"));
    }

    /// Prints help to standard output, or a usage error to standard error.
    pub(crate) fn usage(&mut self, error: &clap::Error) -> Exit {
        let rendered = error.render();
        // A usage error repeats arguments. Its colours are kept only if no argument has unsafe
        // characters.
        let are_safe = std::env::args_os().all(|argument| {
            let argument = argument.to_string_lossy();
            printable(&argument) == argument
        });
        let is_error = error.use_stderr();
        let text = match if is_error { self.paint_messages } else { self.paint } {
            Paint::Marked(mark) if are_safe => mark.marked(&rendered.ansi().to_string()),
            Paint::Marked(_) | Paint::Coloured | Paint::Plain => rendered.to_string(),
        };
        if is_error {
            self.message(&text);
            return Exit::Unusable;
        }
        self.print(&text);
        self.finish()
    }

    /// Returns whether all results were written.
    pub(crate) fn finish(&self) -> Exit {
        if self.failed { Exit::Unusable } else { Exit::Success }
    }
}

/// Prints a message without colours to standard error, where no [`Output`] exists.
pub(crate) fn plain_message(text: &str) {
    write_message(&escaped(text));
}

fn write_message(text: &str) {
    // An error here cannot be reported anywhere.
    let _ = io::stderr().write_all(text.as_bytes());
}

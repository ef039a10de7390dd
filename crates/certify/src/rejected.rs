//! What is wrong with a certificate, in words a reader can use.

use std::fmt;

/// What kind of thing is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Certificates say nothing about a property of the problem, or the problem is not well-formed.
    Problem,
    /// The file cannot be read.
    Unreadable,
    /// A line is not what the format asks for.
    Format,
    /// The file ends too early.
    Truncated,
    /// It is about another client.
    Client,
    /// A state does not fit the program or the abstraction.
    State,
    /// A state, or a step of one, breaks a property.
    Violated,
    /// A step leads out of the certificate.
    NotClosed,
    /// An initial state is missing.
    Initial,
}

impl Reason {
    /// In few words.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Problem => "no certificate is possible",
            Reason::Unreadable => "cannot be read",
            Reason::Format => "not a certificate",
            Reason::Truncated => "truncated",
            Reason::Client => "about another client",
            Reason::State => "not a state of this program",
            Reason::Violated => "violated",
            Reason::NotClosed => "not closed",
            Reason::Initial => "not initial",
        }
    }
}

/// Why a certificate proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// The line of the certificate, from 1; none when no line is to blame.
    pub line: Option<u64>,
    /// The kind.
    pub reason: Reason,
    /// What exactly.
    pub what: String,
    /// The states it is about, each with what it is: `state`, `after`.
    pub states: Vec<(&'static str, String)>,
}

impl Rejected {
    pub(crate) fn new(reason: Reason, what: impl Into<String>) -> Self {
        Rejected { line: None, reason, what: what.into(), states: Vec::new() }
    }

    pub(crate) fn at(self, line: u64) -> Self {
        Rejected { line: Some(line), ..self }
    }

    pub(crate) fn showing(mut self, what: &'static str, state: String) -> Self {
        self.states.push((what, state));
        self
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: {}", self.reason.words(), self.what)?;
        for (what, state) in &self.states {
            write!(f, "\n  {what}:")?;
            for line in state.lines() {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Rejected {}

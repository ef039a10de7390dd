//! The reason and message of a rejected certificate.

use std::fmt;

/// The kind of error in a rejected certificate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RejectionReason {
    /// Certificates cannot prove a property of the problem, or the problem is not well-formed.
    Problem,
    /// The file cannot be read.
    Unreadable,
    /// A line does not have the required format.
    Format,
    /// The file ends before the last state.
    Truncated,
    /// The certificate is for another client.
    Client,
    /// A state is not valid for the program or the abstraction.
    State,
    /// A state, or a step of a state, violates a property.
    Violated,
    /// A successor of a state is not covered by the certificate.
    NotClosed,
    /// An initial state is not covered by the certificate.
    Initial,
    /// A fence is not permitted, or the placement does not have the stated cost.
    Placement,
    /// The run of a clause is not a violating run of the program with all other fences.
    Run,
    /// The clauses do not exclude a cheaper placement.
    Bound,
    /// `init` cannot finish: the program has no run, and a proof about no run proves nothing.
    NoRun,
    /// A limit or an interruption ended the check.
    Stopped,
}

impl RejectionReason {
    /// Returns a short text, used in messages and JSON output.
    pub fn name(self) -> &'static str {
        match self {
            RejectionReason::Problem => "no certificate is possible",
            RejectionReason::Unreadable => "cannot be read",
            RejectionReason::Format => "not a certificate",
            RejectionReason::Truncated => "truncated",
            RejectionReason::Client => "about another client",
            RejectionReason::State => "not a state of this program",
            RejectionReason::Violated => "violated",
            RejectionReason::NotClosed => "not closed",
            RejectionReason::Initial => "not initial",
            RejectionReason::Placement => "not a permitted placement",
            RejectionReason::Run => "not a violating run",
            RejectionReason::Bound => "not shown to be cheapest",
            RejectionReason::NoRun => "no run starts",
            RejectionReason::Stopped => "stopped",
        }
    }
}

/// An error report: why a certificate proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// The line number, from 1; `None` if the error is not at one line.
    pub line: Option<u64>,
    /// The kind of error.
    pub reason: RejectionReason,
    /// The details of the error.
    pub detail: String,
    /// The states involved, as text, each with its role, such as `state` or `after`.
    pub states: Vec<(&'static str, String)>,
}

impl Rejection {
    pub(crate) fn new(reason: RejectionReason, detail: impl Into<String>) -> Self {
        Rejection { line: None, reason, detail: detail.into(), states: Vec::new() }
    }

    pub(crate) fn at_line(self, line: u64) -> Self {
        Rejection { line: Some(line), ..self }
    }

    pub(crate) fn with_state(mut self, role: &'static str, state: String) -> Self {
        self.states.push((role, state));
        self
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: {}", self.reason.name(), self.detail)?;
        for (role, state) in &self.states {
            write!(f, "\n  {role}:")?;
            for line in state.lines() {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}

//! The engine and the abstraction that the options of `check` select.

use crate::args::{Check, EngineName};
use fencepost::EngineChoice;
use fencepost_translate::values::Values;

impl Check {
    /// Returns the engine that the options select, or an option that does not fit the engine, with
    /// a message.
    pub(super) fn engine(&self) -> Result<EngineChoice, (&'static str, String)> {
        let refuse =
            |option: &'static str, message: &str| Err((option, format!("{option}{message}")));
        if self.abstraction.is_given() && self.engine != EngineName::Abstraction {
            let message = "--domain and --k require --engine abstraction";
            return Err(("--domain", message.into()));
        }
        if self.preemptions.is_some() && self.engine != EngineName::Stateless {
            return refuse("--preemptions", " requires --engine stateless");
        }
        if self.unwind.is_some() && self.engine != EngineName::Stateless {
            return refuse("--unwind", " requires --engine stateless");
        }
        if self.unwind.is_some() && self.preemptions.is_some() {
            return refuse("--unwind", " cannot be combined with --preemptions");
        }
        if let Some(option) = self.bound.given()
            && self.engine != EngineName::Translate
        {
            return refuse(option, " requires --engine translate");
        }
        if self.dot.is_some() && self.engine != EngineName::Automata {
            return refuse("--dot", " requires --engine automata");
        }
        let supports_values = match self.engine {
            EngineName::Auto
            | EngineName::Explicit
            | EngineName::Abstraction
            | EngineName::Automata => true,
            EngineName::Stateless | EngineName::Translate => false,
        };
        if !self.values.is_empty() && !supports_values {
            let message = " requires --engine auto, explicit, abstraction or automata";
            return refuse("--abstract", message);
        }
        if !self.values.is_empty() && self.certificate.is_some() {
            return refuse("--certificate", " is not supported with --abstract");
        }
        if !self.values.is_empty() && self.dot.is_some() {
            return refuse("--dot", " is not supported with --abstract");
        }
        let (domain, k) = self.abstraction.choice().map_err(|message| ("--k", message))?;
        Ok(match self.engine {
            EngineName::Auto => EngineChoice::Auto,
            EngineName::Explicit => EngineChoice::Explicit,
            EngineName::Abstraction => EngineChoice::Abstraction { domain, k },
            EngineName::Automata => EngineChoice::Automata,
            EngineName::Stateless => EngineChoice::Stateless { preemptions: self.preemptions },
            EngineName::Translate => EngineChoice::Translate { bound: self.bound.bound() },
        })
    }
}

impl Check {
    /// Returns the value abstraction that the options select, if any.
    pub(super) fn values(&self) -> Result<Option<Values>, (&'static str, String)> {
        let mut values = Values::default();
        for text in &self.values {
            values.add(text).map_err(|error| ("--abstract", format!("--abstract: {error}")))?;
        }
        Ok((!self.values.is_empty()).then_some(values))
    }
}

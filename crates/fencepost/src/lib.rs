//! Fencepost as a library: see what store buffers do to a concurrent program, and which fences it needs.
//!
//! Parse a [`Source`], make a request, run it, and look at the answer or render it:
//!
//! ```
//! use fencepost::{Model, Source};
//! use std::time::Duration;
//!
//! let source = Source::parse(
//!     "sb.fp",
//!     "shared int x, y;
//!      thread p { x = 1; a = y; }
//!      thread q { y = 1; b = x; }
//!      final forall p.a == 1 || q.b == 1;",
//! )?;
//! let findings = source.check(Model::TSO).time_limit(Duration::from_secs(10)).run();
//! let verdict = findings[0].verdict().expect("it was not interrupted");
//! assert_eq!(verdict.word(), "violated");
//!
//! let repaired = source.repair(Model::TSO).run()?;
//! assert!(repaired.text().expect("there is a repair").contains("fence"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | request | question | answer |
//! |---|---|---|
//! | [`Source::check`] | Do all properties hold under a model? | [`Finding`] for each program |
//! | [`Source::outcomes`] | Which final states can a program reach? | [`OutcomesAnswer`] for each program |
//! | [`Source::robust`] | Has the program only sequentially consistent behaviours? | [`Finding`] for each program |
//! | [`Source::repair`] | Which fences make it right, at the lowest cost? | [`Repaired`] |
//! | [`Source::translate`] | What program simulates it under SC? | text |
//! | [`replay()`] | Does a stored trace still happen? | [`Replayed`] |
//! | [`watch`] | Could a recorded execution have left SC under a [`monitor::Model`]? | [`Watched`] |
//!
//! Requests and answers are plain data. A verdict is [`Verdict::Verified`], [`Verdict::Violated`] with a replayed
//! run, or [`Verdict::Inconclusive`] with the reason; bounds and limits that mattered are part of it.
//!
//! The feature `cli` (on by default) adds the command-line program and its dependencies. Use
//! `default-features = false` for the library alone.
//!
//! - [`source`]: texts and their programs; [`search`]: limits, time, cancellation, progress.
//! - [`requests`]: one module for each request; [`mod@spin`]: SPIN as an engine.

pub mod requests;
pub mod search;
pub mod source;
pub mod spin;

pub use fencepost_engines::robust::RobustBy;
pub use fencepost_engines::{
    Bound, Claim, Engine, Evidence, Inconclusive, InconclusiveReason, Statistics, Unsupported,
    Verdict, Witness,
};
pub use fencepost_ir::{Diagnostics, Problem, Violation};
pub use fencepost_models::ModelSpec as Model;
pub use fencepost_models::replay::{Run, Trace};
pub use fencepost_monitor as monitor;
pub use fencepost_report::Paint;
pub use fencepost_report::finding::Finding;
pub use fencepost_report::monitor::trace::{RecordedTrace, TraceError};
pub use fencepost_report::monitor::{Watched, watch};
pub use fencepost_search::{Cancel, Progress};
pub use requests::check::{Check, EngineChoice};
pub use requests::outcomes::{Outcomes, OutcomesAnswer};
pub use requests::repair::{Method, PreparedRepair, Repair, RepairError, RepairOptions, Repaired};
pub use requests::replay::{ReplayError, Replayed, replay};
pub use requests::robust::Robust;
pub use requests::translate::{Language, Translate, TranslateError};
pub use search::{Observer, SearchOptions, run_within};
pub use source::{Lowering, Source, SourceError};

//! Fencepost as a library: checks concurrent programs under weak memory models and finds the fences
//! they need.
//!
//! Parse a [`Source`], create a request, run it, and inspect or render the answer:
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
//! let verdict = findings[0].verdict().expect("not interrupted");
//! assert_eq!(verdict.word(), "violated");
//!
//! let repaired = source.repair(Model::TSO).run()?;
//! assert!(repaired.text().expect("a repair exists").contains("fence"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | request | question | answer |
//! |---|---|---|
//! | [`Source::check`] | Do all properties hold under a model? | a [`Finding`] for each program |
//! | [`Source::outcomes`] | Which final states can a program reach? | an [`OutcomesAnswer`] for each program |
//! | [`Source::robust`] | Does the program have only sequentially consistent behaviours? | a [`Finding`] for each program |
//! | [`Source::repair`] | Which fences make the program correct, at the lowest cost? | [`Repaired`] |
//! | [`Source::translate`] | Which program simulates this one under SC? | a text |
//! | [`replay()`] | Does a stored trace still replay? | [`Replayed`] |
//! | [`monitor_trace`] | Could a recorded execution have left SC under a [`monitor::Model`]? | [`MonitorAnswer`] |
//!
//! Requests and answers are plain data. A verdict is [`Verdict::Verified`], [`Verdict::Violated`]
//! with a replayed run, or [`Verdict::Inconclusive`] with the reason. A bound or limit that
//! affected the result is part of the verdict.
//!
//! The feature `cli` (on by default) adds the command-line program and its dependencies. Use
//! `default-features = false` to build only the library.
//!
//! - [`source`]: source texts and their programs; [`search`]: limits, cancellation, progress.
//! - [`requests`]: one module for each request; [`outside`]: SPIN, CBMC and GenMC as engines.

mod cpu_time;
pub mod outside;
pub mod requests;
pub mod search;
pub mod source;

pub use fencepost_engines::robust::{RobustDefinition, RobustMethod};
pub use fencepost_engines::{
    Bound, Claim, Engine, Evidence, Inconclusive, InconclusiveReason, RaceSearch, Statistics,
    Unsupported, Verdict, Witness,
};
pub use fencepost_infer::order_candidates::OrderCosts;
pub use fencepost_ir::{Diagnostics, Problem, Violation};
pub use fencepost_models::ModelSpec as Model;
pub use fencepost_models::replay::{ReplayedRun, Trace};
pub use fencepost_monitor as monitor;
pub use fencepost_report::Paint;
pub use fencepost_report::finding::Finding;
pub use fencepost_report::monitor::{
    MonitorAnswer, MonitorVerdict, TraceError, TraceInput, monitor_trace,
};
pub use fencepost_search::{Cancel, Progress};
pub use requests::check::{Check, EngineChoice};
pub use requests::data_races::DataRaces;
pub use requests::outcomes::{Outcomes, OutcomesAnswer};
pub use requests::repair::{Method, PreparedRepair, Repair, RepairError, RepairOptions, Repaired};
pub use requests::replay::{ReplayError, Replayed, replay};
pub use requests::robust::Robust;
pub use requests::translate::{Language, Translate, TranslateError};
pub use requests::weaken::{Weaken, Weakened};
pub use search::{Elapsed, Observer, SearchOptions, Stopwatch, run_within};
pub use source::{FindFile, Lowering, Preprocessing, Source, SourceError};

//! `fencepost reproduce`: the tables of the papers, their figures beside ours.
//!
//! The programs are part of the binary, so a table can be computed anywhere. A new table is a module
//! and a line in [`TABLES`].

mod automata;
mod blender;
mod fender;
mod pso_to_sc;
mod sober;

use crate::args::{Format, Reproduce};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::output::Output;
use crate::session::{Session, settings};
use fencepost_engines::{Budget, InconclusiveReason, Settings};
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::menu::Dish;
use fencepost_ir::{Atom, Barrier, Diagnostics, LabelInfo, Problem};
use fencepost_models::ModelSpec;
use fencepost_report::reproduction::{Figure, Reproduction, Row, table};
use std::borrow::Cow;
use std::time::Instant;

/// For `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
   0  every row was computed, whether it agrees with the paper or not
   5  a row met a limit, or was left out
   4  no row has such a name
   2  wrong usage
   6  an internal error of Fencepost: please report it";

/// A table that can be computed.
struct Table {
    name: &'static str,
    title: &'static str,
    /// What a reader should know before the first row.
    about: &'static str,
    run: fn(&mut Runner) -> Result<(), Broken>,
}

/// All of them.
static TABLES: [Table; 5] = [
    Table {
        name: "fender",
        title: "Automatic Inference of Memory Fences [KVY10], Tables II and III, and the fences of section V",
        about: "",
        run: fender::run,
    },
    Table {
        name: "blender",
        title: "Partial-Coherence Abstractions for Relaxed Memory Models [KVY11], Tables 1 and 2, Fig. 6 and \
            section 6.2.1",
        about: blender::ABOUT,
        run: blender::run,
    },
    Table {
        name: "automata",
        title: "An automata-based symbolic approach for verifying programs on relaxed memory models [LW10], Tables 1 and 2, \
            Fig. 2 and 4",
        about: automata::ABOUT,
        run: automata::run,
    },
    Table {
        name: "sober",
        title: "Effective Program Verification for Relaxed Memory Models [BM08], Fig. 4(a), with Fig. 1(b) and 4(b)",
        about: sober::ABOUT,
        run: sober::run,
    },
    Table {
        name: "pso-to-sc",
        title: "Getting Rid of Store Buffers in PSO Analysis [Zac], Table 5.1, litmus tests, and the smallest k",
        about: pso_to_sc::ABOUT,
        run: pso_to_sc::run,
    },
];

/// Their names on the command line.
pub(crate) fn names() -> Vec<&'static str> {
    TABLES.iter().map(|table| table.name).collect()
}

/// A bug of ours, already said.
struct Broken;

/// Runs the rows of a table.
struct Runner {
    only: Option<String>,
    settings: Settings,
    session: Session,
    rows: Vec<Row>,
    left_out: usize,
}

impl Runner {
    /// Whether the rows of a group are asked for.
    fn wants(&self, group: &str) -> bool {
        let only = self.only.as_ref().map(|text| text.to_lowercase());
        only.is_none_or(|text| group.to_lowercase().contains(&text))
    }

    /// Does the work of a row, and says how long it took; nothing if the user wants to stop.
    fn work<T>(
        &mut self,
        what: &str,
        work: impl FnOnce(Budget<'_>) -> T,
    ) -> Result<Option<(T, f64)>, Broken> {
        let session = &self.session;
        let done = if session.interrupted() {
            None
        } else {
            let doing = format!("computing {what}");
            Some(guarded_while(doing, || session.run(what, work)).map_err(|_| Broken)?)
        };
        let done = done.filter(|_| !session.interrupted());
        self.left_out += usize::from(done.is_none());
        Ok(done)
    }
}

/// The problems of a program of ours, with places.
fn lowered(source: &str) -> Vec<Problem> {
    let frontend = by_extension("fp").expect("our own language");
    let request = Request { places: true, ..Request::default() };
    let problems = frontend.lower_for(source, &request, &mut Diagnostics::new());
    problems.expect("the programs of the corpus are right")
}

/// A model by its name.
fn model(name: &str) -> ModelSpec {
    ModelSpec::by_name(name).expect("a built-in model")
}

fn number(count: usize) -> Figure {
    Figure::Number(count as u64)
}

/// Where a barrier is put, and the name of its kind.
fn placed<'p>(problem: &'p Problem, atom: &Atom) -> (&'p LabelInfo, String) {
    let info = problem.program.label(problem.program.place(atom.place).label);
    let kind = match atom.barrier {
        Barrier::Fence(kinds) => kinds.name(),
        Barrier::Drain(_) => Dish::Drain.name(),
    };
    (info, kind)
}

/// Function, line and kind of a barrier: `take:17 full`.
fn place_name(problem: &Problem, atom: &Atom) -> String {
    let (info, kind) = placed(problem, atom);
    format!("{}:{} {kind}", info.function, info.span.line)
}

/// Computes a table and shows it.
pub(crate) fn run(options: &Reproduce, output: &mut Output) -> Exit {
    let asked = TABLES.iter().find(|table| table.name == options.table);
    let asked = asked.expect("the command line takes the names of tables only");
    let started = Instant::now();
    let mut runner = Runner {
        only: options.only.clone(),
        settings: settings(&options.search),
        session: Session::new(&options.search, options.quiet),
        rows: Vec::new(),
        left_out: 0,
    };
    if (asked.run)(&mut runner).is_err() {
        return Exit::Internal;
    }
    let reproduction = Reproduction {
        fencepost: env!("CARGO_PKG_VERSION").into(),
        table: asked.name.into(),
        rows: runner.rows,
        left_out: runner.left_out,
        seconds: started.elapsed().as_secs_f64(),
    };
    match options.format {
        Format::Text => output.print(&table(&reproduction, asked.title, asked.about, output.paint)),
        Format::Json => {
            let text = serde_json::to_string_pretty(&reproduction);
            output.print(&format!("{}\n", text.expect("plain data becomes JSON")));
        }
    }
    if reproduction.rows.is_empty() && reproduction.left_out == 0 {
        output.error("no row has such a name");
        return Exit::Nothing;
    }
    if reproduction.is_complete() { Exit::Fine } else { Exit::Inconclusive }
}

/// What ended a search, in words.
fn ended_by(reason: &InconclusiveReason) -> &'static str {
    match fencepost_report::verdict_line::ended_by(reason) {
        Cow::Borrowed(text) => text,
        Cow::Owned(_) => "the program cannot be translated",
    }
}

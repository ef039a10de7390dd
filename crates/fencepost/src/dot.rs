//! `check --dot`: the possible contents of store buffers at each control point, as text and as
//! automata for Graphviz.
//!
//! Source: \[LW10\]. A separate search, after the one for the verdict and with the same limits,
//! computes the contents. It ignores properties, because a violation does not change what buffers
//! can contain. Direction: exact if the search finishes, an under-approximation if a limit stops
//! it.

use crate::check::CheckRun;
use crate::guard::catch_panic_while;
use crate::input;
use crate::store::replace;
use fencepost_engines::automata::{AutomataAnswer, SearchExtent};
use fencepost_engines::{Automata, Task};
use fencepost_ir::{Pc, Program, ThreadId};
use fencepost_report::Paint;
use fencepost_report::finding::Finding;
use fencepost_report::json::BufferRecord;
use fencepost_report::paint::width;
use fencepost_report::verdict_line::{remark, shown};
use std::path::Path;

/// The possible buffer contents of one program under one model.
pub(crate) struct Buffers {
    /// One record for each control point, in the order of threads and statements.
    pub(crate) records: Vec<BufferRecord>,
    /// Whether the records contain all possible contents.
    pub(crate) complete: bool,
    /// Whether the model has store buffers.
    has_buffers: bool,
}

impl Buffers {
    /// Returns one line for each control point, to print below the row of a model. `names` is the
    /// width of the column of model names.
    pub(crate) fn lines(&self, names: usize, paint: Paint) -> String {
        let mut out = String::new();
        if !self.has_buffers {
            out.push_str(&remark("this model has no store buffers to show", names, paint));
        }
        let places: Vec<String> =
            self.records.iter().map(|r| format!("{} :{}", r.thread, r.line)).collect();
        let widest = places.iter().map(|place| width(place)).max().unwrap_or(0);
        for (record, place) in self.records.iter().zip(&places) {
            let text = format!("{place:<widest$}  {}", record.contents);
            out.push_str(&remark(&text, names, paint));
        }
        if !self.complete {
            let text = "a limit stopped the search for contents: more contents are possible";
            out.push_str(&remark(text, names, paint));
        }
        out
    }
}

impl CheckRun<'_> {
    /// Computes the possible buffer contents and writes their automata if `--dot` is given.
    pub(crate) fn draw(&mut self, finding: &Finding<'_>) -> Option<Buffers> {
        let dir = self.batch.dot.clone()?;
        if self.session.interrupted() {
            return None;
        }
        let problem = finding.problem.without_requirements();
        let task = Task { problem: &problem, model: &finding.model };
        let what = format!("{}  {}  buffers", finding.file, shown(&finding.model));
        let description =
            format!("drawing buffers of {} under {}", finding.file, shown(&finding.model));
        let settings = self.settings;
        let answer = catch_panic_while(description, || {
            let engine = Automata::default();
            let run = self
                .session
                .run(&what, |b| engine.search(task, settings, b, SearchExtent::AllWithContents));
            run.0
        });
        match answer {
            Ok(Some(answer)) => Some(self.write_dots(&dir, finding, answer)),
            Ok(None) => Some(Buffers { records: Vec::new(), complete: true, has_buffers: false }),
            Err(_) => {
                self.internal_error();
                None
            }
        }
    }

    /// Writes an automaton for each control point. Stops writing after the first error.
    fn write_dots(&mut self, dir: &Path, finding: &Finding<'_>, answer: AutomataAnswer) -> Buffers {
        let program = &finding.problem.program;
        let mut writes = true;
        let mut records = Vec::new();
        for point in answer.reached {
            let thread = program.thread(point.thread).name.clone();
            let line = line(program, point.thread, point.pc);
            let mut dot_file = None;
            if writes {
                let parts =
                    [&*finding.problem.name, &*finding.model.name, &*thread, &*line.to_string()];
                let path = self.names.numbered(dir, finding.file, &parts, "dot");
                let written = std::fs::create_dir_all(dir)
                    .and_then(|()| replace(&path, point.dot.as_bytes()));
                match written {
                    Ok(()) => dot_file = Some(input::display_path(&path)),
                    Err(error) => {
                        let name = input::display_path(&path);
                        let message = format!("cannot write the automaton {name}: {error}");
                        self.input_error(&path, message);
                        writes = false;
                    }
                }
            }
            let (contents, finite) = (point.contents, point.is_finite);
            records.push(BufferRecord { thread, line, contents, finite, dot_file });
        }
        Buffers { records, complete: answer.answer.outcomes_complete, has_buffers: true }
    }
}

/// Returns the source line of a statement.
fn line(program: &Program, thread: ThreadId, pc: Pc) -> u32 {
    program.label(program.thread(thread).stmt(pc).label).span.line
}

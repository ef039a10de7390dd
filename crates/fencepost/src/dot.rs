//! `check --dot`: what the buffers of threads can hold where control is, as text and as automata for Graphviz.
//!
//! Source: \[LW10\]. This is a search of its own, after the one for the verdict and with the same limits: it goes to the
//! end and asks for no property, since one that is violated does not change what buffers can hold. Direction: exact when it comes
//! to its end; otherwise contents that can be, perhaps not all.

use crate::check::Checking;
use crate::guard::guarded_while;
use crate::input;
use crate::store::replace;
use fencepost_engines::automata::{Looked, Until};
use fencepost_engines::{Automata, Task};
use fencepost_ir::{Pc, Program, ThreadId};
use fencepost_report::Paint;
use fencepost_report::finding::Finding;
use fencepost_report::json::BufferRecord;
use fencepost_report::paint::width;
use fencepost_report::verdict_line::{remark, shown};
use std::path::Path;

/// What buffers can hold, of one program under one model.
pub(crate) struct Buffers {
    /// In the order of threads and statements.
    pub(crate) records: Vec<BufferRecord>,
    /// Whether these are all contents.
    pub(crate) complete: bool,
    /// Whether the model has store buffers.
    has_buffers: bool,
}

impl Buffers {
    /// A line for each control point, below the row of a model. `names` is the width of the model's column.
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
            let text = "the search for contents was cut short: these are the ones met so far";
            out.push_str(&remark(text, names, paint));
        }
        out
    }
}

impl Checking<'_> {
    /// Finds out what buffers can hold and draws it, if asked to.
    pub(crate) fn draw(&mut self, finding: &Finding<'_>) -> Option<Buffers> {
        let dir = self.batch.dot.clone()?;
        if self.session.interrupted() {
            return None;
        }
        let problem = finding.problem.without_requirements();
        let task = Task { problem: &problem, model: &finding.model };
        let what = format!("{}  {}  buffers", finding.file, shown(&finding.model));
        let doing = format!("drawing buffers of {} under {}", finding.file, shown(&finding.model));
        let settings = self.settings;
        let looked = guarded_while(doing, || {
            let engine = Automata::default();
            let run = self.session.run(&what, |b| engine.look(task, settings, b, Until::Noted));
            run.0
        });
        match looked {
            Ok(Some(looked)) => Some(self.write_dots(&dir, finding, looked)),
            Ok(None) => Some(Buffers { records: Vec::new(), complete: true, has_buffers: false }),
            Err(_) => {
                self.crashed();
                None
            }
        }
    }

    /// Writes an automaton for each control point. After one that cannot be written, no others are tried.
    fn write_dots(&mut self, dir: &Path, finding: &Finding<'_>, looked: Looked) -> Buffers {
        let program = &finding.problem.program;
        let mut writes = true;
        let mut records = Vec::new();
        for point in looked.reached {
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
                    Ok(()) => dot_file = Some(input::shown(&path)),
                    Err(error) => {
                        let shown = input::shown(&path);
                        let message = format!("cannot write the automaton {shown}: {error}");
                        self.unusable(&path, message);
                        writes = false;
                    }
                }
            }
            let (contents, finite) = (point.contents, point.is_finite);
            records.push(BufferRecord { thread, line, contents, finite, dot_file });
        }
        Buffers { records, complete: looked.answer.outcomes_complete, has_buffers: true }
    }
}

/// The source line of a statement.
fn line(program: &Program, thread: ThreadId, pc: Pc) -> u32 {
    program.label(program.thread(thread).stmt(pc).label).span.line
}

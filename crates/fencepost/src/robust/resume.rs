//! `robust --resume FILE`: what was explored is kept in a file, and the next run goes on from there.
//!
//! The file is written when an exploration ends early, whatever the reason: a limit, or Ctrl-C. It is removed
//! when there is nothing left to explore. Whoever changes it by hand gets an answer about something else.

use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::store::replace;
use fencepost_engines::Resumed;
use fencepost_engines::stateless::saved::{Saved, SavedAsleep, SavedMove, SavedPart};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The form of the file.
const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct File {
    /// The version of this form.
    exploration: u32,
    program: String,
    model: String,
    complete: u64,
    stuck: u64,
    redundant: u64,
    cut: u64,
    steps: u64,
    longest: usize,
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
struct Part {
    init: Vec<u32>,
    moves: Vec<SavedMove>,
    sleep: Vec<SavedAsleep>,
}

/// Reads what is there, does the work, and writes what is left.
pub(super) fn run(
    path: &Path,
    work: impl FnOnce(&Resumed, &mut Output) -> Exit,
    output: &mut Output,
) -> Exit {
    let name = input::shown(path);
    let saved = match read(path) {
        Ok(saved) => saved,
        Err(why) => {
            output.error(&format!("cannot go on from {name}: {why}"));
            return Exit::Unusable;
        }
    };
    let engine = Resumed { saved: Mutex::new(saved), ..Resumed::default() };
    let exit = work(&engine, output);
    if engine.foreign.load(Ordering::Relaxed) {
        let what = "it is of another program or model; it is left alone, and nothing is kept";
        output.error(&format!("cannot go on from {name}: {what}"));
        return exit.and(Exit::Unusable);
    }
    let left = engine.saved.into_inner().unwrap_or_else(PoisonError::into_inner);
    let kept = match left {
        Some(saved) => {
            let parts = saved.parts.len();
            let text = serde_json::to_string(&File::from(saved)).expect("plain data becomes JSON");
            output.message(&format!("{name} keeps what is left: {parts} parts\n"));
            replace(path, text.as_bytes())
        }
        None => match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
    };
    match kept {
        Ok(()) => exit,
        Err(error) => {
            output.error(&format!("cannot write {name}: {error}"));
            exit.and(Exit::Unusable)
        }
    }
}

/// What is in the file; nothing if there is none.
fn read(path: &Path) -> Result<Option<Saved>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let file: File = serde_json::from_str(&text)
        .map_err(|error| format!("it is not an exploration that was kept: {error}"))?;
    if file.exploration != VERSION {
        return Err(format!("it has the form {}; this is form {VERSION}", file.exploration));
    }
    Ok(Some(file.into()))
}

impl From<Saved> for File {
    fn from(saved: Saved) -> Self {
        let part = |SavedPart { init, moves, sleep }| Part { init, moves, sleep };
        let (program, model) = saved.of;
        File {
            exploration: VERSION,
            program,
            model,
            complete: saved.complete,
            stuck: saved.stuck,
            redundant: saved.redundant,
            cut: saved.cut,
            steps: saved.steps,
            longest: saved.longest,
            parts: saved.parts.into_iter().map(part).collect(),
        }
    }
}

impl From<File> for Saved {
    fn from(file: File) -> Self {
        let part = |Part { init, moves, sleep }| SavedPart { init, moves, sleep };
        Saved {
            of: (file.program, file.model),
            complete: file.complete,
            stuck: file.stuck,
            redundant: file.redundant,
            cut: file.cut,
            steps: file.steps,
            longest: file.longest,
            parts: file.parts.into_iter().map(part).collect(),
        }
    }
}

//! `robust --resume FILE`: saves an unfinished exploration to a file, and resumes it in the next
//! run.
//!
//! The file is written when a limit or Ctrl-C stops an exploration, and removed when the
//! exploration is complete. A file that was edited by hand makes the answer meaningless.

use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::reader::read_text;
use crate::store::replace;
use fencepost_engines::ResumableRobust;
use fencepost_engines::stateless::saved::{SavedExploration, SavedMove, SavedPart, SavedSleeper};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The version of the file format.
const VERSION: u32 = 2;

/// The contents of the file. The field names are part of the file format.
#[derive(Serialize, Deserialize)]
struct File {
    /// The version of the file format.
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

/// A subtree that is left to explore. The field names are part of the file format.
#[derive(Serialize, Deserialize)]
struct Part {
    init: Vec<u32>,
    moves: Vec<SavedMove>,
    sleep: Vec<SavedSleeper>,
}

/// Reads the saved exploration, runs `work`, and saves the parts that are left.
pub(super) fn run(
    path: &Path,
    work: impl FnOnce(&ResumableRobust, &mut Output) -> Exit,
    output: &mut Output,
) -> Exit {
    let name = input::display_path(path);
    let saved = match read(path) {
        Ok(saved) => saved,
        Err(message) => {
            output.error(&format!("cannot resume from {name}: {message}"));
            return Exit::Unusable;
        }
    };
    let engine = ResumableRobust { saved: Mutex::new(saved), ..ResumableRobust::default() };
    let exit = work(&engine, output);
    if engine.rejected.load(Ordering::Relaxed) {
        let message = "the file belongs to another program or model; the file is unchanged";
        output.error(&format!("cannot resume from {name}: {message}"));
        return exit.combine(Exit::Unusable);
    }
    let left = engine.saved.into_inner().unwrap_or_else(PoisonError::into_inner);
    let result = match left {
        Some(saved) => {
            let parts = saved.parts.len();
            let text =
                serde_json::to_string(&File::from(saved)).expect("a report serialises to JSON");
            replace(path, text.as_bytes()).map(|()| {
                let next = "run the same command again to continue";
                output.message(&format!("{parts} unexplored parts saved to {name}: {next}\n"));
            })
        }
        None => match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
    };
    match result {
        Ok(()) => exit,
        Err(error) => {
            output.error(&format!("cannot write {name}: {error}"));
            exit.combine(Exit::Unusable)
        }
    }
}

/// Reads the saved exploration, or returns `None` if the file does not exist.
fn read(path: &Path) -> Result<Option<SavedExploration>, String> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let file: File = serde_json::from_str(&text)
        .map_err(|error| format!("the file is not a saved exploration: {error}"))?;
    if file.exploration != VERSION {
        let found = file.exploration;
        return Err(format!("the file has format version {found}, but {VERSION} is required"));
    }
    Ok(Some(file.into()))
}

impl From<SavedExploration> for File {
    fn from(saved: SavedExploration) -> Self {
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

impl From<File> for SavedExploration {
    fn from(file: File) -> Self {
        let part = |Part { init, moves, sleep }| SavedPart { init, moves, sleep };
        SavedExploration {
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

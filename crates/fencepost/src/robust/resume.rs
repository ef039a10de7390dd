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
use fencepost_engines::stateless::saved::{
    CellAccess, Counts, Move, NodeState, OpenNode, OpenTree, SavedExploration, TrackedMove,
};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The version of the file format.
const VERSION: u32 = 4;

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
    trees: Vec<Tree>,
}

/// The executions that remain after the choices of `init`. The field names are part of the file
/// format.
#[derive(Serialize, Deserialize)]
struct Tree {
    init: Vec<u32>,
    nodes: Vec<Node>,
}

/// A state: the state before it with the move between them, and what was explored from it. The
/// field names are part of the file format.
#[derive(Serialize, Deserialize)]
struct Node {
    before: Option<(usize, SavedMove)>,
    state: State,
}

/// What was explored from a state. The names are part of the file format.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Planned,
    Open { sleep: Vec<SavedMove> },
    Done,
}

/// A move: the thread, its choices, the touched cells, and whether each one is written.
type SavedMove = (usize, Vec<u32>, Vec<(u32, bool)>);

/// Reads the saved exploration, runs `work`, and saves what remains.
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
            let parts = saved.parts();
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
        let SavedExploration { of: (program, model), counts, traces } = saved;
        File {
            exploration: VERSION,
            program,
            model,
            complete: counts.complete,
            stuck: counts.stuck,
            redundant: counts.redundant,
            cut: counts.cut,
            steps: counts.events,
            longest: counts.longest,
            trees: traces.into_iter().map(Tree::from).collect(),
        }
    }
}

impl From<File> for SavedExploration {
    fn from(file: File) -> Self {
        let counts = Counts {
            complete: file.complete,
            stuck: file.stuck,
            redundant: file.redundant,
            cut: file.cut,
            events: file.steps,
            longest: file.longest,
            bounded: false,
        };
        let traces = file.trees.into_iter().map(OpenTree::from).collect();
        SavedExploration { of: (file.program, file.model), counts, traces }
    }
}

impl From<OpenTree> for Tree {
    fn from(tree: OpenTree) -> Self {
        let node = |OpenNode { before, state }| Node {
            before: before.map(|(at, mv)| (at, save_move(&mv))),
            state: match state {
                NodeState::Planned => State::Planned,
                NodeState::Open(sleep) => {
                    State::Open { sleep: sleep.iter().map(save_move).collect() }
                }
                NodeState::Done => State::Done,
            },
        };
        Tree { init: tree.start, nodes: tree.nodes.into_iter().map(node).collect() }
    }
}

impl From<Tree> for OpenTree {
    fn from(tree: Tree) -> Self {
        let node = |Node { before, state }| OpenNode {
            before: before.map(|(at, mv)| (at, load_move(mv))),
            state: match state {
                State::Planned => NodeState::Planned,
                State::Open { sleep } => {
                    NodeState::Open(sleep.into_iter().map(load_move).collect())
                }
                State::Done => NodeState::Done,
            },
        };
        OpenTree { start: tree.init, nodes: tree.nodes.into_iter().map(node).collect() }
    }
}

fn save_move(TrackedMove { mv, footprint }: &TrackedMove) -> SavedMove {
    let cells = footprint.iter().map(|access| (access.cell, access.writes)).collect();
    (mv.thread, mv.choices.clone(), cells)
}

fn load_move((thread, choices, cells): SavedMove) -> TrackedMove {
    let cell = |(cell, writes)| CellAccess { cell, writes };
    let footprint = cells.into_iter().map(cell).collect();
    TrackedMove { mv: Move { thread, choices }, footprint }
}

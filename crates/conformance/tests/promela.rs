//! The Promela models written by hand (`bench/spin/`) have the verdicts of the programs that they model.
//!
//! SPIN searches the models, the explicit engine searches the programs, both with the same bound on
//! pending stores. So two people have written each lock and each memory model. The buffers of
//! `memory.pml` also have tests of their own. Without SPIN or a C compiler, the tests are skipped.

use crate::common::{check, corpus, lower, model, settings};
use fencepost_bench::promela::{self, MEMORY, MODELS};
use fencepost_bench::{Fences, family};
use fencepost_engines::{Settings, Verdict};
use fencepost_testkit::tools;
use fencepost_translate::export::promela::spin::{Error, Report};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const MODEL_NAMES: [&str; 3] = ["sc", "tso", "pso"];

/// The bound on pending stores.
const BUFFERS: u32 = 2;

/// A temporary folder with a model, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, text: &str) -> Folder {
        let path = env::temp_dir().join(format!("fencepost-pml-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder can be created");
        for (file, text) in [MEMORY, ("model.pml", text)] {
            fs::write(path.join(file), text).expect("the model can be written");
        }
        Folder(path)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).current_dir(&self.0).output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    }

    /// Returns whether SPIN finds a failed assertion. The search must be complete otherwise.
    fn is_violated(&self, macros: &[String]) -> bool {
        let mut arguments: Vec<&str> = macros.iter().map(String::as_str).collect();
        arguments.extend(["-a", "model.pml"]);
        let generated = self.run(Path::new("spin"), &arguments);
        assert!(!generated.contains("Error"), "{macros:?}: {generated}");
        let compiled = self.run(Path::new("cc"), &["-O0", "-w", "-DSAFETY", "-o", "pan", "pan.c"]);
        assert_eq!(compiled, "", "{macros:?}");
        let output = self.run(&self.0.join("pan"), &["-m100000", "-w18", "-n", "-E"]);
        let report = Report::parse(&output);
        match report.error {
            None => {
                assert_eq!((report.errors, report.incomplete), (0, None), "{macros:?}: {output}");
                false
            }
            Some(Error::Assertion(_)) => true,
            Some(error) => panic!("{macros:?}: {error:?}\n{output}"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure here leaves a few small files in the folder for temporary files.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Returns whether the explicit engine finds a violation with the bound on pending stores. The
/// search must be complete otherwise.
fn is_program_violated(source: &str, model_name: &str) -> bool {
    let problems = lower(source).expect("a program");
    let fixed_buffer = (model_name != "sc").then_some(BUFFERS);
    let settings = Settings { fixed_buffer, ..settings(1) };
    let verdict = check(&problems[0], &model(model_name), settings).verdict;
    match &verdict {
        Verdict::Verified(_) => false,
        Verdict::Violated(_) => true,
        Verdict::Inconclusive(inconclusive) => {
            assert_eq!(inconclusive.clean_up_to(), Some(BUFFERS), "{verdict:?}");
            false
        }
    }
}

#[test]
fn hand_written_models_have_the_verdicts_of_the_programs() {
    if !tools::are_installed(&["spin", "cc"]) {
        return;
    }
    let threads = 2;
    let mut wrong = Vec::new();
    for by_hand in MODELS {
        let family = family(by_hand.family).expect("a family");
        let folder = Folder::with(by_hand.family, by_hand.text);
        for fences in [Fences::Present, Fences::Removed] {
            let source = family.program(threads, fences);
            for model in MODEL_NAMES {
                let macros = promela::macros(threads, fences, model, BUFFERS);
                let expected = family.expected(fences, model) == "violated";
                let found = (folder.is_violated(&macros), is_program_violated(&source, model));
                if found != (expected, expected) {
                    let name = family.program_name(threads, fences);
                    wrong.push(format!("{name} {model}: {found:?}, expected {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "violated according to SPIN, to us:\n{}", wrong.join("\n"));
}

#[test]
fn every_promela_file_is_a_model_of_a_family() {
    for entry in fs::read_dir(corpus().join("../bench/spin")).expect("the folder exists") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a model");
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_model = promela::model(&stem).is_some_and(|model| model.text == text);
        assert!(is_model && family(&stem).is_some() || text == MEMORY.1, "{}", path.display());
    }
}

/// Checks a test of `memory.pml` for two threads under each model, with and without fences. A test
/// fails under the models of `fenced` with fences and under those of `bare` without.
fn check_memory(name: &str, text: &str, buffers: &[u32], fenced: &[&str], bare: &[&str]) {
    if !tools::are_installed(&["spin", "cc"]) {
        return;
    }
    let folder = Folder::with(name, text);
    for (fences, violated) in [(Fences::Present, fenced), (Fences::Removed, bare)] {
        for model in MODEL_NAMES {
            for buffers in buffers.iter().take(if model == "sc" { 1 } else { buffers.len() }) {
                let macros = promela::macros(2, fences, model, *buffers);
                let found = folder.is_violated(&macros);
                assert_eq!(found, violated.contains(&model), "{name} {macros:?}");
            }
        }
    }
}

#[test]
fn a_load_overtakes_a_store_unless_there_is_a_fence() {
    let text = "
#define LOCATIONS 2
#define SLOTS 1
#define HOME(i, s) (i)
#include \"memory.pml\"
byte r[2];
byte done;
active [N] proctype p() {
  d_step { ROOM(_pid, 0) -> PUT(_pid, 0, _pid, 1) };
  d_step { FENCE(_pid) -> r[_pid] = mem[1 - _pid] };
  d_step { done++; assert(done < 2 || r[0] + r[1] > 0) }
}
MEMORY
";
    check_memory("sb", text, &[2], &[], &["tso", "pso"]);
}

#[test]
fn stores_to_different_locations_commit_in_order_under_tso() {
    let text = "
#define LOCATIONS 2
#define SLOTS 2
#define HOME(i, s) (s)
#include \"memory.pml\"
active [N] proctype p() {
  byte a;
  if
  :: _pid == 0 ->
    d_step { ROOM(0, 0) -> PUT(0, 0, 0, 1) };
    d_step { FENCE(0) && ROOM(0, 1) -> PUT(0, 1, 1, 1) }
  :: else ->
    a = mem[1];
    d_step { assert(a == 0 || mem[0] == 1) }
  fi
}
MEMORY
";
    check_memory("mp", text, &[2], &[], &["pso"]);
}

#[test]
fn a_locked_instruction_drains_under_tso() {
    let text = "
#define LOCATIONS 2
#define SLOTS 1
#define HOME(i, s) (s)
#include \"memory.pml\"
active [N] proctype p() {
  byte a;
  if
  :: _pid == 0 ->
    d_step { ROOM(0, 0) -> PUT(0, 0, 0, 1) };
    d_step { FENCE(0) && LOCKED(0) -> mem[1] = 1 }
  :: else ->
    a = mem[1];
    d_step { assert(a == 0 || mem[0] == 1) }
  fi
}
MEMORY
";
    check_memory("locked", text, &[2], &[], &["pso"]);
}

#[test]
fn stores_to_a_location_are_forwarded_and_commit_in_order() {
    let text = "
#define LOCATIONS 2
#define SLOTS 2
#define HOME(i, s) (s)
#include \"memory.pml\"
#define STORE(v) d_step { ROOM(0, 1) -> PUT(0, 1, 1, v); assert(OWN(0, 1, 1) == v) }
active [N] proctype p() {
  byte a;
  if
  :: _pid == 0 ->
    STORE(1);
    STORE(2);
    STORE(3);
    STORE(4);
    assert(OWN(0, 1, 1) == 4 && OWN(0, 0, 0) == 0);
    d_step { EMPTY(0) -> assert(mem[1] == 4 && OWN(0, 1, 1) == 4) }
  :: else ->
    a = mem[1];
    d_step { assert(a <= mem[1]) }
  fi
}
MEMORY
";
    check_memory("order", text, &[1, 3, 4], &[], &[]);
}

#[test]
fn the_bound_on_pending_stores_is_reached_and_not_exceeded() {
    let text = "
#define LOCATIONS 1
#define SLOTS 1
#define HOME(i, s) (s)
#include \"memory.pml\"
byte stores;
active [N] proctype p() {
  if
  :: _pid == 0 ->
    do
    :: stores < 4 -> d_step { ROOM(0, 0) -> stores++; PUT(0, 0, 0, stores) }
    :: else -> break
    od
  :: else -> d_step { assert(stores < FIRST_FULL || mem[0] > 0) }
  fi
}
MEMORY
";
    // More stores need room, which a commit makes.
    let text = |stores: u32| text.replace("FIRST_FULL", &stores.to_string());
    check_memory("full", &text(BUFFERS), &[BUFFERS], &["tso", "pso"], &["tso", "pso"]);
    check_memory("over", &text(BUFFERS + 1), &[BUFFERS], &[], &[]);
}

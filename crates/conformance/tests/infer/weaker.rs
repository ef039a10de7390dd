//! Maximal weakenings compared with brute force over all orders and fences on source texts.
//!
//! Brute force writes each weaker program as a text, compiles it without places and checks it under
//! all models. The property of each program is that its outcomes are SC outcomes.

use super::orders::is_correct;
use super::{as_under_sc, small_limits};
use crate::common::{model, report_comparisons, seeds};
use fencepost_engines::{Budget, Explicit};
use fencepost_frontends::repair::LoweredSource;
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::weaken::{WeakenAnswer, WeakenQuery, parts_of_original, weaken};
use fencepost_ir::{FenceKinds, Problem, WrittenFences};
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::{Random, lower_with_orders};
use std::collections::BTreeSet;

/// The number of programs.
const PROGRAMS: u64 = 40;

/// A part of a program: its text with a hole, and what can be in the hole, with the orderings that
/// each choice enforces. The last choice is that of the original.
struct Part {
    text: String,
    choices: Vec<(&'static str, u32)>,
}

/// The orderings of fences as bits: store-store, store-load, load-load, load-store.
const FENCES: [(&str, u32); 16] = [
    ("", 0),
    ("fence store_store; ", 1),
    ("fence store_load; ", 2),
    ("fence store_store, store_load; ", 3),
    ("fence load_load; ", 4),
    ("fence store_store, load_load; ", 5),
    ("fence store_load, load_load; ", 6),
    ("fence store_store, store_load, load_load; ", 7),
    ("fence load_store; ", 8),
    ("fence store_store, load_store; ", 9),
    ("fence store_load, load_store; ", 10),
    ("fence store_store, store_load, load_store; ", 11),
    ("fence load_load, load_store; ", 12),
    ("fence store_store, load_load, load_store; ", 13),
    ("fence store_load, load_load, load_store; ", 14),
    ("fence full; ", 15),
];

/// The acquire part is bit 1, the release part bit 2, the seq_cst part bit 4.
const LOADS: [(&str, u32); 3] = [("relaxed", 0), ("acquire", 1), ("seq_cst", 1)];
const STORES: [(&str, u32); 3] = [("relaxed", 0), ("release", 2), ("seq_cst", 6)];
const UPDATES: [(&str, u32); 4] = [("relaxed", 0), ("acquire", 1), ("release", 2), ("acq_rel", 3)];

/// Under `arm`, a part is a barrier (bit 1: for stores, bit 2: for loads), or the order of an access.
/// The strong part of an acquire load is bit 8.
fn bits_under_arm(text: &str, choice: (&'static str, u32)) -> u32 {
    match choice {
        (_, bits) if text == "@" => match bits {
            0 => 0,
            1 => 1,
            4 | 8 | 12 => 2,
            _ => 7,
        },
        ("seq_cst", bits) if text.contains("load") => bits | 8,
        (_, bits) if text.contains("store") => bits & 2,
        (_, bits) => bits,
    }
}

impl Part {
    /// Returns the part with the choices that differ under `arm`: the first of those with the same
    /// effect.
    fn under_arm(&self) -> Part {
        let mut sorted = self.choices.clone();
        // Inference considers single kinds, and the original if it is a full barrier.
        let original = sorted[self.original()];
        if self.text == "@" {
            let is_full = |choice| bits_under_arm(&self.text, choice) == 7;
            sorted.retain(|choice| {
                *choice == original || choice.1.count_ones() < 2 && !is_full(*choice)
            });
        }
        let mut choices: Vec<(&'static str, u32)> = Vec::new();
        for choice in sorted {
            let bits = bits_under_arm(&self.text, choice);
            if !choices.iter().any(|(_, known)| *known == bits) {
                choices.push((choice.0, bits));
            }
        }
        Part { text: self.text.clone(), choices }
    }

    /// Returns a random access, or one of message passing: thread 0 stores x and y, thread 1 loads y
    /// and x.
    fn access(random: &mut Random, register: usize, passes_in: Option<usize>) -> Part {
        let is_x = passes_in.map_or_else(|| random.below(2) == 0, |thread| thread == register);
        let place = if is_x { "x" } else { "y" };
        let value = 1 + random.below(2);
        let kind = passes_in.map_or_else(|| random.below(7), |thread| 3 * thread);
        let (text, all) = match kind {
            0..3 => (format!("{place}.store({value}, @);"), &STORES[..]),
            3..6 => (format!("r{register} = {place}.load(@);"), &LOADS[..]),
            _ => (format!("r{register} = {place}.swap({value}, @);"), &UPDATES[..]),
        };
        let own = all[all.len() - 1 - random.below(2)].1;
        Part { text, choices: within(all, own) }
    }

    fn fence(random: &mut Random) -> Part {
        let own = [15, 15, 13, 2, 0, 0][random.below(6)];
        Part { text: "@".into(), choices: within(&FENCES, own) }
    }

    fn original(&self) -> usize {
        self.choices.len() - 1
    }
}

/// Returns the choices that are not stronger than one of them, from weak to strong.
fn within(all: &[(&'static str, u32)], own: u32) -> Vec<(&'static str, u32)> {
    all.iter().copied().filter(|(_, bits)| bits & !own == 0).collect()
}

fn text(threads: &[Vec<Part>], chosen: &[usize]) -> String {
    let mut chosen = chosen.iter();
    let mut text = String::from("shared int x, y;\n");
    for (thread, parts) in threads.iter().enumerate() {
        text.push_str(&format!("thread t{thread} {{\n"));
        for part in parts {
            let choice = part.choices[*chosen.next().expect("a choice for each part")].0;
            text.push_str(&format!("  {}\n", part.text.replace('@', choice)));
        }
        text.push_str("}\n");
    }
    text
}

/// Returns the maximal weakenings by brute force, as texts.
fn by_brute_force(threads: &[Vec<Part>], original: &Problem, models: &[ModelSpec]) -> Vec<String> {
    let parts: Vec<&Part> = threads.iter().flatten().collect();
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for part in &parts {
        let longer = |chosen: &Vec<usize>| {
            let chosen = chosen.clone();
            (0..part.choices.len()).map(move |choice| [&chosen[..], &[choice]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    // Choices are listed from weak to strong, so a weaker program comes before a stronger one.
    let is_weaker = |a: &[usize], b: &[usize]| {
        let bits = |part: &Part, choice: usize| part.choices[choice].1;
        parts.iter().zip(a.iter().zip(b)).all(|(p, (a, b))| bits(p, *a) & !bits(p, *b) == 0)
    };
    let mut maximal: Vec<Vec<usize>> = Vec::new();
    for chosen in all {
        if maximal.iter().any(|weaker| is_weaker(weaker, &chosen)) {
            continue;
        }
        let text = text(threads, &chosen);
        if models.iter().all(|model| is_correct(&text, original, model)) {
            maximal.push(chosen);
        }
    }
    maximal.iter().map(|chosen| text(threads, chosen)).collect()
}

#[test]
fn random_maximal_weakenings_are_those_of_brute_force() {
    let (mut compared, mut several, mut needed) = (0, 0, 0);
    for seed in seeds(PROGRAMS) {
        let mut random = Random::new(seed ^ 0x3eac << 32);
        let mut thread = |at: usize| {
            let passes_in = (seed % 2 == 0).then_some(at);
            let first = Part::access(&mut random, 0, passes_in);
            let fence = Part::fence(&mut random);
            vec![first, fence, Part::access(&mut random, 1, passes_in)]
        };
        let threads = vec![thread(0), thread(1)];
        let original: Vec<usize> = threads.iter().flatten().map(Part::original).collect();
        let source = text(&threads, &original);
        let lowered = lower_with_orders(&source).expect("the program compiles");
        let Some(problem) = lowered.into_iter().next().and_then(as_under_sc) else { continue };
        for names in [&["tso"][..], &["pso"], &["tso", "pso"], &["rmo"], &["arm"]] {
            let models: Vec<ModelSpec> = names.iter().map(|name| model(name)).collect();
            if !models.iter().all(|model| is_correct(&source, &problem, model)) {
                continue;
            }
            let problems = std::slice::from_ref(&problem);
            let fences = FenceKinds::SINGLE.map(|(kinds, _)| kinds);
            let fences = [&fences[..], &[FenceKinds::FULL]].concat();
            let parts = parts_of_original(&problem.program, &models, &fences);
            let (cancel, progress) = (Cancel::default(), Progress::default());
            let budget = Budget { cancel: &cancel, progress: &progress };
            let (engine, settings) = (&Explicit, small_limits());
            let query = WeakenQuery { problems, models: &models, parts: &parts, engine, settings };
            let answer = weaken(query, budget);
            let case = || format!("{names:?}, seed {seed}\n{source}\n{answer:?}");
            let WeakenAnswer::Found(found) = &answer else { panic!("{}", case()) };
            assert!(found.complete && found.undecided == 0, "{}", case());
            let lowered = LoweredSource {
                frontend: by_extension("fp").expect("a front end"),
                text: &source,
                request: Request { places: true, orders: true, ..Request::default() },
                problems,
            };
            let weaker = |left| {
                let weaker = lowered.repair(left, WrittenFences::Dropped);
                let weaker = weaker.unwrap_or_else(|why| panic!("{why} {}", case()));
                let text = weaker.changes.main_text(&source);
                assert!(weaker.differing.is_empty(), "{text} {}", case());
                compact(text)
            };
            let found_texts: BTreeSet<String> = found.left.iter().map(weaker).collect();
            let of_arm: Vec<Vec<Part>> =
                threads.iter().map(|parts| parts.iter().map(Part::under_arm).collect()).collect();
            let choices = if names == ["arm"] { &of_arm } else { &threads };
            let expected = by_brute_force(choices, &problem, &models);
            let expected: BTreeSet<String> = expected.iter().map(|text| compact(text)).collect();
            assert_eq!(found_texts, expected, "{}", case());
            assert!(found.needs.iter().all(|(_, violation)| violation.is_some()), "{}", case());
            compared += 1;
            several += usize::from(found.left.len() > 1);
            needed += usize::from(!found.needs.is_empty());
        }
    }
    report_comparisons("maximal weakenings: brute force", compared);
    assert!(several > 0, "some programs have several maximal weakenings");
    assert!(needed > 0, "some orders or fences are needed");
}

/// Returns a text without white space.
fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}

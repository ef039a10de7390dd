//! Every benchmark program has its expected verdict under SC, TSO and PSO.
//!
//! `auto` decides most programs in about a second. [`CAMPAIGN`] lists the programs that take longer:
//! only a campaign checks them. [`UNCHECKED`] lists the programs that are not checked here.

use crate::common::{check_with, corpus, lower, model, settings};
use fencepost_bench::{FAMILIES, Family, Fences, Template};
use fencepost_engines::Auto;
use fencepost_testkit::is_campaign;
use std::collections::BTreeSet;
use std::fs;

/// The programs and models that only a campaign checks.
const CAMPAIGN: &[&str] = &[
    "bakery4-fenced pso",
    "bakery4-fenced tso",
    "burns4-fenced tso",
    "dijkstra3-fenced pso",
    "dijkstra3-fenced tso",
    "filter4 sc",
    "filter4-fenced sc",
    "filter4-fenced pso",
    "filter4-fenced tso",
    "lamport4-fenced pso",
    "lamport4-fenced tso",
];

/// The programs and models that are not checked, because they take long. The first one is checked under
/// TSO.
const UNCHECKED: &[&str] = &["burns4-fenced pso", "dijkstra4-fenced pso", "dijkstra4-fenced tso"];

/// A program of a family with a model.
#[derive(Clone, Copy)]
struct Case {
    family: &'static Family,
    fences: Fences,
    value: u32,
    model: &'static str,
}

impl Case {
    fn name(&self) -> String {
        format!("{} {}", self.family.program_name(self.value, self.fences), self.model)
    }

    fn is_in(&self, list: &[&str]) -> bool {
        list.contains(&self.name().as_str())
    }

    /// Returns a message if the verdict is not the expected one.
    fn difference(&self) -> Option<String> {
        let source = self.family.program(self.value, self.fences);
        let problem = match lower(&source) {
            Ok(problems) => problems
                .into_iter()
                .find(|problem| self.family.client().is_none_or(|client| problem.name == client)),
            Err(errors) => return Some(format!("{}: {errors}", self.name())),
        };
        let problem = problem.expect("the library has the client of the family");
        let found = check_with(&Auto, &problem, &model(self.model), settings(2)).verdict;
        let expected = self.family.expected(self.fences, self.model);
        (found.word() != expected)
            .then(|| format!("{}: expected {expected}, found {}", self.name(), found.word()))
    }
}

/// Returns every program under every model.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for family in FAMILIES {
        for fences in [Fences::Present, Fences::Removed] {
            for value in family.values.iter().filter(|_| family.has(fences)) {
                for model in ["sc", "tso", "pso"] {
                    cases.push(Case { family, fences, value: *value, model });
                }
            }
        }
    }
    cases
}

fn check_all(cases: impl Iterator<Item = Case>) {
    let wrong: Vec<String> = cases.filter_map(|case| case.difference()).collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn benchmarks_with_fences_have_their_expected_verdicts() {
    let is_short = |case: &Case| !case.is_in(CAMPAIGN) && !case.is_in(UNCHECKED);
    check_all(cases().into_iter().filter(|case| case.fences == Fences::Present).filter(is_short));
}

#[test]
fn benchmarks_without_fences_have_their_expected_verdicts() {
    let is_short = |case: &Case| !case.is_in(CAMPAIGN) && !case.is_in(UNCHECKED);
    check_all(cases().into_iter().filter(|case| case.fences == Fences::Removed).filter(is_short));
}

#[test]
fn long_benchmarks_have_their_expected_verdicts_in_a_campaign() {
    if is_campaign() {
        check_all(cases().into_iter().filter(|case| case.is_in(CAMPAIGN)));
    }
}

#[test]
fn the_lists_of_long_benchmarks_name_different_programs() {
    let all: BTreeSet<String> = cases().iter().map(Case::name).collect();
    let listed: BTreeSet<&str> = CAMPAIGN.iter().chain(UNCHECKED).copied().collect();
    assert_eq!(listed.len(), CAMPAIGN.len() + UNCHECKED.len(), "a program is in both lists");
    assert!(listed.iter().all(|name| all.contains(*name)), "{listed:?}");
}

#[test]
fn every_benchmark_file_belongs_to_a_family() {
    let folder = corpus().join("../bench/programs");
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a program");
        let is_used = |family: &&Family| match family.template {
            Template::Parameter { text: used, .. } => used == text,
            Template::Function(_) | Template::Client { .. } => false,
        };
        assert_eq!(FAMILIES.iter().filter(is_used).count(), 1, "{}", path.display());
        assert!(text.lines().any(|line| line.starts_with("// Expected:")), "{}", path.display());
    }
}

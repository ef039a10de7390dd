//! What litmus tests show, for programs. The form is described by `book/src/litmus.schema.json`.

use super::{Cut, Entry, Ran, Seen};
use fencepost_models::ModelSpec;
use serde::Serialize;

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// `litmus`.
    pub command: String,
    /// One for each file.
    pub results: Vec<LitmusResult>,
}

/// What came of a file.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusResult {
    /// The file.
    pub file: String,
    /// What is wrong with it, if it is unsupported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
    /// The test, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<LitmusTest>,
}

/// A test and what it shows.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusTest {
    /// Its name.
    pub name: String,
    /// `X86`, `X86_64` or `C`.
    pub arch: String,
    /// `Allowed`, `Forbidden` or `Required`.
    pub kind: String,
    /// The condition with its quantifier.
    pub condition: String,
    /// herd's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// What it shows under each model.
    pub models: Vec<LitmusModel>,
}

/// What a test shows under a model.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusModel {
    /// The model.
    pub model: String,
    /// What went wrong while it ran; then there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// `Ok`, `No`, `Loop Ok`, `Loop No` or `Undef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// `Never`, `Sometimes` or `Always`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<String>,
    /// How many states satisfy the condition.
    pub positive: usize,
    /// How many do not.
    pub negative: usize,
    /// The states, as herd writes them.
    pub states: Vec<String>,
    /// Why states may be missing; absent when none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Seconds.
    pub seconds: f64,
}

impl LitmusReport {
    /// The report on a list of files.
    pub fn new(version: &str, entries: &[Entry]) -> Self {
        let results = entries.iter().map(|entry| match entry {
            Entry::Ran(ran) => LitmusResult {
                file: ran.file.clone(),
                unsupported: None,
                test: Some(LitmusTest::new(ran)),
            },
            Entry::Unsupported(file, why) => {
                LitmusResult { file: file.clone(), unsupported: Some(why.clone()), test: None }
            }
        });
        LitmusReport {
            fencepost: version.into(),
            command: "litmus".into(),
            results: results.collect(),
        }
    }
}

impl LitmusTest {
    fn new(ran: &Ran) -> Self {
        let test = &ran.test;
        LitmusTest {
            name: test.name.clone(),
            arch: test.arch.name().into(),
            kind: test.kind().into(),
            condition: test.question(),
            hash: test.hash.clone(),
            models: ran.models.iter().map(|(model, seen)| result(ran, model, seen)).collect(),
        }
    }
}

fn result(ran: &Ran, model: &ModelSpec, seen: &Result<Seen, String>) -> LitmusModel {
    let mut result = LitmusModel {
        model: model.name.to_string(),
        fault: None,
        verdict: None,
        observation: None,
        positive: 0,
        negative: 0,
        states: Vec::new(),
        incomplete: None,
        seconds: 0.0,
    };
    match seen {
        Err(fault) => result.fault = Some(fault.clone()),
        Ok(seen) => {
            result.verdict = Some(seen.verdict(ran.test.quantifier).into());
            result.observation = Some(seen.observation().into());
            (result.positive, result.negative) = (seen.shown.positive, seen.shown.negative);
            result.states = seen.shown.states.iter().map(|state| ran.test.state(state)).collect();
            result.incomplete = seen.cut.as_ref().map(|cut| match cut {
                Cut::Buffers(bound) => format!("at most {bound} pending accesses"),
                Cut::Limit(why) => why.clone(),
            });
            result.seconds = (seen.seconds * 1e6).round() / 1e6;
        }
    }
    result
}

//! The results of litmus tests as JSON. `book/src/litmus.schema.json` describes the format.

use super::{Entry, Incomplete, ModelResult, TestRun};
use fencepost_models::ModelSpec;
use serde::Serialize;

/// The output of `fencepost litmus --format json`.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `litmus`.
    pub command: String,
    /// One result for each file.
    pub results: Vec<LitmusResult>,
}

/// The result for a file.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusResult {
    /// The file name.
    pub file: String,
    /// The error, if the file is unsupported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
    /// The test and its results, if the file is supported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<LitmusTest>,
}

/// A test and its results.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusTest {
    /// The name of the test.
    pub name: String,
    /// `X86`, `X86_64` or `C`.
    pub arch: String,
    /// `Allowed`, `Forbidden` or `Required`.
    pub kind: String,
    /// The condition with its quantifier.
    pub condition: String,
    /// herd's hash, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The result under each model.
    pub models: Vec<LitmusModel>,
}

/// The result of a test under a model.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusModel {
    /// The model's name.
    pub model: String,
    /// The fault, if the test has one; then the other fields are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// `Ok`, `No`, `Loop Ok`, `Loop No` or `Undef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// `Never`, `Sometimes`, `Always` or `Undef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<String>,
    /// The number of states that satisfy the condition.
    pub positive: usize,
    /// The number of states that do not satisfy the condition.
    pub negative: usize,
    /// The states, as herd writes them.
    pub states: Vec<String>,
    /// Why states may be missing; absent when the list is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The duration in seconds.
    pub seconds: f64,
}

impl LitmusReport {
    /// Creates a report on a list of files.
    pub fn new(version: &str, entries: &[Entry]) -> Self {
        let results = entries.iter().map(|entry| match entry {
            Entry::TestRun(run) => LitmusResult {
                file: run.file.clone(),
                unsupported: None,
                test: Some(LitmusTest::new(run)),
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
    fn new(run: &TestRun) -> Self {
        let test = &run.test;
        LitmusTest {
            name: test.name.clone(),
            arch: test.arch.name().into(),
            kind: test.kind().into(),
            condition: test.quantified_condition(),
            hash: test.hash.clone(),
            models: run.models.iter().map(|(model, result)| record(run, model, result)).collect(),
        }
    }
}

fn record(run: &TestRun, model: &ModelSpec, result: &Result<ModelResult, String>) -> LitmusModel {
    let mut record = LitmusModel {
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
    match result {
        Err(fault) => record.fault = Some(fault.clone()),
        Ok(result) => {
            record.verdict = Some(result.verdict(run.test.quantifier).into());
            record.observation = Some(result.observation().into());
            (record.positive, record.negative) = (result.shown.positive, result.shown.negative);
            record.states =
                result.shown.states.iter().map(|state| run.test.format_state(state)).collect();
            record.incomplete = result.incomplete.as_ref().map(|incomplete| match incomplete {
                Incomplete::Buffers(bound) => format!("at most {bound} pending accesses"),
                Incomplete::Limit(why) => why.clone(),
            });
            record.seconds = (result.seconds * 1e6).round() / 1e6;
        }
    }
    record
}

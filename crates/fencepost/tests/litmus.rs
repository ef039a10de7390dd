//! The output of `fencepost litmus --format json` matches its schema.

use serde_json::Value;
use std::process::Command;

const SCHEMA: &str = include_str!("../../../book/src/litmus.schema.json");

fn report(paths: &[&str]) -> Value {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    let command = command.current_dir(root).args(["litmus", "--format", "json"]).args(paths);
    let output = command.output().expect("the program starts");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Checks the keys, types and enum words of a value against a part of the schema.
fn check(value: &Value, part: &Value, schema: &Value, at: &str) {
    if let Some(reference) = part["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').expect("within the file");
        let part = schema.pointer(pointer).expect("a definition");
        return check(value, part, schema, at);
    }
    if let Some(words) = part["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value}");
    }
    match part["type"].as_str() {
        Some("object") => {
            let properties = part["properties"].as_object().expect("an object has properties");
            let object = value.as_object().unwrap_or_else(|| panic!("{at} is no object"));
            for (key, value) in object {
                let part = properties.get(key).unwrap_or_else(|| panic!("{at}.{key} is unknown"));
                check(value, part, schema, &format!("{at}.{key}"));
            }
            for key in part["required"].as_array().expect("a list of keys") {
                let key = key.as_str().expect("a key");
                assert!(object.contains_key(key), "{at} has no {key}");
            }
        }
        Some("array") => {
            let all = value.as_array().unwrap_or_else(|| panic!("{at} is no array"));
            all.iter().for_each(|value| check(value, &part["items"], schema, at));
        }
        Some("string") => assert!(value.is_string(), "{at}"),
        Some("integer") => assert!(value.is_u64(), "{at}"),
        Some("number") => assert!(value.is_number(), "{at}"),
        _ => {}
    }
}

#[test]
fn reports_match_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let report = report(&["corpus/x86", "corpus/litmus/SB.fp"]);
    check(&report, &schema, &schema, "report");
    let results = report["results"].as_array().expect("a list");
    assert!(results.len() > 50, "the corpus is complete");
    let unsupported = results.iter().filter(|result| result["unsupported"].is_string());
    assert_eq!(unsupported.count(), 1, "a program in another language is not a test");
}

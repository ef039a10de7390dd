//! Measurements as files: one JSON document for each commit, with a line for each row.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The measurements of a commit. A row has the type `R`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Record<R> {
    /// The short hash of the commit.
    pub(crate) commit: String,
    /// Whether files differed from the commit.
    pub(crate) modified: bool,
    /// The time limit of a row in seconds.
    pub(crate) limit: u64,
    /// The rows.
    pub(crate) rows: Vec<R>,
}

impl<R: Serialize + DeserializeOwned> Record<R> {
    /// Returns a record without rows for the checked-out commit.
    pub(crate) fn of_commit(root: &Path, limit: u64) -> Result<Self, String> {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(root).output();
            let output = output.map_err(|error| format!("cannot start git: {error}"))?;
            match output.status.success() {
                true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
                false => Err(format!("git {}: fails", arguments.join(" "))),
            }
        };
        let commit = git(&["rev-parse", "--short", "HEAD"])?;
        let modified = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
        Ok(Record { commit, modified, limit, rows: Vec::new() })
    }

    /// Reads a record.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// Writes the record, with a line for each row.
    pub(crate) fn write(&self, file: &Path) -> Result<(), String> {
        let rows: Result<Vec<String>, _> = self.rows.iter().map(serde_json::to_string).collect();
        let rows = rows.map_err(|e| e.to_string())?.join(",\n");
        let text = format!(
            "{{\"commit\":\"{}\",\"modified\":{},\"limit\":{},\"rows\":[\n{rows}\n]}}\n",
            self.commit, self.modified, self.limit
        );
        fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// Writes the record into `bench/record/`, with a prefix before the hash of the commit.
    pub(crate) fn keep(&self, root: &Path, prefix: &str) -> Result<(), String> {
        let file = root.join(format!("bench/record/{prefix}{}.json", self.commit));
        self.write(&file)?;
        println!("recorded in {}", file.display());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let rows = vec![("a".to_string(), 7), ("b".to_string(), 8)];
        let record = Record { commit: "abc".into(), modified: false, limit: 10, rows };
        let file = std::env::temp_dir().join(format!("fencepost-record-{}", std::process::id()));
        record.write(&file).expect("a file is written");
        let found = Record::read(&file);
        fs::remove_file(&file).expect("the file exists");
        assert_eq!(found.expect("a record"), record);
    }
}

//! Builds the binary that `bench` and `compare` measure.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the release binary and returns its path.
pub(crate) fn build(root: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "--release", "--quiet", "--package", "fencepost"];
    let status = Command::new(cargo).args(arguments).current_dir(root).status();
    match status {
        Ok(status) if status.success() => {
            let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
            Ok(root.join(target).join("release/fencepost"))
        }
        Ok(_) => Err("the release build fails".into()),
        Err(error) => Err(format!("cannot start cargo: {error}")),
    }
}

//! The memory limit of a search: its default, and sizes on the command line.

use std::fs;

/// The assumed memory size if it cannot be read.
const FALLBACK_BYTES: u64 = 4 << 30;

/// Returns the default memory limit: 60 % of the memory of the machine or of the container,
/// whichever is less.
pub(crate) fn default_limit() -> u64 {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| total_memory(&text));
    let container = read("/sys/fs/cgroup/memory.max").and_then(|t| t.trim().parse::<u64>().ok());
    let memory = machine.into_iter().chain(container).min().unwrap_or(FALLBACK_BYTES);
    memory / 10 * 6
}

/// Returns the total memory in bytes, from the text of `/proc/meminfo`.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Parses a size in bytes, such as `512M`, `4G`, `1.5GiB` or `1000000`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let error = || "expected a size such as 512M or 4G".to_string();
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return Err(error()),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    let bytes = number * factor as f64;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_have_units_and_fractions() {
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_size("1000"), Ok(1000));
        for invalid in ["", "G", "0", "-1", "1e9", "12X", "1.2.3M", "99999999T", "NaN"] {
            assert!(parse_size(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn total_memory_is_read_from_meminfo() {
        let meminfo = "MemTotal:       24600036 kB\nMemFree: 1 kB\n";
        assert_eq!(total_memory(meminfo), Some(24600036 * 1024));
        assert_eq!(total_memory("nothing"), None);
        assert!(default_limit() > 0);
    }
}

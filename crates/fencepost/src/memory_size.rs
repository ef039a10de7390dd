//! How much memory there is, and how much a search may use.

use std::fs;

/// Used when the machine does not tell.
const UNKNOWN: u64 = 4 << 30;

/// What a search may use when nothing else is said: 60 % of the machine's memory, or of what its
/// container may use.
pub(crate) fn default_limit() -> u64 {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| total(&text));
    let container = read("/sys/fs/cgroup/memory.max").and_then(|t| t.trim().parse::<u64>().ok());
    let memory = machine.into_iter().chain(container).min().unwrap_or(UNKNOWN);
    memory / 10 * 6
}

/// The total of `/proc/meminfo`.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// A size as people write it: `512M`, `4G`, `1.5GiB`, `1000000`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "not a size; write it like 512M or 4G".to_string();
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * factor as f64;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_size("1000"), Ok(1000));
        for wrong in ["", "G", "0", "-1", "1e9", "12X", "1.2.3M", "99999999T", "NaN"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_machine_tells_its_memory() {
        assert_eq!(total("MemTotal:       24600036 kB\nMemFree: 1 kB\n"), Some(24600036 * 1024));
        assert_eq!(total("nothing"), None);
        assert!(default_limit() > 0);
    }
}

//! Runs an outside program and measures its CPU time.
//!
//! The limit is on CPU seconds, so a busy machine does not change which runs reach it. Where
//! the CPU time of another process cannot be read, wall-clock seconds take its place.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The wall-clock time after which a process that uses little CPU time is killed, as a multiple of
/// the limit on CPU time.
const WALL_FACTOR: u32 = 10;

/// The time between two looks at a running process.
const POLL: Duration = Duration::from_millis(1);

/// A process that has ended or was killed.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// Its standard output.
    pub(crate) output: String,
    /// Its standard error.
    pub(crate) errors: String,
    /// Whether it ended with exit code 0.
    pub(crate) success: bool,
    /// Whether it was killed at the limit.
    pub(crate) was_killed: bool,
    /// CPU seconds of the process and the processes that it waited for.
    pub(crate) cpu_seconds: f64,
}

/// Runs a command with a limit on its CPU time. Output goes to files in `folder`, so a full pipe
/// cannot block the process. The CPU time is that of all child processes that end
/// during the run, so a caller that measures runs one process at a time.
pub(crate) fn run(
    command: &mut Command,
    folder: &Path,
    limit: Duration,
) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let complain = |error: std::io::Error| format!("{name}: {error}");
    // Another benchmark or another thread may run in the same folder.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = |kind: &str| folder.join(format!("{kind}-{}-{number}", std::process::id()));
    let (output, errors) = (file("output"), file("errors"));
    command.stdin(Stdio::null());
    command.stdout(File::create(&output).map_err(complain)?);
    command.stderr(File::create(&errors).map_err(complain)?);
    let before = cpu_of_children();
    let start = Instant::now();
    let mut child = command.spawn().map_err(complain)?;
    let mut was_killed = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(complain)? {
            break status;
        }
        let elapsed = start.elapsed();
        if !was_killed
            && (cpu_of(&child).unwrap_or(elapsed) > limit || elapsed > limit * WALL_FACTOR)
        {
            was_killed = true;
            child.kill().map_err(complain)?;
        }
        std::thread::sleep(POLL);
    };
    let wall = start.elapsed();
    let cpu = match (before, cpu_of_children()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => wall,
    };
    let take = |path: &Path| {
        let bytes = fs::read(path)?;
        fs::remove_file(path).map(|()| String::from_utf8_lossy(&bytes).into_owned())
    };
    let (output, errors) = (take(&output).map_err(complain)?, take(&errors).map_err(complain)?);
    Ok(Finished {
        output,
        errors,
        success: status.success(),
        was_killed,
        cpu_seconds: cpu.as_secs_f64(),
    })
}

/// Returns the CPU time of all child processes that have ended.
#[cfg(unix)]
fn cpu_of_children() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let used = usage.user_time() + usage.system_time();
    u64::try_from(used.num_microseconds()).ok().map(Duration::from_micros)
}

/// Returns the CPU time of a running process.
#[cfg(target_os = "linux")]
fn cpu_of(child: &Child) -> Option<Duration> {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).ok()?);
    let clock = nix::time::clock_getcpuclockid(pid).ok()?;
    clock.now().ok().map(Duration::from)
}

#[cfg(not(unix))]
fn cpu_of_children() -> Option<Duration> {
    None
}

#[cfg(not(target_os = "linux"))]
fn cpu_of(_: &Child) -> Option<Duration> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Finished {
        let mut command = Command::new("sh");
        run(command.args(["-c", script]), &std::env::temp_dir(), limit).expect("sh can be started")
    }

    #[test]
    fn output_and_exit_codes_are_read() {
        let found = shell("echo out; echo err >&2; exit 3", Duration::from_secs(10));
        assert_eq!((found.output.as_str(), found.errors.as_str()), ("out\n", "err\n"));
        assert!(!found.success && !found.was_killed);
    }

    #[test]
    fn a_process_is_killed_at_the_limit_on_cpu_time() {
        let limit = Duration::from_millis(100);
        let found = shell("while :; do :; done", limit);
        assert!(found.was_killed && !found.success);
        assert!(found.cpu_seconds >= limit.as_secs_f64(), "{}", found.cpu_seconds);
        assert!(!shell("sleep 0.3", limit).was_killed, "waiting needs no CPU time");
    }
}

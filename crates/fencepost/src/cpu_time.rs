//! The CPU time of this process and of this thread.
//!
//! The standard library has no clock for it. On systems without a supported clock the CPU time is
//! unknown.

use std::time::Duration;

/// Returns the CPU time that all threads of this process have used. Programs that this process
/// starts, such as SPIN, are not included.
pub(crate) fn cpu_time() -> Option<Duration> {
    clocks::process()
}

/// Returns the CPU time that this thread has used.
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    clocks::thread()
}

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
))]
mod clocks {
    use nix::time::ClockId;
    use std::time::Duration;

    pub(super) fn process() -> Option<Duration> {
        ClockId::CLOCK_PROCESS_CPUTIME_ID.now().ok().map(Duration::from)
    }

    pub(super) fn thread() -> Option<Duration> {
        ClockId::CLOCK_THREAD_CPUTIME_ID.now().ok().map(Duration::from)
    }
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
mod clocks {
    use std::time::Duration;

    pub(super) fn process() -> Option<Duration> {
        None
    }

    pub(super) fn thread() -> Option<Duration> {
        None
    }
}

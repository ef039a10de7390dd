//! The CPU time of this process and of this thread.
//!
//! The standard library has no clock for it. On systems without a supported clock the CPU time is
//! unknown.

use std::time::Duration;

/// Returns the CPU time that all threads of this process have used. Programs that this process
/// starts, such as SPIN, are not included.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
))]
pub(crate) fn cpu_time() -> Option<Duration> {
    nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID.now().ok().map(Duration::from)
}

/// Returns the CPU time that this thread has used.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
))]
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID.now().ok().map(Duration::from)
}

/// Returns nothing: this system has no supported clock.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
pub(crate) fn cpu_time() -> Option<Duration> {
    None
}

/// Returns nothing: this system has no supported clock.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    None
}

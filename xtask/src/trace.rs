//! `cargo xtask trace`: prints a long random execution for `fencepost monitor`.
//!
//! The figures in the book's chapter on the monitor are measured with such executions.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask trace EVENTS THREADS ADDRESSES plain|fenced|mixed

  plain   loads and stores
  fenced  the same with a full fence after each store; no event is borderline
  mixed   one event of five is a fence or an update";

/// The events besides loads and stores.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mix {
    Plain,
    Fenced,
    Mixed,
}

/// Prints the execution that the arguments describe.
pub(crate) fn trace(arguments: &[String]) -> ExitCode {
    let Some((sizes, mix)) = parse(arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match print(sizes, mix, &mut BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the execution: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<([u64; 3], Mix)> {
    let [sizes @ .., mix] = arguments else { return None };
    let mix = match mix.as_str() {
        "plain" => Mix::Plain,
        "fenced" => Mix::Fenced,
        "mixed" => Mix::Mixed,
        _ => return None,
    };
    let sizes: Vec<u64> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
    let sizes: [u64; 3] = sizes.try_into().ok()?;
    sizes.iter().all(|size| *size > 0).then_some((sizes, mix))
}

fn print([events, threads, addresses]: [u64; 3], mix: Mix, out: &mut dyn Write) -> io::Result<()> {
    // A xorshift generator with a fixed seed: every call prints the same execution.
    let mut state = 88_172_645_463_325_252u64;
    let mut below = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % limit
    };
    let (mut thread, mut needs_fence) = (0, false);
    for _ in 0..events {
        if !needs_fence && below(4) == 0 {
            thread = below(threads);
        }
        let (address, number) = (below(addresses), below(100));
        write!(out, "{{\"thread\":{thread},\"op\":")?;
        if needs_fence || (mix == Mix::Mixed && number < 5) {
            needs_fence = false;
            writeln!(out, "\"fence\"}}")?;
        } else if mix == Mix::Mixed && number < 15 {
            let kind = if number < 10 { "store_store" } else { "store_load" };
            writeln!(out, "\"fence\",\"kind\":\"{kind}\"}}")?;
        } else {
            let op = match number {
                15..20 if mix == Mix::Mixed => "update",
                _ if number % 5 < 3 => "load",
                _ => "store",
            };
            needs_fence = op == "store" && mix == Mix::Fenced;
            writeln!(out, "\"{op}\",\"address\":{address}}}")?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_has_the_requested_size() {
        let arguments: Vec<String> = ["1000", "3", "7", "fenced"].map(String::from).to_vec();
        let (sizes, mix) = parse(&arguments).expect("valid arguments");
        let mut text = Vec::new();
        print(sizes, mix, &mut text).expect("a vector accepts all bytes");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.lines().count(), 1000);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        for part in ["\"thread\":2", "\"address\":6", "\"load\"", "\"store\"", "\"fence\""] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("\"thread\":3") && !text.contains("\"address\":7"));
        assert!(parse(&arguments[1..]).is_none());
    }
}

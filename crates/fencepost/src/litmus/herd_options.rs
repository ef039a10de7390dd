//! Options of herd on `fencepost litmus`: `-model x86tso`, `-timeout 10`.
//!
//! herd's options have one dash. An option with an equivalent is translated. Any other option of
//! herd is an error that names our option or says why none is needed.

use std::ffi::{OsStr, OsString};

/// What becomes of an option of herd.
enum Equivalent {
    /// Our option, with the same value.
    Option(&'static str),
    /// Our option `--model`, with our name of the model.
    Model,
    /// Our option without a value.
    Flag(&'static str),
    /// There is none; with the reason and what to use instead.
    None(&'static str),
}

/// Returns the equivalent of an option of herd, without its dash.
fn equivalent(option: &str) -> Option<Equivalent> {
    Some(match option {
        "model" => Equivalent::Model,
        "timeout" => Equivalent::Option("--time"),
        "format" => Equivalent::Option("--format"),
        "j" => Equivalent::Option("--threads"),
        "help" => Equivalent::Flag("--help"),
        "I" | "set-libdir" | "bell" | "cat" | "macros" => Equivalent::None(
            "models are built in and need no library: choose one, or a model file, with --model",
        ),
        "conf" => Equivalent::None("configuration files are not read: write options as arguments"),
        "show" | "gv" | "evince" | "graph" | "dotcom" | "dotmode" | "view" | "showevents"
        | "showlegend" | "unshow" | "doshow" | "showinitwrites" => Equivalent::None(
            "executions are not drawn: `fencepost check TEST` prints a run that decides the \
             condition, and `fencepost check TEST --dot FILE` draws it",
        ),
        "unroll" => Equivalent::None(
            "loops are explored completely and not unrolled: --max-buffer limits pending accesses, \
             and --max-states limits the search",
        ),
        "names" | "excl" | "select" | "rename" | "kinds" | "conds" => {
            Equivalent::None("choose tests by their paths, or with a list of paths: @FILE")
        }
        "variant" | "arch" | "c11" | "through" | "skipcheck" | "skipchecks" | "strictskip"
        | "speedcheck" | "optace" | "initwrites" | "hexa" | "badexecs" | "badflag" | "auto"
        | "candidates" | "archcheck" | "suffix" | "throughflag" | "statelessrc11" => {
            Equivalent::None("there is no equivalent: remove the option")
        }
        "v" => Equivalent::None("there are no levels of detail: --format json prints all results"),
        _ => return None,
    })
}

/// Returns our name of a model of herd.
fn model(name: &str) -> Option<&'static str> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    Some(match name.strip_suffix(".cat").unwrap_or(name) {
        "sc" | "SC" => "sc",
        "tso" | "TSO" | "x86tso" | "x86tso-mixed" | "x86" => "tso",
        "pso" | "PSO" => "pso",
        "rmo" | "RMO" => "rmo",
        "rmo-nospec" => "rmo-nospec",
        _ => return None,
    })
}

/// Translates the options of herd in the arguments of the program. Only the arguments of
/// `fencepost litmus` change. The error is a message about one option.
pub(crate) fn translate(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let command = arguments.iter().position(|word| word == "litmus");
    let Some(command) = command.filter(|at| is_command(&arguments[..*at])) else {
        return Ok(arguments);
    };
    if arguments.get(command + 1).is_some_and(|word| word == "generate" || word == "help") {
        return Ok(arguments);
    }
    let mut translated = arguments[..=command].to_vec();
    let mut rest = arguments.into_iter().skip(command + 1);
    while let Some(word) = rest.next() {
        if word == "--" {
            translated.push(word);
            translated.extend(rest);
            break;
        }
        let text = word.to_str().and_then(|text| text.strip_prefix('-'));
        let Some(known) = text.and_then(equivalent) else {
            translated.push(word);
            continue;
        };
        let option = text.unwrap_or_default();
        let mut value =
            || rest.next().ok_or_else(|| format!("herd's option -{option} needs a value after it"));
        match known {
            Equivalent::Flag(ours) => translated.push(ours.into()),
            Equivalent::Option(ours) => translated.extend([ours.into(), value()?]),
            Equivalent::Model => {
                let name = value()?;
                let ours = name.to_str().and_then(model).ok_or_else(|| unknown_model(&name))?;
                translated.extend(["--model".into(), ours.into()]);
            }
            Equivalent::None(reason) => {
                return Err(format!("herd's option -{option} is not supported: {reason}"));
            }
        }
    }
    Ok(translated)
}

/// Returns whether the words before a word leave it as the command: only `--color` precedes it.
fn is_command(before: &[OsString]) -> bool {
    let text: Vec<&str> = before.iter().skip(1).filter_map(|word| word.to_str()).collect();
    match text[..] {
        [] => true,
        [one] => one.starts_with("--color="),
        [option, _] => option == "--color",
        _ => false,
    }
}

fn unknown_model(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    format!("herd's model `{name}` is not known: try --model sc, tso, pso, rmo, or a model file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Result<String, String> {
        let words = line.split(' ').map(OsString::from).collect();
        let words = translate(words)?;
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap_or("?")).collect();
        Ok(words.join(" "))
    }

    #[test]
    fn options_with_an_equivalent_are_translated() {
        for (given, expected) in [
            ("f litmus -model x86tso a", "f litmus --model tso a"),
            ("f litmus -model lib/sc.cat a", "f litmus --model sc a"),
            ("f --color never litmus -timeout 3 a", "f --color never litmus --time 3 a"),
            ("f litmus -j 2 -format json a -q", "f litmus --threads 2 --format json a -q"),
            ("f litmus --to fp -o dir a", "f litmus --to fp -o dir a"),
            // Only options of this command, and only before `--`.
            ("f litmus -- -model", "f litmus -- -model"),
            ("f check -model x86tso", "f check -model x86tso"),
            ("f check litmus -model x86tso", "f check litmus -model x86tso"),
            ("f litmus generate -model x", "f litmus generate -model x"),
        ] {
            assert_eq!(translated(given).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn other_options_of_herd_name_ours() {
        for (given, expected) in [
            ("f litmus -I lib a", "--model"),
            ("f litmus -show prop a", "fencepost check"),
            ("f litmus -unroll 4 a", "--max-buffer"),
            ("f litmus -names list a", "@FILE"),
            ("f litmus -model linux-kernel.cat a", "--model sc, tso, pso, rmo"),
            ("f litmus -variant mixed a", "remove the option"),
            ("f litmus -model", "needs a value"),
        ] {
            let error = translated(given).expect_err(given);
            assert!(error.contains(expected) && error.contains("herd"), "{error}");
        }
    }
}

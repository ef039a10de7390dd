//! From the command line to a question for inference; complaints about options that make no sense.

use super::{Inferring, complaint};
use crate::args::{Infer, Method};
use crate::input::{self, Source, Unusable};
use crate::output::Output;
use fencepost_frontends::Request;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_ir::{Problem, Property, Quantifier, Written};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// Everything that is needed to begin; complaints otherwise.
pub(super) fn prepare<'a>(
    options: &'a Infer,
    output: &Output,
) -> Result<Inferring<'a>, Vec<InputError>> {
    let mut wrong = Vec::new();
    let mut complain = |about: &str, message: String| {
        wrong.push(complaint(about, message, output));
    };
    let stdin = Path::new("-");
    if options.file == stdin && options.write {
        let message = "--write needs a file: standard input cannot be written; use -o FILE";
        complain("--write", message.into());
    }
    if options.output.as_deref() == Some(stdin) {
        complain("--output", "-o needs the name of a file".into());
    }
    let model = input::model(options.model.trim()).map_err(|m| complain("--model", m)).ok();
    let clients = clients(options).map_err(|m| complain("--clients", m)).ok();
    let source = Source::read(&options.file).map_err(|m| complain(&input::shown(&options.file), m));
    let (Some(model), Some(clients), Ok(source)) = (model, clients, source) else {
        return Err(wrong);
    };
    let abstraction = abstraction(options, &model).map_err(|m| complain("--domain", m)).ok();
    let (Some(abstraction), []) = (abstraction, &wrong[..]) else { return Err(wrong) };
    let texts = Some(&clients[..]).filter(|clients| !clients.is_empty());
    let request = Request { clients: texts, places: true };
    let lowered = source.lower_for(&request, output).map_err(|Unusable(errors)| errors);
    let (text, problems) = lowered?;
    let asks = |p: &Property| matches!(p, Property::Final(Quantifier::Exists, _));
    let asking = problems.iter().any(|p| p.properties.iter().any(asks));
    let (menu, restrictions) = allowed(options, &model, &problems)
        .map_err(|(about, message)| vec![complaint(about, message, output)])?;
    let written = if options.from_scratch { Written::Dropped } else { Written::Kept };
    let candidates = Candidates::new(&problems, &menu, &restrictions, written);
    Ok(Inferring {
        options,
        source,
        text,
        clients,
        model,
        problems,
        candidates,
        abstraction,
        asking,
    })
}

/// The abstraction asked for, if any.
fn abstraction(options: &Infer, model: &ModelSpec) -> Result<Option<(Domain, u32)>, String> {
    if !options.abstraction.is_given() {
        return Ok(None);
    }
    let (domain, k) = options.abstraction.choice();
    match options.method {
        Method::Lazy => Err("--domain and --k need --method fixpoint".into()),
        Method::Fixpoint if model.abstracted(domain, k, true).is_none() => {
            Err("--domain needs tso or pso".into())
        }
        Method::Fixpoint => Ok(Some((domain, k))),
    }
}

/// The clients asked for; none stands for those of the file.
fn clients(options: &Infer) -> Result<Vec<String>, String> {
    let mut clients = options.client.clone();
    if let Some(path) = &options.clients {
        let mut text = String::new();
        let read = if path == Path::new("-") {
            if options.file == *path {
                return Err("the program and the clients cannot both be standard input".into());
            }
            std::io::stdin().lock().read_to_string(&mut text).map(|_| ())
        } else {
            std::fs::read_to_string(path).map(|read| text = read)
        };
        read.map_err(|error| format!("cannot read the clients {}: {error}", input::shown(path)))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let before = clients.len();
        clients.extend(lines.map(String::from));
        if clients.len() == before {
            return Err(format!("there are no clients in {}", input::shown(path)));
        }
    }
    Ok(clients)
}

/// What may be placed, and where; otherwise which option is wrong, and how.
fn allowed(
    options: &Infer,
    model: &ModelSpec,
    problems: &[Problem],
) -> Result<(Menu, Restrictions), (&'static str, String)> {
    let mut menu = match &options.fences[..] {
        [] => Menu::of(model),
        some => Menu::only(some),
    };
    for (kind, cost) in &options.cost {
        let offered = menu.dishes.iter().any(|(other, _)| other == kind);
        if *kind == Dish::Drain && !offered {
            let message = "--cost drain=N: drains are placed only if --fences names them".into();
            return Err(("--cost", message));
        }
        menu.charge(*kind, *cost);
    }
    let program = &problems[0].program;
    let places = program.places.iter().map(|place| program.label(place.label));
    let lines: BTreeSet<u32> = places.clone().map(|info| info.span.line).collect();
    let functions: BTreeSet<&str> = places.map(|info| info.function.as_str()).collect();
    if let Some(line) = options.forbid.iter().find(|line| !lines.contains(line)) {
        let known = listed(lines.iter().map(u32::to_string));
        let message = format!("--forbid {line}: no fence could stand there; one could at {known}");
        return Err(("--forbid", message));
    }
    if let Some(name) = options.only_in.iter().find(|name| !functions.contains(name.as_str())) {
        let known = listed(functions.iter().map(|name| format!("`{name}`")));
        let name = printable(name);
        let message = format!("--only-in {name}: there is no such function; there are {known}");
        return Err(("--only-in", message));
    }
    let restrictions = Restrictions {
        forbidden_lines: options.forbid.iter().copied().collect(),
        functions: options.only_in.iter().cloned().collect(),
    };
    Ok((menu, restrictions))
}

/// What there is, but not more than a reader wants to see.
fn listed(all: impl Iterator<Item = String>) -> String {
    const MOST: usize = 20;
    let all: Vec<String> = all.collect();
    match all.len() {
        0 => "none".into(),
        len if len > MOST => format!("{}, ... ({len} in all)", all[..MOST].join(", ")),
        _ => all.join(", "),
    }
}

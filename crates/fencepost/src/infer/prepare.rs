//! From the command line to questions for inference; complaints about options that make no sense.

use super::{Inferring, Input, complaint};
use crate::args::{Infer, Method, Verifier};
use crate::input::{self, Source, Unusable};
use crate::output::Output;
use fencepost_frontends::litmus::forbid::forbid;
use fencepost_frontends::{FenceSyntax, Request};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_ir::Written;
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// What is to be repaired; complaints otherwise.
pub(super) fn prepare<'a>(
    options: &'a Infer,
    output: &Output,
) -> Result<Input<'a>, Vec<InputError>> {
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
    let models = input::models(&options.model);
    let models = models.map_err(|all| all.into_iter().for_each(|m| complain("--model", m))).ok();
    let writes = [("--write", options.write), ("--output", options.output.is_some())];
    if let (Some((option, _)), Some([_, _, ..])) =
        (writes.iter().find(|(_, wanted)| *wanted), models.as_deref())
    {
        let message = format!("{option} takes one model: each has fences of its own");
        complain(option, message);
    }
    let clients = clients(options).map_err(|m| complain("--clients", m)).ok();
    let source = Source::read(&options.file).map_err(|m| complain(&input::shown(&options.file), m));
    let (Some(models), Some(clients), Ok(source), []) = (models, clients, source, &wrong[..])
    else {
        return Err(wrong);
    };
    let texts = Some(&clients[..]).filter(|clients| !clients.is_empty());
    let request = Request { clients: texts, places: true };
    let lowered = source.lower_for(&request, output).map_err(|Unusable(errors)| errors);
    let (text, mut problems) = lowered?;
    let fences = source.frontend.fences(&text);
    let mut taken = None;
    // A robust test has the outcomes it has under SC, whatever is asked about them.
    if source.is_litmus() && options.engine != Verifier::Robust {
        taken = forbid(&text, &mut problems);
    }
    let asking = problems.iter().any(|p| !p.sometimes.is_empty());
    Ok(Input { options, source, text, clients, models, problems, fences, taken, asking })
}

impl Input<'_> {
    /// The questions, one for each model; complaints otherwise.
    pub(super) fn ask(&self, output: &Output) -> Result<Vec<Inferring<'_>>, Vec<InputError>> {
        let mut wrong = Vec::new();
        let mut all = Vec::new();
        for model in &self.models {
            match self.question(model) {
                Ok(question) => all.push(question),
                Err((about, message)) => wrong.push(complaint(about, message, output)),
            }
        }
        wrong.dedup();
        if wrong.is_empty() { Ok(all) } else { Err(wrong) }
    }

    fn question<'a>(
        &'a self,
        model: &'a ModelSpec,
    ) -> Result<Inferring<'a>, (&'static str, String)> {
        let abstraction = abstraction(self.options, model).map_err(|m| ("--domain", m))?;
        let menu = menu(self.options, model, &self.fences)?;
        let restrictions = self.restrictions()?;
        let written = if self.options.from_scratch { Written::Dropped } else { Written::Kept };
        let candidates = Candidates::new(&self.problems, &menu, &restrictions, written);
        Ok(Inferring { input: self, model, candidates, abstraction })
    }

    /// Where fences may be put; otherwise which option is wrong, and how.
    fn restrictions(&self) -> Result<Restrictions, (&'static str, String)> {
        let (options, program) = (self.options, &self.problems[0].program);
        let places = program.places.iter().map(|place| program.label(place.label));
        let lines: BTreeSet<u32> = places.clone().map(|info| info.span.line).collect();
        let functions: BTreeSet<&str> = places.map(|info| info.function.as_str()).collect();
        if let Some(line) = options.forbid.iter().find(|line| !lines.contains(line)) {
            let known = listed(lines.iter().map(u32::to_string));
            let message =
                format!("--forbid {line}: no fence could stand there; one could at {known}");
            return Err(("--forbid", message));
        }
        if let Some(name) = options.only_in.iter().find(|name| !functions.contains(name.as_str())) {
            let known = listed(functions.iter().map(|name| format!("`{name}`")));
            let name = printable(name);
            let message = format!("--only-in {name}: there is no such function; there are {known}");
            return Err(("--only-in", message));
        }
        Ok(Restrictions {
            forbidden_lines: options.forbid.iter().copied().collect(),
            functions: options.only_in.iter().cloned().collect(),
        })
    }
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

/// What may be placed; otherwise which option is wrong, and how.
fn menu(
    options: &Infer,
    model: &ModelSpec,
    fences: &FenceSyntax,
) -> Result<Menu, (&'static str, String)> {
    let cost = |dish: &Dish| match dish {
        Dish::Fence(kinds) => fences.insertable(*kinds).map(|fence| fence.cost),
        Dish::Drain => fences.drain.map(|_| dish.usual_price()),
    };
    let mut asked = Vec::new();
    for dish in &options.fences {
        let Some(cost) = cost(dish) else {
            let (name, language) = (dish.name(), fences.language);
            let known = fences
                .offered()
                .map(|fence| format!("{} ({})", Dish::Fence(fence.kinds).name(), fence.short()));
            let known = known.collect::<Vec<_>>().join(", ");
            let message = format!("--fences {name}: {language} has no such fence; it has {known}");
            return Err(("--fences", message));
        };
        asked.push((*dish, cost));
    }
    let mut menu = if asked.is_empty() {
        Menu::useful(model, fences.offered().map(|fence| (fence.kinds, fence.cost)))
    } else {
        Menu::new(asked)
    };
    for (kind, cost) in &options.cost {
        let offered = menu.dishes.iter().any(|(other, _)| other == kind);
        if *kind == Dish::Drain && !offered {
            let message = "--cost drain=N: drains are placed only if --fences names them".into();
            return Err(("--cost", message));
        }
        menu.charge(*kind, *cost);
    }
    Ok(menu)
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

//! From paths to programs: files, directories, standard input, model files.

use crate::output::Output;
use fencepost_frontends::{Frontend, Request};
use fencepost_ir::{Diagnostics, Problem, Span};
use fencepost_models::ModelSpec;
use fencepost_report::diagnostics::render;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Standard input on the command line.
const STDIN: &str = "-";

/// No source is longer; more is not even read.
const LONGEST: u64 = 1 << 25;

/// A source text and who understands it.
pub(crate) struct Source {
    /// What the reader calls it.
    pub(crate) name: String,
    /// Where it is; none for standard input.
    pub(crate) path: Option<PathBuf>,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Who understands it.
    pub(crate) frontend: &'static dyn Frontend,
}

/// Something wrong with an input, already said on standard error.
pub(crate) struct Unusable(pub(crate) Vec<InputError>);

/// The files that paths stand for: directories are searched for programs, in the order of their names.
pub(crate) fn expand(path: &Path) -> Result<Vec<PathBuf>, String> {
    let told = |error: io::Error| format!("cannot read {}: {error}", shown(path));
    if path.as_os_str() == STDIN || !fs::metadata(path).map_err(told)?.is_dir() {
        return Ok(vec![path.into()]);
    }
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect())
        .map_err(told)?;
    entries.sort();
    for entry in entries {
        // A link to a directory may lead back up, so it is not followed.
        let kind = fs::symlink_metadata(&entry).map_err(told)?.file_type();
        if kind.is_dir() {
            found.extend(expand(&entry)?);
        } else if frontend(&entry).is_some() {
            found.push(entry);
        }
    }
    Ok(found)
}

fn frontend(path: &Path) -> Option<&'static dyn Frontend> {
    fencepost_frontends::by_extension(path.extension()?.to_str()?)
}

/// A path for a message.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

impl Source {
    /// Reads a file, or standard input.
    pub(crate) fn read(path: &Path) -> Result<Source, String> {
        let mut bytes = Vec::new();
        if path.as_os_str() == STDIN {
            let told = |error| format!("cannot read standard input: {error}");
            io::stdin().lock().take(LONGEST).read_to_end(&mut bytes).map_err(told)?;
            let frontend = fencepost_frontends::by_extension("fp").expect("our own language");
            return Ok(Source { name: "<stdin>".into(), path: None, bytes, frontend });
        }
        let name = shown(path);
        let frontend = frontend(path).ok_or_else(|| {
            format!("cannot tell the language of {name}: its name does not end in .fp or .litmus")
        })?;
        let told = |error: io::Error| format!("cannot read {name}: {error}");
        let file = fs::File::open(path).map_err(told)?;
        file.take(LONGEST).read_to_end(&mut bytes).map_err(told)?;
        Ok(Source { name, path: Some(path.into()), bytes, frontend })
    }

    /// From a trace file.
    pub(crate) fn embedded(file: &str, text: &str) -> Source {
        let own = || fencepost_frontends::by_extension("fp").expect("our own language");
        Source {
            name: printable(file),
            path: None,
            bytes: text.into(),
            frontend: frontend(Path::new(file)).unwrap_or_else(own),
        }
    }

    /// Whether it is a litmus test.
    pub(crate) fn is_litmus(&self) -> bool {
        self.frontend.name() == "litmus"
    }

    /// The text; what cannot be read as UTF-8 is replaced and complained about.
    pub(crate) fn text(&self, diagnostics: &mut Diagnostics) -> String {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                let before = String::from_utf8_lossy(&self.bytes[..error.valid_up_to()]);
                let line = before.matches('\n').count() as u32 + 1;
                let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
                let start = error.valid_up_to() as u32;
                let span = Span { start, end: start + 1, line, column };
                diagnostics
                    .error("FP0001", span, "the file is not UTF-8 text")
                    .label("these bytes mean nothing")
                    .hint("save the file with the encoding UTF-8");
                String::from_utf8_lossy(&self.bytes).into_owned()
            }
        }
    }

    /// The programs it describes. What the front end has to say goes to standard error.
    pub(crate) fn lower(&self, output: &Output) -> Result<(String, Vec<Problem>), Unusable> {
        self.lower_for(&Request::default(), output)
    }

    /// The same, for these clients; for its own, if there are none.
    pub(crate) fn lower_clients(
        &self,
        clients: &[String],
        output: &Output,
    ) -> Result<(String, Vec<Problem>), Unusable> {
        let clients = Some(clients).filter(|clients| !clients.is_empty());
        self.lower_for(&Request { clients, ..Request::default() }, output)
    }

    /// The same, as asked for.
    pub(crate) fn lower_for(
        &self,
        request: &Request<'_>,
        output: &Output,
    ) -> Result<(String, Vec<Problem>), Unusable> {
        let mut diagnostics = Diagnostics::new();
        let text = self.text(&mut diagnostics);
        let problems = if diagnostics.has_errors() {
            None
        } else {
            self.frontend.lower_for(&text, request, &mut diagnostics)
        };
        output.message(&render(&diagnostics, &self.name, &text, output.paint_messages));
        let all = || diagnostics.sorted().iter().map(|d| InputError::new(&self.name, d)).collect();
        Ok((text, problems.ok_or_else(|| Unusable(all()))?))
    }
}

/// A model by its name, or from a file.
pub(crate) fn model(name: &str) -> Result<ModelSpec, String> {
    if let Some(model) = ModelSpec::by_name(name) {
        return Ok(model);
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|e| e != "toml") {
        let known: Vec<_> = ModelSpec::builtin().into_iter().map(|m| m.name).collect();
        return Err(format!(
            "there is no model `{}`; there are {}, and model files (*.toml)",
            printable(name),
            known.join(", ")
        ));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read the model {}: {error}", shown(path)))?;
    let model = ModelSpec::from_toml(&text).map_err(|wrong| {
        let lines: Vec<String> = wrong.trim_end().lines().map(printable).collect();
        format!("the model {}: {}", shown(path), lines.join("\n"))
    })?;
    if ModelSpec::by_name(&model.name).is_some() {
        return Err(format!(
            "the model {}: the name `{}` belongs to a built-in model",
            shown(path),
            model.name
        ));
    }
    Ok(model)
}

/// The models asked for, each once, in the order asked for; all complaints otherwise.
pub(crate) fn models(names: &[String]) -> Result<Vec<ModelSpec>, Vec<String>> {
    let mut models: Vec<ModelSpec> = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match model(name.trim()) {
            Ok(model) if models.contains(&model) => {}
            Ok(model) if models.iter().any(|m| m.name == model.name) => {
                wrong.push(format!("two models are called `{}`", model.name));
            }
            Ok(model) => models.push(model),
            Err(message) => wrong.push(message),
        }
    }
    if wrong.is_empty() { Ok(models) } else { Err(wrong) }
}

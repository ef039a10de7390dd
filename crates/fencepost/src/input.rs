//! From paths to programs: files, directories, standard input, model files.

use crate::output::Output;
use fencepost::source::decode;
use fencepost::{Lowering, Source, SourceError};
use fencepost_ir::Diagnostics;
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

/// An input file, read but not parsed.
pub(crate) struct InputFile {
    /// What the reader calls it.
    pub(crate) name: String,
    /// Where it is; none for standard input.
    pub(crate) path: Option<PathBuf>,
    bytes: Vec<u8>,
    /// The file extension that tells the language.
    extension: String,
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
        } else if language(&entry).is_some() {
            found.push(entry);
        }
    }
    Ok(found)
}

/// The file extension, if it tells a language.
fn language(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    fencepost_frontends::by_extension(extension).map(|_| extension.into())
}

/// A path for a message.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

impl InputFile {
    /// Reads a file, or standard input.
    pub(crate) fn read(path: &Path) -> Result<InputFile, String> {
        let mut bytes = Vec::new();
        if path.as_os_str() == STDIN {
            let told = |error| format!("cannot read standard input: {error}");
            io::stdin().lock().take(LONGEST).read_to_end(&mut bytes).map_err(told)?;
            let (name, extension) = ("<stdin>".into(), "fp".into());
            return Ok(InputFile { name, path: None, bytes, extension });
        }
        let name = shown(path);
        let extension = language(path).ok_or_else(|| {
            format!("cannot tell the language of {name}: its name does not end in .fp or .litmus")
        })?;
        let told = |error: io::Error| format!("cannot read {name}: {error}");
        let file = fs::File::open(path).map_err(told)?;
        file.take(LONGEST).read_to_end(&mut bytes).map_err(told)?;
        Ok(InputFile { name, path: Some(path.into()), bytes, extension })
    }

    /// The text; what cannot be read as UTF-8 is replaced and reported.
    pub(crate) fn text(&self, diagnostics: &mut Diagnostics) -> String {
        decode(&self.bytes, diagnostics)
    }

    /// The programs it describes, for these clients; for its own, if there are none. What the front end has to
    /// say goes to standard error.
    pub(crate) fn parse(&self, clients: &[String], output: &Output) -> Result<Source, Unusable> {
        self.parse_with(Lowering { clients: clients.to_vec(), places: false }, output)
    }

    /// The same, lowered in a special way.
    pub(crate) fn parse_with(
        &self,
        lowering: Lowering,
        output: &Output,
    ) -> Result<Source, Unusable> {
        let say = |diagnostics: &Diagnostics, text: &str| {
            output.message(&render(diagnostics, &self.name, text, output.paint_messages));
        };
        match Source::from_bytes(&self.name, &self.bytes, &self.extension, lowering) {
            Ok(source) => {
                say(source.warnings(), source.text());
                Ok(source)
            }
            Err(SourceError::Invalid(invalid)) => {
                say(&invalid.diagnostics, &invalid.text);
                let all = invalid.diagnostics.sorted();
                Err(Unusable(all.iter().map(|d| InputError::new(&self.name, d)).collect()))
            }
            Err(error) => unreachable!("the language is known: {error}"),
        }
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
        let lines: Vec<String> = wrong.to_string().trim_end().lines().map(printable).collect();
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

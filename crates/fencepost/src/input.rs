//! Reads programs and models from files, directories and standard input.

use crate::args::CPrograms;
use crate::file_names::FileNames;
use crate::output::Output;
use crate::reader::{MAX_SOURCE_BYTES, read_all, read_file, read_text};
use fencepost::source::decode;
use fencepost::{Lowering, Preprocessing, Source, SourceError};
use fencepost_ir::Diagnostics;
use fencepost_models::ModelSpec;
use fencepost_report::Paint;
use fencepost_report::diagnostics::render;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of standard input on the command line.
const STDIN: &str = "-";

/// An input file, read but not parsed.
pub(crate) struct InputFile {
    /// The name for messages.
    pub(crate) name: String,
    /// The path, or `None` for standard input and other streams, which cannot be replaced.
    pub(crate) path: Option<PathBuf>,
    bytes: Vec<u8>,
    /// The file extension, which determines the language.
    extension: String,
    /// Macros and included files, for C.
    preprocessing: Preprocessing,
}

/// Errors in an input, already printed to standard error.
pub(crate) struct PrintedErrors(pub(crate) Vec<InputError>);

/// Returns the files that a path denotes. A directory denotes all programs in it, recursively,
/// sorted by name. Pipes, sockets and devices in a directory are skipped with a note: reading them
/// may take forever.
pub(crate) fn expand(path: &Path, output: &Output) -> Result<Vec<PathBuf>, String> {
    let message = |error: io::Error| format!("cannot read {}: {error}", display_path(path));
    if path.as_os_str() == STDIN || !fs::metadata(path).map_err(message)?.is_dir() {
        return Ok(vec![path.into()]);
    }
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect())
        .map_err(message)?;
    entries.sort();
    for entry in entries {
        // Links to directories are not followed, because they may form a cycle.
        let kind = fs::symlink_metadata(&entry).map_err(message)?.file_type();
        if kind.is_dir() {
            found.extend(expand(&entry, output)?);
        } else if language(&entry).is_some() {
            if is_stream(&entry) {
                let name = display_path(&entry);
                output.message(&format!("note: {name} is skipped: it is not a regular file\n"));
            } else {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

/// Returns the file extension if it is that of a known language.
fn language(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    fencepost_frontends::by_extension(extension).map(|_| extension.into())
}

/// Whether a path denotes a pipe, a socket or a device.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Returns a path as printable text.
pub(crate) fn display_path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

impl InputFile {
    /// Reads a file, or standard input. A stream without a file extension, such as the `<(...)` of a
    /// shell, contains a program in Fencepost's language, as standard input does.
    pub(crate) fn read(path: &Path, options: &CPrograms) -> Result<InputFile, String> {
        if path.as_os_str() == STDIN {
            let message = |error| format!("cannot read standard input: {error}");
            let bytes = read_all(io::stdin().lock(), MAX_SOURCE_BYTES).map_err(message)?;
            let (name, extension) = ("<stdin>".into(), "fp".into());
            let preprocessing = preprocessing(options, None);
            return Ok(InputFile { name, path: None, bytes, extension, preprocessing });
        }
        let name = display_path(path);
        let is_stream = is_stream(path);
        let extension =
            language(path).or_else(|| is_stream.then(|| "fp".into())).ok_or_else(|| {
                format!(
                    "{name} has an unknown language: the file name must end in .fp, .litmus or .c"
                )
            })?;
        let message = |error: io::Error| format!("cannot read {name}: {error}");
        let bytes = read_file(path, MAX_SOURCE_BYTES).map_err(message)?;
        let path = (!is_stream).then(|| path.into());
        let preprocessing = preprocessing(options, path.as_deref());
        Ok(InputFile { name, path, bytes, extension, preprocessing })
    }

    /// Returns the text. Bytes that are not UTF-8 are replaced and reported.
    pub(crate) fn text(&self, diagnostics: &mut Diagnostics) -> String {
        decode(&self.bytes, diagnostics)
    }

    /// Parses the file and lowers it for these clients, or for the clients in the file if there are
    /// none. Prints diagnostics to standard error.
    pub(crate) fn parse(
        &self,
        clients: &[String],
        allow_hangs: bool,
        output: &Output,
    ) -> Result<Source, PrintedErrors> {
        let clients = clients.to_vec();
        self.parse_with(Lowering { clients, allow_hangs, ..Lowering::default() }, output)
    }

    /// Parses the file and lowers it as requested. Prints diagnostics to standard error.
    pub(crate) fn parse_with(
        &self,
        lowering: Lowering,
        output: &Output,
    ) -> Result<Source, PrintedErrors> {
        let (source, messages) = self.parse_quietly(lowering, output.paint_messages);
        output.message(&messages);
        source.map_err(PrintedErrors)
    }

    /// Parses the file and lowers it as requested. Also returns its diagnostics, ready to print.
    pub(crate) fn parse_quietly(
        &self,
        lowering: Lowering,
        paint: Paint,
    ) -> (Result<Source, Vec<InputError>>, String) {
        let lowering = Lowering { preprocessing: self.preprocessing.clone(), ..lowering };
        let messages =
            |diagnostics: &Diagnostics, text: &str| render(diagnostics, &self.name, text, paint);
        match Source::from_bytes(&self.name, &self.bytes, &self.extension, lowering) {
            Ok(source) => {
                let messages = messages(source.warnings(), source.text());
                (Ok(source), messages)
            }
            Err(SourceError::Invalid(invalid)) => {
                let all = invalid.diagnostics.sorted();
                let errors = all.iter().map(|d| InputError::new(&self.name, d)).collect();
                (Err(errors), messages(&invalid.diagnostics, &invalid.text))
            }
            Err(error) => unreachable!("`read` accepts only known languages: {error}"),
        }
    }
}

/// Returns how C programs are preprocessed: included files are those next to the including file and
/// those in the given directories. `main` is the path of the main file.
fn preprocessing(options: &CPrograms, main: Option<&Path>) -> Preprocessing {
    let folders = options.folders.clone();
    let names = FileNames::default();
    main.into_iter().for_each(|main| names.add_main(main));
    let find_file = move |including: &str, name: &str, angled: bool| {
        let own = Path::new(including).parent().filter(|_| !angled).map(Path::to_path_buf);
        own.iter().chain(&folders).find_map(|folder| {
            let path = folder.join(name);
            let bytes = read_file(&path, MAX_SOURCE_BYTES).ok()?;
            Some((names.name(&path), String::from_utf8_lossy(&bytes).into_owned()))
        })
    };
    Preprocessing {
        defines: options.defines.clone(),
        forced_includes: options.includes.clone(),
        find_file: Some(Arc::new(find_file)),
    }
}

/// Returns the built-in model of this name, or reads a model file.
pub(crate) fn model(name: &str) -> Result<ModelSpec, String> {
    if let Some(model) = ModelSpec::by_name(name) {
        return Ok(model);
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|e| e != "toml") {
        let known: Vec<_> = ModelSpec::builtin().into_iter().map(|m| m.name).collect();
        return Err(format!(
            "unknown model `{}`: use {}, or the path of a model file (*.toml)",
            printable(name),
            known.join(", ")
        ));
    }
    let text = read_text(path)
        .map_err(|error| format!("cannot read the model file {}: {error}", display_path(path)))?;
    let model = ModelSpec::from_toml(&text).map_err(|error| {
        let lines: Vec<String> = error.to_string().trim_end().lines().map(printable).collect();
        format!("invalid model file {}: {}", display_path(path), lines.join("\n"))
    })?;
    if ModelSpec::by_name(&model.name).is_some() {
        return Err(format!(
            "invalid model file {}: `{}` is the name of a built-in model; choose another name",
            display_path(path),
            model.name
        ));
    }
    Ok(model)
}

/// Returns the models of these names, in order, without duplicates. Returns all errors if there are
/// any.
pub(crate) fn models(names: &[String]) -> Result<Vec<ModelSpec>, Vec<String>> {
    let mut models: Vec<ModelSpec> = Vec::new();
    let mut errors = Vec::new();
    for name in names {
        match model(name.trim()) {
            Ok(model) if models.contains(&model) => {}
            Ok(model) if models.iter().any(|m| m.name == model.name) => {
                errors.push(format!("two models have the name `{}`", model.name));
            }
            Ok(model) => models.push(model),
            Err(message) => errors.push(message),
        }
    }
    if errors.is_empty() { Ok(models) } else { Err(errors) }
}

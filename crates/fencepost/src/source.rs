//! Source texts and the programs they lower to.

use fencepost_frontends::c::PreprocessOptions;
use fencepost_frontends::c::preprocess::FindFile as CFindFile;
use fencepost_frontends::repair::Changes;
use fencepost_frontends::{Frontend, Request, by_extension};
use fencepost_ir::{Diagnostics, Problem, Span};
use fencepost_report::Paint;
use fencepost_report::diagnostics::render;
use fencepost_report::trace_file::{IncludedFile, PreprocessingRecord};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A source text without errors, and its programs.
///
/// A source has one program. A library has one program for each of its clients.
///
/// ```
/// use fencepost::Source;
///
/// let source = Source::parse("mp.fp", "shared int x; thread p { x = 1; } thread q { r = x; }")?;
/// assert_eq!(source.programs().len(), 1);
/// # Ok::<(), fencepost::SourceError>(())
/// ```
#[derive(Clone)]
pub struct Source {
    name: String,
    text: String,
    frontend: &'static dyn Frontend,
    lowering: Lowering,
    /// The macros and the included files. Lowering the text again reads no files.
    preprocessing: PreprocessingRecord,
    programs: Vec<Problem>,
    warnings: Diagnostics,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The reason why a text is not a source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SourceError {
    /// The file extension is not that of a known language.
    UnknownLanguage {
        /// The name of the source.
        name: String,
    },
    /// The text has errors.
    Invalid(InvalidSource),
}

/// A text with errors.
#[derive(Clone, Debug)]
pub struct InvalidSource {
    /// The name of the source, for messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

impl SourceError {
    /// Returns the diagnostics, if the text was parsed.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            SourceError::UnknownLanguage { .. } => None,
            SourceError::Invalid(invalid) => Some(&invalid.diagnostics),
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::UnknownLanguage { name } => write!(
                f,
                "{name} has an unknown language: the file name must end in .fp, .litmus or .c"
            ),
            SourceError::Invalid(InvalidSource { name, text, diagnostics }) => {
                f.write_str(render(diagnostics, name, text, Paint::Plain).trim_end())
            }
        }
    }
}

impl std::error::Error for SourceError {}

/// Options of lowering.
#[derive(Clone, Debug, Default)]
pub struct Lowering {
    /// Clients of a library to use instead of those in the text.
    pub clients: Vec<String>,
    /// Whether to mark the places where fences can be put, for repairs.
    pub places: bool,
    /// Whether to mark the accesses whose memory order can be changed, too. Requires `places`.
    pub orders: bool,
    /// Whether to allow hangs, as `property may_hang;` does.
    pub allow_hangs: bool,
    /// How a C program is preprocessed.
    pub preprocessing: Preprocessing,
}

/// Finds an included file of a C program: from the name of the including file, the name in the
/// directive, and whether that is in `<...>`. Returns the name for messages and the text.
pub type FindFile = dyn Fn(&str, &str, bool) -> Option<(String, String)> + Send + Sync;

/// How a C program is preprocessed.
#[derive(Clone, Default)]
pub struct Preprocessing {
    /// Macro definitions: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Files to include before the program.
    pub forced_includes: Vec<String>,
    /// Finds included files. Without it, there are only the headers of Fencepost.
    pub find_file: Option<Arc<FindFile>>,
}

/// The included files that a front end asked for.
#[derive(Default)]
struct Included(Mutex<Vec<IncludedFile>>);

impl Included {
    /// Finds a file and records it.
    fn find(
        &self,
        find_file: &CFindFile<'_>,
        asked: (&str, &str, bool),
    ) -> Option<(String, String)> {
        let (from, name, angled) = asked;
        let (file, text) = find_file(from, name, angled)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(IncludedFile {
            from: from.into(),
            name: name.into(),
            angled,
            file: file.clone(),
            text: text.clone(),
        });
        Some((file, text))
    }
}

impl From<PreprocessingRecord> for Preprocessing {
    /// Finds the recorded files only.
    fn from(record: PreprocessingRecord) -> Self {
        let PreprocessingRecord { defines, forced_includes, files } = record;
        let find_file = move |from: &str, name: &str, angled: bool| {
            let is_asked = |file: &&IncludedFile| {
                (&*file.from, &*file.name, file.angled) == (from, name, angled)
            };
            files.iter().find(is_asked).map(|file| (file.file.clone(), file.text.clone()))
        };
        Preprocessing { defines, forced_includes, find_file: Some(Arc::new(find_file)) }
    }
}

impl Preprocessing {
    fn options(&self) -> PreprocessOptions<'_> {
        let Preprocessing { defines, forced_includes, find_file } = self;
        let options = PreprocessOptions { defines, forced_includes, ..Default::default() };
        match find_file {
            Some(find_file) => PreprocessOptions { find_file: &**find_file, ..options },
            None => options,
        }
    }
}

impl fmt::Debug for Preprocessing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options().fmt(f)
    }
}

impl Lowering {
    fn request<'a>(&'a self, name: &'a str) -> Request<'a> {
        let Lowering { clients, places, orders, allow_hangs, preprocessing } = self;
        let clients = Some(&clients[..]).filter(|all| !all.is_empty());
        let preprocessing = preprocessing.options();
        let (places, orders, allow_hangs) = (*places, *orders, *allow_hangs);
        Request { name, clients, places, orders, allow_hangs, preprocessing }
    }
}

impl Source {
    /// Parses a text. The extension of the name determines the language: `.fp`, `.litmus`
    /// or `.c`.
    pub fn parse(name: &str, text: &str) -> Result<Source, SourceError> {
        Source::parse_with(name, text, Lowering::default())
    }

    /// Parses a text as [`Source::parse`] does, with options for lowering.
    pub fn parse_with(name: &str, text: &str, lowering: Lowering) -> Result<Source, SourceError> {
        let unknown = || SourceError::UnknownLanguage { name: name.into() };
        let frontend = language(name).ok_or_else(unknown)?;
        Source::lower(name, text.into(), frontend, lowering, Diagnostics::new())
    }

    /// Parses bytes, which may be invalid UTF-8, in the language of a file extension.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        extension: &str,
        lowering: Lowering,
    ) -> Result<Source, SourceError> {
        let unknown = || SourceError::UnknownLanguage { name: name.into() };
        let frontend = by_extension(extension).ok_or_else(unknown)?;
        let mut diagnostics = Diagnostics::new();
        let text = decode(bytes, &mut diagnostics);
        Source::lower(name, text, frontend, lowering, diagnostics)
    }

    fn lower(
        name: &str,
        text: String,
        frontend: &'static dyn Frontend,
        lowering: Lowering,
        mut diagnostics: Diagnostics,
    ) -> Result<Source, SourceError> {
        let included = Included::default();
        let programs = if diagnostics.has_errors() {
            None
        } else {
            let request = lowering.request(name);
            let preprocessing = request.preprocessing;
            let find_file = |from: &str, name: &str, angled: bool| {
                included.find(preprocessing.find_file, (from, name, angled))
            };
            let preprocessing = PreprocessOptions { find_file: &find_file, ..preprocessing };
            frontend.lower_for(&text, &Request { preprocessing, ..request }, &mut diagnostics)
        };
        let preprocessing = PreprocessingRecord {
            defines: lowering.preprocessing.defines.clone(),
            forced_includes: lowering.preprocessing.forced_includes.clone(),
            files: included.0.into_inner().unwrap_or_else(PoisonError::into_inner),
        };
        let lowering = Lowering { preprocessing: preprocessing.clone().into(), ..lowering };
        let name = name.to_string();
        match programs {
            Some(mut programs) => {
                if lowering.allow_hangs {
                    programs.iter_mut().for_each(Problem::allow_hangs);
                }
                Ok(Source {
                    name,
                    text,
                    frontend,
                    lowering,
                    preprocessing,
                    programs,
                    warnings: diagnostics,
                })
            }
            None => Err(SourceError::Invalid(InvalidSource { name, text, diagnostics })),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the programs with their properties.
    pub fn programs(&self) -> &[Problem] {
        &self.programs
    }

    /// Returns the warnings of the front end.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Returns the front end of the language.
    pub fn frontend(&self) -> &'static dyn Frontend {
        self.frontend
    }

    /// Whether the source is a litmus test.
    pub fn is_litmus(&self) -> bool {
        self.frontend.name() == "litmus"
    }

    /// Returns the macros and the included files of a C program.
    pub fn preprocessing(&self) -> &PreprocessingRecord {
        &self.preprocessing
    }

    /// Returns the macros and the included files with changed texts.
    pub(crate) fn changed_preprocessing(&self, changes: &Changes) -> PreprocessingRecord {
        let mut record = self.preprocessing.clone();
        for included in &mut record.files {
            if let Some(text) = changes.included_text(&included.file) {
                included.text = text.into();
            }
        }
        record
    }

    /// Returns the options with which the text was lowered.
    pub(crate) fn request(&self) -> Request<'_> {
        self.lowering.request(&self.name)
    }

    /// Returns the source with the places for fences marked.
    pub(crate) fn with_places(&self) -> Cow<'_, Source> {
        if self.lowering.places {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.lowered_again(Lowering { places: true, ..self.lowering.clone() }))
    }

    /// Returns the source with the places for fences and the accesses with a memory order marked.
    pub(crate) fn with_orders(&self) -> Source {
        self.lowered_again(Lowering { places: true, orders: true, ..self.lowering.clone() })
    }

    /// Whether the accesses whose memory order can be changed are marked.
    pub(crate) fn marks_orders(&self) -> bool {
        self.lowering.orders
    }

    fn lowered_again(&self, lowering: Lowering) -> Source {
        let text = self.text.clone();
        let lowered = Source::lower(&self.name, text, self.frontend, lowering, Diagnostics::new());
        lowered.expect("marking places does not make a text invalid")
    }
}

/// Returns the front end for a file name.
fn language(name: &str) -> Option<&'static dyn Frontend> {
    by_extension(Path::new(name).extension()?.to_str()?)
}

/// Decodes UTF-8. Invalid bytes are replaced and reported.
pub fn decode(bytes: &[u8], diagnostics: &mut Diagnostics) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
            let start = error.valid_up_to() as u32;
            let span = Span { start, end: start + 1, line, column };
            diagnostics
                .error("FP0001", span, "the file is not UTF-8 text")
                .label("invalid bytes")
                .hint("save the file with the encoding UTF-8");
            String::from_utf8_lossy(bytes).into_owned()
        }
    }
}

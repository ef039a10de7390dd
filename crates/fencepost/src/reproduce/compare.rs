//! Compares the figures of a row with those of the paper, and explains differences.
//!
//! A part of a table has rules about its figures ([`Rule`]). A row agrees with the paper if all
//! rules hold and at least one of them compares a figure of the paper. Without such a figure there
//! is nothing to compare. A rule that does not hold is explained by its own note, or by the expected
//! difference of the row, or not at all.

use super::paper::Entry;
use super::run::Limit;
use fencepost_report::reproduction::{Figure, Figures, Row, Status};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The note of a difference without an explanation.
const UNKNOWN: &str = "The reason is not known.";

/// A requirement on a figure.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Rule {
    figure: String,
    /// The name of our figure, if it differs from the name of the paper's figure.
    with: Option<String>,
    test: Test,
    /// The name of a flag among our figures. If the flag is true, the rule holds.
    unless: Option<String>,
    /// If this is the figure of the paper, the rule holds.
    unless_paper: Option<Figure>,
    /// The name of a note that explains why the rule may fail.
    pub(super) note: Option<String>,
}

/// A test of a figure. If the paper has no figure, every comparison with it holds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Test {
    /// Equal to the figure of the paper.
    Equal,
    /// A list with the same members.
    SameSet,
    /// A list of steps with the same members, up to the thread that takes each step.
    #[serde(rename = "equal-but-for-the-thread")]
    EqualUpToThread,
    /// Both figures are zero, or neither is.
    SameSign,
    /// Less than in the paper.
    Less,
    /// At most this many times more or less than in the paper.
    Within(f64),
    /// This many times faster than in the paper, if the paper's time is at least `from` seconds.
    Faster { times: f64, from: f64 },
    /// Less than this number, or no figure.
    Below(f64),
    /// At least this number.
    AtLeast(f64),
    /// Equal to this figure.
    Is(Figure),
}

/// An expected difference of rows from the paper, with its explanation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    /// The expected figures of ours. A row with other figures is not explained.
    ours: BTreeMap<String, Figure>,
    /// The names of two figures of ours; the first one must be larger.
    more: Option<(String, String)>,
    pub(super) note: String,
}

/// The result of a rule for a row.
#[derive(Clone, Copy, Debug)]
struct RuleResult {
    holds: bool,
    /// Whether the paper has a figure that the rule compares.
    compares: bool,
}

impl Rule {
    /// Returns the names of the figures that the rule uses.
    pub(super) fn figures(&self) -> impl Iterator<Item = &str> {
        let others = self.with.iter().chain(&self.unless);
        others.chain([&self.figure]).map(String::as_str)
    }

    /// Returns whether the rule holds, and whether it compares a figure of the paper.
    fn check(&self, entry: &Entry<'_>, found: &OurFigures<'_>) -> RuleResult {
        let column = entry.column;
        let paper = column.paper.get(&self.figure).or_else(|| column.expected.get(&self.figure));
        let unless = self.unless.as_ref().and_then(|flag| found.get(flag));
        if unless == Some(&Figure::Flag(true))
            || self.unless_paper.as_ref().is_some_and(|word| paper == Some(word))
        {
            return RuleResult { holds: true, compares: false };
        }
        let ours = found.get(self.with.as_ref().unwrap_or(&self.figure));
        RuleResult { holds: self.test.holds(ours, paper), compares: paper.is_some() }
    }
}

impl Test {
    fn holds(&self, ours: Option<&Figure>, paper: Option<&Figure>) -> bool {
        // Both closures return true if the paper has no figure.
        let both = |related: fn(&Figure, &Figure) -> bool| {
            paper.is_none_or(|paper| ours.is_some_and(|ours| related(ours, paper)))
        };
        let our_size = ours.and_then(size);
        let sizes = |related: &dyn Fn(f64, f64) -> bool| {
            let paper = paper.and_then(size);
            paper.is_none_or(|paper| our_size.is_some_and(|ours| related(ours, paper)))
        };
        match self {
            Test::Equal => both(|ours, paper| ours == paper),
            Test::SameSet => both(|ours, paper| members(ours) == members(paper)),
            Test::EqualUpToThread => both(|ours, paper| steps(ours) == steps(paper)),
            Test::SameSign => sizes(&|ours, paper| (ours > 0.0) == (paper > 0.0)),
            Test::Less => sizes(&|ours, paper| ours < paper),
            Test::Within(times) => {
                sizes(&|ours, paper| ours <= paper * times && paper <= ours * times)
            }
            Test::Faster { times, from } => {
                sizes(&|ours, paper| paper < *from || ours * times <= paper)
            }
            Test::Below(most) => our_size.is_none_or(|ours| ours < *most),
            Test::AtLeast(least) => our_size.is_some_and(|ours| ours >= *least),
            Test::Is(figure) => ours == Some(figure),
        }
    }
}

impl Difference {
    /// Returns the names of the figures that the difference uses.
    pub(super) fn figures(&self) -> impl Iterator<Item = &str> {
        let more = self.more.iter().flat_map(|(larger, smaller)| [larger, smaller]);
        self.ours.keys().chain(more).map(String::as_str)
    }

    /// Whether the figures of a row are the expected ones.
    fn matches(&self, found: &OurFigures<'_>) -> bool {
        let number = |name: &str| found.get(name).and_then(size);
        self.ours.iter().all(|(name, figure)| found.get(name) == Some(figure))
            && self.more.as_ref().is_none_or(|(larger, smaller)| number(larger) > number(smaller))
    }
}

/// Our figures of a row, by the names of the paper.
struct OurFigures<'a> {
    entry: &'a Entry<'a>,
    figures: &'a Figures,
}

impl<'a> OurFigures<'a> {
    fn get(&self, name: &str) -> Option<&'a Figure> {
        self.figures.get(self.entry.part.our_name(name))
    }
}

/// Returns a count or a number of seconds as a number.
fn size(figure: &Figure) -> Option<f64> {
    match figure {
        Figure::Number(number) => Some(*number as f64),
        Figure::Seconds(seconds) => Some(*seconds),
        Figure::Flag(_) | Figure::Word(_) | Figure::List(_) => None,
    }
}

fn members(figure: &Figure) -> Option<BTreeSet<&str>> {
    match figure {
        Figure::List(texts) => Some(texts.iter().map(String::as_str).collect()),
        Figure::Number(_) | Figure::Seconds(_) | Figure::Flag(_) | Figure::Word(_) => None,
    }
}

/// Returns the steps in a list, without their threads.
fn steps(figure: &Figure) -> Option<BTreeSet<&str>> {
    let step = |text| str::split_once(text, ' ').map_or(text, |(_, step)| step);
    members(figure).map(|texts| texts.into_iter().map(step).collect())
}

/// Compares a row with the paper. Returns the row to print.
pub(super) fn compare_row(entry: &Entry<'_>, found: Result<Figures, Limit>) -> Row {
    let (ours, status, note) = match &found {
        Ok(figures) => {
            let found = OurFigures { entry, figures };
            let note = difference(entry, &found);
            let mut rules = entry.part.compare.iter().map(|rule| rule.check(entry, &found));
            let status = match &note {
                Some(_) => Status::Differs,
                None if rules.any(|rule| rule.compares) => Status::Agrees,
                None => Status::NothingToCompare,
            };
            let ours = entry.part.select(|name| found.get(name));
            (ours, status, note.or_else(|| entry.note().map(Into::into)))
        }
        Err(Limit(limit)) => {
            let note = [Some(limit.as_str()), entry.remark()].into_iter().flatten();
            (Figures::new(), Status::Limit, Some(note.collect::<Vec<_>>().join("; ")))
        }
    };
    Row {
        cpu_seconds: None,
        group: entry.row.group.clone(),
        part: entry.part_title().into(),
        row: entry.name(),
        column: entry.column_name(),
        paper: entry.part.select(|name| entry.column.paper.get(name)),
        ours,
        status,
        note: note.unwrap_or_default(),
    }
}

/// Returns the explanation of a difference, or `None` if the row agrees with the paper.
fn difference(entry: &Entry<'_>, found: &OurFigures<'_>) -> Option<String> {
    let expected = entry.column.differs.iter().chain(&entry.part.differs);
    let expected = expected.into_iter().find(|differs| differs.matches(found));
    let expected = expected.map_or(UNKNOWN, |differs| entry.sentence(&differs.note));
    let mut reasons = Vec::new();
    for rule in entry.part.compare.iter().filter(|rule| !rule.check(entry, found).holds) {
        let reason = rule.note.as_ref().map_or(expected, |note| entry.sentence(note));
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test, its figures and the expected result.
    #[derive(Deserialize)]
    struct Case {
        test: Test,
        ours: Option<Figure>,
        paper: Option<Figure>,
        holds: bool,
    }

    #[test]
    fn figure_tests_have_the_expected_results() {
        let cases = [
            "test = 'equal'\nours = 2\npaper = 2\nholds = true",
            "test = 'equal'\nours = 2\npaper = 3\nholds = false",
            "test = 'equal'\nours = 2\nholds = true",
            "test = 'equal'\npaper = 2\nholds = false",
            "test = 'same-set'\nours = ['a', 'b']\npaper = ['b', 'a']\nholds = true",
            "test = 'same-set'\nours = ['a', 'b']\npaper = ['a']\nholds = false",
            "test = 'equal-but-for-the-thread'\nours = ['p gives up']\npaper = ['q gives up']\nholds = true",
            "test = 'equal-but-for-the-thread'\nours = ['p gives up']\npaper = ['p goes on']\nholds = false",
            "test = 'same-sign'\nours = 7\npaper = 1\nholds = true",
            "test = 'same-sign'\nours = 7\npaper = 0\nholds = false",
            "test = 'less'\nours = 0.9\npaper = 1.0\nholds = true",
            "test = 'less'\nours = 1.0\npaper = 1.0\nholds = false",
            "test = { within = 10 }\nours = 10\npaper = 100\nholds = true",
            "test = { within = 10 }\nours = 9\npaper = 100\nholds = false",
            "test = { within = 10 }\nours = 1001\npaper = 100\nholds = false",
            "test = { faster = { times = 20.0, from = 1.0 } }\nours = 0.1\npaper = 2.0\nholds = true",
            "test = { faster = { times = 20.0, from = 1.0 } }\nours = 0.2\npaper = 2.0\nholds = false",
            "test = { faster = { times = 20.0, from = 1.0 } }\nours = 5.0\npaper = 0.9\nholds = true",
            "test = { below = 0.1 }\nours = 0.1\nholds = false",
            "test = { below = 0.1 }\nholds = true",
            "test = { at-least = 4 }\nours = 4\nholds = true",
            "test = { at-least = 4 }\nholds = false",
            "test = { is = 'none' }\nours = 'none'\nholds = true",
            "test = { is = 'none' }\nours = 0\nholds = false",
        ];
        for text in cases {
            let case: Case = toml::from_str(text).expect("a case");
            let holds = case.test.holds(case.ours.as_ref(), case.paper.as_ref());
            assert_eq!(holds, case.holds, "{text}");
        }
    }
}

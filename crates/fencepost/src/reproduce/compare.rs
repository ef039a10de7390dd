//! Whether a row agrees with the paper, and why not.
//!
//! A part of a table has rules about its figures ([`Rule`]). A row agrees if all of them hold. A rule that does not hold
//! is explained by its own note, by the difference that the data expect of the row, or not at all.

use super::paper::Entry;
use super::run::Limit;
use fencepost_report::reproduction::{Figure, Figures, Row};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Nobody has found out yet.
const UNKNOWN: &str = "The reason is not known.";

/// What must hold for a figure.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Rule {
    figure: String,
    /// The figure of ours that is compared, if it has another name.
    with: Option<String>,
    test: Test,
    /// A flag among our figures; if it is true, nothing must hold.
    unless: Option<String>,
    /// If the paper says this, nothing must hold.
    unless_paper: Option<Figure>,
    /// Why it may not hold.
    pub(super) note: Option<String>,
}

/// How a figure is tested. Where the paper says nothing, every comparison with it holds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Test {
    /// The same as in the paper.
    Equal,
    /// A list with the same members.
    SameSet,
    /// A list of steps of threads that are alike, so that another thread may take them.
    EqualButForTheThread,
    /// Both are zero, or neither is.
    SameSign,
    /// Less than in the paper.
    Less,
    /// Not this many times more or less than in the paper.
    Within(f64),
    /// This many times faster than in the paper, where the paper needs so many seconds at least.
    Faster { times: f64, from: f64 },
    /// Less than this, if there is such a figure.
    Below(f64),
    /// At least this.
    AtLeast(f64),
    /// This.
    Is(Figure),
}

/// How rows differ from the paper, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    /// Our figures. A difference in other figures is not explained.
    ours: BTreeMap<String, Figure>,
    /// Two of our figures, the first of which is larger.
    more: Option<(String, String)>,
    pub(super) note: String,
}

impl Rule {
    /// The figures that it names.
    pub(super) fn figures(&self) -> impl Iterator<Item = &str> {
        let others = self.with.iter().chain(&self.unless);
        others.chain([&self.figure]).map(String::as_str)
    }

    fn holds(&self, entry: &Entry<'_>, found: &Found<'_>) -> bool {
        let column = entry.column;
        let paper = column.paper.get(&self.figure).or_else(|| column.expected.get(&self.figure));
        let unless = self.unless.as_ref().and_then(|flag| found.get(flag));
        if unless == Some(&Figure::Flag(true))
            || self.unless_paper.as_ref().is_some_and(|word| paper == Some(word))
        {
            return true;
        }
        let ours = found.get(self.with.as_ref().unwrap_or(&self.figure));
        self.test.holds(ours, paper)
    }
}

impl Test {
    fn holds(&self, ours: Option<&Figure>, paper: Option<&Figure>) -> bool {
        // Whether two figures are related; so it is where the paper has none.
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
            Test::EqualButForTheThread => both(|ours, paper| steps(ours) == steps(paper)),
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
    /// The figures that it names.
    pub(super) fn figures(&self) -> impl Iterator<Item = &str> {
        let more = self.more.iter().flat_map(|(larger, smaller)| [larger, smaller]);
        self.ours.keys().chain(more).map(String::as_str)
    }

    /// Whether it is what was found.
    fn fits(&self, found: &Found<'_>) -> bool {
        let number = |name: &str| found.get(name).and_then(size);
        self.ours.iter().all(|(name, figure)| found.get(name) == Some(figure))
            && self.more.as_ref().is_none_or(|(larger, smaller)| number(larger) > number(smaller))
    }
}

/// What was found out in a row, by the names of the paper.
struct Found<'a> {
    entry: &'a Entry<'a>,
    figures: &'a Figures,
}

impl<'a> Found<'a> {
    fn get(&self, name: &str) -> Option<&'a Figure> {
        self.figures.get(self.entry.part.own_name(name))
    }
}

/// A number, or seconds.
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

/// What is done in each step, without the thread that does it.
fn steps(figure: &Figure) -> Option<BTreeSet<&str>> {
    let step = |text| str::split_once(text, ' ').map_or(text, |(_, step)| step);
    members(figure).map(|texts| texts.into_iter().map(step).collect())
}

/// The row as it is shown.
pub(super) fn judged(entry: &Entry<'_>, found: Result<Figures, Limit>) -> Row {
    let (ours, agrees, note) = match &found {
        Ok(figures) => {
            let found = Found { entry, figures };
            let note = difference(entry, &found);
            let ours = entry.part.select(|name| found.get(name));
            (ours, note.is_none(), note.or_else(|| entry.note().map(Into::into)))
        }
        Err(Limit(met)) => {
            let note = [Some(met.as_str()), entry.remark()].into_iter().flatten();
            (Figures::new(), false, Some(note.collect::<Vec<_>>().join("; ")))
        }
    };
    Row {
        group: entry.row.group.clone(),
        part: entry.part_title().into(),
        row: entry.name(),
        column: entry.column_name(),
        paper: entry.part.select(|name| entry.column.paper.get(name)),
        ours,
        ran: found.is_ok(),
        agrees,
        note: note.unwrap_or_default(),
    }
}

/// Why a row differs, if it does.
fn difference(entry: &Entry<'_>, found: &Found<'_>) -> Option<String> {
    let expected = entry.column.differs.iter().chain(&entry.part.differs);
    let expected = expected.into_iter().find(|differs| differs.fits(found));
    let expected = expected.map_or(UNKNOWN, |differs| entry.sentence(&differs.note));
    let mut reasons = Vec::new();
    for rule in entry.part.compare.iter().filter(|rule| !rule.holds(entry, found)) {
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

    /// A test and the figures to which it is applied.
    #[derive(Deserialize)]
    struct Case {
        test: Test,
        ours: Option<Figure>,
        paper: Option<Figure>,
        holds: bool,
    }

    #[test]
    fn tests_hold_where_they_should() {
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

//! Tests output for readers: regular expressions are short and correct, DOT output is well-formed.

use crate::common::{MARKER, all_words, alphabet, language_of_words, star_of_words, tree};
use fencepost_automata::{Language, Languages, Letter};
use proptest::prelude::*;

fn x(value: i64) -> Letter {
    Letter { class: 0, value }
}

fn name(letter: Letter) -> String {
    format!("({},{})", ["x", "y"].get(letter.class as usize).unwrap_or(&"m"), letter.value)
}

/// Prints a letter as a single character.
fn character(letter: Letter) -> String {
    let at = alphabet()
        .iter()
        .position(|other| *other == letter)
        .expect("the letter must be in the alphabet");
    char::from(b'a' + u8::try_from(at).expect("the alphabet must be small")).to_string()
}

fn word(text: &str) -> Vec<Letter> {
    text.bytes().map(|byte| alphabet()[usize::from(byte - b'a')]).collect()
}

#[test]
fn expressions_match_the_paper() {
    let mut store = Languages::new();
    let both = star_of_words(&mut store, &[vec![x(1), x(0)]]);
    assert_eq!(store.regex(both, &name), "((x,1)(x,0))*");
    let one = store.word(&[x(1)]);
    let more = star_of_words(&mut store, &[vec![x(0), x(1)]]);
    let odd = store.concat(one, more);
    assert_eq!(store.regex(odd, &name), "(x,1)((x,0)(x,1))*");
    assert_eq!(store.regex(Language::EMPTY, &name), "∅");
    assert_eq!(store.regex(Language::EPSILON, &name), "ε");
    assert_eq!(store.regex(one, &name), "(x,1)");
}

/// Returns the union of `words`, followed by any number of the `repeated` words.
fn language(store: &mut Languages, words: &[&str], repeated: &[&str]) -> Language {
    let words_of = |texts: &[&str]| texts.iter().map(|text| word(text)).collect::<Vec<_>>();
    let begin = language_of_words(store, &words_of(words));
    let end = star_of_words(store, &words_of(repeated));
    store.concat(begin, end)
}

#[test]
fn expressions_are_short() {
    let rows: &[(&[&str], &[&str], &str)] = &[
        (&["ab"], &[], "ab"),
        (&["", "a"], &[], "a?"),
        (&["", "ab"], &[], "(ab)?"),
        (&["a", "b"], &[], "a|b"),
        (&["ab", "ac"], &[], "a(b|c)"),
        (&["ac", "bc"], &[], "(a|b)c"),
        (&["a", "ab"], &[], "ab?"),
        (&[""], &["a"], "a*"),
        (&["a"], &["a"], "aa*"),
        (&["", "a"], &["a"], "a*"),
        (&[""], &["a", "b"], "(a|b)*"),
        (&[""], &["a", "bc"], "(a|bc)*"),
        (&[""], &["ab", "ac"], "(a(b|c))*"),
        (&["c"], &["ab"], "c(ab)*"),
        (&["", "a"], &["ba"], "a?(ba)*"),
        (&["", "bc", "c"], &["abc"], "(b?c)?(abc)*"),
        (&["", "b"], &["a"], "b?a*"),
        (&["cd", "d"], &["abc"], "c?d(abc)*"),
        (&["", "a", "ab", "abc"], &[], "(a(bc?)?)?"),
    ];
    let mut store = Languages::new();
    for (words, repeated, expected) in rows {
        let l = language(&mut store, words, repeated);
        assert_eq!(store.regex(l, &character), *expected, "{words:?} {repeated:?}");
    }
}

/// A naive regular-expression matcher. Each method maps start positions in a word to all end
/// positions of matches. A starred atom is parsed again for each repetition.
struct Matcher<'a> {
    expression: &'a [char],
    at: usize,
}

impl Matcher<'_> {
    fn peek(&self) -> Option<char> {
        self.expression.get(self.at).copied()
    }

    fn alternation(&mut self, word: &str, starts: &[usize]) -> Vec<usize> {
        let mut ends = self.sequence(word, starts);
        while self.peek() == Some('|') {
            self.at += 1;
            ends.extend(self.sequence(word, starts));
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn sequence(&mut self, word: &str, starts: &[usize]) -> Vec<usize> {
        let mut ends = starts.to_vec();
        while self.peek().is_some_and(|next| next != '|' && next != ')') {
            ends = self.factor(word, &ends);
        }
        ends
    }

    fn factor(&mut self, word: &str, starts: &[usize]) -> Vec<usize> {
        let begin = self.at;
        let mut ends = self.atom(word, starts);
        while let Some(sign @ ('*' | '?')) = self.peek() {
            let after = self.at + 1;
            ends.extend(starts);
            if sign == '*' {
                for _ in 0..=word.len() {
                    self.at = begin;
                    let more = self.atom(word, &ends);
                    ends.extend(more);
                    ends.sort_unstable();
                    ends.dedup();
                }
            }
            self.at = after;
            assert!(
                !matches!(self.peek(), Some('*' | '?')),
                "an expression must not have two postfix operators in a row"
            );
        }
        ends
    }

    fn atom(&mut self, word: &str, starts: &[usize]) -> Vec<usize> {
        let next = self.peek();
        self.at += 1;
        match next.expect("the expression must not end here") {
            '(' => {
                let ends = self.alternation(word, starts);
                assert_eq!(self.peek(), Some(')'));
                self.at += 1;
                ends
            }
            'ε' => starts.to_vec(),
            '∅' => Vec::new(),
            letter => {
                let reads = |start: &&usize| word[**start..].starts_with(letter);
                starts.iter().filter(reads).map(|start| start + 1).collect()
            }
        }
    }
}

fn matches(expression: &str, word: &str) -> bool {
    let expression: Vec<char> = expression.chars().collect();
    let mut matcher = Matcher { expression: &expression, at: 0 };
    let ends = matcher.alternation(word, &[0]);
    assert_eq!(matcher.at, expression.len());
    ends.contains(&word.len())
}

#[test]
fn oracle_matches_examples() {
    for (expression, word, expected) in [
        ("a(b|c)*", "abcb", true),
        ("a(b|c)*", "aba", false),
        ("(ab)*a?", "aba", true),
        ("ε", "", true),
        ("∅", "", false),
        ("((a|b)c?)*", "acbba", true),
        ("((a|b)c?)*", "cc", false),
    ] {
        assert_eq!(matches(expression, word), expected, "{expression} {word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn expressions_match_exactly_the_language(tree in tree(), marker in any::<bool>()) {
        let mut store = Languages::new();
        let mut l = tree.build(&mut store);
        if marker {
            l = store.append_marker(l, Letter { class: MARKER, value: 0 }, None);
        }
        let expression = store.regex(l, &character);
        for word in all_words(4) {
            let text: String = word.iter().map(|letter| character(*letter)).collect();
            prop_assert_eq!(matches(&expression, &text), store.contains(l, &word), "{} {}", expression, text);
        }
    }
}

#[test]
fn too_long_expressions_show_the_number_of_states() {
    let mut store = Languages::new();
    let long = store.word(&vec![x(1); 5000]);
    assert_eq!(store.regex(long, &name), "⟨5001 states⟩");
    let hundred = store.word(&vec![x(1); 100]);
    assert_eq!(store.regex(hundred, &name), "(x,1)".repeat(100));
}

#[test]
fn dot_output_is_quoted_and_complete() {
    let mut store = Languages::new();
    let l = language(&mut store, &["a", "b"], &["cd"]);
    let expected = r#"digraph automaton {
  rankdir=LR;
  labelloc=t;
  label="buffer of \"P0\" \\ \n &amp;";
  start [shape=none, label="", width=0, height=0];
  q0 [shape=circle, label="0"];
  q1 [shape=doublecircle, label="1"];
  q2 [shape=circle, label="2"];
  start -> q0;
  q0 -> q1 [label="(x,0)\n(x,1)"];
  q1 -> q2 [label="(y,0)"];
  q2 -> q1 [label="(y,1)"];
}
"#;
    assert_eq!(store.dot(l, "buffer of \"P0\" \\ \n &", &name), expected);
    assert!(store.dot(Language::EMPTY, "", &name).contains("q0 [shape=circle"));
    assert!(store.dot(l, "", &|_| "\t".into()).contains("&#9;"));
}

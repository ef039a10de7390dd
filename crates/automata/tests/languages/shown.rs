//! What people see: expressions that are short and mean the language, drawings that Graphviz reads.

use crate::common::{MARKER, all_words, alphabet, any_number, of_words, tree};
use fencepost_automata::{Language, Languages, Letter};
use proptest::prelude::*;

fn x(value: i32) -> Letter {
    Letter { class: 0, value }
}

fn name(letter: Letter) -> String {
    format!("({},{})", ["x", "y"].get(letter.class as usize).unwrap_or(&"m"), letter.value)
}

/// Letters as single characters.
fn character(letter: Letter) -> String {
    let at =
        alphabet().iter().position(|other| *other == letter).expect("a letter of the alphabet");
    char::from(b'a' + u8::try_from(at).expect("a small alphabet")).to_string()
}

fn word(text: &str) -> Vec<Letter> {
    text.bytes().map(|byte| alphabet()[usize::from(byte - b'a')]).collect()
}

#[test]
fn expressions_of_the_paper() {
    let mut store = Languages::new();
    let both = any_number(&mut store, &[vec![x(1), x(0)]]);
    assert_eq!(store.regex(both, &name), "((x,1)(x,0))*");
    let one = store.word(&[x(1)]);
    let more = any_number(&mut store, &[vec![x(0), x(1)]]);
    let odd = store.concat(one, more);
    assert_eq!(store.regex(odd, &name), "(x,1)((x,0)(x,1))*");
    assert_eq!(store.regex(Language::EMPTY, &name), "∅");
    assert_eq!(store.regex(Language::EPSILON, &name), "ε");
    assert_eq!(store.regex(one, &name), "(x,1)");
}

/// The union of words, then repeated words.
fn language(store: &mut Languages, words: &[&str], repeated: &[&str]) -> Language {
    let words_of = |texts: &[&str]| texts.iter().map(|text| word(text)).collect::<Vec<_>>();
    let begin = of_words(store, &words_of(words));
    let end = any_number(store, &words_of(repeated));
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

/// Where the ends of the words lie that an expression reads from a position of a text.
/// The expression is read again for each position: slow, and plainly right.
struct Reader<'a> {
    expression: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.expression.get(self.at).copied()
    }

    fn either(&mut self, word: &str, starts: &[usize]) -> Vec<usize> {
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
        let mut ends = self.unit(word, starts);
        while let Some(sign @ ('*' | '?')) = self.peek() {
            let after = self.at + 1;
            ends.extend(starts);
            if sign == '*' {
                for _ in 0..=word.len() {
                    self.at = begin;
                    let more = self.unit(word, &ends);
                    ends.extend(more);
                    ends.sort_unstable();
                    ends.dedup();
                }
            }
            self.at = after;
            assert!(!matches!(self.peek(), Some('*' | '?')), "one sign is enough");
        }
        ends
    }

    fn unit(&mut self, word: &str, starts: &[usize]) -> Vec<usize> {
        let next = self.peek();
        self.at += 1;
        match next.expect("an expression goes on") {
            '(' => {
                let ends = self.either(word, starts);
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
    let mut reader = Reader { expression: &expression, at: 0 };
    let ends = reader.either(word, &[0]);
    assert_eq!(reader.at, expression.len());
    ends.contains(&word.len())
}

#[test]
fn the_reader_reads() {
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
    fn expressions_mean_the_language(tree in tree(), marker in any::<bool>()) {
        let mut store = Languages::new();
        let mut l = tree.build(&mut store);
        if marker {
            l = store.mark(l, Letter { class: MARKER, value: 0 }, None);
        }
        let expression = store.regex(l, &character);
        for word in all_words(4) {
            let text: String = word.iter().map(|letter| character(*letter)).collect();
            prop_assert_eq!(matches(&expression, &text), store.contains(l, &word), "{} {}", expression, text);
        }
    }
}

#[test]
fn too_long_an_expression_is_not_written() {
    let mut store = Languages::new();
    let long = store.word(&vec![x(1); 5000]);
    assert_eq!(store.regex(long, &name), "⟨5001 states⟩");
    let hundred = store.word(&vec![x(1); 100]);
    assert_eq!(store.regex(hundred, &name), "(x,1)".repeat(100));
}

#[test]
fn drawings() {
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

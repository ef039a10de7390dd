//! Graphviz output of a DFA. Equal languages give identical output.

use crate::{Language, Languages, Letter};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Languages {
    /// Returns the DFA in the DOT language of Graphviz. Accepting states are double circles. An
    /// edge without source enters the start state. Transitions between the same two states share an
    /// edge.
    pub fn dot(&self, l: Language, title: &str, name: &dyn Fn(Letter) -> String) -> String {
        let dfa = self.dfa(l);
        let mut text = String::from("digraph automaton {\n  rankdir=LR;\n  labelloc=t;\n");
        let mut line = |line: String| {
            text.push_str("  ");
            text.push_str(&line);
            text.push('\n');
        };
        line(format!("label={};", quoted(title)));
        line("start [shape=none, label=\"\", width=0, height=0];".into());
        for state in dfa.states() {
            let shape = if dfa.accepts(state) { "doublecircle" } else { "circle" };
            line(format!("q{state} [shape={shape}, label=\"{state}\"];"));
        }
        line("start -> q0;".into());
        for state in dfa.states() {
            let mut labels: BTreeMap<u32, String> = BTreeMap::new();
            for (letter, target) in dfa.transitions(state) {
                let label = labels.entry(*target).or_default();
                if !label.is_empty() {
                    label.push('\n');
                }
                label.push_str(&name(*letter));
            }
            for (target, label) in labels {
                line(format!("q{state} -> q{target} [label={}];", quoted(&label)));
            }
        }
        text.push_str("}\n");
        text
    }
}

/// Quotes and escapes a text for Graphviz.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '&' => quoted.push_str("&amp;"),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => {
                write!(quoted, "&#{};", u32::from(control))
                    .expect("writing to a string cannot fail");
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

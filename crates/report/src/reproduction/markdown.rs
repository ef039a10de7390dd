//! A reproduced table in Markdown: one table for each part of each algorithm.

use super::{Figure, Reproduction, Row, columns, note_number, own_name, summary};
use crate::paint::width;
use std::fmt::Write;

/// Returns the table in Markdown, below a title and an introduction.
pub fn markdown(reproduction: &Reproduction, title: &str, about: &str) -> String {
    let mut out = format!("## {}\n\n", escaped(title));
    let about = format!("Our figures first, the paper's in parentheses. {about}");
    push(&mut out, &format!("{}\n", escaped(about.trim())));
    let mut notes = Vec::new();
    for rows in reproduction.rows.chunk_by(|a, b| a.group == b.group) {
        push(&mut out, &format!("\n### {}\n", escaped(&rows[0].group)));
        for alike in rows.chunk_by(|a, b| a.part == b.part) {
            part(&mut out, alike, &mut notes);
        }
    }
    if !notes.is_empty() {
        out.push_str("\nNotes:\n\n");
    }
    for (at, note) in notes.iter().enumerate() {
        push(&mut out, &format!("{}. {}\n", at + 1, escaped(note)));
    }
    push(&mut out, &format!("\n{}\n", summary(reproduction)));
    out
}

/// Appends the table of rows with the same figures.
fn part<'r>(out: &mut String, rows: &'r [Row], notes: &mut Vec<&'r str>) {
    let columns = columns(rows);
    let mut titles = vec![rows[0].part.clone(), "model".into()];
    titles.extend(columns.iter().map(|column| column.title.clone()));
    titles.push("comparison".into());
    let mut lines = vec![titles];
    for (at, row) in rows.iter().enumerate() {
        let mut cells = vec![own_name(row).to_string(), row.column.clone()];
        for (ours, paper) in columns.iter().map(|column| &column.cells[at]) {
            let paper = if paper.is_empty() { String::new() } else { format!("({paper})") };
            cells.push([ours.as_str(), &paper].join(" ").trim().to_string());
        }
        let mut comparison = row.status.text().to_string();
        if let Some(number) = note_number(row, notes) {
            push(&mut comparison, &format!(" [{number}]"));
        }
        push(&mut comparison, &lists(row));
        cells.push(comparison);
        lines.push(cells);
    }
    let lines: Vec<Vec<String>> =
        lines.iter().map(|cells| cells.iter().map(|cell| escaped(cell)).collect()).collect();
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|at| lines.iter().map(|cells| width(&cells[at])).max().unwrap_or(0).max(3))
        .collect();
    out.push('\n');
    for (at, cells) in lines.iter().enumerate() {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide - width(cell))));
        push(out, &format!("| {} |\n", padded.collect::<Vec<_>>().join(" | ")));
        if at == 0 {
            // Figures are aligned to the right.
            let rule = widths.iter().enumerate().map(|(column, wide)| {
                let is_figure = (2..widths.len() - 1).contains(&column);
                let dashes = "-".repeat(wide + 1);
                if is_figure { format!("{dashes}:") } else { format!("{dashes}-") }
            });
            push(out, &format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
        }
    }
}

/// Returns the lists of a row as text; the paper's list only where it differs.
fn lists(row: &Row) -> String {
    let mut out = String::new();
    for (name, figure) in &row.ours.0 {
        let Figure::List(ours) = figure else { continue };
        if !ours.is_empty() {
            push(&mut out, &format!("; {name}: {}", ours.join(", ")));
        }
        if let Some(Figure::List(paper)) = row.paper.get(name)
            && paper != ours
        {
            push(&mut out, &format!("; {name} in the paper: {}", paper.join(", ")));
        }
    }
    out
}

fn push(out: &mut String, text: &str) {
    write!(out, "{text}").expect("writing to a string cannot fail");
}

/// Escapes the characters that have a meaning in a table or in running text.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '*' | '_' | '<' | '>' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn a_markdown_table_has_figures_lists_notes_and_a_summary() {
        let expected = r"## Sieves of 1970

Our figures first, the paper's in parentheses. Primes only.

### Sieve

| client | model | result | states         | seconds | CPU  | comparison                                           |
|--------|-------|-------:|---------------:|--------:|-----:|------------------------------------------------------|
| p\|t   | PSO   | proved | 7 (1,200)      | 0.25    | 0.50 | agrees; places: a:1                                  |
| pp\|t  | PSO   | proved | 12,345 (1,200) | 0.25    | 0.50 | differs \[1\]; places: b:2; places in the paper: a:1 |
| ppp\|t | PSO   |        | (1,200)        |         |      | limit \[2\]                                          |
| pt\|t  | PSO   | proved | 8 (1,200)      | 0.25    | 0.50 | differs \[1\]; places: b:2; places in the paper: a:1 |
| tt\|t  | PSO   | proved | 9              | 0.25    | 0.50 | nothing to compare; places: b:2                      |

Notes:

1. Other places.
2. Time limit reached.

7 rows: 1 agree, 2 differ, 1 with nothing to compare, 1 reached a limit, 2 skipped (1.2 s, CPU 2.5 s)
";
        assert_eq!(markdown(&sample(), "Sieves of 1970", "Primes only."), expected);
    }
}

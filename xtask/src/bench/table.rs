//! Prints the measurements and the growth of each family as tables.

use super::growth::exponent;
use super::rows::Engine;
use super::run::Measurement;

/// The CPU seconds of the shortest run that counts for the growth of time. Shorter runs measure
/// the start of the process.
const MIN_SECONDS: f64 = 0.01;

/// The instructions of the shortest run for which instructions per state are shown. The start of
/// the process takes about five million.
const MIN_INSTRUCTIONS: f64 = 2e7;

/// Returns the column names. The column of instructions exists only if they are counted.
pub(super) fn heading(counts_instructions: bool) -> String {
    let mut line = format!(
        "{:<11} {:<24} {:<10} {:<12} {:>10} {:<10} {:>8} {:>9} {:>7} {:>5}",
        "engine", "program", "model", "answer", "count", "", "CPU s", "per s", "B/state", "2 thr"
    );
    if counts_instructions {
        line += &format!(" {:>14} {:>9}", "instructions", "per count");
    }
    line
}

/// Formats a row. The word in the column `answer` says if the row has reached a limit.
pub(super) fn line(found: &Measurement, counts_instructions: bool) -> String {
    let unit = Engine::ALL.iter().find(|engine| engine.name() == found.engine);
    let unit = unit.map_or("", |engine| engine.unit());
    let answer = match &found.reason {
        Some(_) if !found.is_decided() && found.wrong => "failed!".into(),
        Some(reason) if !found.is_decided() => format!("{reason}!"),
        Some(_) | None => found.answer.clone(),
    };
    // The rounds of an inference take very different times.
    let is_rounds = unit == Engine::Infer.unit();
    let rate = found.count as f64 / found.cpu_seconds.max(1e-6);
    let rate = Some(rate).filter(|_| !is_rounds);
    let is_states = unit == "states" && found.count > 0;
    let bytes = found.bytes.filter(|_| is_states).map(|b| b as f64 / found.count as f64);
    let mut line = format!(
        "{:<11} {:<24} {:<10} {:<12} {:>10} {:<10} {:>8.3} {:>9} {:>7} {:>5}",
        found.engine,
        found.program,
        found.model,
        answer,
        found.count,
        unit,
        found.cpu_seconds,
        optional(rate, 0),
        optional(bytes, 0),
        optional(found.speedup, 2),
    );
    if counts_instructions {
        let all = found.instructions.map(|all| all as f64);
        let is_long = |all: &f64| *all >= MIN_INSTRUCTIONS && !is_rounds;
        let per_count = all.filter(is_long).map(|all| all / found.count.max(1) as f64);
        line += &format!(" {:>14} {:>9}", optional(all, 0), optional(per_count, 0));
    }
    if found.wrong {
        line += &format!("  {}", complaint(found));
    }
    line
}

/// Describes a wrong row.
pub(super) fn complaint(found: &Measurement) -> String {
    match &found.reason {
        Some(reason) if !found.is_decided() => format!("FAILED: {reason}"),
        Some(_) | None => format!("WRONG ANSWER: {}", found.answer),
    }
}

fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
}

/// Returns the table of growth: for each engine, family and model, the factor by which states and
/// CPU time grow when the parameter grows by 1.
pub(super) fn growth(all: &[Measurement], parameter: impl Fn(&str) -> &'static str) -> String {
    let mut text = format!(
        "{:<11} {:<15} {:<10} {:<8} {:>17} {:>17}\n",
        "engine", "family", "model", "for each", "states (exponent)", "CPU (exponent)"
    );
    for group in groups(all) {
        let decided: Vec<&Measurement> = group.iter().copied().filter(|m| m.is_decided()).collect();
        let points = |figure: fn(&Measurement) -> f64, least: f64| -> Vec<(f64, f64)> {
            let points = decided.iter().map(|m| (f64::from(m.parameter), figure(m)));
            points.filter(|(_, value)| *value >= least).collect()
        };
        let states = exponent(&points(|m| m.count as f64, 1.0));
        let seconds = exponent(&points(|m| m.cpu_seconds, MIN_SECONDS));
        let first = group[0];
        // Rounds of `infer` do not grow by a factor.
        let states = states.filter(|_| first.engine != Engine::Infer.name());
        if states.is_none() && seconds.is_none() {
            continue;
        }
        let shown = |found: Option<f64>| {
            found.map_or_else(|| "-".into(), |b| format!("x{:.2} ({b:.3})", b.exp()))
        };
        text += &format!(
            "{:<11} {:<15} {:<10} {:<8} {:>17} {:>17}\n",
            first.engine,
            first.family,
            first.model,
            parameter(&first.family).trim_end_matches('s'),
            shown(states),
            shown(seconds)
        );
    }
    text
}

/// Returns the measurements of each engine, family and model.
pub(super) fn groups(all: &[Measurement]) -> Vec<Vec<&Measurement>> {
    let key = |m: &Measurement| (m.engine.clone(), m.family.clone(), m.model.clone());
    let mut groups: Vec<Vec<&Measurement>> = Vec::new();
    for found in all {
        match groups.iter_mut().find(|group| key(group[0]) == key(found)) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups
}

/// Returns a summary: for each engine the number of rows without an answer, with their names.
pub(super) fn summary(all: &[Measurement]) -> String {
    let mut text = String::new();
    for engine in Engine::ALL {
        let rows = || all.iter().filter(|m| m.engine == engine.name());
        let open: Vec<String> = rows()
            .filter(|m| !m.is_decided())
            .map(|m| format!("{} {}", m.program, m.model))
            .collect();
        if rows().count() > 0 {
            text += &format!(
                "{}: {} rows, {} without an answer{}{}\n",
                engine.name(),
                rows().count(),
                open.len(),
                if open.is_empty() { "" } else { ": " },
                open.join(", ")
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(parameter: u32, answer: &str, count: u64) -> Measurement {
        Measurement {
            row: format!("explicit clh{parameter}-fenced pso"),
            engine: "explicit".into(),
            family: "clh".into(),
            program: format!("clh{parameter}-fenced"),
            parameter,
            model: "pso".into(),
            answer: answer.into(),
            reason: (answer == "inconclusive").then(|| "time".into()),
            wrong: false,
            count,
            seconds: 2.0,
            cpu_seconds: 2.0,
            bytes: Some(40 * count),
            instructions: Some(100_000 * count),
            speedup: None,
        }
    }

    #[test]
    fn a_row_has_rates_and_names_its_limit() {
        let text = line(&measurement(3, "verified", 500), true);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(
            words,
            [
                "explicit",
                "clh3-fenced",
                "pso",
                "verified",
                "500",
                "states",
                "2.000",
                "250",
                "40",
                "-",
                "50000000",
                "100000"
            ]
        );
        assert!(line(&measurement(3, "inconclusive", 500), false).contains(" time! "));
        let infer = Measurement { engine: "infer".into(), ..measurement(3, "repaired", 500) };
        assert!(line(&infer, true).ends_with(" 50000000         -"));
        assert!(!line(&infer, true).contains(" 250 "));
        assert!(!line(&measurement(3, "verified", 500), false).contains("100000"));
        assert!(line(&measurement(3, "verified", 100), true).ends_with(" 10000000         -"));
    }

    #[test]
    fn growth_ignores_rows_without_an_answer() {
        let all = [
            measurement(2, "verified", 10),
            measurement(3, "verified", 100),
            measurement(4, "inconclusive", 101),
        ];
        let text = growth(&all, |_| "threads");
        assert!(text.contains("x10.00 (2.303)"), "{text}");
        assert!(text.contains("x1.00 (0.000)"), "{text}");
        assert!(text.contains(" thread "), "{text}");
        assert_eq!(summary(&all), "explicit: 3 rows, 1 without an answer: clh4-fenced pso\n");
    }
}

//! Draws the measurements as an SVG: CPU seconds against the parameter, a panel for each engine.
//!
//! Both axes are logarithmic. The colour is the family, the dashes are the model. A hollow triangle
//! is a row without an answer: its CPU time is a lower bound.

use super::rows::Engine;
use super::run::Measurement;
use super::table::groups;
use fencepost_bench::FAMILIES;
use std::fmt::Write;

/// The sizes of a panel, its margins included, and the number of panels in a row.
const PANEL: (f64, f64) = (420.0, 330.0);
const PANELS_IN_A_ROW: usize = 3;
/// The margins of the plot within its panel: left, top, right, bottom.
const MARGINS: (f64, f64, f64, f64) = (58.0, 40.0, 18.0, 48.0);
/// The height of the title.
const TITLE: f64 = 64.0;
/// The smallest CPU time that is drawn. Shorter runs are drawn here.
const MIN_SECONDS: f64 = 0.001;

/// Colours that differ for most readers with a colour deficiency, too. Families beyond the last one
/// begin again with the first.
const COLOURS: [&str; 12] = [
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf",
    "#7f7f7f", "#bcbd22", "#000000", "#0b3d91",
];

/// Returns the colour of a family. It is the same in every chart.
fn colour(family: &str) -> &'static str {
    let place = FAMILIES.iter().position(|known| known.name == family).unwrap_or(0);
    COLOURS[place % COLOURS.len()]
}

/// Returns the dash pattern of a model.
fn dashes(model: &str) -> &'static str {
    match model {
        "sc" => "2 3",
        "tso" => "none",
        "pso" => "8 4",
        _ => "10 3 2 3",
    }
}

/// The ranges of both axes.
struct Axes {
    parameters: (f64, f64),
    /// Powers of ten.
    seconds: (f64, f64),
}

impl Axes {
    fn of(all: &[Measurement]) -> Axes {
        let parameters = all.iter().map(|m| f64::from(m.parameter));
        let slowest = all.iter().map(|m| m.cpu_seconds).fold(MIN_SECONDS, f64::max);
        Axes {
            parameters: (
                parameters.clone().fold(f64::INFINITY, f64::min) / 1.15,
                parameters.fold(1.0, f64::max) * 1.15,
            ),
            seconds: (MIN_SECONDS.log10().floor(), (slowest * 1.05).log10().ceil()),
        }
    }

    /// Returns the position of a parameter in a panel.
    fn x(&self, parameter: f64) -> f64 {
        let (low, high) = (self.parameters.0.ln(), self.parameters.1.ln());
        let width = PANEL.0 - MARGINS.0 - MARGINS.2;
        MARGINS.0 + width * (parameter.ln() - low) / (high - low)
    }

    /// Returns the position of a CPU time in a panel.
    fn y(&self, seconds: f64) -> f64 {
        let (low, high) = self.seconds;
        let height = PANEL.1 - MARGINS.1 - MARGINS.3;
        let part = (seconds.max(MIN_SECONDS).log10() - low) / (high - low);
        PANEL.1 - MARGINS.3 - height * part
    }
}

/// Returns the chart.
pub(super) fn chart(title: &str, all: &[Measurement]) -> String {
    let engines: Vec<Engine> =
        Engine::ALL.into_iter().filter(|e| all.iter().any(|m| m.engine == e.name())).collect();
    let is_drawn = |name: &&str| all.iter().any(|m| m.family == *name);
    let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).filter(is_drawn).collect();
    // The legend takes the place of a panel.
    let rows = (engines.len() + 1).div_ceil(PANELS_IN_A_ROW);
    let (width, height) = (PANEL.0 * PANELS_IN_A_ROW as f64, TITLE + PANEL.1 * rows as f64);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="DejaVu Sans, Arial, sans-serif" font-size="12">
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="20" y="28" font-size="18" font-weight="bold">{}</text>
<text x="20" y="50" fill="#444444">CPU seconds of one thread against the parameter of the family. Both axes are logarithmic. Times below 0.001 s are drawn at 0.001 s.</text>
"##,
        escape(title)
    );
    let axes = Axes::of(all);
    let place = |index: usize| {
        let (column, row) = (index % PANELS_IN_A_ROW, index / PANELS_IN_A_ROW);
        format!(
            r#"<g transform="translate({} {})">"#,
            PANEL.0 * column as f64,
            TITLE + PANEL.1 * row as f64
        )
    };
    for (index, engine) in engines.iter().enumerate() {
        let of_engine: Vec<Measurement> =
            all.iter().filter(|m| m.engine == engine.name()).cloned().collect();
        let _ = writeln!(svg, "{}", place(index));
        panel(&mut svg, engine.name(), &of_engine, &axes);
        svg += "</g>\n";
    }
    let _ = writeln!(svg, "{}", place(engines.len()));
    legend(&mut svg, &names, all);
    svg + "</g>\n</svg>\n"
}

/// Draws the axes and the lines of an engine.
fn panel(svg: &mut String, name: &str, all: &[Measurement], axes: &Axes) {
    let (left, right) = (MARGINS.0, PANEL.0 - MARGINS.2);
    let (top, bottom) = (MARGINS.1, PANEL.1 - MARGINS.3);
    let _ = writeln!(
        svg,
        r#"<text x="{left}" y="{}" font-size="15" font-weight="bold">{name}</text>"#,
        top - 12.0
    );
    for power in axes.seconds.0 as i32..=axes.seconds.1 as i32 {
        let seconds = 10f64.powi(power);
        let y = axes.y(seconds);
        let _ = writeln!(
            svg,
            r##"<path d="M{left} {y:.1}H{right}" stroke="#e2e2e2"/><text x="{}" y="{:.1}" text-anchor="end">{seconds}</text>"##,
            left - 7.0,
            y + 4.0
        );
    }
    for parameter in [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32] {
        let x = axes.x(f64::from(parameter));
        if (left..=right).contains(&x) {
            let _ = writeln!(
                svg,
                r##"<path d="M{x:.1} {top}V{bottom}" stroke="#f0f0f0"/><text x="{x:.1}" y="{}" text-anchor="middle">{parameter}</text>"##,
                bottom + 17.0
            );
        }
    }
    let _ = writeln!(
        svg,
        r##"<rect x="{left}" y="{top}" width="{}" height="{}" fill="none" stroke="#888888"/><text x="{}" y="{}" text-anchor="middle" fill="#444444">threads, stores or rounds</text>"##,
        right - left,
        bottom - top,
        (left + right) / 2.0,
        bottom + 36.0
    );
    for group in groups(all) {
        let colour = colour(&group[0].family);
        let points: Vec<(f64, f64)> =
            group.iter().map(|m| (axes.x(f64::from(m.parameter)), axes.y(m.cpu_seconds))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(
            svg,
            r#"<path d="M{}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{}"/>"#,
            path.join("L"),
            dashes(&group[0].model)
        );
        for (found, (x, y)) in group.iter().zip(points) {
            let _ = match found.is_decided() {
                true => writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#),
                false => writeln!(svg, "{}", open_marker(x, y, colour)),
            };
        }
    }
}

/// Returns the marker of a row without an answer.
fn open_marker(x: f64, y: f64, colour: &str) -> String {
    format!(
        r##"<path d="M{:.1} {:.1}h10l-5 -9z" fill="#ffffff" stroke="{colour}" stroke-width="1.6"/>"##,
        x - 5.0,
        y + 3.0
    )
}

/// Draws the meaning of colours, dashes and markers.
fn legend(svg: &mut String, names: &[&str], all: &[Measurement]) {
    let mut y = MARGINS.1;
    let mut entry = |drawing: String, text: &str| {
        let _ = writeln!(svg, r#"{drawing}<text x="72" y="{}">{}</text>"#, y + 4.0, escape(text));
        y += 17.0;
        y
    };
    let mut next = MARGINS.1;
    let sample = |y: f64, colour: &str, dashes: &str| {
        format!(
            r#"<path d="M24 {y}H62" stroke="{colour}" stroke-width="2.4" stroke-dasharray="{dashes}"/>"#
        )
    };
    for name in names {
        next = entry(sample(next, colour(name), "none"), name);
    }
    let models = ["sc", "tso", "pso", "rmo-nospec"];
    for model in models.into_iter().filter(|model| all.iter().any(|m| m.model == *model)) {
        next = entry(sample(next, "#333333", dashes(model)), model);
    }
    entry(open_marker(43.0, next, "#333333"), "no answer: a limit or a spurious run");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_panel_for_each_engine_and_a_mark_for_each_row() {
        let row = |engine: &str, parameter: u32, answer: &str| Measurement {
            row: format!("{engine} clh{parameter}-fenced pso"),
            engine: engine.into(),
            family: "clh".into(),
            program: format!("clh{parameter}-fenced"),
            parameter,
            model: "pso".into(),
            answer: answer.into(),
            reason: None,
            wrong: false,
            count: 5,
            seconds: 1.0,
            cpu_seconds: 10f64.powi(parameter as i32 - 3),
            bytes: None,
            instructions: None,
            speedup: None,
        };
        let all = [
            row("explicit", 2, "verified"),
            row("explicit", 3, "inconclusive"),
            row("auto", 2, "verified"),
        ];
        let svg = chart("a < b", &all);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("h10l-5 -9z").count(), 2, "a row and the legend");
        assert_eq!(svg.matches("threads, stores or rounds").count(), 2);
        assert!(svg.contains("a &lt; b"));
    }
}

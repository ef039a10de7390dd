//! Optional colours, and text helpers: clipping, width, counts.

use crate::terminal::ColourMark;
pub use crate::terminal::printable;
use anstyle::{AnsiColor, Style};

/// Whether to use colour. Colour carries no information that the text does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paint {
    /// No escape codes.
    Plain,
    /// With ANSI escape codes.
    Coloured,
    /// With marked escape codes. [`ColourMark::resolved`] turns them into ANSI escape codes.
    Marked(ColourMark),
}

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        match self {
            Paint::Plain => text.into(),
            Paint::Coloured | Paint::Marked(_) if text.trim().is_empty() => text.into(),
            Paint::Coloured => format!("{style}{text}{style:#}"),
            Paint::Marked(mark) => {
                let (start, end) = (style.render().to_string(), style.render_reset().to_string());
                format!("{}{text}{}", mark.marked(&start), mark.marked(&end))
            }
        }
    }

    /// Formats a title, a name or a changed value.
    pub fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// Formats text of secondary interest.
    pub fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// Formats a positive result, such as "verified".
    pub fn good(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    /// Formats a negative result, such as "VIOLATED".
    pub fn bad(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// Formats an inconclusive result.
    pub fn unsure(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }
}

/// Clips a text to at most `max` characters. A clipped text ends in `...`.
pub fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.into();
    }
    let kept: String = text.chars().take(max.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// Returns the number of columns that a text takes. The text must not contain escape codes.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// Formats a number with thousands separators: `12,345,678`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a number with a noun: `1 state`, `2 states`.
pub fn counted(number: u64, thing: &str) -> String {
    let ending = match number {
        1 => "",
        _ if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {thing}{ending}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_plurals() {
        assert_eq!(count(0), "0");
        assert_eq!(count(812), "812");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(counted(12_345_678, "state"), "12,345,678 states");
        assert_eq!(counted(1, "state"), "1 state");
    }

    #[test]
    fn long_text_is_clipped() {
        assert_eq!(clip("abcdefghij", 8), "abcde...");
        assert_eq!(clip("abc", 8), "abc");
    }
}

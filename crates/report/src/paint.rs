//! Colours, or none.

use anstyle::{AnsiColor, Style};

/// Whether to use colour. Colour only repeats what the text says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paint {
    /// No escape codes.
    Plain,
    /// With ANSI escape codes.
    Coloured,
}

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        match self {
            Paint::Plain => text.into(),
            Paint::Coloured if text.trim().is_empty() => text.into(),
            Paint::Coloured => format!("{style}{text}{style:#}"),
        }
    }

    /// A title, a name, something that changed.
    pub fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// Something of secondary interest.
    pub fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// A property that holds.
    pub fn good(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    /// A property that does not.
    pub fn bad(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// No answer.
    pub fn unsure(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }
}

/// Text from a file made safe to print: no control characters.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Text of at most `most` characters.
pub fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// How many columns a text takes. Escape codes are not expected in it.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// A number with its thousands set apart: `12,345,678`.
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

/// A number of things: `1 state`, `2 states`.
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
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(812), "812");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(counted(12_345_678, "state"), "12,345,678 states");
        assert_eq!(counted(1, "state"), "1 state");
    }

    #[test]
    fn text_from_a_file_cannot_drive_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\u{fffd}[31mb\u{fffd}c");
        assert_eq!(clip("abcdefghij", 8), "abcde...");
        assert_eq!(clip("abc", 8), "abc");
    }
}

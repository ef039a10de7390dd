//! The text of a value abstraction: `x, y: {0, 2..4, many}`.

use super::{CannotAbstract, Domain};
use fencepost_ir::{Program, Type, Value};
use std::collections::BTreeSet;
use std::fmt;

/// The largest number of kept values. An abstract store buffer holds at most 64 different values.
const MAX_KEPT: usize = 60;

/// Which locations are abstracted, and which of their values are kept. Several texts can be
/// combined; all locations then share all kept values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Values {
    names: Vec<String>,
    /// The kept values. 0 and 1 are always kept.
    kept: BTreeSet<Value>,
}

impl Values {
    /// Adds the locations and values of a text.
    ///
    /// ```
    /// use fencepost_translate::values::Values;
    /// let mut values = Values::default();
    /// values.add("x, y: {0, 2..4, many}").expect("the text is correct");
    /// assert_eq!(values.to_string(), "x, y in {0, 1, 2, 3, many}");
    /// ```
    pub fn add(&mut self, text: &str) -> Result<(), CannotAbstract> {
        let syntax = |reason: &str| CannotAbstract::Syntax(reason.into());
        let (names, values) = text.split_once(':').ok_or_else(|| syntax("a `:` is missing"))?;
        let inside = values.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let inside = inside.ok_or_else(|| syntax("the values are not in braces"))?;
        let mut has_many = false;
        self.kept.extend([0, 1]);
        for item in inside.split(',').map(str::trim) {
            if item == "many" {
                has_many = true;
                continue;
            }
            let (lo, hi) = parse_range(item).ok_or_else(|| {
                CannotAbstract::Syntax(format!("`{item}` is not a value or a range"))
            })?;
            if hi.abs_diff(lo) >= MAX_KEPT as u64 {
                return Err(syntax("at most 60 values can be kept"));
            }
            self.kept.extend(lo..=hi);
        }
        if self.kept.len() > MAX_KEPT {
            return Err(syntax("at most 60 values can be kept"));
        }
        if !has_many {
            return Err(syntax("`many`, which stands for all other values, is missing"));
        }
        for name in names.split(',').map(str::trim) {
            if name.is_empty() {
                return Err(syntax("the name of a location is missing"));
            }
            if !self.names.iter().any(|known| known == name) {
                self.names.push(name.into());
            }
        }
        Ok(())
    }

    /// Returns the abstract values.
    pub(super) fn domain(&self) -> Domain {
        let kept: Vec<Value> = self.kept.iter().copied().collect();
        // Not all values are kept, so one is left. A small one makes states small.
        let many = (0..).find(|value| !self.kept.contains(value)).unwrap_or(Value::MAX);
        Domain { kept, many }
    }

    /// Returns for each location whether it is abstracted.
    pub(super) fn locations(&self, program: &Program) -> Result<Vec<bool>, CannotAbstract> {
        let mut found = vec![false; program.locations.len()];
        for name in &self.names {
            let mut is_known = false;
            for (at, location) in program.locations.iter().enumerate() {
                let is_element = location.name.strip_prefix(name.as_str());
                if !is_element.is_some_and(|rest| rest.is_empty() || rest.starts_with('[')) {
                    continue;
                }
                is_known = true;
                found[at] = true;
                if location.name.contains('#') {
                    return Err(CannotAbstract::Field(name.clone()));
                }
                if location.ty != Type::INT {
                    return Err(CannotAbstract::NotInt(name.clone()));
                }
            }
            if !is_known {
                return Err(match is_register(program, name) {
                    true => CannotAbstract::Register(name.clone()),
                    false => CannotAbstract::UnknownLocation(name.clone()),
                });
            }
        }
        Ok(found)
    }
}

/// Returns whether a name is that of a register, with or without its thread.
fn is_register(program: &Program, name: &str) -> bool {
    program.threads.iter().any(|thread| {
        thread.registers.iter().any(|register| {
            register.name == name || format!("{}.{}", thread.name, register.name) == name
        })
    })
}

/// Parses `3`, `0..4` or `0..=3` to the first and last value.
fn parse_range(text: &str) -> Option<(Value, Value)> {
    let Some((lo, hi)) = text.split_once("..") else {
        let value = text.parse().ok()?;
        return Some((value, value));
    };
    let lo: Value = lo.trim().parse().ok()?;
    let hi: Value = match hi.strip_prefix('=') {
        Some(hi) => hi.trim().parse().ok()?,
        None => hi.trim().parse::<Value>().ok()?.checked_sub(1)?,
    };
    (lo <= hi).then_some((lo, hi))
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept: Vec<String> = self.kept.iter().map(Value::to_string).collect();
        write!(f, "{} in {{{}, many}}", self.names.join(", "), kept.join(", "))
    }
}

//! Random statements: assignments, `++` and `--`, branches, loops, `switch`, `goto`, blocks.
//!
//! Loops are bounded by their own counters. A statement changes one object, and the rest of the
//! statement does not mention this object where the order of evaluation is open.

use super::expressions::{Expr, Place, Scope, result};
use super::types::{IntType, UNSIGNED_LONG_LONG};

/// The depth of nested expressions.
const DEPTH: usize = 3;

/// Writes the statements of a function.
pub(super) struct Writer {
    pub(super) scope: Scope,
    pub(super) lines: Vec<String>,
    pub(super) indent: usize,
    /// A number for the next label or local variable.
    pub(super) next_name: usize,
    /// The depth of loops.
    pub(super) loops: usize,
    /// Whether `break` and `continue` are allowed here.
    pub(super) can_break: bool,
    /// Statements with other objects, each as a text with `@` for an expression and `#` for an
    /// index below 2.
    pub(super) templates: Vec<String>,
    /// The checksum variable, if statements may change it.
    pub(super) checksum: Option<String>,
}

impl Writer {
    pub(super) fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "\t".repeat(self.indent)));
    }

    pub(super) fn value(&mut self) -> Expr {
        self.scope.expr(DEPTH)
    }

    fn name(&mut self, prefix: &str) -> String {
        self.next_name += 1;
        format!("{prefix}{}", self.next_name)
    }

    /// Draws a place that statements may change.
    fn target(&mut self) -> Option<Place> {
        let places: Vec<&Place> =
            self.scope.places.iter().filter(|place| place.constant.is_none()).collect();
        match places.len() {
            0 => None,
            count => Some(places[self.scope.random.below(count)].clone()),
        }
    }

    /// Writes some statements in braces.
    fn block(&mut self, depth: usize) {
        self.indent += 1;
        let places = self.scope.places.len();
        for _ in 0..self.scope.random.within(1, 3) {
            self.statement(depth);
        }
        self.scope.places.truncate(places);
        self.indent -= 1;
    }

    /// Writes a statement with at most `depth` nested statements.
    pub(super) fn statement(&mut self, depth: usize) {
        let nested = if depth == 0 { 12 } else { 21 };
        match self.scope.random.below(nested) {
            0 | 1 => self.assignment(),
            2 | 3 => self.compound_assignment(),
            4 | 5 => self.increment(),
            6 | 7 => self.add_to_checksum(),
            8..11 if !self.templates.is_empty() => self.template(),
            8..11 => self.assignment(),
            11 if self.can_break => {
                let (condition, what) =
                    (self.value().text, self.scope.random.pick(&["break", "continue"]));
                self.line(&format!("if ({condition}) {what};"));
            }
            11 => self.assignment(),
            12..15 => self.branch(depth - 1),
            15 | 16 if self.loops < 2 => self.bounded_loop(depth - 1),
            17 => self.switch(depth - 1),
            18 if self.loops < 2 => self.backward_goto(depth - 1),
            19 => self.forward_goto(depth - 1),
            _ => self.local_block(depth - 1),
        }
    }

    fn assignment(&mut self) {
        let Some(place) = self.target() else { return };
        let (text, value) = (self.scope.place_text(&place), self.value());
        self.line(&format!("{text} = {};", value.text));
    }

    fn compound_assignment(&mut self) {
        let Some(place) = self.target() else { return };
        self.scope.excluded = Some(place.group);
        let (text, value) = (self.scope.place_text(&place), self.value());
        self.scope.excluded = None;
        let op = self.scope.random.pick(&["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"]);
        let common = place.ty.common(value.ty);
        let right = match op {
            "+" | "-" | "*" => {
                let exact =
                    result(op, common.converted(place.ty.limits()), common.converted(value.range));
                if common.signed && !common.contains(exact) {
                    self.line(&format!("{text} %= 1000;"));
                    format!("{} % 1000", value.text)
                } else {
                    value.text
                }
            }
            "/" | "%" => format!("({} & 63) | 1", value.text),
            "<<" | ">>" => format!("{} & {}", value.text, place.ty.promoted().bits - 1),
            _ => value.text,
        };
        self.line(&format!("{text} {op}= {right};"));
    }

    fn increment(&mut self) {
        let Some(place) = self.target() else { return };
        self.scope.excluded = Some(place.group);
        let text = self.scope.place_text(&place);
        let promoted = place.ty.promoted();
        if promoted == place.ty && place.ty.signed {
            self.line(&format!("{text} %= 1000;"));
        }
        let what = match self.scope.random.below(4) {
            0 => format!("{text}++"),
            1 => format!("{text}--"),
            2 => format!("++{text}"),
            _ => format!("--{text}"),
        };
        let value = self.scope.expr(2);
        self.scope.excluded = None;
        match self.checksum.clone() {
            Some(checksum) if self.scope.random.percent(70) => {
                let op = self.scope.random.pick(&["^", "&", "|", "==", "<", ","]);
                self.line(&format!(
                    "{checksum} = {checksum} * 31 + (({what}) {op} {});",
                    value.text
                ));
            }
            _ => self.line(&format!("{what};")),
        }
    }

    /// Adds a value to the checksum.
    pub(super) fn add_to_checksum(&mut self) {
        let value = self.value();
        match self.checksum.clone() {
            Some(checksum) => self.line(&format!("{checksum} = {checksum} * 31 + {};", value.text)),
            None => self.assignment(),
        }
    }

    fn template(&mut self) {
        let template = self.scope.random.below(self.templates.len());
        let mut text = String::new();
        for c in self.templates[template].clone().chars() {
            match c {
                '@' => text += &self.scope.expr(2).text,
                '#' => text += &self.scope.index(2),
                c => text.push(c),
            }
        }
        self.line(&text);
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.value().text;
        self.line(&format!("if ({condition}) {{"));
        self.block(depth);
        if self.scope.random.percent(50) {
            self.line("} else {");
            self.block(depth);
        }
        self.line("}");
    }

    fn bounded_loop(&mut self, depth: usize) {
        let counter = self.name("i");
        let end = self.scope.random.within(1, 4);
        let kind = self.scope.random.below(3);
        let ty = IntType::random(&mut self.scope.random);
        let ty = if ty.limits().1 == 1 { UNSIGNED_LONG_LONG } else { ty };
        // The counter of the other loops changes before their statements.
        let range = if kind == 0 { (0, end as i128 - 1) } else { (1, end as i128) };
        let before = (self.loops, self.can_break, self.scope.places.len());
        (self.loops, self.can_break) = (self.loops + 1, true);
        let constant = Place {
            text: counter.clone(),
            lens: Vec::new(),
            ty,
            group: u32::MAX,
            constant: Some(range),
        };
        match kind {
            0 => self.line(&format!(
                "for ({} {counter} = 0; {counter} < {end}; {counter}++) {{",
                ty.name
            )),
            1 => {
                self.line(&format!("{{ {} {counter} = 0; while ({counter}++ < {end}) {{", ty.name))
            }
            _ => self.line(&format!("{{ {} {counter} = 0; do {{ {counter} += 1;", ty.name)),
        }
        self.scope.places.push(constant);
        self.block(depth);
        match kind {
            0 => self.line("}"),
            1 => self.line("} }"),
            _ => self.line(&format!("}} while ({counter} < {end}); }}")),
        }
        (self.loops, self.can_break) = (before.0, before.1);
        self.scope.places.truncate(before.2);
    }

    fn switch(&mut self, depth: usize) {
        let value = self.value().text;
        let cast = self.scope.random.pick(&["", "(char)", "(unsigned char)", "(int)"]);
        self.line(&format!("switch ({cast}({value} % 4)) {{"));
        let before = self.can_break;
        self.can_break = false;
        for label in ["case -1:", "case 0:", "default:", "case 2:", "case 3 ... 9:"] {
            if self.scope.random.percent(75) {
                self.line(label);
                self.line("{");
                self.block(depth);
                self.line("}");
                if self.scope.random.percent(60) {
                    self.line("\tbreak;");
                }
            }
        }
        self.line("\t;");
        self.can_break = before;
        self.line("}");
    }

    fn backward_goto(&mut self, depth: usize) {
        let (label, counter) = (self.name("again"), self.name("c"));
        self.line(&format!("{{ int {counter} = 0; {label}: ;"));
        let before = (self.loops, self.can_break);
        (self.loops, self.can_break) = (self.loops + 1, false);
        self.block(depth);
        (self.loops, self.can_break) = before;
        let condition = self.scope.expr(1).text;
        self.line(&format!("if (++{counter} < 3 && {condition}) goto {label}; }}"));
    }

    fn forward_goto(&mut self, depth: usize) {
        let label = self.name("out");
        let condition = self.value().text;
        self.line(&format!("if ({condition}) goto {label};"));
        self.line("{");
        self.block(depth);
        self.line("}");
        self.line(&format!("{label}: ;"));
    }

    /// Writes a block with local variables.
    fn local_block(&mut self, depth: usize) {
        let (name, array) = (self.name("l"), self.name("a"));
        let ty = IntType::random(&mut self.scope.random);
        let value = self.value().text;
        self.line("{");
        self.line(&format!("\t{} {name} = {value};", ty.name));
        let item = IntType::random(&mut self.scope.random);
        let first = self.scope.expr(1).text;
        self.line(&format!("\t{} {array}[3] = {{ [1] = {first}, 7 }};", item.name));
        let before = self.scope.places.len();
        let group = 1000 + self.next_name as u32;
        let local = |text: String, lens: Vec<usize>, ty, group| Place {
            text,
            lens,
            ty,
            group,
            constant: None,
        };
        self.scope.places.push(local(name.clone(), Vec::new(), ty, group));
        self.scope.places.push(local(format!("{array}[#]"), vec![3], item, group + 1));
        if self.scope.random.percent(50) {
            let pointer = self.name("q");
            self.line(&format!("\t{} *{pointer} = &{name};", ty.name));
            self.scope.places.push(local(format!("(*{pointer})"), Vec::new(), ty, group));
        }
        self.block(depth);
        self.scope.places.truncate(before);
        self.line("}");
    }
}

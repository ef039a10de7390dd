//! The memory column: the locations that a run touches, grouped by array and record.
//!
//! Example: `want=[T*,F] turn=0`. A star marks a value that the step changed.

use crate::paint::Paint;
use fencepost_ir::{Loc, Program, Type, Value};

/// The locations to show, in groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryView<'p> {
    program: &'p Program,
    groups: Vec<Group>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    name: String,
    body: Body,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Body {
    Cell(Loc),
    Array(Vec<Loc>),
    Record(Vec<Group>),
}

impl<'p> MemoryView<'p> {
    /// Creates a view of the locations that `touched` marks, each with its whole array or record.
    /// Shows all locations if `touched` marks none. Auxiliary locations are not shown.
    pub fn new(program: &'p Program, touched: &[bool]) -> Self {
        let names: Vec<(&str, Loc)> = (program.locations.iter().enumerate())
            .filter(|(_, location)| !location.is_auxiliary())
            .map(|(at, location)| (location.name.as_str(), Loc::from_index(at)))
            .collect();
        let mut groups = grouped(&names);
        if touched.contains(&true) {
            groups.retain(|group| group.any(&|loc| touched[loc.index()]));
        }
        MemoryView { program, groups }
    }

    /// Formats all values, with a star at each value that differs from `before`.
    pub fn all(&self, now: &[Value], before: &[Value], paint: Paint) -> String {
        let changed = |loc: Loc| now[loc.index()] != before[loc.index()];
        let shown: Vec<String> =
            self.groups.iter().map(|g| self.group(g, now, &changed, paint)).collect();
        shown.join(" ")
    }

    /// Formats only the values that differ from `before`.
    pub fn changes(&self, now: &[Value], before: &[Value]) -> String {
        let shown: Vec<String> = (0..now.len())
            .filter(|at| now[*at] != before[*at])
            .filter(|at| !self.program.locations[*at].is_auxiliary())
            .map(|at| {
                let location = &self.program.locations[at];
                format!("{}={}", location.name, short(self.program, Loc::from_index(at), now[at]))
            })
            .collect();
        shown.join(" ")
    }

    fn group(
        &self,
        group: &Group,
        now: &[Value],
        changed: &impl Fn(Loc) -> bool,
        paint: Paint,
    ) -> String {
        let cell = |loc: &Loc| {
            let shown = short(self.program, *loc, now[loc.index()]);
            if changed(*loc) { paint.strong(&format!("{shown}*")) } else { shown }
        };
        let name = &group.name;
        match &group.body {
            Body::Cell(loc) => format!("{name}={}", cell(loc)),
            Body::Array(cells) => {
                let cells: Vec<String> = cells.iter().map(cell).collect();
                format!("{name}=[{}]", cells.join(","))
            }
            Body::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|f| self.group(f, now, changed, paint)).collect();
                format!("{name}{{{}}}", fields.join(" "))
            }
        }
    }
}

impl Group {
    fn any(&self, test: &impl Fn(Loc) -> bool) -> bool {
        match &self.body {
            Body::Cell(loc) => test(*loc),
            Body::Array(cells) => cells.iter().any(|loc| test(*loc)),
            Body::Record(fields) => fields.iter().any(|field| field.any(test)),
        }
    }
}

/// Groups adjacent names with the same prefix: `a[0] a[1]`, `Node#1.value Node#1.next`.
fn grouped(names: &[(&str, Loc)]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut rest = names;
    while let Some((name, loc)) = rest.first() {
        let Some(cut) = name.find(['[', '.']) else {
            groups.push(Group { name: (*name).into(), body: Body::Cell(*loc) });
            rest = &rest[1..];
            continue;
        };
        let prefix = &name[..=cut];
        let len = rest.iter().take_while(|(name, _)| name.starts_with(prefix)).count();
        let (members, others) = rest.split_at(len);
        let body = if prefix.ends_with('.') {
            let fields: Vec<(&str, Loc)> =
                members.iter().map(|(name, loc)| (&name[cut + 1..], *loc)).collect();
            Body::Record(grouped(&fields))
        } else {
            Body::Array(members.iter().map(|(_, loc)| *loc).collect())
        };
        groups.push(Group { name: name[..cut].into(), body });
        rest = others;
    }
    groups
}

/// Formats a value in short form: `T` and `F` for booleans.
fn short(program: &Program, loc: Loc, value: Value) -> String {
    match program.location(loc).ty {
        Type::Bool if value == 0 => "F".into(),
        Type::Bool if value == 1 => "T".into(),
        Type::Bool | Type::Int { .. } | Type::U64 | Type::Enum { .. } | Type::Ref(_) => {
            program.show_value(loc, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Location, PoolId};

    fn program(cells: &[(&str, Type)]) -> Program {
        let locations = cells
            .iter()
            .map(|(name, ty)| Location { name: (*name).into(), ty: ty.clone(), init: 0 })
            .collect();
        Program { locations, ..Program::default() }
    }

    #[test]
    fn arrays_and_records_are_grouped() {
        let program = program(&[
            ("want[0]", Type::Bool),
            ("want[1]", Type::Bool),
            ("turn", Type::INT),
            ("Node#1.value", Type::INT),
            ("Node#1.slot[0]", Type::INT),
            ("Node#1.slot[1]", Type::INT),
            ("Node#2.value", Type::INT),
            ("Node#2.slot[0]", Type::INT),
            ("Node#2.slot[1]", Type::INT),
            ("head", Type::Ref(PoolId(0))),
        ]);
        let mut touched = [true; 10];
        let view = MemoryView::new(&program, &touched);
        let before = [0; 10];
        let now = [1, 0, 0, 0, 0, 7, 0, 0, 0, 2];
        assert_eq!(
            view.all(&now, &before, Paint::Plain),
            "want=[T*,F] turn=0 Node#1{value=0 slot=[0,7*]} Node#2{value=0 slot=[0,0]} head=#2*"
        );
        assert_eq!(view.changes(&now, &before), "want[0]=T Node#1.slot[1]=7 head=#2");
        touched[6..9].fill(false);
        touched[1] = false;
        let view = MemoryView::new(&program, &touched);
        assert!(!view.all(&now, &before, Paint::Plain).contains("Node#2"));
        assert!(view.all(&now, &before, Paint::Plain).contains("want=[T*,F]"));
    }
}

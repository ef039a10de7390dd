//! The labels of a column, as jump targets.

use std::collections::BTreeMap;

use fencepost_ir::Span;
use fencepost_ir::assemble::Target;

use super::super::assembler::Assembler;
use super::super::error::{Errors, LitmusError};
use super::{Cell, Column};

/// The labels of a column. The flag says whether the label is bound.
#[derive(Debug)]
pub(in super::super) struct Labels<'a>(BTreeMap<&'a str, (Target, bool)>);

impl<'a> Labels<'a> {
    /// Creates a target for each label. Reports labels that are defined twice.
    pub(in super::super) fn new<I>(
        column: &'a Column<I>,
        asm: &mut Assembler<'_>,
        errors: &mut Errors,
    ) -> Self {
        let mut labels = BTreeMap::new();
        for (name, span) in column.cells.iter().flat_map(|cell| &cell.labels) {
            if labels.insert(name.as_str(), (asm.target(), false)).is_some() {
                errors.push(LitmusError::name(
                    *span,
                    format!("the label `{name}` is defined twice in this thread"),
                ));
            }
        }
        Labels(labels)
    }

    /// Binds the labels of a cell to the statement that is emitted next.
    pub(in super::super) fn bind<I>(&mut self, cell: &Cell<I>, asm: &mut Assembler<'_>) {
        for (name, _) in &cell.labels {
            if let Some((target, bound)) = self.0.get_mut(name.as_str())
                && !std::mem::replace(bound, true)
            {
                asm.bind(*target);
            }
            asm.allow_place();
        }
    }

    /// Returns the target of the label `name`, to which the instruction at `span` jumps.
    pub(in super::super) fn target(&self, name: &str, span: Span) -> Result<Target, LitmusError> {
        self.0.get(name).map(|(target, _)| *target).ok_or_else(|| {
            LitmusError::name(span, format!("there is no label `{name}` in this thread"))
        })
    }
}

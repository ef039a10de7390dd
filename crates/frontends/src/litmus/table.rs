//! The table of a test in an assembly language: a column of cells for each thread.
//!
//! - [`parse`]: parses the rows.
//! - `labels`: the labels of a column.
//! - `loops`: the loop depth of each cell.

mod labels;
mod loops;
pub(super) mod parse;

pub(super) use labels::Labels;
pub(super) use loops::loop_depths;

use fencepost_ir::Span;

/// A thread: a column of the table.
#[derive(Clone, Debug)]
pub struct Column<I> {
    /// The number of the thread.
    pub thread: u32,
    /// The non-empty cells, from top to bottom.
    pub cells: Vec<Cell<I>>,
    /// Whether an instruction is invalid and was left out.
    pub incomplete: bool,
}

impl<I> Column<I> {
    /// Returns the instructions, from top to bottom.
    pub fn instructions(&self) -> impl Iterator<Item = &I> {
        self.cells.iter().filter_map(|cell| cell.instruction.as_ref())
    }
}

/// A cell of the table.
#[derive(Clone, Debug)]
pub struct Cell<I> {
    /// The labels before the instruction.
    pub labels: Vec<(String, Span)>,
    /// The instruction, if there is one.
    pub instruction: Option<I>,
    /// The span of the labels and the instruction.
    pub span: Span,
}

/// What the table needs to know about an instruction.
pub trait TableInstruction {
    /// Returns the span of the instruction.
    fn span(&self) -> Span;

    /// Returns the label to which the instruction jumps, if it is a jump.
    fn jump_target(&self) -> Option<&str>;
}

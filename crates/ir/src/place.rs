//! Places: gaps between source statements where a fence can be inserted.
//!
//! When a front end prepares a program for fence inference, it marks every place with a `skip` in
//! the code of each thread that passes the place. The label of the `skip` identifies the place. All
//! copies of a source statement (instances of a template, inlined calls) share their places, so a
//! fence inserted at a place is inserted into all copies. A fence in the source is also a place:
//! the statement with the place's label is then that fence.

use crate::ids::Label;
use crate::op::FenceKinds;
use crate::span::Span;

/// A gap in the source where a fence can be inserted. The label gives the position, the function
/// and the text of the statement that follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The label of the statements that mark this place.
    pub label: Label,
    /// The byte offset in the source at which the text of a fence is inserted.
    pub offset: u32,
    /// Whether the place is at the end of a block, before its closing brace.
    pub at_end: bool,
    /// The statement that must be wrapped in braces together with a fence here, if any.
    pub wrap: Option<Span>,
    /// The number of enclosing loops in the function.
    pub loops: u32,
    /// The fence that the source has at this place, if any.
    pub written: Option<(FenceKinds, Span)>,
}

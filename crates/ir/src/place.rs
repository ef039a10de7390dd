//! Places: gaps between the statements of the source where a fence may stand.
//!
//! A front end that is asked to make a program ready for repair marks every place with a `skip` of its
//! own in the code of each thread that passes it; its label tells which place it is. So all copies of
//! a source statement (instances of a template, inlined calls) share their places, and a fence put
//! there is put into all of them. A fence the user wrote is a place, too: the statement with
//! the place's label is then that fence.

use crate::ids::Label;
use crate::op::FenceKinds;
use crate::span::Span;

/// A gap in the source. The position, the function and the text of the statement that follows are
/// those of its label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The label of the statements that mark it.
    pub label: Label,
    /// The byte of the source before which the text of a fence goes.
    pub offset: u32,
    /// Whether it is the end of a block: what follows in the source is a closing brace.
    pub at_end: bool,
    /// A statement without braces of its own that a fence here has to share them with.
    pub wrap: Option<Span>,
    /// How many loops of its function it is in.
    pub loops: u32,
    /// The fence the user wrote here.
    pub written: Option<(FenceKinds, Span)>,
}

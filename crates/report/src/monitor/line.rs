//! One line of a recorded execution: a JSON object.
//!
//! The book's chapter on `fencepost monitor` describes the format.

use serde::de::{Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::fmt;

/// One line. Unknown fields are ignored.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `thread` and `op`")]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) thread: Name<'a>,
    pub(super) op: Op,
    #[serde(borrow)]
    pub(super) address: Option<Name<'a>>,
    #[serde(borrow)]
    pub(super) at: Option<Name<'a>>,
    pub(super) kind: Option<Kind>,
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) accesses: Option<Vec<Part<'a>>>,
}

/// One access of a block.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `address` and `op`")]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) address: Name<'a>,
    pub(super) op: PartOp,
}

/// A name: a string or an integer. An integer is the same name as the string of its digits.
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a whole number of at most 64 bits")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.into())))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(number.to_string())))
            }
        }
        input.deserialize_any(NameVisitor)
    }
}

/// Implements `Deserialize` for an enum of words. The error message lists the words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident, $what:literal: $($word:literal => $variant:ident),+) => {
        $(#[$about])*
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let word = Name::deserialize(input)?;
                match &*word.0 {
                    $($word => Ok($name::$variant),)+
                    other => Err(D::Error::custom(format!(
                        concat!("unknown ", $what, " `{}`; expected one of {}"),
                        other,
                        [$($word),+].join(", "),
                    ))),
                }
            }
        }
    };
}

#[derive(Clone, Copy)]
pub(super) enum Op {
    Load,
    Store,
    Update,
    Failed,
    Fence,
    Drain,
    Block,
}

words!(Op, "op":
    "load" => Load, "store" => Store, "interlocked" => Update, "update" => Update,
    "failed" => Failed, "fence" => Fence, "drain" => Drain, "block" => Block);

impl Op {
    pub(super) fn name(self) -> &'static str {
        match self {
            Op::Load => "load",
            Op::Store => "store",
            Op::Update => "update",
            Op::Failed => "failed",
            Op::Fence => "fence",
            Op::Drain => "drain",
            Op::Block => "block",
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum PartOp {
    Load,
    Store,
    Update,
}

words!(PartOp, "op in a block":
    "load" => Load, "store" => Store, "interlocked" => Update, "update" => Update);

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Full,
    StoreStore,
    StoreLoad,
}

words!(Kind, "kind":
    "full" => Full, "store_store" => StoreStore, "store_load" => StoreLoad);

//! Newtype ids. Each id prints as in the text form of a program: `L3`, `P1`.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $repr:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $repr);

        impl $name {
            /// Returns the index of this id in a vector.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the id with an index.
            ///
            /// # Panics
            /// If the index is too large for the id. Front ends limit program sizes far below that.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(<$repr>::try_from(index).expect("program sizes are within the limits of ids"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// The identity of a *source* statement. All copies of a statement (instances of a thread
    /// template, inlined calls) have the same label, and no transformation changes labels.
    Label, u32, "L"
);
id!(
    /// A thread instance.
    ThreadId, u16, "P"
);
id!(
    /// A shared memory location.
    Loc, u32, "m"
);
id!(
    /// A thread-local register.
    Reg, u16, "r"
);
id!(
    /// A position in one thread's code.
    Pc, u32, "@"
);
id!(
    /// A pool of records that `new` allocates from.
    PoolId, u16, "pool"
);
id!(
    /// A domain of read-side sections and grace periods.
    Domain, u16, "domain"
);
id!(
    /// A place where a fence can be inserted.
    PlaceId, u32, "F"
);

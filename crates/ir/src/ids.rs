//! Identities. Never a bare integer, and each prints as the text form prints it.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $repr:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $repr);

        impl $name {
            /// The position of this id in a vector indexed by it.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id for a position in such a vector.
            ///
            /// # Panics
            /// When the position does not fit; front ends limit program sizes far below that.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(<$repr>::try_from(index).expect("ids stay below their limit"))
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
    /// The identity of a *source* statement. Copies of it (instances of a thread template,
    /// inlined calls) carry the same label, and no transformation renames one.
    Label, u32, "L"
);
id!(
    /// A thread instance.
    ThreadId, u16, "P"
);
id!(
    /// A shared memory cell.
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
    /// A place where a fence may stand.
    PlaceId, u32, "F"
);

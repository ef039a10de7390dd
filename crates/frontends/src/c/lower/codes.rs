//! The codes of the diagnostics of lowering: `C0100` to `C0199`.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $code;)*

        /// Every code, in order.
        pub const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    /// The program is too large after inlining.
    TOO_LARGE = "C0100";
    /// A memory order that is not a constant, or that the access cannot have.
    MEMORY_ORDER = "C0101";
    /// A union whose members do not share scalars of the same size.
    UNION = "C0102";
    /// An access to a part of a scalar, or with a type of another size.
    PARTIAL_ACCESS = "C0103";
    /// An allocation whose size or type is not known.
    ALLOCATION = "C0104";
    /// A copy of memory whose size or type is not known.
    MEMORY_COPY = "C0105";
    /// A thread whose function is not known.
    THREAD_FUNCTION = "C0106";
    /// Atomic blocks that do not match.
    ATOMIC_BLOCK = "C0107";
    /// An initialiser that is not a constant.
    INITIALIZER = "C0108";
    /// An access to a whole record that is not supported.
    RECORD_ACCESS = "C0109";
    /// The analysis of the program does not end.
    NO_FIXPOINT = "C0110";
    /// Calls, statements and expressions are nested too deeply.
    TOO_DEEP = "C0111";
}

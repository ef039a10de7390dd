//! The code of every message, one table for all.
//!
//! A code never changes its meaning and is never given again to something else. The book's page
//! "Errors and warnings" explains each; a test compares that page with [`ALL`].

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $code;)*

        /// Every code, in order.
        pub const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    /// Text that begins no token.
    UNKNOWN_CHARACTER = "FP0001";
    /// A `/*` without its `*/`.
    OPEN_COMMENT = "FP0002";
    /// Something else was expected here.
    SYNTAX = "FP0003";
    /// A number that cannot be read or does not fit.
    BAD_NUMBER = "FP0004";
    /// Too much nesting.
    TOO_DEEP = "FP0005";
    /// A limit on sizes was hit.
    TOO_LARGE = "FP0006";
    /// There are more errors than are shown.
    TOO_MANY_ERRORS = "FP0007";

    /// A name is declared twice.
    DUPLICATE = "FP0010";
    /// A name that is neither a location nor a constant nor a register.
    UNKNOWN_NAME = "FP0011";
    /// A type that does not exist.
    UNKNOWN_TYPE = "FP0012";
    /// A field that the record does not have.
    UNKNOWN_FIELD = "FP0013";
    /// A procedure that does not exist.
    UNKNOWN_PROCEDURE = "FP0014";
    /// A label that the body does not have.
    UNKNOWN_LABEL = "FP0015";
    /// A thread, or an instance of one, that does not exist.
    UNKNOWN_THREAD = "FP0016";
    /// A property, a fence kind or an attribute of operations that does not exist.
    UNKNOWN_WORD = "FP0017";

    /// Two types that do not go together.
    TYPE_MISMATCH = "FP0020";
    /// A constant is needed.
    NOT_CONSTANT = "FP0021";
    /// A constant with a value that cannot be used here.
    BAD_CONSTANT = "FP0022";
    /// A location is needed.
    NOT_A_LOCATION = "FP0023";
    /// This cannot be assigned to.
    NOT_ASSIGNABLE = "FP0024";
    /// The wrong number of arguments.
    ARGUMENTS = "FP0025";
    /// A value is needed, and a `void` procedure has none.
    NO_VALUE = "FP0026";
    /// An array without index, or an index on something else.
    ARRAY = "FP0027";
    /// A field of something that is no record.
    NOT_A_RECORD = "FP0028";

    /// Procedures that call themselves.
    RECURSION = "FP0030";
    /// `break` or `continue` outside of a loop.
    NO_LOOP = "FP0031";
    /// A jump out of an `atomic` block.
    LEAVES_ATOMIC = "FP0032";
    /// A jump into a `critical` or `atomic` block.
    JUMP_INTO = "FP0033";
    /// A `return` that does not fit, or a missing one.
    RETURN = "FP0034";
    /// A record without a usable pool.
    POOL = "FP0035";
    /// A range or list with nothing in it.
    EMPTY = "FP0036";
    /// A client that cannot be built.
    CLIENT = "FP0037";
    /// Something a condition may not contain.
    CONDITION = "FP0038";
    /// A `critical` block inside an `atomic` one.
    CRITICAL_IN_ATOMIC = "FP0039";

    /// Warning: a register that is assigned but never read.
    UNREAD_REGISTER = "FP0101";
    /// Warning: an index that is always outside its array.
    OUT_OF_BOUNDS = "FP0102";
    /// Warning: mutual exclusion of critical sections in a file that has none.
    NO_CRITICAL = "FP0103";
}

//! The codes of all diagnostics of the `.fp` front end.
//!
//! A code never changes its meaning and is never reused. The book explains each code on the page
//! "Errors and warnings". A test compares that page with [`ALL`].

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $code;)*

        /// Every code, in order.
        pub const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    /// A character that does not begin a token.
    UNKNOWN_CHARACTER = "FP0001";
    /// A `/*` without a `*/`.
    OPEN_COMMENT = "FP0002";
    /// A syntax error.
    SYNTAX = "FP0003";
    /// A malformed number, or a number that does not fit in 32 bits.
    BAD_NUMBER = "FP0004";
    /// The nesting limit is exceeded.
    TOO_DEEP = "FP0005";
    /// A size limit is exceeded.
    TOO_LARGE = "FP0006";
    /// The error limit is reached.
    TOO_MANY_ERRORS = "FP0007";

    /// A name is declared twice.
    DUPLICATE = "FP0010";
    /// An unknown name: not a location, a constant or a register.
    UNKNOWN_NAME = "FP0011";
    /// An unknown type.
    UNKNOWN_TYPE = "FP0012";
    /// A field that the record does not have.
    UNKNOWN_FIELD = "FP0013";
    /// An unknown procedure.
    UNKNOWN_PROCEDURE = "FP0014";
    /// A label that the thread or procedure does not have.
    UNKNOWN_LABEL = "FP0015";
    /// An unknown thread, or an unknown instance of a thread.
    UNKNOWN_THREAD = "FP0016";
    /// An unknown property, fence kind or attribute of operations.
    UNKNOWN_WORD = "FP0017";

    /// A type mismatch.
    TYPE_MISMATCH = "FP0020";
    /// A constant is required.
    NOT_CONSTANT = "FP0021";
    /// A constant without a value, or with a value that is not allowed here.
    BAD_CONSTANT = "FP0022";
    /// A shared location is required.
    NOT_A_LOCATION = "FP0023";
    /// An assignment to something that never changes.
    NOT_ASSIGNABLE = "FP0024";
    /// The wrong number of arguments.
    ARGUMENTS = "FP0025";
    /// A value is required, and a `void` procedure has none.
    NO_VALUE = "FP0026";
    /// An array without an index, an index on something that is not an array, or a wrong list of
    /// initial values.
    ARRAY = "FP0027";
    /// A reference to a record is required.
    NOT_A_RECORD = "FP0028";

    /// A recursive procedure.
    RECURSION = "FP0030";
    /// `break` or `continue` outside a loop.
    NO_LOOP = "FP0031";
    /// A jump out of an `atomic` block.
    LEAVES_ATOMIC = "FP0032";
    /// A jump into a `critical` or `atomic` block.
    JUMP_INTO = "FP0033";
    /// A `return` with a wrong or missing value, or a missing `return`.
    RETURN = "FP0034";
    /// A record without a pool.
    POOL = "FP0035";
    /// An empty range, enum, record or program.
    EMPTY = "FP0036";
    /// An invalid client, or an operation that clients cannot use.
    CLIENT = "FP0037";
    /// An expression that is not allowed in a condition.
    CONDITION = "FP0038";
    /// A `critical` block inside an `atomic` block.
    CRITICAL_IN_ATOMIC = "FP0039";
    /// An `await` inside an `atomic` block.
    AWAIT_IN_ATOMIC = "FP0040";
    /// An `assume` in a `finally` block.
    ASSUME_IN_FINALLY = "FP0041";
    /// A guard of `either` that loads more than once or has an effect.
    GUARD = "FP0042";
    /// `property progress` in a file with guards of `either`.
    PROGRESS_EITHER = "FP0043";

    /// Warning: a register that is assigned but never read.
    UNREAD_REGISTER = "FP0101";
    /// Warning: an index that is always out of bounds.
    OUT_OF_BOUNDS = "FP0102";
    /// Warning: `mutual_exclusion` in a file without a critical section.
    NO_CRITICAL = "FP0103";
    /// Warning: an `await` whose condition reads no location.
    AWAIT_LOCAL = "FP0104";
    /// Warning: an `assume` outside of `atomic` whose condition reads a location.
    ASSUME_SHARED = "FP0105";
    /// Warning: a property that forbids hangs in a request that allows them.
    HANGS_ALLOWED = "FP0106";

    /// A memory order that the access cannot have, or an unknown memory order.
    MEMORY_ORDER = "FP0240";
    /// A method that locations do not have.
    UNKNOWN_METHOD = "FP0241";
    /// An integer type of more than 16 bits.
    NO_SUCH_WIDTH = "FP0242";
    /// A range that blocks where a value cannot wait.
    BLOCK = "FP0243";
    /// A `switch` on a value without constants, or with two labels for one value.
    SWITCH = "FP0244";
}

//! The codes of all diagnostics of the C front end.
//!
//! A code never changes its meaning and is never reused. `C0001` to `C0049` belong to preprocessing
//! and syntax, `C0050` to `C0099` to types and names, and codes from `C0100` to lowering. The book
//! explains each code on the page "Errors of C programs". A test compares that page with [`ALL`].

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $code;)*

        /// Every code, in order.
        pub const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    /// A character that does not begin a token.
    UNKNOWN_CHARACTER = "C0001";
    /// A `/*` without a `*/`.
    OPEN_COMMENT = "C0002";
    /// A syntax error.
    SYNTAX = "C0003";
    /// A malformed number, character or string.
    BAD_LITERAL = "C0004";
    /// The nesting limit is exceeded.
    TOO_DEEP = "C0005";
    /// A size limit is exceeded.
    TOO_LARGE = "C0006";
    /// The error limit is reached.
    TOO_MANY_ERRORS = "C0007";

    /// An unknown or malformed directive.
    DIRECTIVE = "C0010";
    /// A header that does not exist.
    NO_HEADER = "C0011";
    /// `#if` without `#endif`, or `#else`, `#elif`, `#endif` without `#if`.
    CONDITIONAL = "C0012";
    /// The expression of an `#if` or `#elif`.
    CONDITION = "C0013";
    /// A malformed `#define`.
    MACRO_DEFINITION = "C0014";
    /// A macro with the wrong number of arguments, or without a closing parenthesis.
    MACRO_ARGUMENTS = "C0015";
    /// `##` that does not form a token.
    PASTE = "C0016";
    /// `#error`.
    ERROR_DIRECTIVE = "C0017";
    /// Warning: `#warning`.
    WARNING_DIRECTIVE = "C0018";
    /// Warning: a macro that is defined again in another way.
    REDEFINED_MACRO = "C0019";

    /// An unknown type.
    UNKNOWN_TYPE = "C0030";
    /// C++ in a C program.
    CPLUSPLUS = "C0031";
    /// Syntax of C or of an extension that is not supported.
    NOT_SUPPORTED = "C0032";
    /// A combination of type specifiers that is not a type.
    SPECIFIERS = "C0033";

    /// An unknown name.
    UNKNOWN_NAME = "C0050";
    /// A name is declared twice, or with two types.
    DUPLICATE = "C0051";
    /// A field that the record does not have.
    UNKNOWN_FIELD = "C0052";
    /// A call of a function without a body.
    UNKNOWN_FUNCTION = "C0053";
    /// Operands or values of a wrong type.
    TYPE_MISMATCH = "C0054";
    /// An expression that is not a place in memory, where one is required.
    NOT_A_PLACE = "C0055";
    /// The wrong number of arguments.
    ARGUMENTS = "C0056";
    /// A type without a definition, where its size is required.
    INCOMPLETE_TYPE = "C0057";
    /// A constant is required.
    NOT_CONSTANT = "C0058";
    /// A constant without a value, or with a value that is not allowed here.
    BAD_CONSTANT = "C0059";
    /// A size limit is exceeded.
    OBJECT_TOO_LARGE = "C0060";
    /// A value of a type that is not supported, such as `double`.
    UNSUPPORTED_TYPE = "C0061";
    /// An access to a bit field.
    BIT_FIELD = "C0062";
    /// An array whose size is not a constant.
    VARIABLE_LENGTH = "C0063";
    /// An initialiser that does not fit its type.
    INITIALIZER = "C0064";
    /// A `return` with a wrong or missing value.
    RETURN = "C0065";
    /// `break`, `continue`, `case` or `goto` without its target, or a label that exists twice.
    JUMP = "C0066";
    /// Inline assembly that is not understood.
    ASM = "C0067";
    /// A failed `_Static_assert`.
    STATIC_ASSERT = "C0068";
    /// A program without `main`.
    NO_MAIN = "C0069";
    /// A feature of C that is not supported.
    UNSUPPORTED = "C0070";
    /// A variable that is declared but not defined.
    UNDEFINED_VARIABLE = "C0071";
    /// A call of something that is not a function.
    NOT_A_FUNCTION = "C0072";
    /// `_Generic` without a case for the type.
    GENERIC = "C0073";
    /// An invalid declaration.
    DECLARATION = "C0074";

    /// Warning: a conversion between pointers to different types.
    POINTER_TYPES = "C0090";
    /// Warning: a pointer is used as an integer, or an integer as a pointer.
    POINTER_INTEGER = "C0091";

    /// The program is too large after inlining.
    PROGRAM_TOO_LARGE = "C0100";
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
    INITIAL_VALUE = "C0108";
    /// An access to a whole record that is not supported.
    RECORD_ACCESS = "C0109";
    /// The analysis of the program does not end.
    NO_FIXPOINT = "C0110";
    /// Calls, statements and expressions are nested too deeply.
    NESTED_CALLS = "C0111";
}

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
}

//! Random programs for tests. The programs are well-typed by construction and have random layout.
//!
//! A list of bytes determines the program: each byte makes one choice. After the last byte, every
//! choice is the simplest one. A shorter list thus gives a smaller program, so that shrinking
//! works.

mod wide;

use std::fmt::Write;

/// A sequence of choices, given by bytes.
pub(super) struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes, at: 0 }
    }

    /// Returns a number less than `n`. Returns 0 if no bytes are left.
    fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n
    }
}

/// The context of a statement, which determines the allowed jumps.
#[derive(Clone, Copy)]
struct Context {
    depth: usize,
    in_loop: bool,
    atomic: bool,
    returns: bool,
    /// Whether the statement is in a thread, which can call procedures and read the parameter `i`.
    thread: bool,
}

/// Returns a program with one thread template and some procedures. Spaces separate the tokens.
pub(super) fn program(choices: &mut Choices<'_>) -> String {
    let mut out = String::from(
        "enum State { idle , busy } record Node { int value ; Node next ; int slot [ 2 ] ; } \
         pool Node [ 3 ] ; const N = 2 ; shared int x = 1 , y ; shared bool flag [ 2 ] ; \
         shared State state ; shared int a [ 3 ] = { 1 , 2 , 3 } ; shared Node head ; \
         record Pair { u8 lo ; int hi [ 2 ] ; } shared Pair ring [ 2 ] ; \
         shared int m [ 2 ] [ 3 ] = { { 1 , 2 , 3 } , { 4 , 5 , 6 } } ; \
         shared u8 b = 254 ; shared i8 s ; shared int ( -1 .. 3 , wrap ) w ; \
         init { head = new Node ; head . value = 5 ; } ",
    );
    out.insert_str(0, wide::SHARED);
    let procedure =
        Context { depth: 2, in_loop: false, atomic: false, returns: true, thread: false };
    for (name, result) in [("f", "int"), ("g", "bool"), ("h", "void")] {
        write!(out, "proc {result} {name} ( int p , Node n ) {{ ")
            .expect("writing to a string never fails");
        if choices.below(2) == 1 {
            out.push_str("int r ; ");
        } else {
            out.push_str("r = p ; ");
        }
        out.push_str("q = p > 1 ; ");
        let context = Context { returns: result == "void", ..procedure };
        for _ in 0..choices.below(4) {
            stmt(&mut out, choices, context);
        }
        match result {
            "int" => write!(out, "return {} ; }} ", int(choices, context, 2))
                .expect("writing to a string never fails"),
            "bool" => write!(out, "return {} ; }} ", bool(choices, context, 2))
                .expect("writing to a string never fails"),
            _ => out.push_str("} "),
        }
    }
    out.push_str(
        "thread t ( i in 1 .. N ) { int r ; bool q = false ; Node n = head ; \
         int loc [ 3 ] = { 7 , r , 9 } ; u8 t ; ",
    );
    let context = Context { depth: 3, in_loop: false, atomic: false, returns: true, thread: true };
    for _ in 0..choices.below(5) {
        stmt(&mut out, choices, context);
    }
    out.push_str("back : y += 1 ; if ( y > 9 ) goto done ; ");
    for _ in 0..choices.below(5) {
        stmt(&mut out, choices, context);
    }
    out.push_str("done : skip ; } final forall x != 77 || t ( 1 ) . r == 3 ; ");
    out
}

fn int(choices: &mut Choices<'_>, context: Context, depth: usize) -> String {
    let leaf = depth == 0;
    match choices.below(if leaf { 8 } else { 24 }) {
        0 => "r".into(),
        1 => choices.below(4).to_string(),
        2 => "x".into(),
        3 => "y".into(),
        4 => if context.thread { "i" } else { "p" }.into(),
        5 => "n . value".into(),
        6 => "N".into(),
        7 => {
            let thread = ["b", "t", "x . load ( acquire )", "m [ 1 ] [ 2 ]", "loc [ 1 ]"];
            thread[choices.below(if context.thread { 5 } else { 1 })].into()
        }
        16 => {
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            format!("m [ ( {a} ) & 1 ] [ ( {b} ) & 1 ]")
        }
        17 => format!("ring [ ( {} ) & 1 ] . lo", int(choices, context, depth - 1)),
        18 => {
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            format!("ring [ ( {a} ) & 1 ] . hi [ ( {b} ) & 1 ]")
        }
        19 if context.thread => {
            format!("loc [ ( ( {} ) & 1 ) + i ]", int(choices, context, depth - 1))
        }
        20 => {
            let op = ["fetch_add", "fetch_sub", "swap", "fetch_xor"][choices.below(4)];
            format!("b . {op} ( {} , acq_rel )", int(choices, context, depth - 1))
        }
        21 => format!("fetch_add ( w , {} )", int(choices, context, depth - 1)),
        22 => format!("~ {}", int(choices, context, depth - 1)),
        15 | 23 => format!("a [ {} ]", int(choices, context, depth - 1)),
        8 | 14 => format!("n . slot [ {} ]", int(choices, context, depth - 1)),
        9 if context.thread => format!("f ( {} , n )", int(choices, context, depth - 1)),
        10 => {
            let op = ["fetch_add", "fetch_sub", "swap", "fetch_xor", "cmpxchg"][choices.below(5)];
            let expected = if op == "cmpxchg" { "r , " } else { "" };
            format!("{op} ( x , {expected}{} )", int(choices, context, depth - 1))
        }
        11 => {
            let cond = bool(choices, context, depth - 1);
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            format!("( {cond} ? {a} : {b} )")
        }
        12 => format!("- ( r + {} )", int(choices, context, depth - 1)),
        _ => {
            let op = ["+", "-", "*", "/", "%", "&", "|", "<<", ">>"][choices.below(9)];
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            format!("( {a} {op} {b} )")
        }
    }
}

fn bool(choices: &mut Choices<'_>, context: Context, depth: usize) -> String {
    let leaf = depth == 0;
    match choices.below(if leaf { 5 } else { 14 }) {
        0 => "q".into(),
        1 => "true".into(),
        2 => "flag [ 1 ]".into(),
        3 => "state == busy".into(),
        4 => "n . next != null".into(),
        5 => format!("! ( {} )", bool(choices, context, depth - 1)),
        6 => {
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            format!("cas ( a [ {} ] , {a} , {b} )", choices.below(3))
        }
        7 if context.thread => format!("g ( {} , n )", int(choices, context, depth - 1)),
        12 => {
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            let orders = ["", ", acq_rel", ", acquire , relaxed", ", Ordering : : SeqCst"];
            format!("x . compare_exchange ( {a} , {b} {} )", orders[choices.below(4)])
        }
        13 => wide::comparison(choices, context, depth - 1),
        8 | 9 => {
            let op = ["&&", "||"][choices.below(2)];
            let (a, b) = (bool(choices, context, depth - 1), bool(choices, context, depth - 1));
            format!("( {a} {op} {b} )")
        }
        _ => {
            let op = ["<", "==", ">="][choices.below(3)];
            let (a, b) = (int(choices, context, depth - 1), int(choices, context, depth - 1));
            format!("( {a} {op} {b} )")
        }
    }
}

fn stmt(out: &mut String, choices: &mut Choices<'_>, context: Context) {
    let inner = Context { depth: context.depth.saturating_sub(1), ..context };
    let kinds = if context.depth == 0 { 13 } else { 26 };
    match choices.below(kinds) {
        0 => write!(out, "r = {} ;", int(choices, context, 2)),
        1 => write!(out, "x = {} ;", int(choices, context, 2)),
        2 => write!(out, "q = {} ;", bool(choices, context, 2)),
        3 => write!(out, "a [ {} ] = {} ;", int(choices, context, 1), int(choices, context, 1)),
        4 => {
            write!(out, "y {} {} ;", ["+=", "-=", "^="][choices.below(3)], int(choices, context, 1))
        }
        5 => write!(out, "flag [ 0 ] = {} ;", bool(choices, context, 2)),
        6 => write!(out, "n . next = {} ;", ["null", "n", "new Node"][choices.below(3)]),
        7 => {
            write!(out, "{} ;", ["x ++", "r --", "skip", "fence store_load", ""][choices.below(5)])
        }
        8 if context.in_loop => write!(out, "{} ;", ["break", "continue"][choices.below(2)]),
        9 if context.thread && !context.atomic && choices.below(2) == 1 => {
            write!(out, "goto {} ;", ["done", "back"][choices.below(2)])
        }
        9 if context.returns && !context.atomic => write!(out, "return ;"),
        10 if context.thread => write!(out, "h ( {} , n ) ;", int(choices, context, 1)),
        11 if !context.atomic && context.thread && choices.below(3) == 1 => {
            write!(out, "await ( {} ) ;", bool(choices, context, 2))
        }
        11 => write!(out, "state = {} ;", ["idle", "busy", "state"][choices.below(3)]),
        12 if choices.below(2) == 1 => wide::assign(out, choices, context),
        12 => new_simple(out, choices, context),
        23 | 24 => {
            switch(out, choices, inner);
            Ok(())
        }
        13 | 14 => {
            write!(out, "if ( {} ) ", bool(choices, context, 2))
                .expect("writing to a string never fails");
            block(out, choices, inner);
            if choices.below(2) == 1 {
                out.push_str("else ");
                block(out, choices, inner);
            }
            Ok(())
        }
        15 => {
            write!(out, "while ( {} ) ", bool(choices, context, 2))
                .expect("writing to a string never fails");
            block(out, choices, Context { in_loop: true, ..inner });
            Ok(())
        }
        16 => {
            out.push_str("do ");
            block(out, choices, Context { in_loop: true, ..inner });
            write!(out, "while ( {} ) ;", bool(choices, context, 2))
        }
        17 => {
            out.push_str("for ( r = 0 ; r < 3 ; r ++ ) ");
            block(out, choices, Context { in_loop: true, ..inner });
            Ok(())
        }
        18 => {
            out.push_str("loop { y += 1 ; if ( y > 4 ) break ; ");
            stmt(out, choices, Context { in_loop: true, ..inner });
            write!(out, "}}")
        }
        19 if !context.atomic => {
            out.push_str("critical ");
            braces(out, choices, inner);
            Ok(())
        }
        20 => {
            out.push_str("atomic ");
            braces(out, choices, Context { in_loop: false, atomic: true, ..inner });
            Ok(())
        }
        21 if !context.atomic && context.thread => {
            let bound = choices.below(4);
            let location = ["x", "y", "a [ 1 ]"][choices.below(3)];
            for (word, op) in [("either", "<"), ("or", ">=")] {
                write!(out, "{word} {{ when ( {location} {op} {bound} ) ; ")
                    .expect("writing to a string never fails");
                stmt(out, choices, inner);
                out.push_str("} ");
            }
            Ok(())
        }
        _ => {
            braces(out, choices, inner);
            Ok(())
        }
    }
    .expect("writing to a string never fails");
    out.push(' ');
}

/// Adds an assignment to an array, a record or a wrapping integer.
fn new_simple(out: &mut String, choices: &mut Choices<'_>, context: Context) -> std::fmt::Result {
    let mut value = || int(choices, context, 1);
    let (i, j, v) = (value(), value(), value());
    match choices.below(if context.thread { 12 } else { 10 }) {
        0 => write!(out, "b = {v} ;"),
        1 => write!(out, "b += {v} ;"),
        2 => write!(out, "m [ ( {i} ) & 1 ] [ ( {j} ) & 1 ] = {v} ;"),
        3 => write!(out, "ring [ ( {i} ) & 1 ] . lo -= {v} ;"),
        4 => write!(out, "ring [ ( {i} ) & 1 ] . hi [ ( {j} ) & 1 ] = {v} ;"),
        5 => write!(out, "x . store ( {v} , release ) ;"),
        6 => write!(out, "w = {v} ;"),
        7 => write!(out, "w *= {v} ;"),
        8 => write!(out, "s -= 100 ;"),
        9 => write!(out, "s = r ;"),
        10 => write!(out, "loc [ ( {i} ) & 1 ] = {v} ;"),
        _ => write!(out, "{{ loc [ i + ( ( {i} ) & 1 ) ] += {v} ; t = t * 3 + {v} ; }}"),
    }
}

/// Adds a `switch` with some parts, most of which end with `break`.
fn switch(out: &mut String, choices: &mut Choices<'_>, inner: Context) {
    write!(out, "switch ( {} ) {{ ", int(choices, inner, 1))
        .expect("writing to a string never fails");
    for label in ["case 0 :", "case 1 : case N :", "default :", "case 3 :"] {
        match choices.below(4) {
            0 => continue,
            1 => write!(out, "{label} "),
            _ => write!(out, "{label} skip ; "),
        }
        .expect("writing to a string never fails");
        for _ in 0..choices.below(3) {
            stmt(out, choices, inner);
        }
        if choices.below(3) != 1 {
            out.push_str("break ; ");
        }
    }
    out.push_str("} ");
}

/// Adds a statement, usually in braces.
fn block(out: &mut String, choices: &mut Choices<'_>, context: Context) {
    if choices.below(3) == 1 {
        stmt(out, choices, context);
    } else {
        braces(out, choices, context);
    }
}

fn braces(out: &mut String, choices: &mut Choices<'_>, context: Context) {
    out.push_str("{ ");
    for _ in 0..choices.below(4) {
        stmt(out, choices, context);
    }
    out.push_str("} ");
}

/// Replaces the spaces between tokens with random whitespace and comments.
pub(super) fn randomize_layout(program: &str, choices: &mut Choices<'_>) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (at, token) in program.split(' ').filter(|t| !t.is_empty()).enumerate() {
        let space = match choices.below(40) {
            1 => "\n".into(),
            2 => "\n\n\n".into(),
            3 => format!(" /* c{at} */ "),
            4 => format!(" // c{at} \n"),
            5 => format!("\n  // own {at}\n"),
            6 => format!(" /* long\n{at} */"),
            7 => "\n\n".into(),
            _ if column > 60 && choices.below(2) == 0 => "\n".into(),
            _ => " ".into(),
        };
        column = if space.contains('\n') { 0 } else { column + space.len() + token.len() };
        out.push_str(token);
        out.push_str(&space);
    }
    out
}

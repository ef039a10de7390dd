//! Random programs for tests: well-typed by construction, in any layout.
//!
//! A program is grown from a list of bytes, each of which decides one thing; when the list is used
//! up, every decision is the simplest. So a shorter list is a smaller program, and shrinking works.

use std::fmt::Write;

/// Decisions.
pub(super) struct Dice<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Dice<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Dice { bytes, at: 0 }
    }

    /// A number below `n`; 0 when there are no bytes left.
    fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n
    }
}

/// Where a statement stands, which decides what jumps are allowed.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    in_loop: bool,
    atomic: bool,
    returns: bool,
    /// In a thread, where procedures can be called and `i` is known.
    thread: bool,
}

/// The tokens of a program with one thread template and some procedures, separated by spaces.
pub(super) fn program(dice: &mut Dice<'_>) -> String {
    let mut out = String::from(
        "enum State { idle , busy } record Node { int value ; Node next ; int slot [ 2 ] ; } \
         pool Node [ 3 ] ; const N = 2 ; shared int x = 1 , y ; shared bool flag [ 2 ] ; \
         shared State state ; shared int a [ 3 ] = { 1 , 2 , 3 } ; shared Node head ; \
         init { head = new Node ; head . value = 5 ; } ",
    );
    let procedure = Place { depth: 2, in_loop: false, atomic: false, returns: true, thread: false };
    for (name, result) in [("f", "int"), ("g", "bool"), ("h", "void")] {
        write!(out, "proc {result} {name} ( int p , Node n ) {{ ").expect("a string");
        if dice.below(2) == 1 {
            out.push_str("int r ; ");
        } else {
            out.push_str("r = p ; ");
        }
        out.push_str("q = p > 1 ; ");
        let place = Place { returns: result == "void", ..procedure };
        for _ in 0..dice.below(4) {
            stmt(&mut out, dice, place);
        }
        match result {
            "int" => write!(out, "return {} ; }} ", int(dice, place, 2)).expect("a string"),
            "bool" => write!(out, "return {} ; }} ", bool(dice, place, 2)).expect("a string"),
            _ => out.push_str("} "),
        }
    }
    out.push_str("thread t ( i in 1 .. N ) { int r ; bool q = false ; Node n = head ; ");
    let place = Place { depth: 3, in_loop: false, atomic: false, returns: true, thread: true };
    for _ in 0..dice.below(5) {
        stmt(&mut out, dice, place);
    }
    out.push_str("back : y += 1 ; if ( y > 9 ) goto done ; ");
    for _ in 0..dice.below(5) {
        stmt(&mut out, dice, place);
    }
    out.push_str("done : skip ; } final forall x != 77 || t ( 1 ) . r == 3 ; ");
    out
}

fn int(dice: &mut Dice<'_>, place: Place, depth: usize) -> String {
    let leaf = depth == 0;
    match dice.below(if leaf { 7 } else { 16 }) {
        0 => "r".into(),
        1 => dice.below(4).to_string(),
        2 => "x".into(),
        3 => "y".into(),
        4 => if place.thread { "i" } else { "p" }.into(),
        5 => "n . value".into(),
        6 => "N".into(),
        7 => format!("a [ {} ]", int(dice, place, depth - 1)),
        8 => format!("n . slot [ {} ]", int(dice, place, depth - 1)),
        9 if place.thread => format!("f ( {} , n )", int(dice, place, depth - 1)),
        10 => {
            let op = ["fetch_add", "fetch_sub", "swap", "fetch_xor"][dice.below(4)];
            format!("{op} ( x , {} )", int(dice, place, depth - 1))
        }
        11 => {
            let cond = bool(dice, place, depth - 1);
            let (a, b) = (int(dice, place, depth - 1), int(dice, place, depth - 1));
            format!("( {cond} ? {a} : {b} )")
        }
        12 => format!("- {}", int(dice, place, depth - 1)),
        _ => {
            let op = ["+", "-", "*", "/", "%", "&", "|"][dice.below(7)];
            let (a, b) = (int(dice, place, depth - 1), int(dice, place, depth - 1));
            format!("( {a} {op} {b} )")
        }
    }
}

fn bool(dice: &mut Dice<'_>, place: Place, depth: usize) -> String {
    let leaf = depth == 0;
    match dice.below(if leaf { 5 } else { 12 }) {
        0 => "q".into(),
        1 => "true".into(),
        2 => "flag [ 1 ]".into(),
        3 => "state == busy".into(),
        4 => "n . next != null".into(),
        5 => format!("! ( {} )", bool(dice, place, depth - 1)),
        6 => {
            let (a, b) = (int(dice, place, depth - 1), int(dice, place, depth - 1));
            format!("cas ( a [ {} ] , {a} , {b} )", dice.below(3))
        }
        7 if place.thread => format!("g ( {} , n )", int(dice, place, depth - 1)),
        8 | 9 => {
            let op = ["&&", "||"][dice.below(2)];
            let (a, b) = (bool(dice, place, depth - 1), bool(dice, place, depth - 1));
            format!("( {a} {op} {b} )")
        }
        _ => {
            let op = ["<", "==", ">="][dice.below(3)];
            let (a, b) = (int(dice, place, depth - 1), int(dice, place, depth - 1));
            format!("( {a} {op} {b} )")
        }
    }
}

fn stmt(out: &mut String, dice: &mut Dice<'_>, place: Place) {
    let inner = Place { depth: place.depth.saturating_sub(1), ..place };
    let kinds = if place.depth == 0 { 12 } else { 22 };
    match dice.below(kinds) {
        0 => write!(out, "r = {} ;", int(dice, place, 2)),
        1 => write!(out, "x = {} ;", int(dice, place, 2)),
        2 => write!(out, "q = {} ;", bool(dice, place, 2)),
        3 => write!(out, "a [ {} ] = {} ;", int(dice, place, 1), int(dice, place, 1)),
        4 => write!(out, "y {} {} ;", ["+=", "-=", "^="][dice.below(3)], int(dice, place, 1)),
        5 => write!(out, "flag [ 0 ] = {} ;", bool(dice, place, 2)),
        6 => write!(out, "n . next = {} ;", ["null", "n", "new Node"][dice.below(3)]),
        7 => write!(out, "{} ;", ["x ++", "r --", "skip", "fence store_load", ""][dice.below(5)]),
        8 if place.in_loop => write!(out, "{} ;", ["break", "continue"][dice.below(2)]),
        9 if place.thread && !place.atomic && dice.below(2) == 1 => {
            write!(out, "goto {} ;", ["done", "back"][dice.below(2)])
        }
        9 if place.returns && !place.atomic => write!(out, "return ;"),
        10 if place.thread => write!(out, "h ( {} , n ) ;", int(dice, place, 1)),
        11 => write!(out, "state = {} ;", ["idle", "busy", "state"][dice.below(3)]),
        12..=14 => {
            write!(out, "if ( {} ) ", bool(dice, place, 2)).expect("a string");
            block(out, dice, inner);
            if dice.below(2) == 1 {
                out.push_str("else ");
                block(out, dice, inner);
            }
            Ok(())
        }
        15 => {
            write!(out, "while ( {} ) ", bool(dice, place, 2)).expect("a string");
            block(out, dice, Place { in_loop: true, ..inner });
            Ok(())
        }
        16 => {
            out.push_str("do ");
            block(out, dice, Place { in_loop: true, ..inner });
            write!(out, "while ( {} ) ;", bool(dice, place, 2))
        }
        17 => {
            out.push_str("for ( r = 0 ; r < 3 ; r ++ ) ");
            block(out, dice, Place { in_loop: true, ..inner });
            Ok(())
        }
        18 => {
            out.push_str("loop { y += 1 ; if ( y > 4 ) break ; ");
            stmt(out, dice, Place { in_loop: true, ..inner });
            write!(out, "}}")
        }
        19 if !place.atomic => {
            out.push_str("critical ");
            braces(out, dice, inner);
            Ok(())
        }
        20 => {
            out.push_str("atomic ");
            braces(out, dice, Place { in_loop: false, atomic: true, ..inner });
            Ok(())
        }
        _ => {
            braces(out, dice, inner);
            Ok(())
        }
    }
    .expect("a string");
    out.push(' ');
}

/// A statement, often in braces.
fn block(out: &mut String, dice: &mut Dice<'_>, place: Place) {
    if dice.below(3) == 1 {
        stmt(out, dice, place);
    } else {
        braces(out, dice, place);
    }
}

fn braces(out: &mut String, dice: &mut Dice<'_>, place: Place) {
    out.push_str("{ ");
    for _ in 0..dice.below(4) {
        stmt(out, dice, place);
    }
    out.push_str("} ");
}

/// The same tokens with other space between them, and comments.
pub(super) fn disarrange(program: &str, dice: &mut Dice<'_>) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (at, token) in program.split(' ').filter(|t| !t.is_empty()).enumerate() {
        let space = match dice.below(40) {
            1 => "\n".into(),
            2 => "\n\n\n".into(),
            3 => format!(" /* c{at} */ "),
            4 => format!(" // c{at} \n"),
            5 => format!("\n  // own {at}\n"),
            6 => format!(" /* long\n{at} */"),
            7 => "\n\n".into(),
            _ if column > 60 && dice.below(2) == 0 => "\n".into(),
            _ => " ".into(),
        };
        column = if space.contains('\n') { 0 } else { column + space.len() + token.len() };
        out.push_str(token);
        out.push_str(&space);
    }
    out
}

//! Fences written into tables: edits change only the necessary text.

use fencepost_ir::code_equality::same_code;
use fencepost_ir::placement::fenced;
use fencepost_ir::{
    Atom, Barrier, Diagnostics, FenceKinds, PlaceId, Placement, Program, WrittenFences,
};

use crate::edit::{EditError, apply};
use crate::{Frontend, LitmusFrontend, Request};

const SB: &str = "X86 SB\n{ x=0; y=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n \
                  MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

/// Writes a placement into a text.
fn insert_placement(
    source: &str,
    program: &Program,
    placement: &Placement,
    written: WrittenFences,
) -> String {
    let files = LitmusFrontend.insert(source, &Request::default(), program, placement, written);
    let files = files.expect("every place has a position in the text");
    let [file] = &files[..] else { panic!("one file") };
    apply(source, &file.edits)
}

fn lowered(source: &str, places: bool) -> Program {
    let mut diagnostics = Diagnostics::new();
    let test = super::super::read(source, "t", places, &mut diagnostics);
    test.unwrap_or_else(|| panic!("{diagnostics:?}\n{source}")).problem.program
}

fn atom(place: usize, kinds: FenceKinds) -> Atom {
    Atom { place: PlaceId::from_index(place), barrier: Barrier::Fence(kinds) }
}

/// Writes a placement into a text and checks that the new text has the code of the fenced program.
fn edited(source: &str, atoms: &[Atom], written: WrittenFences) -> String {
    let program = lowered(source, true);
    let placement: Placement = atoms.iter().copied().collect();
    let text = insert_placement(source, &program, &placement, written);
    let expected = fenced(&program, &placement, written);
    assert!(same_code(&expected, &lowered(&text, false)), "{atoms:?}\n{source}\n--\n{text}");
    text
}

/// Returns the index of the place before the instruction `text` of a thread.
fn place(source: &str, thread: &str, text: &str) -> usize {
    let program = lowered(source, true);
    let mut labels = program.places.iter().map(|place| program.label(place.label));
    let at = labels.position(|info| info.function == thread && info.text == text);
    at.unwrap_or_else(|| panic!("there is no {text} in {thread}"))
}

#[test]
fn fences_of_several_threads_before_one_row_share_a_new_row() {
    let atoms = [("P0", "MOV EAX,[y]"), ("P1", "MOV EAX,[x]")]
        .map(|(thread, text)| atom(place(SB, thread, text), FenceKinds::FULL));
    let one = edited(SB, &atoms[..1], WrittenFences::Kept);
    assert_eq!(
        one,
        SB.replace(" MOV EAX,[y]", " MFENCE      |             ;\n MOV EAX,[y]"),
        "all other bytes stay unchanged"
    );
    let two = edited(SB, &atoms, WrittenFences::Kept);
    assert_eq!(two, SB.replace(" MOV EAX,[y]", " MFENCE      | MFENCE      ;\n MOV EAX,[y]"));
}

#[test]
fn two_fences_at_one_place_get_two_rows() {
    let program = lowered(SB, true);
    let both = FenceKinds::STORE_STORE.union(FenceKinds::ACQUIRE);
    let here = [atom(place(SB, "P1", "MOV EAX,[x]"), both)].into_iter().collect();
    let text = insert_placement(SB, &program, &here, WrittenFences::Kept);
    let rows = "             | SFENCE      ;\n             | LFENCE      ;\n MOV EAX,[y]";
    assert_eq!(text, SB.replace(" MOV EAX,[y]", rows));
}

#[test]
fn a_fence_is_inserted_after_labels() {
    let source = "X86 spin\n{ }\nP0|P1;\nMOV [x],$1|L1: L2: MOV EAX,[x];\n|CMP EAX,$1;\n|JNE L1;\n\
                  exists (1:EAX=1)\n";
    let at = place(source, "P1", "MOV EAX,[x]");
    let text = edited(source, &[atom(at, FenceKinds::ACQUIRE)], WrittenFences::Kept);
    let row = "          |L1: L2: LFENCE     ;\nMOV [x],$1|        MOV EAX,[x];";
    assert_eq!(text, source.replace("MOV [x],$1|L1: L2: MOV EAX,[x];", row));
}

#[test]
fn written_fences_are_rewritten_in_their_cells() {
    let source = "X86 t\r\n{ }\r\n P0         | P1          ;\r\n MOV [x],$1 | MOV EAX,[y] ;\r\n SFENCE     \
                  | L: LFENCE   ;\r\n MOV [y],$1 | MOV EBX,[x] ;\r\n MFENCE     |             ; (* why *)\r\n \
                  SFENCE | ;\r\nexists (1:EAX=1)\r\n";
    let stronger = [atom(place(source, "P0", "SFENCE"), FenceKinds::FULL)];
    let text = edited(source, &stronger, WrittenFences::Kept);
    assert_eq!(text, source.replacen(" SFENCE     |", " MFENCE     |", 1));
    let text = edited(source, &[], WrittenFences::Dropped);
    let gone = source
        .replacen(" SFENCE     | L: LFENCE", "            | L:       ", 1)
        .replace(" MFENCE     |             ;", "")
        .replace(" SFENCE | ;\r\n", "");
    assert_eq!(text, gone, "an empty row is removed, a comment stays");
}

/// Unusual tables: comments between and inside of rows, rows that share a line, `LOCK;`, labels
/// without instructions, empty columns, no semicolon at the end.
const UNUSUAL: [&str; 5] = [
    SB,
    "X86 a (* P0 | P1 ; *)\n{x=0;}\n(* one ; two | *)\n P0 (* | *) | P1 ;\n (* ; *) MOV [x],$1 | ;\n\n \
     # hidden ; | \n LOCK; INC [x] | MOV EAX,[x] ; (* end *)\n | L: ;\n | MFENCE ;\n | LOCK ;\n DEC [x] ;\n\
     exists (1:EAX=1)\n",
    "X86 b { } P0 | P1 ; MOV [x],$1 | MOV EAX,[y] ; MOV [y],$1 | MOV EBX,[x] ; SFENCE | ; exists (1:EAX=1)",
    "X86_64 c\n{ }\n P0 | P1 | P2 ;\n movl $1,(x) | a: movl (y),%eax | ;\n | cmpl $1,%eax | ;\n mfence | jne a | ;\n \
     movl $1,(y) | b: lfence | ;\n | jmp c | ;\n | movl (x),%ebx | ;\n | c: | ;\nexists (1:rax=1)\n",
    "X86 d\n{ }\n P0 ;\n MOV [x],$1 ;\n MOV EAX,[y]",
];

#[test]
fn fences_can_be_written_at_every_place() {
    for source in UNUSUAL {
        let program = lowered(source, true);
        // A column without cells has no position for a fence, and no accesses to order.
        let cells = program.places.iter().enumerate().filter(|(_, place)| place.offset > 0);
        let places: Vec<usize> = cells.map(|(at, _)| at).collect();
        let kinds = [FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::ACQUIRE];
        for written in [WrittenFences::Kept, WrittenFences::Dropped] {
            edited(source, &[], written);
            for (at, place) in places.iter().enumerate() {
                // Together with the written fence, another kind could need two fences.
                let own = program.places[*place].written.filter(|_| written == WrittenFences::Kept);
                let kind = if own.is_some() { FenceKinds::FULL } else { kinds[at % 3] };
                let text = edited(source, &[atom(*place, kind)], written);
                let comments = |text: &str| text.matches("(*").count() + text.matches('#').count();
                assert_eq!(comments(source), comments(&text), "{text}");
            }
            let all: Vec<Atom> = places.iter().map(|at| atom(*at, FenceKinds::FULL)).collect();
            edited(source, &all, written);
        }
    }
}

#[test]
fn c_tests_get_statements_instead_of_rows() {
    let source = "C c\n{ }\nP0(int *x, int *y) { *x = 1; *y = 1; }\nexists (x=1)\n";
    let text = edited(source, &[atom(1, FenceKinds::FULL)], WrittenFences::Kept);
    let statement = "atomic_thread_fence(memory_order_seq_cst); *y = 1;";
    assert_eq!(text, source.replace("*y = 1;", statement));
}

#[test]
fn a_column_without_cells_has_no_position() {
    let source = "X86 e\n{ }\n P0 | P1 ;\n MOV [x],$1 | ;\nexists (x=1)\n";
    let program = lowered(source, true);
    let empty = program.places.iter().position(|place| place.offset == 0).expect("a place of P1");
    let placement = [atom(empty, FenceKinds::FULL)].into_iter().collect();
    let request = Request::default();
    let result = LitmusFrontend.insert(source, &request, &program, &placement, WrittenFences::Kept);
    assert!(matches!(result, Err(EditError::NoPosition { .. })), "{result:?}");
}

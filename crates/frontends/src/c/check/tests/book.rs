//! The page of errors in the book.

use fencepost_ir::Diagnostics;

use crate::Request;
use crate::c::check::check;
use crate::c::frontend::compile;
use crate::c::{PreprocessOptions, parse_unit};

/// Each example of the checker's codes causes the message of its section.
#[test]
fn examples_of_the_page_cause_their_message() {
    let page = include_str!("../../../../../../book/src/c-errors.md");
    for section in page.split("\n## ").skip(1) {
        let code = &section[..5];
        let example = section.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
        let Some(example) = example.filter(|_| ("C0050".."C0100").contains(&code)) else {
            continue;
        };
        let mut diagnostics = Diagnostics::new();
        let options = PreprocessOptions::default();
        let (map, unit) = parse_unit("main.c", example, &options, &mut diagnostics);
        check(&unit, &map, &mut diagnostics);
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [code], "{example}");
    }
}

/// Each example of the codes of lowering causes the message of its section.
#[test]
fn examples_of_lowering_cause_their_message() {
    let page = include_str!("../../../../../../book/src/c-errors.md");
    let mut examples = 0;
    for section in page.split("\n## ").skip(1) {
        let code = &section[..5];
        let example = section.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
        let Some(example) = example.filter(|_| code >= "C0100") else { continue };
        let mut diagnostics = Diagnostics::new();
        compile(example, &Request::default(), &mut diagnostics);
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [code], "{example}");
        examples += 1;
    }
    assert!(examples > 0);
}

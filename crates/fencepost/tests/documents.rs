//! The transcripts in the README and the book are the output of the program.

#[test]
fn transcripts() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the repository exists");
    trycmd::TestCases::new().case("README.md").case("book/src/*.md");
    // Some transcripts write files.
    let _ = std::fs::remove_file("burns.cert");
    let _ = std::fs::remove_file("fences.cert");
    let _ = std::fs::remove_dir_all("dots");
}

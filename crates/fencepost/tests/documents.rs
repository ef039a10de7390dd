//! The transcripts in the README and the book are what the program prints.

#[test]
fn transcripts() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the repository is there");
    trycmd::TestCases::new().case("README.md").case("book/src/*.md");
    // One of them writes a certificate.
    let _ = std::fs::remove_file("burns.cert");
}

//! Formats a file.
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let source = std::fs::read_to_string(path).unwrap();
    let mut d = fencepost_ir::Diagnostics::new();
    let t = fencepost_frontends::fp::format::format(&source, &mut d);
    for x in d.iter() { println!("{x:?}"); }
    print!("{}", t.unwrap());
}

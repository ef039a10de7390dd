//! Random C programs without threads have the results of a C compiler.
//!
//! A batch of programs is compiled as one file. The results of our lowering are the final values
//! under SC, from the explicit engine.

use crate::common::{model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::Verdict;
use fencepost_ir::{Observable, Value};
use fencepost_testkit::c_programs::{RESULTS, Sequential, sequential};
use fencepost_testkit::{c_problem, catch_panic, tools};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// The number of programs.
const PROGRAMS: u64 = 200;
/// The number of programs in one file for the compiler.
const BATCH: usize = 100;

/// Returns the results of each program, from a C compiler.
fn compiled(programs: &[(u64, Sequential)]) -> Vec<Vec<Value>> {
    let mut text = "#include <stdio.h>\n".to_string();
    let mut main = String::new();
    for (seed, program) in programs {
        let _ = write!(text, "#define main main_{seed}\n{}\n#undef main\n", program.text);
        let _ = write!(main, "\tmain_{seed}();\n\tfor (int i = 0; i < {RESULTS}; i++)\n");
        let _ = write!(main, "\t\tprintf(\"%lld \", {}[i]);\n\tputs(\"\");\n", program.results);
    }
    let _ = write!(text, "int main(void)\n{{\n{main}\treturn 0;\n}}\n");
    let name = format!("fencepost-sequential-{}-{}", std::process::id(), programs[0].0);
    let source = std::env::temp_dir().join(format!("{name}.c"));
    let binary = std::env::temp_dir().join(name);
    fs::write(&source, text).expect("a temporary file");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O0", "-w", "-o"]).arg(&binary).arg(&source);
    let status = compiler.status().expect("a C compiler");
    assert!(status.success(), "the compiler rejects {}", source.display());
    let output = Command::new(&binary).output().expect("the compiled programs run");
    assert!(output.status.success(), "the programs of {} fail", source.display());
    let _ = (fs::remove_file(source), fs::remove_file(binary));
    let numbers =
        |line: &str| line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    String::from_utf8_lossy(&output.stdout).lines().map(numbers).collect()
}

/// Returns the results of a program under SC.
fn ours(program: &Sequential) -> Result<Vec<Value>, String> {
    let mut problem = c_problem(&program.text)?;
    let locations = &problem.program.locations;
    let loc = |at: usize| {
        let name = format!("{}[{at}]", program.results);
        let found = locations.iter().position(|location| location.name == name);
        found.map(|at| Observable::Loc(fencepost_ir::Loc(at as u32))).ok_or(name)
    };
    problem.observed = (0..RESULTS).map(loc).collect::<Result<_, _>>()?;
    let answer = outcomes(&problem, &model("sc"), settings(1));
    if !matches!(answer.verdict, Verdict::Verified(_)) {
        return Err(format!("{:.200}", format!("{:?}", answer.verdict)));
    }
    let mut all = answer.outcomes.into_iter();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only),
        (first, second) => Err(format!("outcomes {first:?}, {second:?}")),
    }
}

/// Returns how the results differ from those of the compiler.
fn difference(program: &Sequential, expected: &[Value]) -> Option<String> {
    match catch_panic(|| ours(program)) {
        Ok(found) if found == expected => None,
        Ok(found) => {
            let at = (0..RESULTS).find(|at| found[*at] != expected[*at]).unwrap_or(0);
            Some(format!("result {at} is {}, the compiler has {}", found[at], expected[at]))
        }
        Err(message) => Some(message),
    }
}

#[test]
fn random_sequential_programs_have_the_results_of_a_c_compiler() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    let programs: Vec<_> = seeds(PROGRAMS).map(|seed| (seed, sequential(seed))).collect();
    let mut wrong = Vec::new();
    for batch in programs.chunks(BATCH) {
        for ((seed, program), expected) in batch.iter().zip(compiled(batch)) {
            if let Some(difference) = difference(program, &expected) {
                wrong.push(format!("seed {seed}: {difference}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    report_comparisons("sequential C programs", programs.len() as u64);
}

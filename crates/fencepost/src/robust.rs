//! `fencepost robust`: whether programs behave as if sequentially consistent.
//!
//! - [`resume`]: to go on where someone stopped.
//!
//! The same work as `check` does with an engine of its own, and with `--infer` the same as `infer`.

mod resume;

use crate::args::{Abstract, Check, EngineName, Infer, Method, RobustArgs, RobustName, Verifier};
use crate::check;
use crate::exit::Exit;
use crate::infer;
use crate::output::Output;
use fencepost_engines::{Robust, RobustBy};

/// Asks about every program and model.
pub(crate) fn run(options: &RobustArgs, output: &mut Output) -> Exit {
    if options.preemptions.is_some() && options.engine == RobustName::Attack {
        output.error("--preemptions is for --engine stateless; an attack has no such bound");
        return Exit::Unusable;
    }
    if options.infer {
        return run_infer(options, output);
    }
    if let Some(path) = &options.resume {
        if options.files.len() > 1 || options.model.len() > 1 {
            output.error("--resume is about one program and one model");
            return Exit::Unusable;
        }
        if options.preemptions.is_some() || options.engine == RobustName::Attack {
            output.error("--resume is for --engine stateless, without --preemptions");
            return Exit::Unusable;
        }
        return resume::run(
            path,
            |engine, output| check::run_with(&check(options), engine, output),
            output,
        );
    }
    let by = match (options.preemptions, options.engine) {
        (Some(most), _) => RobustBy::Preemptions(most),
        (None, RobustName::Auto) => RobustBy::Auto,
        (None, RobustName::Stateless) => RobustBy::Stateless,
        (None, RobustName::Attack) => RobustBy::Attack,
    };
    check::run_with(&check(options), &Robust { by }, output)
}

/// The options as those of `check`.
fn check(options: &RobustArgs) -> Check {
    Check {
        files: options.files.clone(),
        model: options.model.clone(),
        engine: EngineName::Auto,
        format: options.format,
        accept_bounded: options.accept_bounded,
        client: options.client.clone(),
        trace_dir: options.trace_dir.clone(),
        certificate: None,
        preemptions: None,
        dot: None,
        all_traces: options.all_traces,
        witness: false,
        quiet: options.quiet,
        abstraction: Abstract { domain: None, k: None },
        search: options.search,
    }
}

/// Looks for fences.
fn run_infer(options: &RobustArgs, output: &mut Output) -> Exit {
    let ([file], [model]) = (&options.files[..], &options.model[..]) else {
        output.error("--infer is about one program and one model: choose the model with --model");
        return Exit::Unusable;
    };
    if options.preemptions.is_some() || options.engine != RobustName::Auto {
        output.error("--infer chooses how to look by itself: leave out --engine and --preemptions");
        return Exit::Unusable;
    }
    let infer = Infer {
        file: file.clone(),
        model: model.clone(),
        method: Method::Lazy,
        engine: Verifier::Robust,
        fences: options.fences.fences.clone(),
        cost: options.fences.cost.clone(),
        all: options.fences.all,
        from_scratch: options.fences.from_scratch,
        forbid: Vec::new(),
        only_in: Vec::new(),
        client: options.client.clone(),
        clients: None,
        write: options.fences.write,
        output: options.fences.output.clone(),
        explain: options.fences.explain,
        format: options.format,
        accept_bounded: options.accept_bounded,
        trace_dir: options.trace_dir.clone(),
        quiet: options.quiet,
        abstraction: Abstract { domain: None, k: None },
        search: options.search,
    };
    infer::run(&infer, output)
}

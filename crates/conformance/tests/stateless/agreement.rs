//! Verdicts and outcomes against the explicit engine, on random programs: those that everything is tested with, and
//! those about sections and waits.
//!
//! Direction: under SC the answers are the same. Under TSO and PSO the stateless engine may say that it does not
//! know; what it does say is so.

use super::ask::{Compared, each, same_under_sc, sound_under, stored, within};
use crate::common::seeds;
use fencepost_ir::Problem;
use fencepost_testkit::programs::{
    Profile, RandomProgram, bounded, deadlocks, endless, invariants, program, sections, turns,
    waiting, waits,
};

/// Programs of each kind.
const PROGRAMS: u64 = 40;

fn sc(problem: &Problem) -> Result<Compared, String> {
    same_under_sc(problem, within(1), stored())
}

fn weaker(problem: &Problem) -> Result<Compared, String> {
    let tso = sound_under(problem, "tso", within(1), stored())?;
    Ok(tso.and(sound_under(problem, "pso", within(1), stored())?))
}

/// Both, with at least these percentages of programs compared: verdicts under SC, outcomes under SC, verdicts
/// under the weaker models.
fn sketches(draw: fn(u64) -> RandomProgram, least: [u64; 3]) {
    let strong = each(draw, PROGRAMS, sc);
    let weak = each(draw, PROGRAMS, weaker);
    enough(strong, weak, least);
}

fn profile(profile: Profile, least: [u64; 3]) {
    let strong = each(|seed| program(profile, seed), PROGRAMS, sc);
    let weak = each(|seed| program(profile, seed), PROGRAMS, weaker);
    enough(strong, weak, least);
}

#[track_caller]
fn enough(strong: Compared, weak: Compared, [verdicts, outcomes, weaker]: [u64; 3]) {
    if std::env::var("FENCEPOST_SEEDS").is_ok() {
        return;
    }
    let drawn = seeds(PROGRAMS).end;
    let percent = |count: u64| count * 100 / drawn;
    let found = [percent(strong.verdicts), percent(strong.outcomes), percent(weak.verdicts)];
    let right = found[0] >= verdicts && found[1] >= outcomes && found[2] >= weaker;
    assert!(right, "compared, in percent of programs: {found:?}");
}

#[test]
fn random_straight() {
    profile(Profile::Straight, [90, 50, 50]);
}

#[test]
fn random_loops() {
    profile(Profile::Loops, [30, 20, 10]);
}

#[test]
fn random_records() {
    profile(Profile::Records, [90, 60, 30]);
}

#[test]
fn random_kitchen() {
    profile(Profile::Kitchen, [60, 30, 30]);
}

#[test]
fn random_buffers() {
    profile(Profile::Buffers, [40, 30, 10]);
}

#[test]
fn random_bounded_programs() {
    let strong = each(bounded, PROGRAMS, sc);
    enough(strong, each(bounded, PROGRAMS, weaker), [90, 90, 30]);
}

#[test]
fn random_waiting_programs() {
    let strong = each(waiting, PROGRAMS, sc);
    enough(strong, each(waiting, PROGRAMS, weaker), [90, 90, 30]);
}

#[test]
fn random_endless_programs() {
    // Most of these have no end, and nothing can be said about them; but sometimes something goes wrong soon.
    each(endless, PROGRAMS / 6, sc);
    each(endless, PROGRAMS / 6, weaker);
}

#[test]
fn random_critical_sections() {
    sketches(sections, [90, 5, 60]);
}

#[test]
fn random_taking_turns() {
    sketches(turns, [90, 60, 60]);
}

#[test]
fn random_invariants_of_several_locations() {
    sketches(invariants, [90, 50, 60]);
}

#[test]
fn random_deadlock_freedom() {
    sketches(deadlocks, [90, 30, 60]);
}

#[test]
fn random_waits_of_every_kind() {
    sketches(waits, [60, 40, 20]);
}

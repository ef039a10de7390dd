//! Classic litmus tests of the model `arm`, with the known answers.

/// Classic litmus tests: the name, the program, the observed values, and whether these are allowed.
pub(super) const CLASSICS: &[(&str, &str, &str, bool)] = &[
    ("MP", "str x 1; str y 1 | ldr r0 y; ldr r1 x", "p1.r0=1 p1.r1=0", true),
    ("MP+dmb+po", "str x 1; dmb; str y 1 | ldr r0 y; ldr r1 x", "p1.r0=1 p1.r1=0", true),
    ("MP+po+addr", "str x 1; str y 1 | ldr r0 y; ldr r1 x+r0", "p1.r0=1 p1.r1=0", true),
    ("MP+dmb+addr", "str x 1; dmb; str y 1 | ldr r0 y; ldr r1 x+r0", "p1.r0=1 p1.r1=0", false),
    (
        "MP+dmb.st+dmb.ld",
        "str x 1; dmb.st; str y 1 | ldr r0 y; dmb.ld; ldr r1 x",
        "p1.r0=1 p1.r1=0",
        false,
    ),
    (
        "MP+dmb+ctrl",
        "str x 1; dmb; str y 1 | ldr r0 y; cbz r0 0; ldr r1 x",
        "p1.r0=1 p1.r1=0",
        true,
    ),
    (
        "MP+dmb+ctrl-ctrl",
        "str x 1; dmb; str y 1 | ldr r0 y; cbz r0 1; ldr r2 z; cbz r0 1; ldr r1 x",
        "p1.r0=1 p1.r1=0",
        true,
    ),
    (
        "MP+dmb+ctrl-rfi-addr",
        "str x 1; dmb; str y 1 | ldr r0 y; cbz r0 2; str z 1; ldr r2 z; ldr r1 x+r2",
        "p1.r0=1 p1.r1=0",
        true,
    ),
    (
        "MP+dmb+ctrl-isb",
        "str x 1; dmb; str y 1 | ldr r0 y; cbz r0 0; isb; ldr r1 x",
        "p1.r0=1 p1.r1=0",
        false,
    ),
    ("MP+dmb+isb", "str x 1; dmb; str y 1 | ldr r0 y; isb; ldr r1 x", "p1.r0=1 p1.r1=0", true),
    (
        "MP+dmb+addr-isb",
        "str x 1; dmb; str y 1 | ldr r0 y; ldr r1 z+r0; isb; ldr r2 x",
        "p1.r0=1 p1.r2=0",
        false,
    ),
    ("MP+stlr+ldar", "str x 1; stlr y 1 | ldar r0 y; ldr r1 x", "p1.r0=1 p1.r1=0", false),
    ("MP+stlr+ldapr", "str x 1; stlr y 1 | ldapr r0 y; ldr r1 x", "p1.r0=1 p1.r1=0", false),
    ("MP+stlr+po", "str x 1; stlr y 1 | ldr r0 y; ldr r1 x", "p1.r0=1 p1.r1=0", true),
    (
        // Two reads of one location, and dependencies between different locations.
        "MP+dmb+addr-rsw-addr",
        "str x 1; dmb; str y 1 | ldr r0 y; ldr r1 z+r0; ldr r2 z; ldr r3 x+r2",
        "p1.r0=1 p1.r3=0",
        true,
    ),
    (
        "MP+dmb+fri-rfi-addr",
        "str y 1; dmb; str x 2 | ldr r0 x; str x 1; ldr r1 x; ldr r2 y+r1",
        "p1.r0=2 p1.r1=1 p1.r2=0",
        true,
    ),
    (
        "MP+dmb+addr-swp-rfi-addr",
        "str y 1; dmb; str x 2 | swp r0 x 1; ldr r1 x; ldr r2 y+r1",
        "p1.r0=2 p1.r1=1 p1.r2=0",
        true,
    ),
    (
        "MP+dmb+add-rfi-addr",
        "str y 1; dmb; str x 2 | add r0 x 1; ldr r1 x; ldr r2 y+r1",
        "p1.r0=2 p1.r1=3 p1.r2=0",
        false,
    ),
    ("LB", "ldr r0 x; str y 1 | ldr r0 y; str x 1", "p0.r0=1 p1.r0=1", true),
    ("LB+datas", "ldr r0 x; str y 1+r0 | ldr r0 y; str x 1+r0", "p0.r0=1 p1.r0=1", false),
    ("LB+data+po", "ldr r0 x; str y 1+r0 | ldr r0 y; str x 1", "p0.r0=1 p1.r0=1", true),
    (
        "LB+ctrls",
        "ldr r0 x; cbz r0 0; str y 1 | ldr r0 y; cbz r0 0; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        // A write waits for the addresses of all earlier accesses.
        "LB+addr-pos",
        "ldr r0 x; ldr r1 z+r0; str y 1 | ldr r0 y; ldr r1 z+r0; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        // A comparison that fails writes nothing, so the fence does not order it.
        "LB+cas-dmb.st+data",
        "cas r0 x 5 7; dmb.st; str y 1 | ldr r0 y; str x r0",
        "p0.r0=1 p1.r0=1",
        true,
    ),
    (
        "LB+swp-dmb.st+data",
        "swp r0 x 7; dmb.st; str y 1 | ldr r0 y; str x r0",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    ("SB", "str x 1; ldr r0 y | str y 1; ldr r0 x", "p0.r0=0 p1.r0=0", true),
    ("SB+dmbs", "str x 1; dmb; ldr r0 y | str y 1; dmb; ldr r0 x", "p0.r0=0 p1.r0=0", false),
    (
        "SB+dmb.lds",
        "str x 1; dmb.ld; ldr r0 y | str y 1; dmb.ld; ldr r0 x",
        "p0.r0=0 p1.r0=0",
        true,
    ),
    ("SB+stlr+ldar", "stlr x 1; ldar r0 y | stlr y 1; ldar r0 x", "p0.r0=0 p1.r0=0", false),
    ("SB+stlr+ldapr", "stlr x 1; ldapr r0 y | stlr y 1; ldapr r0 x", "p0.r0=0 p1.r0=0", true),
    (
        "SB+swpals",
        "str x 1; swpal r1 z 1; ldr r0 y | str y 1; dmb; ldr r0 x",
        "p0.r0=0 p1.r0=0",
        false,
    ),
    (
        "SB+swpas",
        "str x 1; swpa r1 z 1; ldr r0 y | str y 1; dmb; ldr r0 x",
        "p0.r0=0 p1.r0=0",
        true,
    ),
    (
        "IRIW+addrs",
        "str x 1 | str y 1 | ldr r0 x; ldr r1 y+r0 | ldr r0 y; ldr r1 x+r0",
        "p2.r0=1 p2.r1=0 p3.r0=1 p3.r1=0",
        false,
    ),
    (
        "IRIW",
        "str x 1 | str y 1 | ldr r0 x; ldr r1 y | ldr r0 y; ldr r1 x",
        "p2.r0=1 p2.r1=0 p3.r0=1 p3.r1=0",
        true,
    ),
    (
        "WRC+addrs",
        "str x 1 | ldr r0 x; str y+r0 1 | ldr r0 y; ldr r1 x+r0",
        "p1.r0=1 p2.r0=1 p2.r1=0",
        false,
    ),
    (
        "WRC+data+po",
        "str x 1 | ldr r0 x; str y 1+r0 | ldr r0 y; ldr r1 x",
        "p1.r0=1 p2.r0=1 p2.r1=0",
        true,
    ),
    (
        // A write behind a guess is forwarded, and the address depends on what is forwarded.
        "PPOCA",
        "str x 1; dmb; str y 1 | ldr r0 y; cbz r0 0; str z 1; ldr r1 z; ldr r2 x+r1",
        "p1.r0=1 p1.r1=1 p1.r2=0",
        true,
    ),
    (
        "PPOAA",
        "str x 1; dmb; str y 1 | ldr r0 y; str z+r0 1; ldr r1 z; ldr r2 x+r1",
        "p1.r0=1 p1.r1=1 p1.r2=0",
        false,
    ),
    ("CoRR", "str x 1 | ldr r0 x; ldr r1 x", "p1.r0=1 p1.r1=0", false),
    ("CoWR", "str x 1; ldr r0 x | str x 2", "p0.r0=0", false),
    ("CoRW", "ldr r0 x; str x 1 | str x 2", "p0.r0=1", false),
    ("CoWW", "str x 1; str x 2", "x=1", false),
    ("2+2W", "str x 1; str y 2 | str y 1; str x 2", "x=1 y=1", true),
    ("2+2W+dmb.sts", "str x 1; dmb.st; str y 2 | str y 1; dmb.st; str x 2", "x=1 y=1", false),
    ("2+2W+stlrs", "str x 1; stlr y 2 | str y 1; stlr x 2", "x=1 y=1", false),
    ("S+dmb+data", "str x 2; dmb; str y 1 | ldr r0 y; str x 1+r0", "p1.r0=1 x=2", false),
    ("S+dmb+po", "str x 2; dmb; str y 1 | ldr r0 y; str x 1", "p1.r0=1 x=2", true),
    ("R+dmbs", "str x 1; dmb; str y 1 | str y 2; dmb; ldr r0 x", "y=2 p1.r0=0", false),
    ("R", "str x 1; str y 1 | str y 2; ldr r0 x", "y=2 p1.r0=0", true),
    (
        "exclusive pairs are atomic",
        "ldxr r0 x; stxr r1 x 1 | ldxr r0 x; stxr r1 x 2",
        "p0.r0=0 p0.r1=0 p1.r0=0 p1.r1=0",
        false,
    ),
    (
        "exclusive stores may fail",
        "ldxr r0 x; stxr r1 x 1 | ldxr r0 x; stxr r1 x 2",
        "p0.r1=1 p1.r1=1 x=0",
        true,
    ),
    (
        "exclusive loads without a store are ordinary loads",
        "ldxr r0 x; stxr r1 x 1 | str x 5",
        "p0.r0=0 p0.r1=1 x=5",
        true,
    ),
    ("pair and store", "ldxr r0 x; stxr r1 x 1 | str x 5", "p0.r0=0 p0.r1=0 x=1", false),
    ("updates are atomic", "add r0 x 1 | add r0 x 1", "p0.r0=0 p1.r0=0", false),
    (
        // An acquire load does not take the value of a pending exclusive store.
        "MP+dmb+addr-pair-ldar",
        "str x 1; dmb; str y 1 | ldr r0 y; ldxr r1 z; stxr r2 z 1+r0; ldar r3 z; ldr r4 x",
        "p1.r0=1 p1.r2=0 p1.r3=1 p1.r4=0",
        false,
    ),
    (
        // A fence for loads does not order a read whose value is discarded.
        "MP+dmb+stadd-dmb.ld",
        "str x 1; dmb; str y 5 | add - y 1; dmb.ld; ldr r1 x",
        "y=6 p1.r1=0",
        true,
    ),
    (
        "MP+dmb+ldadd-dmb.ld",
        "str x 1; dmb; str y 5 | add r0 y 1; dmb.ld; ldr r1 x",
        "y=6 p1.r1=0",
        false,
    ),
    (
        // The status of an exclusive store orders nothing.
        "SB+status",
        "ldxr r0 x; stxr r1 x 1; cbz r1 0; isb; ldr r2 y | str y 1; dmb; ldr r0 x",
        "p0.r1=0 p0.r2=0 p1.r0=0",
        true,
    ),
    (
        // The result of a compare-and-swap that succeeds does not depend on its read.
        "MP+dmb+cas-addr",
        "str x 1; dmb; str y 1 | cas r0 y 1 2; ldr r1 x+r0",
        "p1.r0=1 p1.r1=0",
        true,
    ),
    (
        // But a write waits for it.
        "LB+cas-addr+dmb",
        "cas r0 x 1 2; str y+r0 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        "LB+cas-rfi-addr+dmb",
        "cas r0 x 1 2; ldr r1 x; str y+r1 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p0.r1=2 p1.r0=1",
        false,
    ),
    (
        // The addition passes the compare-and-swap, so both read the write of the swap.
        "CoRR+cas-addr",
        "swp r0 x 1; cas r0 x+r0 1 1; add r1 x 2 | str x 2",
        "p0.r0=2 p0.r1=1",
        false,
    ),
    (
        // The second store is not redundant: another thread may write in between. Because of the
        // last store, the thread fetches both before it performs the first one.
        "CoWWW",
        "str x 1; str x 1; str z 1 | ldr r0 x; str x 2; ldr r1 x",
        "p1.r0=1 p1.r1=1",
        true,
    ),
    (
        // The release store is not redundant: it waits for the load.
        "LB+repeated-stlr+dmb",
        "str x 1; ldr r0 y; stlr x 1; str x 2; str z 1 | ldr r0 x; dmb; str y 1",
        "p0.r0=1 p1.r0=2",
        false,
    ),
    (
        // The second swap is not redundant: it waits for the branch.
        "S+swp-ctrl-swp+dmb",
        "swp r0 x 1; ldr r1 y; cbz r1 0; swp r2 x 1; str z 1 | str x 2; dmb; str y 1",
        "p0.r0=0 p0.r1=1 p0.r2=1 x=2",
        false,
    ),
    (
        "MP+dmb+failed-cas-addr",
        "str x 1; dmb; str y 1 | cas r0 y 0 2; ldr r1 x+r0",
        "p1.r0=1 p1.r1=0",
        false,
    ),
    (
        // Only the selected operand is a dependency.
        "MP+dmb+csel-addr",
        "str x 1; dmb; str y 1 | ldr r0 y; csel r1 r0 0 0; ldr r2 x+r1",
        "p1.r0=1 p1.r2=0",
        true,
    ),
    (
        "MP+dmb+csel-operand-addr",
        "str x 1; dmb; str y 1 | ldr r0 y; csel r1 r0 r0 0; ldr r2 x+r1",
        "p1.r0=1 p1.r2=0",
        false,
    ),
    (
        "MP+dmb+csel-other-addr",
        "str x 1; dmb; str y 1 | ldr r0 y; csel r1 r0 0 r0; ldr r2 x+r1",
        "p1.r0=1 p1.r2=0",
        true,
    ),
    (
        "MP+dmb+csel-addr-isb",
        "str x 1; dmb; str y 1 | ldr r0 y; csel r1 r0 0 0; ldr r2 z+r1; isb; ldr r3 x",
        "p1.r0=1 p1.r3=0",
        false,
    ),
    (
        "MP+dmb+csel-ctrl-isb",
        "str x 1; dmb; str y 1 | ldr r0 y; csel r1 r0 1 0; cbz r1 0; isb; ldr r3 x",
        "p1.r0=1 p1.r3=0",
        false,
    ),
    (
        // A write waits for what its value picks.
        "LB+csel-data+dmb",
        "ldr r0 x; csel r1 r0 1 2; str y r1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        "LB+csel-ctrl+dmb",
        "ldr r0 x; csel r1 r0 1 0; cbz r1 0; str y 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        "LB+csel-addr-po+dmb",
        "ldr r0 x; csel r1 r0 1 2; ldr r2 z+r1; str y 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        // But not for a selection that it does not use.
        "LB+csel+dmb",
        "ldr r0 x; csel r1 r0 1 2; str y 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        true,
    ),
    (
        // Also if a later load has already used the selection.
        "LB+csel-addr-later+dmb",
        "ldr r0 x; csel r1 r0 1 2; str y 1; ldr r2 z+r1 | str z 1; dmb; str y 2 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p0.r2=0 p2.r0=1 y=1",
        true,
    ),
    (
        "LB+cas-addr-later+dmb",
        "cas r0 x 1 2; str y 1; ldr r2 z+r0 | str z 1; dmb; str y 2 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p0.r2=0 p2.r0=1 y=1",
        true,
    ),
    (
        "S+dmb+csel-data",
        "str x 2; dmb; str y 1 | ldr r0 y; csel r1 r0 1 3; str x r1",
        "p1.r0=1 x=2",
        false,
    ),
    (
        "S+dmb+csel",
        "str x 2; dmb; str y 1 | ldr r0 y; csel r1 r0 1 3; str x 1",
        "p1.r0=1 x=2",
        true,
    ),
    (
        // What is picked is passed on by a write.
        "LB+csel-data-rfi-data+dmb",
        "ldr r0 x; csel r1 r0 1 2; str z r1; ldr r2 z; str y r2 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        "LB+csel-data-rfi-data-rfi-data+dmb",
        "ldr r0 x; csel r1 r0 1 2; str z r1; ldr r2 z; str x+r2 5; str z 3+r2; ldr r3 z; str y r3 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=3",
        false,
    ),
    (
        "LB+csel-data-rfi+dmb",
        "ldr r0 x; csel r1 r0 1 2; str z r1; ldr r2 z; str y 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        true,
    ),
    (
        "LB+csel-data-rfi-acquire+dmb",
        "ldr r0 x; csel r1 r0 1 2; str z r1; ldapr r2 z; str y 1 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        // The comparison succeeds with a value that is picked.
        "LB+csel-data-rfi-cas-data+dmb",
        "ldr r0 x; csel r1 r0 1 2; str z r1; cas r2 z 1 3; str y r2 | ldr r0 y; dmb; str x 1",
        "p0.r0=1 p1.r0=1",
        false,
    ),
    (
        // A comparison that succeeds depends on its expected value.
        "MP+dmb+cas-expected-addr",
        "str y 1; dmb; str z 1 | str x 1; ldr r1 z; cas r0 x r1 2; ldr r2 y+r0",
        "p1.r1=1 p1.r0=1 p1.r2=0",
        false,
    ),
];

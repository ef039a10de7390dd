//! The litmus test of a cycle as text: a program, and a condition that holds if the cycle occurs.
//!
//! The layout is that of diy. Stores to a location write 1, 2, ... in coherence order, so that a
//! value identifies a store. For each load at an end of a communication, the condition requires
//! the value of the store before the load on the cycle (0 if there is none). For each location
//! with two stores, it requires the value of the second store. The condition does not constrain a
//! load between two edges of program order. It does not constrain an exchange after an edge of
//! program order either, because the cycle continues from the store of the exchange. A fence is
//! between the accesses of its edge. An exchange is `MOV EAX,$1` and `XCHG [x],EAX`; its register
//! finally holds the value that was read. Loads use registers in order, from `EAX`. The test
//! lists all locations and registers, so that a final state shows all values.
//!
//! DIVERGENCE: for a cycle with one location, diy requires the value of the last store on the
//! cycle, counted from the first thread. This store is not always the second in coherence order.
//! Then the condition does not express the cycle: diy's `CoWW` requires the normal result. We
//! always require the value of the second store.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cycle::{Cycle, Event, edge_names};
use crate::edge::{Access, Edge, Reach};
use crate::x86::{self, Instruction, Operand, REGISTERS, Syntax, X86_REGISTER_COUNT, table};

impl Cycle {
    /// Returns the test of this cycle in the `.litmus` format.
    ///
    /// ```
    /// let cycle: fencepost_cycles::Cycle = "PodWR Fre PodWR Fre".parse()?;
    /// assert!(cycle.litmus_text().ends_with("exists (0:EAX=0 /\\ 1:EAX=0)\n"));
    /// # Ok::<(), fencepost_cycles::CycleError>(())
    /// ```
    pub fn litmus_text(&self) -> String {
        let parts = TestParts::new(self);
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            text.write_fmt(words).expect("writing to a string does not fail");
            text.push('\n');
        };
        line(format_args!("X86 {}", self.name()));
        line(format_args!("\"{self}\""));
        line(format_args!("Cycle={}", edge_names(&self.least_rotation())));
        line(format_args!("Com={}", communications(self)));
        line(format_args!("Orig={self}"));
        line(format_args!("{{\n}}"));
        line(format_args!("{}", table(&parts.columns).trim_end()));
        line(format_args!("locations [{}]", parts.observed.join(" ")));
        line(format_args!("exists ({})", parts.condition.join(" /\\ ")));
        text
    }
}

/// The parts of a test.
struct TestParts {
    /// The cells of each thread. The first cell is the heading.
    columns: Vec<Vec<String>>,
    /// The observed locations and registers, each with a `;`.
    observed: Vec<String>,
    /// The equations of the final condition.
    condition: Vec<String>,
}

impl TestParts {
    fn new(cycle: &Cycle) -> TestParts {
        let events = cycle.events();
        let mut parts =
            TestParts { columns: Vec::new(), observed: Vec::new(), condition: Vec::new() };
        parts.add_locations(&events);
        let mut at = 0;
        for (thread, edges) in cycle.threads().enumerate() {
            parts.add_thread(thread, edges, &events[at..at + edges.len()]);
            at += edges.len();
        }
        parts
    }

    fn add_locations(&mut self, events: &[Event]) {
        let locations: BTreeMap<String, usize> =
            events.iter().map(|event| (location_name(event.location), event.location)).collect();
        for (name, location) in locations {
            let stores =
                events.iter().filter(|e| e.location == location && e.access == Access::Store);
            match stores.map(|event| event.value).max() {
                Some(last) if last > 1 => self.condition.push(format!("[{name}]={last}")),
                Some(_) | None => {}
            }
            self.observed.push(format!("{name};"));
        }
    }

    fn add_thread(&mut self, thread: usize, edges: &[Edge], events: &[Event]) {
        let mut cells = vec![format!("P{thread}")];
        let mut registers = REGISTERS[..X86_REGISTER_COUNT].iter().map(|(_, name)| *name);
        let mut before = None;
        for (edge, event) in edges.iter().zip(events) {
            let memory = Operand::Memory(location_name(event.location));
            let number = |value: u32| Operand::Number(value.into());
            match event.access {
                // The `XCHG` of the preceding load already contains this store.
                Access::Store if before == Some(Edge::Exchange) => {}
                Access::Store => {
                    cells.push(instruction_text("mov", vec![memory, number(event.value)]))
                }
                Access::Load => {
                    let name = registers.next().expect("each load of a cycle has a register");
                    let (register, operand) =
                        (Syntax::Intel.register(name), Operand::Register(name.into()));
                    self.observed.push(format!("{thread}:{register};"));
                    // The edge before the first load of a thread is an external communication.
                    let follows_communication =
                        before.is_none_or(|edge: Edge| edge.reach().is_some());
                    if follows_communication || edge.reach().is_some() {
                        self.condition.push(format!("{thread}:{register}={}", event.value));
                    }
                    if *edge == Edge::Exchange {
                        // The store of the exchange is the next store to this location.
                        cells.push(instruction_text(
                            "mov",
                            vec![operand.clone(), number(event.value + 1)],
                        ));
                        cells.push(instruction_text("xchg", vec![memory, operand]));
                    } else {
                        cells.push(instruction_text("mov", vec![operand, memory]));
                    }
                }
            }
            before = Some(*edge);
            if let Edge::Fenced(fence, ..) = edge {
                cells.push(instruction_text(fence.instruction(), Vec::new()));
            }
        }
        self.columns.push(cells);
    }
}

fn instruction_text(name: &str, operands: Vec<Operand>) -> String {
    Instruction { lock: false, name, width: None, operands }.text(Syntax::Intel, x86::Spacing::Diy)
}

/// Returns the name of a location: x, y, z, a, b, ..., w, then x1, y1, ...
fn location_name(location: usize) -> String {
    const LETTERS: &str = "xyzabcdefghijklmnopqrstuvw";
    let letter = LETTERS.chars().nth(location % LETTERS.len()).expect("the remainder is in range");
    match location / LETTERS.len() {
        0 => letter.to_string(),
        number => format!("{letter}{number}"),
    }
}

/// Returns the kinds of the external edges, in order.
fn communications(cycle: &Cycle) -> String {
    let kind = |edge: &Edge| match edge {
        Edge::ReadFrom(Reach::External) => Some("Rf"),
        Edge::FromRead(Reach::External) => Some("Fr"),
        Edge::Coherence(Reach::External) => Some("Co"),
        Edge::ReadFrom(Reach::Internal)
        | Edge::FromRead(Reach::Internal)
        | Edge::Coherence(Reach::Internal)
        | Edge::ProgramOrder(..)
        | Edge::Fenced(..)
        | Edge::Exchange => None,
    };
    cycle.edges().iter().filter_map(kind).collect::<Vec<_>>().join(" ")
}

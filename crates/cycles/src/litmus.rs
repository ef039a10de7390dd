//! The test of a cycle, as text: a program, and a condition that says that the cycle happened.
//!
//! The layout is diy's. Stores to a location write 1, 2, ... along coherence, so values say which store was read. The
//! condition asks each load that a communication reaches or leaves for the value of the store before it on the cycle
//! (0 when there is none), and a location with two stores for the value of the second. A load with program order on
//! both sides may read what it likes; so may an exchange that program order leads to, as the cycle goes on from its
//! store. A fence stands between the accesses of its edge; an exchange is `MOV EAX,$1` and `XCHG [x],EAX`, and its
//! register ends with what was read. Loads take registers in order, from `EAX`. All locations and registers are
//! listed, so that a state shows everything.
//!
//! DIVERGENCE: for a cycle about one location diy asks for the value of the store that it meets last from the first
//! thread on. That is not always the second in coherence, and then the condition does not mean the cycle: its `CoWW`
//! asks for the usual end. Ours always asks for the second.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cycle::{Cycle, Event, words};
use crate::edge::{Access, Edge, Reach};
use crate::x86::{self, Instruction, OLD_REGISTERS, Operand, REGISTERS, Syntax, table};

impl Cycle {
    /// The `.litmus` file of this cycle's test.
    ///
    /// ```
    /// let cycle: fencepost_cycles::Cycle = "PodWR Fre PodWR Fre".parse()?;
    /// assert!(cycle.test().ends_with("exists (0:EAX=0 /\\ 1:EAX=0)\n"));
    /// # Ok::<(), fencepost_cycles::Fault>(())
    /// ```
    pub fn test(&self) -> String {
        let layout = Layout::new(self);
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            text.write_fmt(words).expect("a string takes all that is written");
            text.push('\n');
        };
        line(format_args!("X86 {}", self.name()));
        line(format_args!("\"{self}\""));
        line(format_args!("Cycle={}", words(&self.sorted())));
        line(format_args!("Com={}", communications(self)));
        line(format_args!("Orig={self}"));
        line(format_args!("{{\n}}"));
        line(format_args!("{}", table(&layout.columns).trim_end()));
        line(format_args!("locations [{}]", layout.observed.join(" ")));
        line(format_args!("exists ({})", layout.condition.join(" /\\ ")));
        text
    }
}

/// The parts of a test.
struct Layout {
    /// For each thread its cells, the heading first.
    columns: Vec<Vec<String>>,
    /// What a state shows, each with a `;`.
    observed: Vec<String>,
    /// What must hold at the end.
    condition: Vec<String>,
}

impl Layout {
    fn new(cycle: &Cycle) -> Layout {
        let events = cycle.events();
        let mut layout =
            Layout { columns: Vec::new(), observed: Vec::new(), condition: Vec::new() };
        layout.locations(&events);
        let mut at = 0;
        for (thread, edges) in cycle.threads().enumerate() {
            layout.thread(thread, edges, &events[at..at + edges.len()]);
            at += edges.len();
        }
        layout
    }

    fn locations(&mut self, events: &[Event]) {
        let locations: BTreeMap<String, usize> =
            events.iter().map(|event| (name_of(event.location), event.location)).collect();
        for (name, location) in locations {
            let here =
                events.iter().filter(|e| e.location == location && e.access == Access::Store);
            match here.map(|event| event.value).max() {
                Some(last) if last > 1 => self.condition.push(format!("[{name}]={last}")),
                Some(_) | None => {}
            }
            self.observed.push(format!("{name};"));
        }
    }

    fn thread(&mut self, thread: usize, edges: &[Edge], events: &[Event]) {
        let mut cells = vec![format!("P{thread}")];
        let mut registers = REGISTERS[..OLD_REGISTERS].iter().map(|(_, name)| *name);
        let mut before = None;
        for (edge, event) in edges.iter().zip(events) {
            let memory = Operand::Memory(name_of(event.location));
            let number = |value: u32| Operand::Number(value.into());
            match event.access {
                // The other half of an exchange is in the program already.
                Access::Store if before == Some(Edge::Exchange) => {}
                Access::Store => cells.push(write("mov", vec![memory, number(event.value)])),
                Access::Load => {
                    let own = registers.next().expect("a cycle has a register for each load");
                    let (register, own) =
                        (Syntax::Intel.register(own), Operand::Register(own.into()));
                    self.observed.push(format!("{thread}:{register};"));
                    // A load at the start of its thread was reached by an external communication.
                    let reached = before.is_none_or(|edge: Edge| edge.reach().is_some());
                    if reached || edge.reach().is_some() {
                        self.condition.push(format!("{thread}:{register}={}", event.value));
                    }
                    if *edge == Edge::Exchange {
                        // Its store is the next one to this location.
                        cells.push(write("mov", vec![own.clone(), number(event.value + 1)]));
                        cells.push(write("xchg", vec![memory, own]));
                    } else {
                        cells.push(write("mov", vec![own, memory]));
                    }
                }
            }
            before = Some(*edge);
            if let Edge::Fenced(fence, ..) = edge {
                cells.push(write(fence.instruction(), Vec::new()));
            }
        }
        self.columns.push(cells);
    }
}

fn write(name: &str, operands: Vec<Operand>) -> String {
    Instruction { lock: false, name, width: None, operands }.text(Syntax::Intel, x86::Layout::Diy)
}

/// Locations are called x, y, z, a, b, ..., w, and after these x1, y1, ...
fn name_of(location: usize) -> String {
    const LETTERS: &str = "xyzabcdefghijklmnopqrstuvw";
    let letter = LETTERS.chars().nth(location % LETTERS.len()).expect("the remainder is in range");
    match location / LETTERS.len() {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// The kinds of the external edges, in order.
fn communications(cycle: &Cycle) -> String {
    let kind = |edge: &Edge| match edge {
        Edge::ReadFrom(Reach::External) => Some("Rf"),
        Edge::FromRead(Reach::External) => Some("Fr"),
        Edge::Coherence(Reach::External) => Some("Co"),
        Edge::ReadFrom(Reach::Internal)
        | Edge::FromRead(Reach::Internal)
        | Edge::Coherence(Reach::Internal)
        | Edge::Order(..)
        | Edge::Fenced(..)
        | Edge::Exchange => None,
    };
    cycle.edges().iter().filter_map(kind).collect::<Vec<_>>().join(" ")
}

//! The figures of \[KVY10\]: Tables II and III, and what section V says about fences.
//!
//! One line for each line of the tables, in their order. DIVERGENCE: none; what the text leaves open is
//! `None`.

/// Columns of Table III, weaker models first.
pub(super) const MODELS: [&str; 4] = ["rmo", "pso", "tso", "sc"];

/// One line of the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) algorithm: &'static str,
    /// The initial state; for work-stealing queues capacity and number of tasks.
    pub(super) initial: &'static str,
    pub(super) client: &'static str,
    /// The bound on execution buffers, where one was needed.
    pub(super) bound: Option<u32>,
    /// Seconds under RMO.
    pub(super) seconds: f64,
    /// States, edges and constraints, by model.
    pub(super) figures: [(u64, u64, Option<u64>); 4],
}

/// A line as it is printed: (states, edges, constraints) under RMO, PSO and TSO; a negative number of
/// constraints stands for none given. Then (states, edges) under SC.
const fn line(
    (algorithm, initial, client): (&'static str, &'static str, &'static str),
    bound: u32,
    seconds: f64,
    relaxed: [(u64, u64, i8); 3],
    sc: (u64, u64),
) -> Client {
    let [rmo, pso, tso] = relaxed;
    let bound = if bound == INF { None } else { Some(bound) };
    let figures = [given(rmo), given(pso), given(tso), (sc.0, sc.1, None)];
    Client { algorithm, initial, client, bound, seconds, figures }
}

const fn given((states, edges, constraints): (u64, u64, i8)) -> (u64, u64, Option<u64>) {
    (states, edges, if constraints < 0 { None } else { Some(constraints as u64) })
}

const INF: u32 = 0;
const MSN: &str = "MSN";
const CHASE_LEV: &str = "Chase-Lev";
const LIFO: &str = "LIFO WSQ";
const DEKKER: &str = "Dekker";
const TREIBER: &str = "Treiber";
const VYSET: &str = "VYSet";

/// Tables II and III.
#[rustfmt::skip]
pub(super) const CLIENTS: [Client; 27] = [
    line((MSN, "empty", "e|d"), INF, 0.83, [(1219, 2671, 2), (455, 743, 1), (228, 316, 0)], (146, 180)),
    line((MSN, "empty", "e|e"), INF, 1.78, [(4934, 12670, 1), (2678, 6354, 1), (586, 994, 0)], (252, 328)),
    line((MSN, "empty", "ee|dd"), INF, 5.21, [(24194, 61514, 3), (7025, 13689, 2), (1724, 2512, 0)], (1029, 1325)),
    line((MSN, "empty", "ed|ed"), INF, 13.05, [(86574, 242822, 2), (15450, 35362, 2), (2476, 3972, 0)], (1538, 2126)),
    line((MSN, "empty", "ed|de"), INF, 9.26, [(59119, 167067, 4), (11023, 24362, 2), (2570, 4010, 0)], (1541, 2073)),
    line((MSN, "empty", "e|e|d"), INF, 31.43, [(233414, 653094, 3), (51990, 119050, 2), (9638, 16822, 0)], (4928, 7632)),
    line((CHASE_LEV, "empty", "pppt(tpt|sss)"), INF, 97.22, [(386283, 1030857, -1), (74533, 256613, -1), (12348, 20004, -1)], (4961, 6740)),
    line((CHASE_LEV, "empty", "tttt(ptt|sss)"), INF, 255.5, [(1048498, 2819355, -1), (124455, 255390, -1), (6418, 9380, -1)], (3101, 4069)),
    line((CHASE_LEV, "empty", "pppt(ttp|sss)"), INF, 90.28, [(281314, 878880, -1), (66960, 241814, -1), (10564, 16317, -1)], (4199, 5700)),
    line((CHASE_LEV, "empty", "tttt(tpp|sss)"), INF, 355.95, [(1325858, 4150650, -1), (361855, 1080835, -1), (9878, 13956, -1)], (3473, 4537)),
    line((CHASE_LEV, "empty", "tttp(tptp|ss)"), INF, 37.98, [(280396, 698398, -1), (29573, 54696, -1), (9197, 14499, -1)], (4760, 6455)),
    line((LIFO, "2/2", "tp|ss"), INF, 0.69, [(2151, 3190, 2), (882, 1171, 1), (676, 852, 0)], (570, 694)),
    line((LIFO, "2/2", "tpt|ss"), INF, 1.94, [(9721, 16668, 2), (3908, 5811, 1), (2256, 3116, 0)], (1410, 1786)),
    line((LIFO, "2/2", "ptp|ss"), INF, 11.41, [(89884, 195246, 3), (31289, 64133, 3), (4045, 5688, 0)], (2317, 3007)),
    line((LIFO, "2/2", "ptt|ss"), INF, 11.31, [(85104, 198353, 4), (29920, 62020, 3), (4130, 5987, 0)], (2198, 2866)),
    line((LIFO, "1/1", "ptt|ss"), INF, 4.07, [(23913, 48997, 4), (9976, 18002, 3), (2353, 3269, 0)], (1314, 1654)),
    line((DEKKER, "-", "-"), 1, 0.64, [(1388, 2702, 2), (1388, 2702, 2), (489, 674, 1)], (388, 490)),
    line((DEKKER, "-", "-"), 10, 2.13, [(7504, 14477, 2), (7504, 14477, 2), (2560, 3750, 1)], (388, 490)),
    line((DEKKER, "-", "-"), 20, 2.71, [(13879, 26422, 2), (13879, 26422, 2), (4845, 7115, 1)], (388, 490)),
    line((DEKKER, "-", "-"), 50, 5.99, [(33004, 62257, 2), (33004, 62257, 2), (11770, 17210, 1)], (388, 490)),
    line((TREIBER, "empty", "p|t"), INF, 1.0, [(71, 93, 2), (71, 93, 2), (43, 48, 0)], (36, 38)),
    line((TREIBER, "empty", "pt|tp"), INF, 1.02, [(3054, 6190, 2), (3041, 6167, 2), (407, 609, 0)], (392, 482)),
    line((TREIBER, "empty", "pp|tt"), INF, 0.6, [(1276, 2250, 2), (1276, 2250, 2), (325, 407, 0)], (270, 323)),
    line((VYSET, "empty", "ar|ra"), 10, 1.98, [(4079, 6247, 2), (4079, 6247, 2), (1088, 1308, 0)], (1088, 1308)),
    line((VYSET, "empty", "aa|rr"), 10, 4.56, [(20034, 31623, 2), (20034, 31623, 2), (1168, 1411, 0)], (1168, 1411)),
    line((VYSET, "empty", "ar|ar"), 10, 2.19, [(6093, 9905, 2), (6093, 9905, 2), (1671, 1968, 0)], (1671, 1968)),
    line((VYSET, "empty", "aaa|rrr"), 10, 7.98, [(41520, 66533, 2), (41520, 66533, 2), (3311, 4072, 0)], (3311, 4072)),
];

/// A fence of Fig. 1: before which line of which function, and its kind.
pub(super) type Place = (&'static str, &'static str);

/// What the text says about one algorithm; by model, without SC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fences {
    pub(super) algorithm: &'static str,
    /// How many fences.
    pub(super) fences: [Option<u64>; 3],
    /// How many constraints for all clients together. For Treiber and VYSet, where the text is silent:
    /// those of every line of the tables.
    pub(super) constraints: [Option<u64>; 3],
    /// Where the fences are.
    pub(super) places: [Option<&'static [Place]>; 3],
}

const NO_PLACES: [Option<&[Place]>; 3] = [None, None, None];

/// Section V-B, with Fig. 1 for the places.
#[rustfmt::skip]
pub(super) const FENCES: [Fences; 6] = [
    Fences { algorithm: MSN, fences: [Some(3), Some(1), Some(0)], constraints: [None, None, Some(0)], places: NO_PLACES },
    Fences { algorithm: CHASE_LEV, fences: [Some(6), Some(3), Some(1)], constraints: [Some(9), Some(6), None], places: [Some(&FIG_1), Some(&FIG_1_PSO), Some(&FIG_1_TSO)] },
    Fences { algorithm: LIFO, fences: [None, None, Some(0)], constraints: [Some(4), None, Some(0)], places: NO_PLACES },
    Fences { algorithm: DEKKER, fences: [Some(2), Some(2), Some(1)], constraints: [Some(2), Some(2), Some(1)], places: NO_PLACES },
    Fences { algorithm: TREIBER, fences: [None, None, Some(0)], constraints: [Some(2), Some(2), Some(0)], places: NO_PLACES },
    Fences { algorithm: VYSET, fences: [None, None, Some(0)], constraints: [Some(2), Some(2), Some(0)], places: NO_PLACES },
];

const FIG_1: [Place; 6] = [
    ("expand 10", "store_store"),
    ("push 9", "store_store"),
    ("take 5", "store_load"),
    ("steal 3", "load_load"),
    ("steal 4", "load_load"),
    ("steal 8", "load_store"),
];
const FIG_1_PSO: [Place; 3] =
    [("expand 10", "store_store"), ("push 9", "store_store"), ("take 5", "store_load")];
const FIG_1_TSO: [Place; 1] = [("take 5", "store_load")];

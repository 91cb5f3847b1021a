//! Checks that the catalogue had once. Records of earlier versions and rule packs may still name them; ids are
//! never given to another check.

/// A check that is no longer in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retired {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Why it went.
    pub why: &'static str,
}

const RETIRED: [Retired; 8] = [
    Retired {
        id: "F10",
        name: "app-tunables",
        why: "it judged the parameters that F16 (same-work) judges",
    },
    Retired {
        id: "F20",
        name: "micro-as-macro",
        why: "nothing states whether a claim is about an operation, an application or a system",
    },
    Retired { id: "F27", name: "overhead-arithmetic", why: "no output states overhead" },
    Retired {
        id: "F30",
        name: "autocorrelated",
        why: "no output states an interval over the inside of a trial",
    },
    Retired {
        id: "F33",
        name: "interval-on-ratio",
        why: "every verdict rests on the interval of the ratio, and no output reads other words",
    },
    Retired {
        id: "F35",
        name: "equality-supported",
        why: "no output says equivalent without a margin that the run declared",
    },
    Retired {
        id: "F53",
        name: "projection-marked",
        why: "no output prints a value beyond what was measured",
    },
    Retired {
        id: "F55",
        name: "fair-baseline",
        why: "nothing records who tuned a rival, or how old its version is",
    },
];

/// The retired check of that id (`F10`) or name (`app-tunables`).
pub fn retired(id: &str) -> Option<&'static Retired> {
    RETIRED.iter().find(|r| r.id.eq_ignore_ascii_case(id) || r.name == id)
}

impl std::fmt::Display for Retired {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} is retired: {}", self.id, self.name, self.why)
    }
}

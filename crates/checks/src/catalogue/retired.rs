//! Checks that were removed from the catalogue. Records of earlier versions and rule packs may
//! still name them; their ids are never reused.

/// Id, name, and the reason for the removal.
const RETIRED: [(&str, &str, &str); 8] = [
    ("F10", "app-tunables", "it judged the parameters that F16 (same-work) judges"),
    (
        "F20",
        "micro-as-macro",
        "nothing states whether a claim is about an operation, an application or a system",
    ),
    ("F27", "overhead-arithmetic", "no output states overhead"),
    ("F30", "autocorrelated", "no output states an interval over the inside of a trial"),
    (
        "F33",
        "interval-on-ratio",
        "every verdict rests on the interval of the ratio, and no output reads other words",
    ),
    (
        "F35",
        "equality-supported",
        "no output says equivalent without a margin that the run declared",
    ),
    ("F53", "projection-marked", "no output prints a value beyond what was measured"),
    ("F55", "fair-baseline", "nothing records who tuned a rival, or how old its version is"),
];

/// Returns a sentence about the retired check with this id (`F10`) or name (`app-tunables`).
pub fn retired(id: &str) -> Option<String> {
    let (id, name, why) =
        RETIRED.iter().find(|(known, name, _)| known.eq_ignore_ascii_case(id) || *name == id)?;
    Some(format!("{id} {name} is retired: {why}"))
}

//! Built-in machines are valid, and impossible machines are rejected.

use std::path::Path;

use assay_traces::translation::{PRESETS, SimulatedMachine};

fn error(from: &str, to: &str) -> String {
    let text = PRESETS.iter().find(|p| p.0 == "two-level-tsb").unwrap().1;
    assert!(text.contains(from), "{from}");
    SimulatedMachine::parse(&text.replacen(from, to, 1), Path::new("m.toml"))
        .unwrap_err()
        .to_string()
}

#[test]
fn what_ships_can_be_and_the_rest_is_refused_by_name() {
    for (name, _) in PRESETS {
        SimulatedMachine::preset(name).unwrap();
    }
    assert!(
        SimulatedMachine::find("sparc").unwrap_err().to_string().contains("solaris-9, solaris-10")
    );
    assert!(SimulatedMachine::find("./none.toml").unwrap_err().to_string().contains("./none.toml"));
}

#[test]
fn impossible_geometry_is_an_error_that_says_why() {
    for (from, to, says) in [
        ("ways = 4", "ways = 5", "5 ways do not divide 64 entries"),
        ("ways = 4", "ways = 0", "0 ways"),
        ("entries = 64", "entries = 48", "12 sets"),
        ("entries = 64", "entries = 0", "0 entries"),
        ("entries = 64", "entries = -1", "m.toml"),
        ("level = 2", "level = 3", "there are levels 1 and 2"),
        ("level = 2", "level = 1", "hold the same pages"),
        ("data = \"8 KiB\"", "data = \"3 KiB\"", "powers of two from 4 KiB"),
        ("data = \"8 KiB\"", "data = \"4 MiB\"", "no TLB of level 1 holds data pages of 4194304 B"),
        ("clock_hz = 2.0e9", "clock_hz = 0", "above 0"),
        ("tlb_miss = 60", "tlb_miss = -1", "0 or more"),
        ("tlb_miss = 60", "tlb_mis = 60", "m.toml"),
        ("smallest = \"8 KiB\"", "smallest = \"4 KiB\"", "8 KiB to 1 MiB"),
        ("smallest = \"8 KiB\"", "smallest = \"24 KiB\"", "8 KiB to 1 MiB"),
        ("largest = \"1 MiB\"", "largest = \"2 MiB\"", "8 KiB to 1 MiB"),
        ("fill = 0.75", "fill = 1.5", "share of the entries"),
        ("fill = 0.75", "fill = nan", "share of the entries"),
        ("kind = \"dynamic\"", "kind = \"fixed\"", "m.toml"),
    ] {
        let message = error(from, to);
        assert!(message.contains(says), "{to}: {message}");
    }
    let region = |from: &str, to: &str, page: &str| {
        let text = format!(
            "data = \"8 KiB\"\n[[pages.region]]\nfrom = \"{from}\"\nto = \"{to}\"\n\
            page = \"{page}\""
        );
        error("data = \"8 KiB\"", &text)
    };
    assert!(region("0x1000", "0x4000", "8 KiB").contains("begin and end on its page size"));
    assert!(region("0x4000", "0x2000", "8 KiB").contains("must rise"));
    assert!(region("0x0", "0x400000000000000", "8 KiB").contains("2^57"));
    assert!(region("here", "0x4000", "8 KiB").contains("not an address"));
    assert!(region("0x0", "0x400000", "4 MiB").contains("no TLB of level 1 holds"));
}

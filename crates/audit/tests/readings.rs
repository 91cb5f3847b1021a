//! What a claim may be about: whether the values that it is of are among its readings and agree with it, however likely
//! the weights find them.
#![allow(clippy::unwrap_used)]

use assay_audit::learn::{said, weights};
use assay_audit::{MAX_SIZE, Source};

/// Whether something said within the words has a reading of these values that agrees.
fn agrees(text: &str, words: &str, values: &[f64]) -> bool {
    let source = Source::read("post.md", text.as_bytes(), MAX_SIZE).unwrap();
    let at = source.text.find(words).unwrap();
    said(&source, weights())
        .iter()
        .filter(|s| s.own.0 >= at && s.own.1 <= at + words.len() + 1)
        .flat_map(|s| &s.readings)
        .any(|r| r.fit == 2 && r.inputs == values)
}

const RELEASE: &str = "# Results

| Figure | 1.5 | 1.6 |
|---|---|---|
| Cold start (ms) | 410 | 362 |
| Image upload (ms) | 890 | 905 |
| Scroll (ms) | 24 | 18 |

";

#[test]
fn one_that_goes_a_way_alone_is_found() {
    let text = format!("{RELEASE}Image upload is the only figure that got worse.\n");
    assert!(agrees(&text, "the only figure that got worse", &[890.0, 905.0]));
    let text = format!("{RELEASE}Scroll is the only figure that got faster.\n");
    assert!(!agrees(&text, "the only figure that got faster", &[24.0, 18.0]));
}

const FORMATS: &str = "# Formats

| Format | Encode (ns) | Decode (ns) |
|---|---|---|
| bincode | 118 | 205 |
| capnp | 298 | 24 |
| prost | 412 | 538 |

";

#[test]
fn places_behind_the_first_are_found() {
    let text = format!("{FORMATS}capnp comes second in encoding.\n");
    assert!(agrees(&text, "comes second", &[298.0]));
    let text = format!("{FORMATS}prost comes second in encoding.\n");
    assert!(!agrees(&text, "comes second", &[412.0]));
}

#[test]
fn one_that_is_ahead_in_all_is_found() {
    let text = format!("{FORMATS}bincode is faster than prost in every test.\n");
    assert!(agrees(&text, "faster than prost", &[118.0, 412.0, 205.0, 538.0]));
    let text = format!("{FORMATS}capnp is faster than bincode in every test.\n");
    assert!(!agrees(&text, "faster than bincode", &[298.0, 118.0, 24.0, 205.0]));
}

#[test]
fn sums_are_found_by_their_words_and_by_a_count_of_the_rows() {
    let table = "# Tiers\n\n| Tier | Before (kW) | After (kW) |\n|---|---|---|\n| web | 4.0 | 3.0 |\n\
                 | db | 9.0 | 8.5 |\n| batch | 7.0 | 2.5 |\n\n";
    let text = format!("{table}In total the load went from 20.0 kW to 14.0 kW.\n");
    let all = [4.0, 9.0, 7.0, 3.0, 8.5, 2.5];
    assert!(agrees(&text, "from 20.0 kW to 14.0 kW", &all));
    let text = format!("{table}The three tiers draw 14.0 kW now.\n");
    assert!(agrees(&text, "draw 14.0 kW", &[3.0, 8.5, 2.5]));
    let text = format!("{table}The two tiers draw 14.0 kW now.\n");
    assert!(!agrees(&text, "draw 14.0 kW", &[3.0, 8.5, 2.5]));
}

#[test]
fn two_values_of_one_breath_are_compared_further_down() {
    let filler = "Nothing else in this paragraph is of interest to anybody.\n\n".repeat(12);
    let text = format!(
        "# Notes\n\nThe number of files went from 2,100,000 to 16,800.\n\n{filler}So it is 99.2% fewer files.\n"
    );
    assert!(agrees(&text, "99.2% fewer files", &[16800.0, 2_100_000.0]));
}

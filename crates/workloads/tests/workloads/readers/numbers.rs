//! Numbers in every spelling, in place of every number of every fixture: a reader takes the number
//! whole, refuses the file, or leaves the value out and names it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_workloads::readers::{FormatReader, format};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::{data, suites};

/// Fixtures of formats that no case of `suites` has.
const MORE: [(&str, &str); 10] = [
    ("hyperfine.json", "hyperfine"),
    ("google-benchmark.json", "google-benchmark"),
    ("fio.json", "fio"),
    ("jmh.json", "jmh"),
    ("memtier.json", "memtier"),
    ("mcperf.txt", "mcperf"),
    ("spec.rsf", "spec-rsf"),
    ("spec.csv", "spec-csv"),
    ("nightly.csv", "csv"),
    ("git-perf.txt", "git-perf"),
];

/// Values of a file by their place, and everything else that its reader states.
type Figures = (BTreeMap<String, f64>, String);

fn figures(reader: &FormatReader, text: &str) -> Option<Figures> {
    let (mut values, mut remarks) = (BTreeMap::new(), String::new());
    match reader {
        FormatReader::Run(read) => {
            for result in read(text.as_bytes()).ok()? {
                let _ = write!(remarks, "{:?}", result.notes);
                let mut repetitions: BTreeMap<usize, usize> = BTreeMap::new();
                for trial in &result.trials {
                    let n = repetitions.entry(trial.treatment).or_default();
                    *n += 1;
                    let levels = &result.treatments[trial.treatment].levels;
                    let more = (&trial.notes, &trial.evidence);
                    let _ = write!(remarks, "{}{more:?}", trial.error);
                    for metric in &trial.metrics {
                        let place = format!("{} {levels:?} {n} {}", result.part, metric.name);
                        values
                            .extend(metric.value.map(|v| (format!("{place} {}", metric.unit), v)));
                    }
                }
            }
        }
        FormatReader::Series(read) => {
            let all = read(text.as_bytes()).ok()?;
            remarks += &all.excluded.to_string();
            for series in &all.series {
                for (n, point) in series.points.iter().enumerate() {
                    let point_of = (&point.time, &point.revision);
                    values.insert(format!("{} {point_of:?} {n}", series.name), point.value);
                }
            }
        }
    }
    Some((values, remarks))
}

/// Returns the positions of the numbers of a text that are words of their own.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let pattern = r"(?:^|[\s\[(=:,;\x1c\x22>])(\d+(?:\.\d+)?)(?:$|[\s\])%,;\x1c\x22<a-zµμ±])";
    let regex = regex_lite::Regex::new(pattern).unwrap();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(one) = regex.captures_at(text, at) {
        let number = one.get(1).unwrap();
        found.push((number.start(), number.end()));
        at = number.end();
    }
    found
}

/// Returns the spellings of a number of four digits or more, with their meanings.
fn spellings(n: u32) -> Vec<(String, Vec<f64>)> {
    let (x, digits) = (f64::from(n), n.to_string());
    let (head, tail) = digits.split_at(digits.len() - 3);
    let parts = (x / 1000.0, x);
    let mut all = vec![
        (format!("{digits},5"), vec![x + 0.5]),
        (format!("{digits},25"), vec![x + 0.25]),
        (format!("{head},{tail}"), vec![parts.0, parts.1]),
        (format!("{head}.{tail}"), vec![parts.0, parts.1]),
        (format!("{head}.{tail},5"), vec![x + 0.5]),
        (format!("{head},{tail}.5"), vec![x + 0.5]),
        (format!("{x:e}"), vec![x]),
        (format!("{x:E}").replace('E', "E+0"), vec![x]),
        (format!("{digits}e-9"), vec![x / 1e9]),
        (format!("0x{n:x}"), vec![x]),
        (format!("+{digits}"), vec![x]),
        (format!("-{digits}"), vec![-x]),
        (format!("\u{2212}{digits}"), vec![-x]),
        (format!("\u{2013}{digits}"), vec![-x]),
        (format!("\u{ff0d}{digits}"), vec![-x]),
        (format!("\u{ff0b}{digits}"), vec![x]),
        (format!("({digits})"), vec![-x]),
        (format!("~{digits}"), vec![x]),
        (format!("{digits}*"), vec![]),
        (format!(".{digits}"), vec![format!("0.{digits}").parse().unwrap()]),
        (format!("{digits}."), vec![x]),
        ("inf".to_owned(), vec![]),
        ("-nan".to_owned(), vec![]),
        (format!("{digits}/2"), vec![x / 2.0]),
        (digits.chars().map(|c| char::from_u32(u32::from(c) + 0xfee0).unwrap()).collect(), vec![x]),
    ];
    for joint in [" ", "\u{a0}", "\u{2009}", "\u{202f}", "'", "’", "_"] {
        all.push((format!("{head}{joint}{tail}"), vec![x]));
    }
    all
}

/// Returns a sentence about a number that was read in part, or that was dropped silently.
fn misread(
    name: &str,
    reader: &FormatReader,
    which: usize,
    spelled: usize,
    n: u32,
) -> Option<String> {
    let file = if data(name).exists() { data(name) } else { data("suites").join(name) };
    let text = std::fs::read_to_string(file).unwrap();
    let places = numbers(&text);
    let (start, end) = places[which % places.len()];
    let put = |number: &str| format!("{}{number}{}", &text[..start], &text[end..]);
    let (old, remarks) = figures(reader, &text)?;
    // A small change, which contradicts no other figure, shows the values that the number is in.
    let first: f64 = text[start..end].parse().unwrap();
    let near = first * 1.000_5;
    let (new, _) = figures(reader, &put(&near.to_string()))?;
    let all = spellings(n);
    let (spelled, meanings) = &all[spelled % all.len()];
    if spelled.contains(',') && name.ends_with("json") {
        return None; // two values of a list
    }
    let (got, more) = figures(reader, &put(spelled))?;
    // A sum or a mean of several numbers does not show how one of them was read.
    let of_it = |o: f64, v: f64| o != v && (o / first - v / near).abs() <= 1e-9 * (v / near).abs();
    let changed = new.iter().filter(|(place, v)| old.get(*place).is_some_and(|o| of_it(*o, **v)));
    for (place, v) in changed {
        let says = match got.get(place) {
            None if meanings.is_empty() || more != remarks => continue,
            None => "was left out silently".to_owned(),
            Some(got) => {
                let scale = v / near;
                let is = |m: &f64| (got - m * scale).abs() <= 1e-6 * got.abs();
                // The value may be one that no spelling of this number changes.
                let other = Some(got) == old.get(place);
                if meanings.iter().any(is) || other && (more != remarks || meanings.is_empty()) {
                    continue;
                }
                format!("is {got}")
            }
        };
        let line = put(spelled)[..].lines().find(|l| l.contains(spelled)).unwrap_or("").to_owned();
        return Some(format!("{name}: {place} {says} with `{spelled}`, {} in {line:?}", v / near));
    }
    None
}

#[test]
fn every_spelling_of_every_count_of_perf_stat_is_read_whole_or_named() {
    let mut wrong = Vec::new();
    for name in ["perf-stat.csv", "perf-stat.json"] {
        let reader = &format("perf-stat").unwrap().reader;
        let text = std::fs::read_to_string(data("suites").join(name)).unwrap();
        for which in 0..numbers(&text).len() {
            let each = 0..spellings(1234).len();
            wrong.extend(each.filter_map(|spelled| misread(name, reader, which, spelled, 1234)));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_reader_takes_a_number_whole_or_names_it() {
    let fixtures: Vec<(&str, &str)> =
        suites::CASES.iter().map(|c| (c.0, c.1)).chain(MORE).collect();
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    let cases = 1_500;
    let mut runner = TestRunner::deterministic();
    let input = (0..fixtures.len(), 0..10_000usize, 0..1000usize, 1000u32..100_000_000);
    let mut tried = 0;
    for _ in 0..cases {
        let (file, which, spelled, n) = input.new_tree(&mut runner).unwrap().current();
        let (name, reader) = fixtures[file];
        tried += 1;
        if let Some(says) = misread(name, &format(reader).unwrap().reader, which, spelled, n) {
            wrong.entry(format!("{reader} {}", spelled % spellings(n).len())).or_insert(says);
        }
    }
    println!("{tried} spellings in {} files", fixtures.len());
    let all: Vec<String> = wrong.into_values().collect();
    assert!(all.is_empty(), "{} kinds:\n{}", all.len(), all.join("\n"));
}

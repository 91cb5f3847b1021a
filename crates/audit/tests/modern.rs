//! Scores the audit on texts in modern shapes with labelled claims, and on mutations of them.
//!
//! `modern/tuned/` was looked at while the readers were written, `modern/held/` was written before and
//! only measured. So was `modern/unseen/`: texts written before the judges of *wrong* were reworked, half of
//! which (by the hash of the name) went to `tuned/`. Seventeen more, measured once when they were unseen, went there
//! too, and thirteen that were written beside the rules. `modern/others/` is by another hand, and was looked at once
//! its first figures were known; `modern/web/` and `modern/varied/` are by three
//! others, for rules to be learned from. `modern/blind/` and
//! `modern/sealed/` are by two further hands; nobody who mends rules looks at them, so nothing prints what is in them.
//!
//! After a line `===` a file has its labels: a verdict (`holds`, `wrong`, or `none` for what must be
//! neither), the words, and the values it must be decided on. `name:` and `unit:` are mutations of the label before
//! them. Numbers, cells and directions are mutated by rule.
//! `cargo test -p assay-audit --test modern -- --nocapture` prints the figures.
//! `ASSAY_MODERN_DIR` names a folder of further texts to measure, `ASSAY_MODERN_VERBOSE` prints what is missed.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // this is a test

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

mod common;

use assay_audit::{Claim, ClaimVerdict, MAX_SIZE, Source, audit};
use common::locate;

struct Label {
    verdict: String,
    quote: String,
    inputs: Vec<String>,
    /// Kind, old words, new words.
    mutations: Vec<(String, String, String)>,
}

struct Case {
    name: String,
    text: String,
    labels: Vec<Label>,
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|p| case(p)).collect()
}

fn case(path: &Path) -> Case {
    let whole = std::fs::read_to_string(path).unwrap();
    let (text, labels) = whole.split_once("\n===\n").unwrap();
    let mut found: Vec<Label> = Vec::new();
    for line in labels.lines().filter(|l| !l.is_empty()) {
        if let Some((kind, change)) = ["name: ", "unit: "]
            .iter()
            .find_map(|k| Some((k.trim_end_matches(": "), line.strip_prefix(k)?)))
        {
            let (old, new) = change.split_once(" => ").unwrap();
            assert!(text.contains(old), "{}: {old}", path.display());
            let last = found.last_mut().unwrap();
            last.mutations.push((kind.to_owned(), old.to_owned(), new.to_owned()));
            continue;
        }
        let parts: Vec<&str> = line.split(" | ").collect();
        found.push(Label {
            verdict: parts[0].to_owned(),
            quote: parts[1].to_owned(),
            inputs: parts.get(2).map_or(Vec::new(), |i| i.split(", ").map(str::to_owned).collect()),
            mutations: Vec::new(),
        });
    }
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    Case { name, text: text.to_owned(), labels: found }
}

fn audited(name: &str, text: &str) -> (Source, Vec<Claim>) {
    let source = Source::read(name, text.as_bytes(), MAX_SIZE).unwrap();
    let claims = audit(&source, &[]).claims;
    (source, claims)
}

/// The numbers that words print, with their places.
fn numbers(words: &str) -> Vec<(usize, usize, f64)> {
    let bytes = words.as_bytes();
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let glued = i > 0 && (bytes[i - 1].is_ascii_alphanumeric() || bytes[i - 1] == b'.');
        if !bytes[i].is_ascii_digit() {
            i += 1;
            continue;
        }
        let mut end = i;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b','))
        {
            end += 1;
        }
        let run = words[i..end].trim_end_matches(['.', ',']);
        if let (false, Ok(value)) = (glued, run.replace(',', "").parse()) {
            found.push((i, i + run.len(), value));
        }
        i = end;
    }
    found
}

/// The claim of a label: the one that shares most of its words, with its number if it has one.
fn of_label<'a>(label: &Label, text: &str, claims: &'a [Claim]) -> Option<&'a Claim> {
    let span = locate(text, &label.quote)?;
    let printed = numbers(&label.quote);
    let score = |c: &Claim| -> f64 {
        let common = span.end.min(c.span.end) as f64 - span.start.max(c.span.start) as f64;
        let shorter = (span.end - span.start).min(c.span.end - c.span.start).max(1) as f64;
        if common < 0.5 * shorter {
            return 0.0;
        }
        let number = c.claimed.is_some_and(|v| printed.iter().any(|(.., p)| (p - v).abs() < 1e-9));
        let longer = (span.end - span.start).max(c.span.end - c.span.start) as f64;
        let share = printed.iter().any(|(_, end, _)| {
            label.quote[*end..].starts_with(['%', 'x']) || label.quote[*end..].starts_with(" times")
        });
        let compares =
            matches!(c.kind, assay_audit::ClaimKind::Percent | assay_audit::ClaimKind::Times);
        common / longer + f64::from(u8::from(number)) + 0.3 * f64::from(u8::from(share == compares))
    };
    claims
        .iter()
        .map(|c| (score(c), c))
        .filter(|(s, _)| *s > 0.0)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}

/// Whether a claim was decided on a label's values.
fn on_right_numbers(label: &Label, claim: &Claim) -> bool {
    label.inputs.iter().all(|wanted| {
        let wanted: f64 = wanted.replace(',', "").parse().unwrap();
        claim
            .inputs
            .iter()
            .map(|i| i.value)
            .chain(claim.computed.filter(|_| claim.inputs.len() == 1))
            .any(|v| {
                [1.0, 1e3, 1e-3, 1e6].iter().any(|f| (v * f - wanted).abs() <= 1e-6 * wanted.abs())
            })
    })
}

fn holds(claim: &Claim) -> bool {
    matches!(claim.verdict, ClaimVerdict::Holds | ClaimVerdict::OffByRounding)
}

#[derive(Default)]
struct Score {
    texts: usize,
    checkable: usize,
    decided: usize,
    holds: usize,
    holds_right: usize,
    wrong: usize,
    wrong_right: usize,
    slander: Vec<String>,
    mutations: usize,
    caught: usize,
    believed: Vec<String>,
    missed: String,
}

impl Score {
    fn line(&self, name: &str) -> String {
        let share = |a: usize, b: usize| 100.0 * a as f64 / b.max(1) as f64;
        format!(
            "{name}: {} texts; decided on the right numbers {}/{} ({:.0} %); holds right {}/{} ({:.0} %); \
             wrong right {}/{} ({:.0} %); mutations caught {}/{} ({:.0} %), believed {}; slander {}",
            self.texts,
            self.decided,
            self.checkable,
            share(self.decided, self.checkable),
            self.holds_right,
            self.holds,
            share(self.holds_right, self.holds),
            self.wrong_right,
            self.wrong,
            share(self.wrong_right, self.wrong),
            self.caught,
            self.mutations,
            share(self.caught, self.mutations),
            self.believed.len(),
            self.slander.len(),
        )
    }
}

fn score(cases: &[Case]) -> Score {
    let mut s = Score::default();
    for case in cases {
        s.texts += 1;
        let (source, claims) = audited(&case.name, &case.text);
        let mut right: Vec<*const Claim> = Vec::new();
        for label in &case.labels {
            let claim = of_label(label, &source.text, &claims);
            if label.verdict == "none" {
                if let Some(c) = claim.filter(|c| c.verdict == ClaimVerdict::Wrong) {
                    s.slander.push(format!("{}: {} ({})", case.name, c.quote, c.reason));
                }
                continue;
            }
            s.checkable += 1;
            let done = claim.is_some_and(|c| {
                on_right_numbers(label, c)
                    && if label.verdict == "holds" {
                        holds(c)
                    } else {
                        c.verdict == ClaimVerdict::Wrong
                    }
            });
            if let (true, Some(c)) = (done, claim) {
                s.decided += 1;
                right.push(c);
            } else {
                let verdict = claim.map_or("not found".to_owned(), |c| {
                    format!(
                        "{} \"{}\": {} {:?}",
                        c.verdict.word(),
                        c.quote,
                        c.reason,
                        c.inputs.iter().map(|i| i.value).collect::<Vec<_>>()
                    )
                });
                writeln!(
                    s.missed,
                    "  {}: {} | {} -> {verdict}",
                    case.name, label.verdict, label.quote
                )
                .unwrap();
                if let Some(c) =
                    claim.filter(|c| label.verdict == "holds" && c.verdict == ClaimVerdict::Wrong)
                {
                    s.slander.push(format!("{}: {} ({})", case.name, c.quote, c.reason));
                }
            }
        }
        // A table that agrees with itself is no claim of the prose.
        for c in claims.iter().filter(|c| !(c.quote.starts_with("[table]") && holds(c))) {
            let good = right.contains(&std::ptr::from_ref(c));
            match c.verdict {
                ClaimVerdict::Holds => {
                    s.holds += 1;
                    s.holds_right += usize::from(good);
                }
                ClaimVerdict::Wrong => {
                    s.wrong += 1;
                    s.wrong_right += usize::from(good);
                }
                _ => continue,
            }
            if !good {
                writeln!(
                    s.missed,
                    "  {}: ? {} \"{}\": {}",
                    case.name,
                    c.verdict.word(),
                    c.quote,
                    c.reason
                )
                .unwrap();
            }
        }
        for label in case.labels.iter().filter(|l| l.verdict == "holds") {
            mutate(case, label, &mut s);
        }
    }
    s
}

const DIRECTIONS: [(&str, &str); 26] = [
    ("faster", "slower"),
    ("slower", "faster"),
    ("fewer", "more"),
    ("less time", "more time"),
    ("less", "more"),
    ("more", "less"),
    ("higher", "lower"),
    ("lower", "higher"),
    ("smaller", "larger"),
    ("larger", "smaller"),
    ("fastest", "slowest"),
    ("slowest", "fastest"),
    ("highest", "lowest"),
    ("lowest", "highest"),
    ("least", "most"),
    ("smallest", "largest"),
    ("largest", "smallest"),
    ("shortest", "longest"),
    ("reduction", "increase"),
    ("grew", "shrank"),
    ("fell", "rose"),
    ("falls", "rises"),
    ("went down", "went up"),
    ("improvement", "regression"),
    ("as fast", "as slow"),
    ("dropped", "rose"),
];

/// Words that rank.
const RANKS: [&str; 13] = [
    "fastest", "slowest", "highest", "lowest", "largest", "smallest", "shortest", "longest",
    "heaviest", "least", "most", "best", "worst",
];

/// A text with one thing changed. Of several texts one at least makes the claim untrue.
struct Mutant {
    kind: String,
    texts: Vec<String>,
    quote: String,
}

impl Mutant {
    fn one(kind: &str, text: String, quote: String) -> Mutant {
        Mutant { kind: kind.to_owned(), texts: vec![text], quote }
    }
}

/// The texts with one thing changed, by rule and by what the label names.
fn mutants(case: &Case, label: &Label) -> Vec<Mutant> {
    let mut made = Vec::new();
    let Some(start) = case.text.find(&label.quote) else { return made };
    let end = start + label.quote.len();
    let with = |quote: &str| format!("{}{quote}{}", &case.text[..start], &case.text[end..]);
    let mut printed = numbers(&label.quote);
    // A spread behind ± is not what is claimed.
    printed.retain(|(from, ..)| !label.quote[..*from].trim_end().ends_with('±'));
    let compares = |(_, end, _): &&(usize, usize, f64)| {
        let rest = &label.quote[*end..];
        rest.starts_with(['%', 'x']) || rest.starts_with(" times") || rest.starts_with(" %")
    };
    let number = printed.iter().find(compares).or(printed.first().filter(|_| printed.len() == 1));
    if let Some((from, to, value)) = number {
        let decimals = label.quote[*from..*to].split_once('.').map_or(0, |(_, d)| d.len());
        let new = format!("{:.decimals$}", (value * 1.6).max(value + 1.0));
        let quote = format!("{}{new}{}", &label.quote[..*from], &label.quote[*to..]);
        made.push(Mutant::one("number", with(&quote), quote));
    }
    if let Some((old, new)) = DIRECTIONS.iter().find(|(old, _)| label.quote.contains(old)) {
        let quote = label.quote.replacen(old, new, 1);
        made.push(Mutant::one("direction", with(&quote), quote));
    }
    if let Some(cell) = label.inputs.first() {
        let places = numbers(&case.text);
        let wanted: f64 = cell.replace(',', "").parse().unwrap();
        let mut found = places.iter().filter(|(from, to, v)| {
            (*to <= start || *from >= end) && (v - wanted).abs() < 1e-9 * wanted
        });
        // A number of prose that is no cell of the claim's may print the same value.
        let in_row = |at: usize| {
            let line = case.text[..at].rfind('\n').map_or(0, |n| n + 1);
            let rest = case.text[line..].lines().next().unwrap_or("");
            rest.contains('|') || rest.contains("<td")
        };
        let place = found.clone().find(|(from, ..)| in_row(*from)).or_else(|| found.next());
        let tally = label.quote.contains("wins in") || label.quote.contains("improvements");
        if let Some((from, to, value)) = place.filter(|_| printed.len() < 3 && !tally) {
            let decimals = case.text[*from..*to].split_once('.').map_or(0, |(_, d)| d.len()).max(2);
            let with_cell = |factor: f64| {
                let new = format!("{:.decimals$}", value * factor);
                format!("{}{new}{}", &case.text[..*from], &case.text[*to..])
            };
            let mut words = label.quote.split(|c: char| !c.is_alphabetic());
            let ranks = words.any(|w| RANKS.contains(&w)) && !label.quote.contains("at least")
                || label.quote.contains(" is faster than");
            // One of the two takes the rank away, whichever way is better.
            if ranks {
                made.push(Mutant {
                    kind: "cell".to_owned(),
                    texts: vec![with_cell(100.0), with_cell(0.01)],
                    quote: label.quote.clone(),
                });
            } else {
                let factor = if label.quote.contains("order") { 100.0 } else { 1.7 };
                made.push(Mutant::one("cell", with_cell(factor), label.quote.clone()));
            }
        }
    }
    for (kind, old, new) in &label.mutations {
        let within = label.quote.find(old.as_str()).map(|i| start + i);
        let at = within.unwrap_or_else(|| case.text.find(old).unwrap());
        let text = format!("{}{new}{}", &case.text[..at], &case.text[at + old.len()..]);
        // The quote with the same change, as far as it has it.
        let shifted = if at >= start && at < end {
            text[start..(end + new.len()).saturating_sub(old.len()).max(start)].to_owned()
        } else {
            label.quote.clone()
        };
        made.push(Mutant::one(kind, text, shifted));
    }
    made
}

fn mutate(case: &Case, label: &Label, s: &mut Score) {
    for Mutant { kind, texts, quote } in mutants(case, label) {
        let changed =
            Label { verdict: String::new(), quote, inputs: Vec::new(), mutations: Vec::new() };
        let found: Vec<Option<Claim>> = texts
            .iter()
            .map(|text| {
                let (source, claims) = audited(&case.name, text);
                of_label(&changed, &source.text, &claims).cloned()
            })
            .collect();
        s.mutations += 1;
        let is = |verdict| move |c: &&Claim| c.verdict == verdict;
        if found.iter().flatten().any(|c| is(ClaimVerdict::Wrong)(&c)) {
            s.caught += 1;
        } else if let (true, Some(claim)) = (
            found.iter().all(|c| c.as_ref().is_some_and(|c| is(ClaimVerdict::Holds)(&c))),
            found.iter().flatten().next(),
        ) {
            s.believed.push(format!("{}: {kind}: {} ({})", case.name, claim.quote, claim.reason));
        } else {
            let words = found.iter().flatten().next().map_or("not found".to_owned(), |c| {
                format!("{} \"{}\": {}", c.verdict.word(), c.quote, c.reason)
            });
            writeln!(s.missed, "  {}: mutated {kind}: {}: {words}", case.name, changed.quote)
                .unwrap();
        }
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modern").join(name)
}

/// What must be reached: shares of decided claims, of right holds and wrong, of caught mutations; and
/// how many true statements may be called wrong and how many mutations believed.
fn measure(name: &str, folder: &Path, floors: [f64; 4], slander: usize, believed: usize) {
    let s = score(&cases(folder));
    println!("{}", s.line(name));
    let open = !["blind", "sealed"].contains(&name);
    if open && std::env::var_os("ASSAY_MODERN_VERBOSE").is_some() {
        println!("{}", s.missed);
        for b in &s.believed {
            println!("  believed {b}");
        }
        for b in &s.slander {
            println!("  slander {b}");
        }
    }
    let reached = [
        s.decided as f64 / s.checkable as f64,
        s.holds_right as f64 / s.holds.max(1) as f64,
        s.wrong_right as f64 / s.wrong.max(1) as f64,
        s.caught as f64 / s.mutations.max(1) as f64,
    ];
    for ((reached, floor), what) in reached.iter().zip(floors).zip([
        "decided",
        "precision of holds",
        "precision of wrong",
        "mutations caught",
    ]) {
        assert!(*reached >= floor, "{name}: {what}: {reached:.3} is below {floor}");
    }
    for (found, most, what) in
        [(&s.slander, slander, "slander"), (&s.believed, believed, "believed")]
    {
        let shown = found.iter().filter(|_| open).collect::<Vec<_>>();
        assert!(found.len() <= most, "{name}: {what}: {} of {most}: {shown:?}", found.len());
    }
}

#[test]
fn tuned_texts() {
    // Goal of believed mutations: none. Reached 5 of 875.
    measure("tuned", &folder("tuned"), [0.60, 0.90, 0.95, 0.60], 0, 5);
}

#[test]
fn held_out_texts() {
    // Three goals are not reached here. Precision of wrong: goal 0.95, reached 9 of 13 (0.692). Slander:
    // goal 0, reached 3 true statements called wrong. Believed mutations: goal 0, reached 4 of 203.
    measure("held", &folder("held"), [0.60, 0.90, 0.69, 0.60], 3, 4);
}

#[test]
fn unseen_texts() {
    // As first measured, before any rule was changed: decided 50 of 82, holds 38 of 47, wrong 11 of 12,
    // mutations 58 of 134 with 5 believed. Since then 53 of 82, 41 of 50, 11 of 12, 60 of 134 with 5.
    measure("unseen", &folder("unseen"), [0.60, 0.81, 0.91, 0.44], 0, 5);
}

#[test]
fn texts_by_another_hand() {
    // No goal is reached here but that of holds, nearly. As first measured: decided 46 of 232, holds 39 of 53,
    // wrong 2 of 12, mutations 29 of 366 with 25 believed, slander 4. The rules were mended with them in view since.
    measure("others", &folder("others"), [0.34, 0.89, 0.83, 0.18], 1, 16);
}

#[test]
fn texts_that_nobody_who_mends_rules_has_seen() {
    // What the audit is worth on a new text; no goal is reached here.
    measure("blind", &folder("blind"), [0.18, 0.86, 0.37, 0.14], 6, 13);
    measure("sealed", &folder("sealed"), [0.17, 0.79, 0.50, 0.09], 3, 21);
}

#[test]
fn texts_to_learn_from() {
    // As first measured, before any rule was mended for them.
    measure("web", &folder("web"), [0.19, 0.79, 0.23, 0.23], 9, 17);
    measure("varied", &folder("varied"), [0.11, 0.65, 0.17, 0.09], 20, 62);
}

#[test]
#[ignore = "prints what is decided in the texts of ASSAY_MODERN_DIR, to be read by somebody"]
fn further_texts() {
    let folder = std::env::var_os("ASSAY_MODERN_DIR").expect("ASSAY_MODERN_DIR names a folder");
    let mut labelled = Vec::new();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|p| p.is_file()) {
        let text = std::fs::read_to_string(path).unwrap();
        if text.contains("\n===\n") {
            labelled.push(case(path));
            continue;
        }
        // A text without labels: what is decided, to be read by somebody.
        let (_, claims) = audited(&path.to_string_lossy(), &text);
        println!("{}: {} claims", path.display(), claims.len());
        for c in claims.iter().filter(|c| holds(c) || c.verdict == ClaimVerdict::Wrong) {
            println!("  {}: {} \"{}\": {}", c.line, c.verdict.word(), c.quote, c.reason);
        }
    }
    let s = score(&labelled);
    println!("{}\n{}", s.line("further"), s.missed);
    for b in s.believed.iter().chain(&s.slander) {
        println!("  believed or slander: {b}");
    }
}

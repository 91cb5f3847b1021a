//! Texts with labelled claims, and mutations of them.

use std::path::{Path, PathBuf};

pub struct Label {
    pub verdict: String,
    pub quote: String,
    pub inputs: Vec<String>,
    /// Kind, old words, new words.
    pub mutations: Vec<(String, String, String)>,
}

impl Label {
    /// The values that it must be decided on.
    pub fn values(&self) -> Vec<f64> {
        self.inputs.iter().map(|v| v.replace(',', "").parse().unwrap()).collect()
    }
}

/// Whether a value is the one of a label, as printed or in a unit of another thousand.
pub fn near(value: f64, wanted: f64) -> bool {
    [1.0, 1e3, 1e-3, 1e6].iter().any(|f| (value * f - wanted).abs() <= 1e-6 * wanted.abs())
}

pub struct Case {
    pub name: String,
    pub text: String,
    pub labels: Vec<Label>,
}

pub fn cases(folder: &Path) -> Vec<Case> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|p| case(p)).collect()
}

pub fn case(path: &Path) -> Case {
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

/// The numbers that words print, with their places.
pub fn numbers(words: &str) -> Vec<(usize, usize, f64)> {
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
const RANKS: [&str; 17] = [
    "fastest", "slowest", "highest", "lowest", "largest", "smallest", "shortest", "longest",
    "heaviest", "least", "most", "best", "worst", "first", "lead", "heads", "rear",
];

/// A text with one thing changed. Of several texts one at least makes the claim untrue.
pub struct Mutant {
    pub kind: String,
    pub texts: Vec<String>,
    pub quote: String,
}

impl Mutant {
    fn one(kind: &str, text: String, quote: String) -> Mutant {
        Mutant { kind: kind.to_owned(), texts: vec![text], quote }
    }
}

/// The texts with one thing changed, by rule and by what the label names.
pub fn mutants(case: &Case, label: &Label) -> Vec<Mutant> {
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
        // "under 16 ms" stays true of what is more.
        let before = label.quote[..*from].trim_end();
        let most = ["under", "below", "within", "less than", "fewer than", "at most", "up to"];
        let new = if most.iter().any(|w| before.ends_with(w)) {
            format!("{:.decimals$}", value / 1.6)
        } else {
            format!("{:.decimals$}", (value * 1.6).max(value + 1.0))
        };
        let quote = format!("{}{new}{}", &label.quote[..*from], &label.quote[*to..]);
        made.push(Mutant::one("number", with(&quote), quote));
    }
    // "Dunmore" has no "more".
    let at = |old: &str| {
        let mut all = label.quote.match_indices(old).map(|(at, _)| at);
        all.find(|at| !label.quote[..*at].ends_with(char::is_alphabetic))
    };
    if let Some((at, old, new)) =
        DIRECTIONS.iter().find_map(|(old, new)| Some((at(old)?, old, new)))
    {
        let quote = format!("{}{new}{}", &label.quote[..at], &label.quote[at + old.len()..]);
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
            // The paragraph may print it once more, before the claim.
            let paragraph = case.text[..start].rfind("\n\n").map_or(0, |i| i + 2);
            let again = |(a, b, v): &&(usize, usize, f64)| {
                (a, b) == (from, to) || *a >= paragraph && *b <= start && v == value
            };
            let with_cell = |factor: f64| {
                let new = format!("{:.decimals$}", value * factor);
                let (mut text, mut rest) = (String::new(), 0);
                for (a, b, _) in places.iter().filter(again) {
                    text.push_str(&case.text[rest..*a]);
                    text.push_str(&new);
                    rest = *b;
                }
                text + &case.text[rest..]
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

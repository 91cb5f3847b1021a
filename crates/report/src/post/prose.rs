//! What a person typed: a number by hand in a sentence that compares is a finding, because nothing
//! recomputes it.

use assay_checks::{ClaimEvidence, Evidence, Known, NumberEvidence, Verb, VerdictBasis, rows};

use super::checks;
use super::evaluate::{Evaluator, Typed};

/// Stands for a computed number in a sentence.
const COMPUTED: char = '\u{E002}';
/// Stands for a computed number that compares.
const COMPARING: char = '\u{E003}';

/// Finds typed numbers in the title, the summary and the text.
pub(super) fn check(e: &mut Evaluator<'_>) {
    let mut found: Vec<(String, String, Option<usize>)> = Vec::new();
    for part in [&e.front.title, &e.front.summary] {
        for (sentence, number, _) in typed(part) {
            found.push((sentence, number, None));
        }
    }
    let (text, map, computed) = joined(e);
    for (sentence, number, at) in typed(&text) {
        let i = map.partition_point(|(own, _)| *own <= at);
        let place = map[..i].last().map(|(own, there)| e.text.place(there + (at - own)).0);
        found.push((sentence, number, place));
    }
    wording(e, &text, &computed);
    for (sentence, number, line) in found {
        let at = line.map_or_else(|| "front matter".to_owned(), |l| format!("line {l}"));
        let typed = NumberEvidence {
            what: at,
            printed: Some(number),
            typed_in: Some(sentence),
            ..NumberEvidence::default()
        };
        let evidence = Evidence { numbers: Known::Is(vec![typed]), ..Evidence::default() };
        for finding in checks::judge(&rows::RECOMPUTES, &evidence) {
            e.find(finding, line);
        }
    }
}

/// Sentences that hold a computed comparison: whether their typed words are exact (faster in time or in
/// throughput, up to what), and whether the interval supports a direction or an equality that they state.
fn wording(e: &mut Evaluator<'_>, text: &str, computed: &[(usize, usize)]) {
    for (start, sentence) in sentences(text) {
        if !sentence.contains(COMPARING) {
            continue;
        }
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let shown = words.join(" ").replace([COMPUTED, COMPARING], "…");
        let lower = shown.to_lowercase();
        let mut found = Vec::new();
        if ["faster", "slower", "quicker", "up to"].iter().any(|w| lower.contains(w)) {
            found.extend(checks::wording(ClaimEvidence {
                text: shown.clone(),
                population: Some("the results of the post".to_owned()),
                as_of: e.front.as_of.clone(),
                ..ClaimEvidence::default()
            }));
        }
        let inside = start..start + sentence.len();
        if let Some(basis) = basis(&lower) {
            let of = computed.iter().filter(|(offset, _)| inside.contains(offset));
            let compared = of.filter_map(|(_, at)| e.numbers[*at].comparison.as_ref());
            found.extend(compared.flat_map(|c| checks::rests_on(basis, c)));
        }
        if let Some(verb) = verb(&lower) {
            let of = computed.iter().filter(|(offset, _)| inside.contains(offset));
            let compared = of.filter_map(|(_, at)| e.numbers[*at].comparison.as_ref());
            found.extend(compared.flat_map(|c| checks::said(verb, &shown, c)));
        }
        for finding in found {
            e.find(finding, None);
        }
    }
}

/// What the typed words of a sentence say that its comparison rests on; `None`: nothing, or the interval of the
/// ratio.
fn basis(lower: &str) -> Option<VerdictBasis> {
    let bars = ["interval", "error bar", "range"];
    if lower.contains("overlap") && bars.iter().any(|w| lower.contains(w)) {
        return Some(VerdictBasis::Overlap);
    }
    ["±", "standard deviation", "sigma"]
        .iter()
        .any(|w| lower.contains(w))
        .then_some(VerdictBasis::RatioSigma)
}

/// What the typed words of a sentence state of its comparison; `None`: nothing that can be told apart.
fn verb(lower: &str) -> Option<Verb> {
    const SAME: [&str; 8] = [
        "no difference",
        "no overhead",
        "no slower",
        "no faster",
        "equally fast",
        "the same speed",
        "the same throughput",
        "just as fast",
    ];
    const DIRECTION: [&str; 8] =
        ["faster", "slower", "quicker", "better", "worse", "beats", "outperforms", "wins"];
    const OPEN: [&str; 9] =
        ["not", "no", "never", "neither", "nor", "whether", "if", "cannot", "unclear"];
    if SAME.iter().any(|phrase| lower.contains(phrase)) {
        return Some(Verb::Same);
    }
    let has = |of: &[&str]| {
        let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
        words.any(|w| of.contains(&w) || (of == OPEN && w.ends_with("n't")))
    };
    (has(&DIRECTION) && !has(&OPEN)).then_some(Verb::Direction)
}

/// Pairs of an offset and what is there.
type Offsets = Vec<(usize, usize)>;

/// The prose in a row, with pairs of an offset in it and the template's offset of the same piece, and of an
/// offset and the computed number that stands there.
fn joined(e: &Evaluator<'_>) -> (String, Offsets, Offsets) {
    let mut text = String::new();
    let mut map = Vec::new();
    let mut computed = Vec::new();
    for typed in &e.prose {
        match typed {
            Typed::Markdown(span) => {
                map.push((text.len(), span.start));
                text.push_str(&e.text.text[span.clone()]);
            }
            Typed::Computed(at) => {
                computed.push((text.len(), *at));
                text.push(if e.numbers[*at].compares() { COMPARING } else { COMPUTED });
            }
            Typed::Break => text.push_str("\n\n"),
        }
    }
    (text, map, computed)
}

/// The typed numbers of comparing sentences: the sentence, the number, its offset.
fn typed(text: &str) -> Vec<(String, String, usize)> {
    let mut out = Vec::new();
    for (start, sentence) in sentences(text) {
        let tokens = tokens(sentence);
        if !compares(sentence, &tokens) {
            continue;
        }
        for i in 0..tokens.len() {
            if is_typed(&tokens, i) {
                let shown: String = sentence.replace([COMPUTED, COMPARING], "…");
                let words: Vec<&str> = shown.split_whitespace().collect();
                let mut shown = words.join(" ");
                if shown.chars().count() > 120 {
                    shown = shown.chars().take(119).collect::<String>() + "…";
                }
                out.push((shown, tokens[i].1.to_owned(), start + tokens[i].0));
            }
        }
    }
    out
}

/// Sentences with their offsets; headings, list items and rows of tables are sentences; code is none.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut fenced = false;
    let mut at = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begin = line.trim_start();
        let fence = begin.starts_with("```") || begin.starts_with("~~~");
        let edge = fence
            || begin.is_empty()
            || begin.starts_with(['#', '|', '>'])
            || begin.starts_with("- ")
            || begin.starts_with("* ")
            || begin
                .split_once(". ")
                .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if edge || fenced {
            cut(text, start, at, &mut out);
            start = at;
        }
        at += line.len();
        if fence {
            fenced = !fenced;
        }
        if fence || fenced {
            start = at;
        } else if begin.starts_with(['#', '|']) {
            cut(text, start, at, &mut out);
            start = at;
        }
    }
    cut(text, start, text.len(), &mut out);
    out
}

/// Cuts a stretch at its full stops.
fn cut<'a>(text: &'a str, from: usize, to: usize, out: &mut Vec<(usize, &'a str)>) {
    let stretch = &text[from..to];
    let mut start = 0;
    for (i, c) in stretch.char_indices() {
        let next = stretch[i + c.len_utf8()..].chars().next();
        if matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace) {
            out.push((from + start, &stretch[start..=i]));
            start = i + 1;
        }
    }
    if !stretch[start..].trim().is_empty() {
        out.push((from + start, &stretch[start..]));
    }
}

/// Words with their offsets, without the punctuation around them; code in backticks is left out.
fn tokens(sentence: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut code = false;
    let mut at = 0;
    for word in sentence
        .split_inclusive(|c: char| c.is_whitespace() || c == COMPUTED || c == COMPARING || c == '`')
    {
        let ticks = word.ends_with('`');
        let bare = word.trim_end_matches(|c: char| {
            c.is_whitespace() || c == COMPUTED || c == COMPARING || c == '`'
        });
        let inner = bare.trim_start_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '-' | '.' | '+' | '−')
        });
        let skipped = bare.len() - inner.len();
        let trimmed =
            inner.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | '×'));
        if !code && !trimmed.is_empty() {
            out.push((at + skipped, trimmed));
        }
        if ticks {
            code = !code;
        }
        at += word.len();
    }
    out
}

const COMPARE: &[&str] = &[
    "better",
    "worse",
    "faster",
    "slower",
    "quicker",
    "times",
    "twice",
    "thrice",
    "double",
    "doubles",
    "doubled",
    "triple",
    "tripled",
    "half",
    "halved",
    "halves",
    "more",
    "less",
    "fewer",
    "higher",
    "lower",
    "greater",
    "smaller",
    "ahead",
    "behind",
    "beats",
    "beat",
    "outperforms",
    "outperformed",
    "leads",
    "exceeds",
    "ratio",
    "advantage",
    "gain",
    "gains",
    "improvement",
    "improves",
    "improved",
    "speedup",
    "speed-up",
    "than",
    "versus",
    "vs",
    "against",
    "best",
    "record",
    "percent",
    "longer",
    "shorter",
    "difference",
];

fn compares(sentence: &str, tokens: &[(usize, &str)]) -> bool {
    sentence.contains(COMPARING)
        || tokens.iter().any(|(_, t)| {
            let t = t.to_lowercase();
            COMPARE.contains(&t.as_str())
                || (t.starts_with(|c: char| c.is_ascii_digit())
                    && (t.ends_with(['%', '×']) || is_factor(&t)))
        })
}

/// `2.6x`.
fn is_factor(token: &str) -> bool {
    token.strip_suffix('x').is_some_and(|n| n.parse::<f64>().is_ok())
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];
const NAMING: &[&str] = &[
    "section", "step", "table", "figure", "chapter", "post", "page", "line", "version", "release",
    "level", "sample", "kernel", "raid", "build",
];
const COUNTED: &[&str] =
    &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"];

/// Whether a word of a comparing sentence is a number that somebody typed as a result.
fn is_typed(tokens: &[(usize, &str)], i: usize) -> bool {
    let token = tokens[i].1;
    let before = i.checked_sub(1).map(|j| tokens[j].1);
    let after = tokens.get(i + 1).map(|t| t.1.to_lowercase());
    let lower = token.to_lowercase();
    if ["twice", "thrice", "doubles", "doubled", "tripled", "halves", "halved"]
        .contains(&lower.as_str())
    {
        return true;
    }
    let claims = after
        .as_ref()
        .is_some_and(|a| ["times", "percent", "fold", "points", "%"].contains(&a.as_str()));
    if COUNTED.contains(&lower.as_str()) {
        return claims;
    }
    let digits = token.trim_start_matches(['-', '+', '−', '~']);
    let begins = |c: char| c.is_ascii_digit();
    if !digits.strip_prefix('.').unwrap_or(digits).starts_with(begins) {
        return false;
    }
    if digits.ends_with(['%', '×']) || is_factor(digits) || claims {
        return true;
    }
    let number = digits.trim_end_matches(char::is_alphabetic);
    let suffix = &digits[number.len()..];
    let plain = number.replace(',', "");
    if plain.parse::<f64>().is_err() {
        // Dates, versions, `32-bit`, `1/2`.
        return false;
    }
    let units = [
        "", "k", "K", "M", "G", "T", "s", "ms", "us", "ns", "W", "GB", "MB", "kB", "KB", "GiB",
        "MiB", "KiB", "B", "GHz", "MHz", "min", "h",
    ];
    if !units.contains(&suffix) {
        return false;
    }
    let year = suffix.is_empty()
        && plain.len() == 4
        && (plain.starts_with("19") || plain.starts_with("20"));
    let month = |w: Option<&str>| w.is_some_and(|w| MONTHS.contains(&w.to_lowercase().as_str()));
    if year || month(before) || month(after.as_deref()) {
        return false;
    }
    !named(tokens, i)
}

/// Whether the number is a part of a name: `Power 570`, `Solaris 10`, `step 3`.
fn named(tokens: &[(usize, &str)], i: usize) -> bool {
    let Some(before) = i.checked_sub(1).map(|j| tokens[j].1) else { return false };
    if NAMING.contains(&before.to_lowercase().as_str()) {
        return true;
    }
    let capital = before.starts_with(char::is_uppercase);
    let technical = before.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit());
    // A capital first word may only begin the sentence.
    capital && (i >= 2 || technical)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<String> {
        typed(text).into_iter().map(|(_, n, _)| n).collect()
    }

    #[test]
    fn numbers_that_compare_are_found() {
        assert_eq!(numbers("The first is 5% better than the second."), ["5%"]);
        assert_eq!(numbers("It is 2.6x faster. It has 8 cores."), ["2.6x"]);
        assert_eq!(
            numbers("It did twice the work, at 875 W against 520 W."),
            ["twice", "875", "520"]
        );
        assert_eq!(numbers("It is three times as fast."), ["three"]);
        assert_eq!(numbers(&format!("It is {COMPARING} than the other at 64 GB.")), ["64"]);
        assert_eq!(numbers("# 30 minutes less\n\nNothing."), ["30"]);
        assert_eq!(numbers("It gained\n12 percent over it."), ["12"]);
    }

    #[test]
    fn names_dates_and_code_are_no_claims() {
        for text in [
            "In August 2009 the T5240 was better than the IBM Power 570 under Solaris 10.",
            "On 27 August 2009, and 2009-08-27, it was ahead of GCC 4.4.0 with 32-bit JVMs.",
            "Step 3 is better.",
            "It has 8 cores and 64 threads.",
            "Better read with `-O3 100`.",
            "```\n5% better\n```\n",
        ] {
            assert!(numbers(text).is_empty(), "{text}: {:?}", numbers(text));
        }
        assert_eq!(numbers(&format!("It is {COMPUTED} against {COMPUTED}.")), [""; 0]);
    }

    #[test]
    fn the_place_is_that_of_the_number() {
        let text = "First.\n\nIt is 5% better.";
        assert_eq!(typed(text)[0].2, text.find("5%").unwrap());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,200}") {
            let _ = typed(&text);
        }
    }
}

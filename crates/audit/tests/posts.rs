//! Scores the audit on posts whose claims were checked by hand. They are other people's text and
//! no part of this project: `ASSAY_POSTS_DIR` names the folder that holds `posts/` and
//! `claims-train.csv`; the results are those of `published/`. `ASSAY_POSTS_ONLY` limits it to posts with
//! one of the given parts (with commas) in their names, `ASSAY_POSTS_VERBOSE` prints every claim.
#![allow(clippy::unwrap_used)] // this is a test

use std::collections::BTreeMap;
use std::path::Path;

mod common;

use assay_audit::{Claim, ClaimVerdict, MAX_SIZE, Source, Span};
use assay_rules::quoted;
use common::locate;

struct Label {
    id: String,
    quote: String,
    kind: String,
    claimed: Option<f64>,
    verdict: String,
    span: Option<Span>,
}

fn labels(folder: &Path) -> BTreeMap<String, Vec<Label>> {
    let mut reader = csv::Reader::from_path(folder.join("claims-train.csv")).unwrap();
    let mut labels: BTreeMap<String, Vec<Label>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.unwrap();
        labels.entry(row[1].to_owned()).or_default().push(Label {
            id: row[0].to_owned(),
            quote: row[2].to_owned(),
            kind: row[3].to_owned(),
            claimed: row[6].parse().ok(),
            verdict: row[8].to_owned(),
            span: None,
        });
    }
    labels
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '(' | ')'))
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

/// How well a found claim is the labelled one, 0 to 1 and more; 0 is another.
fn likeness(label: &Label, claim: &Claim) -> f64 {
    let table = claim.quote.starts_with("[table]");
    let mut score = if let Some(span) = label.span {
        let common = span.end.min(claim.span.end) as f64 - span.start.max(claim.span.start) as f64;
        let lengths = [span.end - span.start, claim.span.end - claim.span.start].map(|l| l as f64);
        let (shorter, longer) = (lengths[0].min(lengths[1]), lengths[0].max(lengths[1]));
        if common < 0.5 * shorter || table {
            return 0.0;
        }
        0.5 * common / shorter + 0.4 * common / longer
    } else {
        let quote = words(label.quote.trim_start_matches("[table]"));
        let own = words(&claim.quote);
        let hit = quote.iter().filter(|w| own.contains(w)).count() as f64;
        let part = hit / quote.len().max(1) as f64;
        if part < 0.55 || !table {
            return 0.0;
        }
        part
    };
    if label.claimed.is_some() && label.claimed == claim.claimed {
        score += 0.5;
    }
    let kind = format!("{:?}", claim.kind).to_lowercase();
    let same = matches!(
        (label.kind.as_str(), kind.as_str()),
        ("percent_better", "percent")
            | ("times", "times")
            | ("per_watt", "perdenominator")
            | ("rank", "rank" | "order")
            | ("conversion", "conversion")
            | ("count", "count")
            | ("measurement", "measurement")
            | ("per_jvm", "perinstance")
            | ("disclosure_vs_table", "restatement" | "naming")
            | ("share", "share")
            | ("qualitative", "qualitative")
            | ("disclosure_missing", "missingdisclosure")
            | ("scope", "scope")
            | ("mean", "mean")
            | ("sum", "sum")
            | ("difference", "difference")
    );
    if same { score + 0.3 } else { score }
}

#[test]
fn checked_posts() {
    let Some(folder) = std::env::var_os("ASSAY_POSTS_DIR") else {
        println!(
            "skipped: because checked posts are others' texts: ASSAY_POSTS_DIR names their folder"
        );
        return;
    };
    let folder = Path::new(&folder);
    let only = std::env::var("ASSAY_POSTS_ONLY").unwrap_or_default();
    let verbose = std::env::var_os("ASSAY_POSTS_VERBOSE").is_some();
    let results: Vec<quoted::QuotedResult> = quoted::FILES
        .iter()
        .flat_map(|(name, text)| quoted::read(name, text.as_bytes()).unwrap())
        .collect();
    let (mut all, mut found, mut shared, mut extra) = (0, 0, 0, 0);
    let mut matrix: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let (mut wrong, mut wrong_right, mut slandered) = (0, 0, Vec::new());
    for (post, mut labels) in labels(folder) {
        if !only.is_empty() && !only.split(',').any(|part| post.contains(part)) {
            continue;
        }
        let bytes = std::fs::read(folder.join("posts").join(&post)).unwrap();
        let source = Source::read(&post, &bytes, MAX_SIZE).unwrap();
        let claims = assay_audit::audit(&source, &results).claims;
        for label in &mut labels {
            if !label.quote.starts_with("[table]") {
                label.span = locate(&source.text, &label.quote);
            }
        }
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for (l, label) in labels.iter().enumerate() {
            for (c, claim) in claims.iter().enumerate() {
                let score = likeness(label, claim);
                if score > 0.0 {
                    pairs.push((score, l, c));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut of_label: BTreeMap<usize, usize> = BTreeMap::new();
        let mut of_claim: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, l, c) in &pairs {
            if !of_label.contains_key(l) && !of_claim.contains_key(c) {
                of_label.insert(*l, *c);
                of_claim.insert(*c, *l);
            }
        }
        let alone = of_label.len();
        for (_, l, c) in &pairs {
            of_label.entry(*l).or_insert(*c);
        }
        println!(
            "{post}: {} of {} found one to one, {} shared, {} claims",
            alone,
            labels.len(),
            of_label.len(),
            claims.len()
        );
        all += labels.len();
        found += alone;
        shared += of_label.len();
        extra += claims.len() - of_claim.len();
        for (l, label) in labels.iter().enumerate() {
            let verdict = of_label.get(&l).map_or("(not found)", |c| claims[*c].verdict.word());
            *matrix.entry((label.verdict.clone(), verdict)).or_default() += 1;
            let same = label.verdict.starts_with(&verdict.replace('-', "_"));
            if verbose || !same {
                println!(
                    "  {} {}: {} -> {verdict}: {}",
                    label.id, label.kind, label.verdict, label.quote
                );
                if let Some(c) = of_label.get(&l) {
                    println!(
                        "      {:?} {}: {}",
                        claims[*c].kind, claims[*c].line, claims[*c].reason
                    );
                }
            }
        }
        for (c, claim) in claims.iter().enumerate() {
            if claim.verdict == ClaimVerdict::Wrong {
                wrong += 1;
                let judged: Vec<&Label> = labels
                    .iter()
                    .enumerate()
                    .filter(|(l, _)| of_label.get(l) == Some(&c))
                    .map(|(_, l)| l)
                    .collect();
                if judged.iter().any(|l| l.verdict == "wrong") {
                    wrong_right += 1;
                } else {
                    println!("  WRONG? {}: {} ({})", claim.line, claim.quote, claim.reason);
                    if judged.iter().any(|l| l.verdict == "holds" || l.verdict == "off_by_rounding")
                    {
                        slandered.push(claim.quote.clone());
                    }
                }
            }
            if verbose && !of_claim.contains_key(&c) {
                println!(
                    "  + {:?} {} {}:{} {} [{}]",
                    claim.kind,
                    claim.verdict.word(),
                    claim.line,
                    claim.column,
                    claim.quote,
                    claim.reason
                );
            }
        }
    }
    println!("recall {found}/{all} one to one, {shared}/{all} shared; {extra} further claims");
    for ((label, verdict), count) in &matrix {
        println!("  {label} -> {verdict}: {count}");
    }
    println!("wrong: {wrong_right} of {wrong} right; holds called wrong: {}", slandered.len());
    assert!(found as f64 >= 0.8 * all as f64, "recall {found}/{all}");
    assert!(slandered.is_empty(), "{slandered:?}");
    assert!(f64::from(wrong_right) >= 0.95 * f64::from(wrong), "{wrong_right} of {wrong}");
}

//! Learns the weights of the audit's readings and verdicts from labelled texts, and measures them on others.
//!
//! `cargo run --release -p assay-audit --example weights -- LEARN[,LEARN] [MEASURE,...]`: folders of texts as in
//! `tests/modern`. `OUT=src/search` writes the weights there. `VERBOSE=1` prints what is missed.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a tool for developers

use std::fmt::Write as _;
use std::path::Path;

use assay_audit::learn::{FEATURES, KNOWN, Said, feature, known, said};
use assay_audit::{MAX_SIZE, Source};

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/labelled/mod.rs"]
mod labelled;

use labelled::{Case, Label, cases, mutants, near};

/// What claims of texts by other hands weigh.
const HARD: f64 = 2.0;
/// What verdicts of own texts weigh: the judges of names were made with these in view.
const OWN: f64 = 0.4;

type Weights = [f64];

/// One claim to learn from: sparse features of each reading, and whether it is the right one.
struct Claim {
    readings: Vec<(Vec<(usize, f64)>, bool)>,
    note: String,
    weight: f64,
}

/// One verdict to learn from.
#[derive(Clone)]
struct Verdict {
    known: Vec<f64>,
    right: bool,
    weight: f64,
    /// Text, what it is of, for the measures.
    note: String,
    mutant: bool,
    label: Option<bool>,
    hard: bool,
}

fn is_right(label: &[f64], reading: &assay_audit::learn::Reading) -> bool {
    let own = |w: &f64| reading.inputs.iter().any(|v| near(*v, *w));
    if let [greatest, least, all @ ..] = reading.among.as_slice() {
        let has = |all: &[f64], w: &f64| all.iter().any(|v| near(*v, *w));
        return if label.len() <= 2 {
            label.iter().any(own) && label.iter().all(|w| own(w) || has(&[*greatest, *least], w))
        } else {
            // All that it is ranked among, the one that is spoken of first.
            label.first().is_some_and(own) && label.iter().all(|w| has(all, w))
        };
    }
    reading.inputs.len() == label.len() && label.iter().all(own)
}

/// The thing said that a label is of, with which of its readings are right.
fn align<'a>(label: &Label, text: &str, said: &'a [Said]) -> Option<(&'a Said, Vec<bool>)> {
    let span = common::locate(text, &label.quote)?;
    let wanted = label.values();
    let holds = label.verdict == "holds";
    let mut best: Option<(i32, &Said, Vec<bool>)> = None;
    for s in said.iter().filter(|s| s.own.0 >= span.start && s.own.1 <= span.end + 1) {
        let right: Vec<bool> = s.readings.iter().map(|r| is_right(&wanted, r)).collect();
        let fits: Vec<bool> =
            right.iter().zip(&s.readings).map(|(ok, r)| *ok && r.fit == 2).collect();
        let any = right.iter().any(|r| *r);
        let fit = fits.iter().any(|r| *r);
        let score = i32::from(any) + 2 * i32::from(any && fit == holds);
        if best.as_ref().is_none_or(|(b, ..)| score > *b) {
            best = Some((score, s, if holds && fit { fits } else { right }));
        }
    }
    best.map(|(_, s, r)| (s, r))
}

fn read(name: &str, text: &str) -> Source {
    Source::read(name, text.as_bytes(), MAX_SIZE).unwrap()
}

fn texts(folders: &str) -> Vec<Case> {
    folders.split(',').flat_map(|f| cases(Path::new(f))).collect()
}

/// Whether a text is by another hand than the rules.
fn is_hard(case: &Case) -> bool {
    static NAMES: std::sync::OnceLock<std::collections::BTreeSet<String>> =
        std::sync::OnceLock::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modern");
    let names = NAMES.get_or_init(|| {
        let all =
            ["others", "web", "varied", "plain", "opened"].iter().flat_map(|f| cases(&own.join(f)));
        all.map(|c| c.name).collect()
    });
    names.contains(&case.name)
}

/// What a function gives for each of several, in their order, by as many threads as there are processors.
fn each<T: Sync, R: Send>(all: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let take = || {
        let mut own = Vec::new();
        loop {
            let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = all.get(i) else { return own };
            own.push((i, of(item)));
        }
    };
    let mut found = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap()).collect::<Vec<_>>()
    });
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, r)| r).collect()
}

fn load(texts: &[&Case], weights: &Weights, verbose: bool) -> Vec<Claim> {
    let mut found = Vec::new();
    let (mut all, mut spoken, mut agree) = (0, 0, 0);
    let sources = each(texts, |case| {
        let source = read(&case.name, &case.text);
        let said = said(&source, weights);
        (source, said)
    });
    for (case, (source, all_said)) in texts.iter().zip(sources) {
        for label in case.labels.iter().filter(|l| l.verdict != "none") {
            all += 1;
            let Some((s, right)) = align(label, &source.text, &all_said) else {
                if verbose {
                    println!("  nothing said: {}: {}", case.name, label.quote);
                }
                continue;
            };
            spoken += 1;
            if !right.iter().any(|r| *r) {
                if verbose {
                    println!(
                        "  not covered: {}: {} | {:?} [{}]",
                        case.name, label.quote, label.inputs, s.what
                    );
                }
                continue;
            }
            let fit = s.readings.iter().zip(&right).any(|(r, ok)| *ok && r.fit == 2);
            agree += i32::from(fit == (label.verdict == "holds"));
            if verbose && fit != (label.verdict == "holds") {
                println!(
                    "  fit differs: {}: {} | {:?} [{}]",
                    case.name, label.quote, label.inputs, s.what
                );
            }
            let readings =
                s.readings.iter().zip(&right).map(|(r, ok)| (r.features.clone(), *ok)).collect();
            let top = s.readings.iter().max_by(|a, b| a.prior.total_cmp(&b.prior)).unwrap();
            found.push(Claim {
                readings,
                note: format!(
                    "{}: {} | {:?} [{}] top {} {:?} {:.2}",
                    case.name, label.quote, label.inputs, s.what, top.names, top.inputs, top.prior
                ),
                weight: if is_hard(case) { HARD } else { 1.0 },
            });
        }
    }
    if verbose {
        println!("labels {all}, said {spoken}, covered {}, agree as labelled {agree}", found.len());
    }
    found
}

fn scores(case: &Claim, w: &Weights) -> Vec<f64> {
    let s: Vec<f64> =
        case.readings.iter().map(|(f, _)| f.iter().map(|(i, v)| w[*i] * v).sum()).collect();
    let top = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = s.iter().map(|x| (x - top).exp()).collect();
    let sum: f64 = e.iter().sum();
    e.into_iter().map(|x| x / sum).collect()
}

/// Adam, one step.
struct Adam {
    m: Vec<f64>,
    v: Vec<f64>,
    t: i32,
}

impl Adam {
    fn new(n: usize) -> Adam {
        Adam { m: vec![0.0; n], v: vec![0.0; n], t: 0 }
    }

    fn step(&mut self, w: &mut [f64], g: &[f64], rate: f64) {
        self.t += 1;
        for i in 0..w.len() {
            self.m[i] = 0.9 * self.m[i] + 0.1 * g[i];
            self.v[i] = 0.999 * self.v[i] + 0.001 * g[i] * g[i];
            let (m, v) = (
                self.m[i] / (1.0 - 0.9f64.powi(self.t)),
                self.v[i] / (1.0 - 0.999f64.powi(self.t)),
            );
            w[i] += rate * m / (v.sqrt() + 1e-9);
        }
    }
}

/// The gradient of the logarithm of what is given to the right readings.
fn gradient(claims: &[Claim], w: &Weights) -> Vec<f64> {
    let mut g = vec![0.0; FEATURES];
    for case in claims {
        let p = scores(case, w);
        let right: f64 = p.iter().zip(&case.readings).filter(|(_, r)| r.1).map(|(p, _)| p).sum();
        for (p, (f, ok)) in p.iter().zip(&case.readings) {
            let wanted = if *ok { p / right.max(1e-12) } else { 0.0 };
            for (i, x) in f {
                g[*i] += case.weight * (wanted - p) * x;
            }
        }
    }
    g
}

fn learn(claims: &[Claim], start: &Weights, rounds: usize, decay: f64) -> Vec<f64> {
    let mut w = start.to_vec();
    let mut adam = Adam::new(FEATURES);
    for _ in 0..rounds {
        let parts: Vec<&[Claim]> = claims.chunks(claims.len().div_ceil(8).max(1)).collect();
        let mut g = vec![0.0; FEATURES];
        for part in each(&parts, |part| gradient(part, &w)) {
            for (all, own) in g.iter_mut().zip(part.iter()) {
                *all += own;
            }
        }
        for i in 0..FEATURES {
            g[i] -= decay * w[i];
        }
        adam.step(&mut w, &g, 0.05);
    }
    w
}

/// Weights of readings: what came before a claim is chosen by the weights so far, so more than once.
fn readings_of(texts: &[&Case], decay: f64) -> Vec<f64> {
    let mut w = vec![0.0; FEATURES];
    for _ in 0..3 {
        w = learn(&load(texts, &w, false), &w, 150, decay);
    }
    w
}

fn report(name: &str, claims: &[Claim], w: &Weights, verbose: bool) {
    let (mut top, mut mass, mut loss) = (0, 0.0, 0.0);
    for case in claims {
        let p = scores(case, w);
        let right: f64 = p.iter().zip(&case.readings).filter(|(_, r)| r.1).map(|(p, _)| p).sum();
        let best = (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
        top += usize::from(case.readings[best].1);
        if verbose && !case.readings[best].1 {
            println!("  missed ({right:.3}): {}", case.note);
            let own = (0..p.len())
                .filter(|i| case.readings[*i].1)
                .max_by(|a, b| p[*a].total_cmp(&p[*b]))
                .unwrap();
            let mut away = vec![0.0; FEATURES];
            for (i, v) in &case.readings[best].0 {
                away[*i] += w[*i] * v;
            }
            for (i, v) in &case.readings[own].0 {
                away[*i] -= w[*i] * v;
            }
            let mut order: Vec<usize> = (0..FEATURES).filter(|i| away[*i].abs() > 0.15).collect();
            order.sort_by(|a, b| away[*b].abs().total_cmp(&away[*a].abs()));
            let words: Vec<String> =
                order.iter().take(9).map(|i| format!("{} {:+.1}", feature(*i), away[*i])).collect();
            println!("    instead: {}", words.join(", "));
        }
        mass += right;
        loss -= right.max(1e-12).ln();
    }
    let n = claims.len().max(1) as f64;
    println!(
        "{name}: {} claims, first {:.3}, probability {:.3}, loss {:.3}",
        claims.len(),
        top as f64 / n,
        mass / n,
        loss / n
    );
}

/// The verdicts of texts and of their mutants: of holds, of wrong.
fn verdicts(texts: &[&Case], w: &Weights) -> [Vec<Verdict>; 2] {
    let mut out = [Vec::new(), Vec::new()];
    for [holds, wrong] in each(texts, |case| verdicts_of(case, w)) {
        out[0].extend(holds);
        out[1].extend(wrong);
    }
    out
}

fn verdicts_of(case: &Case, w: &Weights) -> [Vec<Verdict>; 2] {
    let mut out = [Vec::new(), Vec::new()];
    let source = read(&case.name, &case.text);
    let all = said(&source, w);
    let mut labels: Vec<Option<(&Label, Vec<bool>)>> = all.iter().map(|_| None).collect();
    let mut inside: Vec<Option<&Label>> = vec![None; all.len()];
    for label in &case.labels {
        if let Some(span) = common::locate(&source.text, &label.quote) {
            for (i, s) in all.iter().enumerate() {
                if s.own.0 >= span.start && s.own.1 <= span.end + 1 {
                    inside[i] = Some(label);
                }
            }
        }
        if label.verdict == "none" {
            continue;
        }
        if let Some((s, right)) = align(label, &source.text, &all) {
            let at = all.iter().position(|x| std::ptr::eq(x, s)).unwrap();
            labels[at] = Some((label, right));
        }
    }
    for (i, s) in all.iter().enumerate().filter(|(_, s)| !s.open) {
        let label = labels[i].as_ref();
        for (which, verdict) in [("holds", &s.yes), ("wrong", &s.no)].into_iter().enumerate() {
            let (word, Some((at, known))) = verdict else { continue };
            // Another claim of a quote is right by itself, if it rests on values of the label.
            let other = inside[i].filter(|l| label.is_none() && l.verdict != "none");
            if other.is_some_and(|l| l.verdict == "wrong") {
                continue;
            }
            let within = other.is_some_and(|l| {
                let values = l.values();
                let own = &s.readings[*at].inputs;
                word == "holds" && own.iter().all(|v| values.iter().any(|w| near(*v, *w)))
            });
            let right = within || label.is_some_and(|(l, right)| l.verdict == word && right[*at]);
            let weight = if other.is_some() && !right { 0.3 } else { 1.0 };
            let weight = if is_hard(case) { weight } else { OWN * weight };
            let note = format!(
                "{}: {} [{}] {} {:?}",
                case.name,
                &source.text[s.span.0..s.span.1].replace('\n', " "),
                s.what,
                s.readings[*at].names,
                s.readings[*at].inputs
            );
            out[which].push(Verdict {
                known: known.clone(),
                right,
                weight,
                note,
                mutant: false,
                label: label.map(|(l, _)| l.verdict == "holds"),
                hard: is_hard(case),
            });
        }
    }
    for label in case.labels.iter().filter(|l| l.verdict == "holds") {
        for mutant in mutants(case, label) {
            for text in &mutant.texts {
                let source = read(&case.name, text);
                let changed = Label {
                    verdict: "wrong".into(),
                    quote: mutant.quote.clone(),
                    inputs: label.inputs.clone(),
                    mutations: Vec::new(),
                };
                let all = said(&source, w);
                let Some((s, _)) = align(&changed, &source.text, &all) else { continue };
                if s.open {
                    continue;
                }
                let wanted = label.values();
                for (which, verdict) in [&s.yes, &s.no].into_iter().enumerate() {
                    let Some((at, known)) = verdict else { continue };
                    // One of several texts takes a rank away, and which is not known here.
                    if which == 0 && mutant.texts.len() > 1 {
                        continue;
                    }
                    let some =
                        s.readings[*at].inputs.iter().any(|v| wanted.iter().any(|w| near(*v, *w)));
                    let note = format!(
                        "{}: mutant {}: {} [{}] {} {:?}",
                        case.name,
                        mutant.kind,
                        mutant.quote,
                        s.what,
                        s.readings[*at].names,
                        s.readings[*at].inputs
                    );
                    let weight = if which == 0 { 0.5 } else { 0.25 } / mutant.texts.len() as f64;
                    let weight = if is_hard(case) { weight } else { OWN * weight };
                    out[which].push(Verdict {
                        known: known.clone(),
                        right: which == 1 && (some || mutant.kind == "name"),
                        weight,
                        note,
                        mutant: true,
                        label: Some(false),
                        hard: is_hard(case),
                    });
                }
            }
        }
    }
    out
}

fn probability(known: &[f64], w: &[f64]) -> f64 {
    let s: f64 = known.iter().zip(w).map(|(k, w)| k * w).sum();
    1.0 / (1.0 + (-s).exp())
}

fn logistic(all: &[Verdict], decay: f64) -> Vec<f64> {
    let mut w = vec![0.0; KNOWN];
    let mut adam = Adam::new(KNOWN);
    for _ in 0..600 {
        let mut g = vec![0.0; KNOWN];
        for v in all {
            let away = v.weight * (f64::from(u8::from(v.right)) - probability(&v.known, &w));
            for (g, k) in g.iter_mut().zip(&v.known) {
                *g += away * k;
            }
        }
        for (g, w) in g.iter_mut().zip(&w) {
            *g -= decay * w;
        }
        adam.step(&mut w, &g, 0.03);
    }
    w
}

/// What limits reach: by the rules of `tests/modern.rs`, as far as these verdicts go.
fn measure(
    name: &str,
    [holds, wrong]: &[Vec<Verdict>; 2],
    w: &[Vec<f64>; 2],
    labels: usize,
    verbose: bool,
) {
    println!("{name}: of {labels} labels");
    for limit in [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95] {
        let said: Vec<&Verdict> =
            holds.iter().filter(|v| probability(&v.known, &w[0]) >= limit).collect();
        let own: Vec<&&Verdict> = said.iter().filter(|v| !v.mutant).collect();
        let right = own.iter().filter(|v| v.right).count();
        let believed = said.iter().filter(|v| v.mutant).count();
        let no: Vec<&Verdict> =
            wrong.iter().filter(|v| probability(&v.known, &w[1]) >= limit).collect();
        let own_no: Vec<&&Verdict> = no.iter().filter(|v| !v.mutant).collect();
        let right_no = own_no.iter().filter(|v| v.right).count();
        let slander = own_no.iter().filter(|v| v.label == Some(true)).count();
        let caught = no.iter().filter(|v| v.mutant).count();
        println!(
            "  {limit}: holds {right}/{} believed {believed}; wrong {right_no}/{} caught {caught} slander {slander}",
            own.len(),
            own_no.len()
        );
        if verbose && limit == 0.8 {
            for v in said.iter().filter(|v| !v.right) {
                println!("    not right {:.2}: {}", probability(&v.known, &w[0]), v.note);
            }
            for v in no.iter().filter(|v| !v.right) {
                println!("    not wrong {:.2}: {}", probability(&v.known, &w[1]), v.note);
            }
            for v in holds.iter().filter(|v| v.right && probability(&v.known, &w[0]) < limit) {
                println!("    not said {:.2}: {}", probability(&v.known, &w[0]), v.note);
            }
        }
    }
}

fn write(path: &str, w: &[f64], name: impl Fn(usize) -> String) {
    let mut text = String::from("[\n");
    for (i, x) in w.iter().enumerate() {
        writeln!(text, "    {x:.3}, // {}", name(i)).unwrap();
    }
    text.push_str("]\n");
    std::fs::write(path, text).unwrap();
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let verbose = std::env::var_os("VERBOSE").is_some();
    let number =
        |name: &str, or: f64| std::env::var(name).ok().and_then(|d| d.parse().ok()).unwrap_or(or);
    let (decay, decay2) = (number("DECAY", 8.0), number("DECAY2", 1.0));
    let own = texts(&args[1]);
    // Verdicts are learned from texts that the weights of readings were not learned from.
    let folds = 3;
    let fold = |c: &Case| {
        c.name.bytes().fold(7usize, |h, b| h.wrapping_mul(31).wrapping_add(usize::from(b))) % folds
    };
    let mut all: [Vec<Verdict>; 2] = [Vec::new(), Vec::new()];
    for f in 0..folds {
        let rest: Vec<&Case> = own.iter().filter(|c| fold(c) != f).collect();
        let held: Vec<&Case> = own.iter().filter(|c| fold(c) == f).collect();
        let w = readings_of(&rest, decay);
        let hard: Vec<&Case> = held.iter().copied().filter(|c| is_hard(c)).collect();
        report(&format!("fold {f}"), &load(&hard, &w, verbose), &w, verbose);
        let seen: Vec<&Case> = rest.iter().copied().filter(|c| is_hard(c)).collect();
        report("  seen", &load(&seen, &w, false), &w, false);
        let [h, n] = verdicts(&held, &w);
        all[0].extend(h);
        all[1].extend(n);
    }
    let trust = [logistic(&all[0], decay2), logistic(&all[1], decay2)];
    let every: Vec<&Case> = own.iter().collect();
    let w = readings_of(&every, decay);
    let labels =
        |c: &[Case]| c.iter().flat_map(|c| &c.labels).filter(|l| l.verdict != "none").count();
    measure("learned from", &all, &trust, labels(&own), false);
    let hard = |v: &[Verdict]| v.iter().filter(|v| v.hard).cloned().collect::<Vec<_>>();
    let count = own
        .iter()
        .filter(|c| is_hard(c))
        .flat_map(|c| &c.labels)
        .filter(|l| l.verdict != "none")
        .count();
    measure(
        "of these, the texts by other hands",
        &[hard(&all[0]), hard(&all[1])],
        &trust,
        count,
        verbose,
    );
    if let Some(other) = args.get(2) {
        let other = texts(other);
        let refs: Vec<&Case> = other.iter().collect();
        report("measured", &load(&refs, &w, verbose), &w, verbose);
        measure("measured", &verdicts(&refs, &w), &trust, labels(&other), verbose);
    }
    if let Ok(folder) = std::env::var("OUT") {
        write(&format!("{folder}/weights.in"), &w, feature);
        write(&format!("{folder}/holds.in"), &trust[0], |i| known(i).to_owned());
        write(&format!("{folder}/wrong.in"), &trust[1], |i| known(i).to_owned());
    }
}

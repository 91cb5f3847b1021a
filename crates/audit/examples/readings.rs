//! Prints the tables of a text, what it says and what each of it may be about:
//! `cargo run -p assay-audit --example readings -- FILE [WORDS [weights]]`.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a tool for developers

use assay_audit::learn::{feature, said, tables, weights};
use assay_audit::{MAX_SIZE, Source};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let whole = std::fs::read_to_string(&args[1]).unwrap();
    let text = whole.split_once("\n===\n").map_or(whole.as_str(), |(t, _)| t);
    let source = Source::read(&args[1], text.as_bytes(), MAX_SIZE).unwrap();
    if args.len() < 3 {
        println!("{}\n", tables(&source).join("\n\n"));
    }
    for s in said(&source, weights()) {
        let words = source.text[s.span.0..s.span.1].replace('\n', " ");
        if args.get(2).is_some_and(|w| !words.contains(w.as_str())) {
            continue;
        }
        println!("{words} [{}]", s.what);
        let mut order: Vec<_> = s.readings.iter().collect();
        order.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        for r in order.iter().take(if args.len() > 2 { 6 } else { 2 }) {
            println!("    {:.3} fit {} {:?} {}", r.prior, r.fit, r.inputs, r.names);
            if args.len() > 3 {
                let w = weights();
                let f: Vec<String> = r
                    .features
                    .iter()
                    .filter(|(i, v)| (w[*i] * v).abs() > 0.2)
                    .map(|(i, v)| format!("{} {v:.1}*{:.1}", feature(*i), w[*i]))
                    .collect();
                println!("        {}", f.join(", "));
            }
        }
    }
}

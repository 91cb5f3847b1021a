//! What an audit found.

use assay_audit::{Audit, Claim, ClaimKind, ClaimVerdict};
use assay_chart::text::shorten;

use super::Style;
use crate::document::{Part, Parts, Tone, terminal, text};

/// The claims of a text with one of the verdicts in `only` (all, if it is empty), each with its
/// place, verdict, words and what was recomputed; then how many there are of each verdict.
pub fn audit(name: &str, audit: &Audit, only: &[ClaimVerdict], style: Style) -> String {
    let mut all = Parts::default();
    let shown: Vec<&Claim> =
        audit.claims.iter().filter(|c| only.is_empty() || only.contains(&c.verdict)).collect();
    // What is stated without a number is counted, and shown when it is asked for.
    let wordy = |c: &Claim| c.kind == ClaimKind::Qualitative && only.is_empty();
    for claim in shown.iter().filter(|c| !wordy(c)) {
        write(&mut all, name, claim, style);
    }
    let counts: Vec<String> = ClaimVerdict::ALL
        .iter()
        .map(|v| (audit.count(*v), v.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let total = match audit.claims.len() {
        0 => "no claims".to_owned(),
        1 => "1 claim".to_owned(),
        n => format!("{n} claims"),
    };
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    all.titled(format!("{name}: {total}{counts}"));
    let words = shown.iter().filter(|c| wordy(c)).count();
    if words > 0 {
        all.note(format!("{words} stated without a number: --only unsupported shows them"));
    }
    terminal::parts(&all, style)
}

fn write(all: &mut Parts, name: &str, claim: &Claim, style: Style) {
    let paint = match claim.verdict {
        ClaimVerdict::Holds => Tone::Good,
        ClaimVerdict::Wrong => Tone::Bad,
        ClaimVerdict::Ambiguous | ClaimVerdict::OffByRounding => Tone::Warn,
        ClaimVerdict::Unsupported => Tone::Plain,
    };
    let (line, column, verdict) = (claim.line, claim.column, claim.verdict.word());
    all.toned(paint, format!("{name}:{line}:{column}: {verdict}"));
    let quote = shorten(&claim.quote, 2 * style.columns() - 8, style.ellipsis());
    all.push(Part::List(Tone::Plain, vec![text(format!("\"{quote}\""))]));
    let mut why = vec![text(claim.reason.clone())];
    let trusted = claim.verdict != ClaimVerdict::Unsupported;
    for input in claim.inputs.iter().take(2).filter(|_| trusted && claim.inputs.len() > 1) {
        let place = match (&input.quoted, input.place) {
            (Some(id), _) => format!("quoted: {id}"),
            (None, Some((line, _))) => format!("line {line}"),
            (None, None) => "not placed".into(),
        };
        why.push(text(format!("{}: {} ({place})", input.name, input.value)));
    }
    all.push(Part::List(Tone::Soft, why));
}

#[cfg(test)]
mod tests {
    use assay_audit::{Source, audit as run};

    use super::*;

    const TEXT: &str = "# Report\n\n| system | chips | ops/s |\n|---|---|---|\n\
        | Acme Z900 | 2 | 4,220 |\n| Bolt Q77 | 4 | 4,000 |\n\n\
        The Acme Z900 delivered 9% better throughput than the Bolt Q77.\n";

    #[test]
    fn claims_are_written_with_place_verdict_and_formula() {
        let text = audit("a.md", &run(&Source::of_text(TEXT), &[]), &[], Style::default());
        assert!(text.contains("a.md:8:1: wrong\n"), "{text}");
        assert!(text.contains("4220/4000 - 1 = 5.5"), "{text}");
        assert!(text.contains("a.md: 1 claim: 1 wrong\n"), "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    }

    #[test]
    fn only_what_was_asked_for_is_shown() {
        let only = [ClaimVerdict::Holds];
        let text = audit("a.md", &run(&Source::of_text(TEXT), &[]), &only, Style::default());
        assert_eq!(text, "a.md: 1 claim: 1 wrong\n");
    }
}

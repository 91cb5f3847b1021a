//! Texts that are broken, huge or made to deceive: an audit ends, and says nothing that it cannot know.
#![allow(clippy::unwrap_used)] // this is a test

use assay_audit::{Claim, ClaimVerdict, Source, audit};

const TABLE: &str = "| Tool | Time (s) |\n|---|---|\n| seek | 0.083 |\n| ferret | 0.241 |\n\n";

fn of(text: &str) -> Vec<Claim> {
    audit(&Source::of_text(text), &[]).claims
}

fn decided(claims: &[Claim]) -> Vec<&Claim> {
    claims
        .iter()
        .filter(|c| !matches!(c.verdict, ClaimVerdict::Ambiguous | ClaimVerdict::Unsupported))
        .collect()
}

#[test]
fn the_plain_claim_is_decided() {
    let claims = of(&format!("{TABLE}seek is 2.9x faster than ferret.\n"));
    assert_eq!(decided(&claims)[0].verdict, ClaimVerdict::Holds, "{claims:?}");
}

/// Letters that only look like those of the name are another name.
#[test]
fn a_homoglyph_names_nobody() {
    for claim in [
        "s\u{435}ek is 9.9x faster than ferret.",
        "seek is 9.9x faster than f\u{435}rret.",
        "s\u{435}ek takes 0.5 s.",
        "\u{455}eek is the slowest.",
    ] {
        let claims = of(&format!("{TABLE}{claim}\n"));
        assert!(decided(&claims).is_empty(), "{claim}: {claims:?}");
    }
}

/// Digits of another script are no numbers that could be decided on.
#[test]
fn digits_of_other_scripts_are_not_guessed() {
    for claim in ["seek is \u{ff19}x faster than ferret.", "seek is \u{669}x faster than ferret."] {
        let claims = of(&format!("{TABLE}{claim}\n"));
        assert!(decided(&claims).iter().all(|c| c.claimed.is_none()), "{claim}: {claims:?}");
    }
}

#[test]
fn text_from_right_to_left_keeps_its_places() {
    let text =
        format!("{TABLE}\u{202b}הכלי seek מהיר \u{202c}פי 2.9. seek is 2.9x faster than ferret.\n");
    let claims = of(&text);
    for claim in &claims {
        assert!(text.get(claim.span.start..claim.span.end).is_some());
    }
    let held = decided(&claims);
    assert!(
        held.iter().any(|c| c.quote.contains("2.9x") && c.verdict == ClaimVerdict::Holds),
        "{claims:?}"
    );
    // An override that turns the order of what is shown around is no part of a name.
    let turned = of(&format!("{TABLE}\u{202e}kees\u{202c} is 9.9x faster than ferret.\n"));
    assert!(decided(&turned).is_empty(), "{turned:?}");
}

#[test]
fn a_table_of_ten_thousand_rows_ends() {
    use std::fmt::Write as _;
    let mut text = String::from("| Item | Time (ms) | Rate (req/s) |\n|---|---|---|\n");
    for i in 0..10_000 {
        writeln!(text, "| item{i} | {}.5 | {} |", i % 97 + 1, 10_000 - i).unwrap();
    }
    text.push_str(
        "\nitem17 is 3 times faster than item4000. item5 takes 6.5 ms. item9 is the fastest.\n",
    );
    // Who is meant among so many is not looked up: nothing is wrong.
    assert!(of(&text).iter().all(|c| c.verdict != ClaimVerdict::Wrong));
}

#[test]
fn html_that_is_not_closed_is_read_as_far_as_it_goes() {
    for page in [
        "<table><tr><th>Tool<th>Time (s)<tr><td>seek<td>0.083<tr><td>ferret<td>0.241</table><p>seek is 9.9x faster than ferret.",
        "<table><tr><td>seek<td>0.083<tr><td>ferret<td>0.2",
        "<p>seek is <b>2.9x faster than ferret.<table><tr><td>seek",
        "<!-- <table><tr><td>seek</td>",
        "<pre>BenchmarkSeek-8 100 83.0 ns/op\nBenchmarkFerret-8 100 241 ns/op",
    ] {
        let source = Source::of_html(page);
        for claim in audit(&source, &[]).claims {
            assert!(source.text.get(claim.span.start..claim.span.end).is_some(), "{page}");
        }
    }
}

/// The runs of an archive are not asked: what a text says of them is no evidence.
#[test]
fn a_run_of_another_archive_is_no_evidence() {
    let claims = of("Run 01JD3V6X2K7Q9 of the archive at example.org took 0.083 s.\n\n\
         {{ mean(\"run:01JD3V6X2K7Q9:time\") }} is 2.9x faster than run 01JD3V6X2K7QA.\n");
    assert!(decided(&claims).is_empty(), "{claims:?}");
}

/// Numbers of another table, of issues and versions are no evidence.
#[test]
fn numbers_of_something_else_are_no_evidence() {
    let text = "# Release 2.9\n\n| Issue | Fixed in |\n|---|---|\n| 241 | 2.9 |\n| 83 | 3.0 |\n\n\
                The parser is 2.9x faster than before (see #241 and #83).\n\nMemory went down by 60%.\n";
    assert!(decided(&of(text)).is_empty(), "{:?}", of(text));
}

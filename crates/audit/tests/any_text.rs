//! Whatever text it is given, an audit ends, with places inside the text.
#![allow(clippy::unwrap_used)] // this is a test

use assay_audit::{MAX_SIZE, Source, audit};
use proptest::prelude::*;

/// Pieces that texts are made of, so that the parts of an audit are reached.
const PIECES: &[&str] = &[
    "5% better than",
    "2.3x",
    "the Avocet Z5440",
    "Orca Power 570",
    " ",
    "\n",
    "\n\n",
    "| a | 12 |",
    "|---|---|",
    "\t",
    "•",
    "- ",
    "ü",
    "１２",
    "½",
    "世界",
    "\u{202e}",
    "3.5 GB/s = 28 Gbit/s",
    "(64KB)",
    "65536",
    "half of",
    "between",
    "and",
    "from 30 to 15 minutes",
    "1,2,3",
    "1.2.3",
    ".5",
    "...",
    "9e99",
    "9e308 x 9e308 = 0",
    "4 x 8 = 32",
    "as of 8/25/2009",
    "best",
    "beats",
    "4096 |@@@ 12",
    "a: 1, b: 2",
    "Disclosure Statement",
    "registered trademark",
    "<td>",
    "<table>",
    "</table>",
    "&amp;",
    "&#x",
    "<!--",
    "```",
    "0/0",
    "0%",
    "average",
    "bops/JVM",
    "System Chips Cores GHz bops",
    "Z5440 4 32 1.6 841380",
    "-",
    "~",
    "(",
    ")",
    ";",
    "per watt",
    "1 to 0",
    "\r\n",
    "Benchmark 1: ./old list\n  Time (mean ± σ): 148.3 ms ± 2.1 ms\n",
    "BenchmarkSwiss-8 41772034 28.61 ns/op 0 B/op\n",
    "parse/nom time: [12.401 µs 12.455 µs 12.513 µs]\n",
    "│ old.txt │ new.txt │\n│ sec/op │ sec/op vs base │\nMarshal-8 1.8µ ± 1% 1.3µ ± 2% -24% (p=0.000)\n",
    "Name (time in us) Min Mean OPS (Kops/s)\n",
    "Running 30s test @ http://x/\n Latency 9.12ms 2.01ms 48.10ms\nRequests/sec: 14004.33\n",
    "- Quill: 420 ms\n",
    "– 1.31 s",
    "| Tool | Time (s) |\n|---|---|\n| seek | 0.083 (1.00x) |\n| ferret | 0.241s (2.90x) |\n",
    "seek is 2.9x faster than ferret",
    "It takes 1.2 s instead of 3.0 s",
    "two orders of magnitude slower",
    "wins in 4 of 5",
    "3 regressions:",
    "up to",
    "if",
    "μs",
    "± ",
    "×",
];

proptest! {
    #[test]
    fn pieces_in_any_order(parts in prop::collection::vec(prop::sample::select(PIECES), 0..120), html in any::<bool>()) {
        check(&parts.concat(), html);
        check(&parts.join(" "), html);
    }

    #[test]
    fn any_text(text in any::<String>(), html in any::<bool>()) {
        check(&text, html);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(source) = Source::read("x", &bytes, MAX_SIZE) {
            audit(&source, &[]);
        }
    }
}

fn check(text: &str, html: bool) {
    let source = if html { Source::of_html(text) } else { Source::of_text(text) };
    for claim in audit(&source, &[]).claims {
        assert!(claim.line >= 1 && claim.column >= 1);
        assert!(claim.line <= text.matches('\n').count() + 1);
        assert!(source.text.get(claim.span.start..claim.span.end).is_some(), "{claim:?}");
        assert!(claim.computed.is_none_or(f64::is_finite));
    }
}

/// Texts of one shape over and over, twice as long, are no more than a few times as much work:
/// counted in claims, not in time.
#[test]
fn long_texts_end() {
    let table = "Z5440 4 32 1.6 841380\n".repeat(3000);
    let prose = "The Avocet Z5440 is 5% faster than the Orca Power 570. It moves 3.5 GB/s = 28 Gbit/s as of 8/25/2009.\n".repeat(3000);
    let text = format!("System Chips Cores GHz bops\n{table}\n{prose}");
    assert!(audit(&Source::of_text(text), &[]).claims.len() > 6000);
    for odd in
        ["<", "|", "(", "5% ", "1,", "a\n", "* ", "# ", "&", "<td>", "<!-", "\"", "1 x ", "vs "]
    {
        check(&odd.repeat(20_000), odd.contains('<'));
    }
}

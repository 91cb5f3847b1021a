//! The parts of a page that a reader opens, for tests that search it.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

const CHARTS: &str = "<template class=\"charts\">";
const BLOCK: &str = "<template class=\"block\">";
const FILE: &str = "<template class=\"file\">";
const END: &str = "</template>";
const PLACE: &str = "<div class=\"drawn\" data-chart=\"";

/// Returns the page with everything unpacked, as it is when a reader has opened every part. A
/// part that cannot be unpacked is left as it is.
pub fn unpacked(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((at, mark)) =
        [CHARTS, BLOCK, FILE].into_iter().filter_map(|m| Some((rest.find(m)?, m))).min()
    {
        let inside = &rest[at + mark.len()..];
        let Some(end) = inside.find(END) else { break };
        out.push_str(&rest[..at]);
        let text = unpack(&inside[..end]).unwrap_or_else(|| inside[..end].to_owned());
        if mark == CHARTS {
            put_back(&mut out, &text);
        } else {
            out.push_str(&text);
        }
        rest = &inside[end + END.len()..];
    }
    out + rest
}

/// Puts charts back into their places: each into the last place with its number.
fn put_back(out: &mut String, charts: &str) {
    let mut all = Vec::new();
    let mut rest = charts;
    while let Some((_, chart, after)) = first_chart(rest) {
        all.push(chart);
        rest = after;
    }
    for (n, chart) in all.iter().enumerate().rev() {
        let place = format!("{PLACE}{n}\"></div>");
        if let Some(at) = out.rfind(&place) {
            out.replace_range(at..at + place.len(), chart);
        }
    }
}

fn unpack(text: &str) -> Option<String> {
    let bytes = STANDARD.decode(text.trim()).ok()?;
    let mut out = String::new();
    GzDecoder::new(bytes.as_slice()).read_to_string(&mut out).ok()?;
    Some(out)
}

/// Splits the text into the part before the first chart, the chart, and the part after it. An SVG
/// may contain other SVGs.
fn first_chart(text: &str) -> Option<(&str, &str, &str)> {
    let from = text.find("<svg ")?;
    let (mut at, mut open) = (from, 0_usize);
    loop {
        let end = at + text[at..].find("</svg>")?;
        open += text[at..end].matches("<svg ").count();
        open -= 1;
        at = end + "</svg>".len();
        if open == 0 {
            return Some((&text[..from], &text[from..at], &text[at..]));
        }
    }
}

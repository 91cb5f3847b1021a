//! Content that a page keeps compressed until a reader opens it: the charts of its tabs, the rows
//! of long tables, and its files. Each is gzip in base64 inside a `<template>`, which the page's
//! script unpacks.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, PreEscaped, html};

const CHARTS: &str = "<template class=\"charts\">";
const BLOCK: &str = "<template class=\"block\">";
const FILE: &str = "<template class=\"file\">";
const END: &str = "</template>";
const PLACE: &str = "<div class=\"drawn\" data-chart=\"";

/// Moves the charts of the markup into one template at its end. Each chart leaves an empty place
/// behind, and a note tells a reader without the script where the numbers are.
pub(crate) fn charts_apart(markup: &Markup) -> Markup {
    let (mut out, mut charts, mut n) = (String::new(), String::new(), 0);
    let mut rest = markup.0.as_str();
    while let Some((before, chart, after)) = first_chart(rest) {
        out.push_str(before);
        let _ = write!(out, "{PLACE}{n}\"></div>");
        charts.push_str(chart);
        n += 1;
        rest = after;
    }
    out.push_str(rest);
    if n == 0 {
        return markup.clone();
    }
    let missing =
        "The charts here need the script of this page; their numbers are in the tables and files.";
    html! {
        noscript { p.soft { (missing) } }
        (PreEscaped(out))
        (PreEscaped(CHARTS)) (pack(&charts)) (PreEscaped(END))
    }
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

/// Renders packed rows of a table, which the script adds after the rows of the page. `holds` is the
/// common beginning of their ids, by which a link to one of them finds it.
pub(crate) fn rows(rows: &Markup, holds: &str, words: &str, columns: usize) -> Markup {
    html! {
        tr.packed data-holds=(holds) {
            td colspan=(columns) { (words) (PreEscaped(BLOCK)) (pack(&rows.0)) (PreEscaped(END)) }
        }
    }
}

/// Renders a file inside the page, which the script turns into a download button, as an item of a
/// list.
pub(crate) fn file(text: &str, name: &str, label: &str) -> Markup {
    html! {
        li { span.file data-name=(name) data-label=(label) { (label) ": " code { (name) }
            (PreEscaped(FILE)) (pack(text)) (PreEscaped(END)) } }
    }
}

fn pack(text: &str) -> String {
    // Somebody waits for the page: it is made with the fastest level, although that of 200 trials
    // is a fortieth larger than at level 5.
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let bytes = gz.write_all(text.as_bytes()).and_then(|()| gz.finish()).unwrap_or_default();
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use assay_testing::unpacked;

    use super::*;

    #[test]
    fn what_is_packed_is_not_in_the_page_and_comes_back() {
        let flame = "<svg class=\"flame\"><svg x=\"1\"></svg><svg x=\"2\"></svg></svg>";
        let page = format!("<p>a</p><svg class=\"chart\">one</svg><p>b</p>{flame}<p>c</p>");
        let packed = charts_apart(&PreEscaped(page)).into_string();
        assert!(!packed.contains("<svg"), "{packed}");
        assert!(packed.contains("data-chart=\"0\"") && packed.contains("data-chart=\"1\""));
        let two = packed.clone() + &packed;
        let back = unpacked(&two);
        assert_eq!(back.matches("one</svg><p>b</p>").count(), 2, "{back}");
        assert_eq!(back.matches(&format!("{flame}<p>c</p>")).count(), 2, "{back}");
        let plain = PreEscaped("<p>no chart</p>".to_owned());
        assert_eq!(charts_apart(&plain).0, plain.0);
    }

    #[test]
    fn a_broken_template_stays_as_it_is() {
        for bad in ["<template class=\"file\">no", "<template class=\"block\">%%%</template>"] {
            let out = unpacked(bad);
            assert!(out.contains("no") || out.contains("%%%"), "{out}");
        }
    }
}

//! What tests of labelled texts share.

use assay_audit::Span;

/// Where words stand, whatever white space is in them.
pub fn locate(text: &str, quote: &str) -> Option<Span> {
    let wanted: Vec<char> = quote.chars().filter(|c| !c.is_whitespace()).collect();
    let have: Vec<(usize, char)> =
        text.char_indices().filter(|(_, c)| !c.is_whitespace()).collect();
    let at = have
        .windows(wanted.len().max(1))
        .position(|w| w.iter().map(|(_, c)| c).eq(wanted.iter()))?;
    let (end, last) = have[at + wanted.len() - 1];
    Some(Span { start: have[at].0, end: end + last.len_utf8() })
}

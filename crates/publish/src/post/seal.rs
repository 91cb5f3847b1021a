//! The mark of certification. Only statements carry it: a template that contains the glyph, or one
//! that looks like it, is rejected, and data that contain it are shown without it.

use super::error::{Result, TemplateText};
use super::front::FrontMatter;
use super::read::is_reserved;

/// Text of the mark of certification.
pub(super) const SEAL: &str = "✓ certified";

/// Glyphs that read like that of the mark.
pub(super) const GLYPHS: [char; 11] = ['✓', '✔', '✅', '☑', '🗸', '🗹', '√', '⍻', '𐄂', '⎷', '🮱'];

/// Names that a renderer of Markdown turns into such a glyph.
const NAMES: [&str; 4] = ["check_mark:", "with_check:", "\\checkmark", "\\surd"];

/// Returns the bytes of the first glyph or name in a text.
fn find(text: &str) -> Option<std::ops::Range<usize>> {
    let glyph =
        text.find(GLYPHS).map(|at| at..at + text[at..].chars().next().map_or(0, char::len_utf8));
    let name = || NAMES.iter().find_map(|name| text.find(name).map(|at| at..at + name.len()));
    glyph.or_else(name)
}

fn message(found: &str) -> String {
    format!("the template contains `{found}`; only statements carry the mark of certification")
}

const HELP: &str = "take it out, or state the claim: `{{ statement(better(\"a\", than=\"b\")) }}`";

/// Rejects a template that contains the mark, or the characters that places are made of, as written
/// or by the escapes of its front matter.
pub(super) fn template(text: TemplateText<'_>, front: &FrontMatter) -> Result<()> {
    let mut places = text.text.match_indices(is_reserved).map(|(at, c)| at..at + c.len());
    if let Some(span) = find(text.text).or_else(|| places.next()) {
        return Err(text.error(span.clone(), message(&text.text[span]), HELP));
    }
    let words = [
        Some(&front.title),
        Some(&front.summary),
        front.landscape.as_ref(),
        front.licensee.as_ref(),
    ];
    let lists = front.tags.iter().chain(&front.sources).chain(&front.trademarks);
    let runs = front.runs.iter().flat_map(|(name, run)| [name, &run.run, &run.experiment]);
    for word in words.into_iter().flatten().chain(lists).chain(runs) {
        if find(word).is_some() || word.contains(is_reserved) {
            return Err(text.error(0..3, format!("the front matter: {}", message(word)), HELP));
        }
    }
    Ok(())
}

/// Rejects rendered text, in which entities are decoded, for the same reasons as [`template`].
/// `source` returns the byte of the text in the template.
pub(super) fn rendered(
    text: TemplateText<'_>,
    shown: &str,
    written: &str,
    source: impl FnOnce() -> usize,
) -> Result<()> {
    let reserved = || shown.find(is_reserved).filter(|_| !written.contains(is_reserved));
    if find(shown).is_none() && reserved().is_none() {
        return Ok(());
    }
    let at = source();
    Err(text.error(at..at + 1, message(written), HELP))
}

/// Returns a text of the data without the glyphs.
pub(super) fn strip_glyphs(text: String) -> String {
    if text.contains(GLYPHS) { text.replace(GLYPHS, "\u{FFFD}") } else { text }
}

/// Returns Markdown without the glyphs and without the names, which its renderers know too.
pub(super) fn without_names(text: String) -> String {
    NAMES.iter().fold(strip_glyphs(text), |text, name| {
        if text.contains(name) { text.replace(name, "check\u{FFFD}") } else { text }
    })
}

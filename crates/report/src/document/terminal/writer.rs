//! Lines of text for a terminal: cleaned, coloured and wrapped.

use std::fmt::Write as _;

use assay_chart::axes::text::{columns, shorten};

use crate::document::Tone;
use crate::terminal::{Glyphs, Style};

/// Escape codes of the tones, written as `ESC [ code m`.
const CODES: [&str; 5] = ["1", "2", "32", "31", "33"];

/// Returns the text between the escape codes of its tone ([`CODES`]), or unchanged if the style has
/// no colour.
pub(super) fn paint(tone: Tone, text: &str, style: Style) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Strong => CODES[0],
        Tone::Soft => CODES[1],
        Tone::Good => CODES[2],
        Tone::Bad => CODES[3],
        Tone::Warn => CODES[4],
    };
    if style.colour && !text.is_empty() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

/// Makes foreign text safe for a terminal: control characters, and marks that change the direction
/// of writing, become U+FFFD. Newlines and tabs are kept.
pub fn printable(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(|c| if steers(c) { '\u{FFFD}' } else { c }).collect()
}

/// Makes text that assay coloured safe for a terminal: as [`printable`], but assay's own colour
/// codes are kept.
pub fn painted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&printable(&rest[..at]));
        let codes = CODES.iter().copied().chain(["0"]);
        let code =
            codes.map(|c| format!("\u{1b}[{c}m")).find(|c| rest[at..].starts_with(c.as_str()));
        let code = code.unwrap_or_default();
        out.push_str(if code.is_empty() { "\u{FFFD}" } else { &code });
        rest = &rest[at + code.len().max(1)..];
    }
    out.push_str(&printable(rest));
    out
}

/// Makes JSON safe for a terminal: control characters and direction marks are written as `\u` and
/// their number.
pub fn printable_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

fn steers(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text on one line, made safe with [`printable`].
pub(super) fn clean(text: &str) -> String {
    printable(&text.replace(['\n', '\t', '\r'], " "))
}

/// Collects the lines of an output.
pub(crate) struct Writer {
    out: String,
    style: Style,
}

impl Writer {
    pub(crate) fn new(style: Style) -> Self {
        Writer { out: String::new(), style }
    }

    /// Writes one line, shortened to the width.
    pub(crate) fn line(&mut self, text: &str, tone: Tone) {
        let text = clean(&self.glyphs(text));
        let text = shorten(&text, self.style.columns(), self.style.ellipsis());
        self.out.push_str(&paint(tone, &text, self.style));
        self.out.push('\n');
    }

    /// Writes text wrapped to the width; lines after the first are indented by two more columns.
    pub(crate) fn wrapped(&mut self, indent: usize, text: &str, tone: Tone) {
        let width = self.style.columns();
        // Half of the width is left for words, however deep the indent.
        let further = (indent + 2).min(width / 2);
        let mut lead = " ".repeat(indent.min(width / 2));
        let mut line = String::new();
        for word in clean(&self.glyphs(text)).split_whitespace() {
            if !line.is_empty() && columns(&lead) + columns(&line) + 1 + columns(word) > width {
                self.push_line(&lead, &line, tone);
                lead = " ".repeat(further);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&shorten(word, width - columns(&lead), self.style.ellipsis()));
        }
        if !line.is_empty() {
            self.push_line(&lead, &line, tone);
        }
    }

    /// Writes `  name   value` rows with the names aligned. A value that does not fit is wrapped on
    /// the lines below its name.
    pub(crate) fn pairs(&mut self, pairs: &[(String, String)]) {
        let pairs: Vec<(String, &String)> =
            pairs.iter().map(|(label, value)| (self.glyphs(label), value)).collect();
        let name = pairs.iter().map(|p| columns(&p.0)).max().unwrap_or(0);
        let width = self.style.columns();
        for (label, value) in pairs {
            let value = clean(&self.glyphs(value));
            if name + 4 + columns(&value) <= width {
                let pad = " ".repeat(name - columns(&label));
                self.out.push_str(format!("  {label}{pad}  {value}").trim_end());
                self.out.push('\n');
            } else {
                self.line(&format!("  {label}"), Tone::Plain);
                self.wrapped(4, &value, Tone::Plain);
            }
        }
    }

    /// Writes text that was laid out already.
    pub(crate) fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    fn push_line(&mut self, lead: &str, line: &str, tone: Tone) {
        self.out.push_str(lead);
        self.out.push_str(&paint(tone, line, self.style));
        self.out.push('\n');
    }

    /// Spells assay's own special characters in ASCII, unless the style allows Unicode.
    fn glyphs(&self, text: &str) -> String {
        if self.style.glyphs == Glyphs::Unicode { text.to_owned() } else { ascii(text) }
    }
}

/// Spells in ASCII the special characters that assay itself writes.
pub(super) fn ascii(text: &str) -> String {
    text.replace('…', "...")
        .replace('±', "+-")
        .replace('×', "x")
        .replace('µ', "u")
        .replace('σ', "sd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_steers_a_terminal() {
        let hostile = "a\u{1b}]0;title\u{7}b\u{9b}2Jc\rd\u{8}e\u{202e}f\u{1b}[31mg\n\th\r\n";
        let fffd = '\u{FFFD}';
        let plain =
            format!("a{fffd}]0;title{fffd}b{fffd}2Jc{fffd}d{fffd}e{fffd}f{fffd}[31mg\n\th\n");
        assert_eq!(printable(hostile), plain);
        let style = Style { colour: true, ..Style::default() };
        let ours = paint(Tone::Bad, "x", style);
        assert_eq!(painted(&ours), ours);
        assert_eq!(
            painted("\u{1b}[8mhidden\u{1b}\u{1b}[1m"),
            format!("{fffd}[8mhidden{fffd}\u{1b}[1m")
        );
        let json = serde_json::to_string(&hostile).unwrap();
        let shown = printable_json(&json);
        assert_eq!(printable(&shown), shown);
        assert_eq!(
            serde_json::from_str::<String>(&shown).unwrap(),
            hostile,
            "JSON keeps what it says"
        );
    }
}

//! Text as a reader takes it: compatibility forms, digits of every script, letters that look like others, and
//! characters that nobody sees. What remains is compared; offsets lead back to the text.

use unicode_normalization::UnicodeNormalization as _;

/// A character as it is read, and the bytes of the text that it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Read {
    pub(super) char: char,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The text, character by character, in lower case.
pub(super) fn fold(text: &str) -> Vec<Read> {
    let mut out = Vec::with_capacity(text.len());
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        if unseen(c) {
            continue;
        }
        if c.is_ascii() {
            out.push(Read { char: c.to_ascii_lowercase(), start, end });
            continue;
        }
        let forms = std::iter::once(c).nfkc().flat_map(char::to_lowercase);
        out.extend(forms.filter(|c| !unseen(*c)).map(|c| Read { char: plain(c), start, end }));
    }
    out
}

/// Zero-width characters, marks that turn the direction, accents that stand over others.
fn unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// One character for those that look or mean the same.
fn plain(c: char) -> char {
    const LOOK: &[(char, char)] = &[
        ('а', 'a'),
        ('в', 'b'),
        ('с', 'c'),
        ('ԁ', 'd'),
        ('е', 'e'),
        ('һ', 'h'),
        ('і', 'i'),
        ('ј', 'j'),
        ('к', 'k'),
        ('м', 'm'),
        ('ո', 'n'),
        ('о', 'o'),
        ('р', 'p'),
        ('ѕ', 's'),
        ('т', 't'),
        ('у', 'y'),
        ('х', 'x'),
        ('ԝ', 'w'),
        ('ѵ', 'v'),
        ('α', 'a'),
        ('ε', 'e'),
        ('ι', 'i'),
        ('κ', 'k'),
        ('ν', 'v'),
        ('ο', 'o'),
        ('ρ', 'p'),
        ('τ', 't'),
        ('υ', 'u'),
        ('χ', 'x'),
        ('ı', 'i'),
        ('ɑ', 'a'),
        ('ɡ', 'g'),
        ('⁄', '/'),
        ('∕', '/'),
        ('−', '-'),
        ('‐', '-'),
        ('‑', '-'),
        ('‒', '-'),
        ('–', '-'),
        ('﹣', '-'),
        ('٪', '%'),
        ('‰', '%'),
        ('‱', '%'),
        ('’', '\''),
        ('ʼ', '\''),
        ('٫', '.'),
        ('٬', ','),
        ('·', '.'),
        ('×', 'x'),
        ('✕', 'x'),
        ('✖', 'x'),
        ('⨯', 'x'),
    ];
    // A digit of any script is one here: which it is does not matter.
    if c.is_ascii() {
        return c;
    }
    if c.is_numeric() || "〇一二三四五六七八九十百千万萬億兆半倍両零".contains(c)
    {
        return '1';
    }
    LOOK.iter().find(|(own, _)| *own == c).map_or(c, |(_, plain)| *plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        fold(text).into_iter().map(|r| r.char).collect()
    }

    #[test]
    fn what_looks_like_a_number_is_one() {
        assert_eq!(folded("５０%"), "50%");
        assert_eq!(folded("⁵⁰％"), "50%");
        assert_eq!(folded("½"), "1/2");
        assert_eq!(folded("٣٤٪"), "11%");
        assert_eq!(folded("te\u{200b}nf\u{ad}old"), "tenfold");
        assert_eq!(folded("dоublе"), "double", "Cyrillic о and е");
        assert_eq!(folded("𝐝𝐨𝐮𝐛𝐥𝐞 𝟓𝟎"), "double 50");
        assert_eq!(folded("d\u{336}ouble"), "double");
    }

    #[test]
    fn offsets_lead_back() {
        let text = "ab ５\u{200b}０% c";
        let read = fold(text);
        let first = read.iter().find(|r| r.char == '5').unwrap();
        let last = read.iter().find(|r| r.char == '%').unwrap();
        assert_eq!(&text[first.start..last.end], "５\u{200b}０%");
    }
}

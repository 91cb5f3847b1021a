//! Converts text to the form that a reader sees: with compatibility forms, digits of every script
//! and look-alike letters replaced, and without invisible characters. Offsets lead back to the
//! text.

use unicode_normalization::UnicodeNormalization as _;

/// A character as it is read, and its bytes in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoldedChar {
    pub(super) char: char,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns the folded text, character by character, in lower case.
pub(super) fn fold(text: &str) -> Vec<FoldedChar> {
    let mut out = Vec::with_capacity(text.len());
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        if unseen(c) {
            continue;
        }
        if c.is_ascii() {
            out.push(FoldedChar { char: c.to_ascii_lowercase(), start, end });
            continue;
        }
        let mut forms: Vec<char> = std::iter::once(c)
            .nfkc()
            .flat_map(char::to_lowercase)
            .filter(|c| !unseen(*c))
            .map(plain)
            .collect();
        // A Roman numeral, a die or a keycap is a number whose compatibility form has no digit.
        if is_number(c) && !forms.iter().any(char::is_ascii_digit) {
            forms = vec!['1'];
        }
        out.extend(forms.into_iter().map(|char| FoldedChar { char, start, end }));
    }
    out
}

/// Returns true for a number of any script that is one character.
fn is_number(c: char) -> bool {
    c.is_numeric()
        || matches!(c, '\u{2680}'..='\u{2685}' | '\u{a8e0}'..='\u{a8e9}' | '\u{1f51f}' | '💯')
        || "〇零一二三四五六七八九十百千万萬亿億兆半倍両两壹贰叁肆伍陆柒捌玖拾佰仟".contains(c)
}

/// Returns true for zero-width characters, marks that change the direction, and combining marks.
pub(in crate::post) fn unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns one character for all that look or mean the same.
fn plain(c: char) -> char {
    match c {
        _ if c.is_ascii() => c,
        // Every digit of another script becomes 1: it only matters that it is a digit.
        _ if is_number(c) => '1',
        'а' | 'α' | 'ɑ' => 'a',
        'в' => 'b',
        'с' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'ո' => 'n',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'у' => 'y',
        'х' | 'χ' | '×' | '✕' | '✖' | '⨯' => 'x',
        'ԝ' => 'w',
        'ѵ' | 'ν' => 'v',
        'υ' => 'u',
        'ɡ' => 'g',
        '⁄' | '∕' => '/',
        '−' | '‐' | '‑' | '‒' | '–' | '﹣' => '-',
        '٪' | '‰' | '‱' => '%',
        '’' | 'ʼ' => '\'',
        '٫' | '·' => '.',
        '٬' => ',',
        _ => c,
    }
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
        assert_eq!(folded("Ⅻ ⚄ 🔟 5\u{fe0f}\u{20e3} 五"), "1 1 1 5 1");
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

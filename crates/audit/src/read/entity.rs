//! Character entities of HTML.

/// The entity at the start of `text` (which starts with `&`): its length and what it stands for.
pub(crate) fn entity(text: &str) -> (usize, char) {
    let bare = (1, '&');
    let Some(end) = text.bytes().take(12).position(|b| b == b';') else { return bare };
    let name = &text[1..end];
    let character = if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        };
        code.and_then(char::from_u32).filter(|c| !c.is_control() || *c == '\n')
    } else {
        NAMED.iter().find(|(n, _)| *n == name).map(|(_, c)| *c)
    };
    character.map_or(bare, |c| (end + 1, c))
}

const NAMED: [(&str, char); 28] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("times", '×'),
    ("micro", 'µ'),
    ("reg", '®'),
    ("trade", '™'),
    ("copy", '©'),
    ("bull", '•'),
    ("middot", '·'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("deg", '°'),
    ("plusmn", '±'),
    ("frac12", '½'),
    ("sup2", '²'),
    ("asymp", '≈'),
    ("le", '≤'),
    ("ge", '≥'),
    ("euro", '€'),
];

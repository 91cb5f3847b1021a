//! HTML as tags and the text between them.

pub(crate) enum Piece<'a> {
    Text { at: usize, text: &'a str },
    Tag { name: String, closing: bool, attributes: &'a str },
}

/// Splits HTML into tags and the text between them; comments and declarations are dropped.
pub(crate) fn pieces(html: &str) -> Vec<Piece<'_>> {
    let bytes = html.as_bytes();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let open = find(bytes, at, b'<').unwrap_or(bytes.len());
        if open > at {
            pieces.push(Piece::Text { at, text: &html[at..open] });
        }
        if open == bytes.len() {
            break;
        }
        let rest = &html[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            at = comment.find("-->").map_or(bytes.len(), |end| open + 4 + end + 3);
        } else if rest.as_bytes().get(1).is_some_and(|b| matches!(b, b'!' | b'?')) {
            at = find(bytes, open, b'>').map_or(bytes.len(), |end| end + 1);
        } else if rest.as_bytes().get(1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/') {
            let end = tag_end(bytes, open + 1);
            let inner = &html[open + 1..end];
            let closing = inner.starts_with('/');
            let inner = inner.trim_start_matches('/');
            let name_end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
            let name = inner[..name_end].to_ascii_lowercase();
            at = (end + 1).min(bytes.len());
            let raw = !closing && matches!(name.as_str(), "script" | "style");
            pieces.push(Piece::Tag { name: name.clone(), closing, attributes: &inner[name_end..] });
            if raw {
                at = raw_end(html, at, &name);
            }
        } else {
            pieces.push(Piece::Text { at: open, text: &html[open..=open] });
            at = open + 1;
        }
    }
    pieces
}

fn find(bytes: &[u8], from: usize, what: u8) -> Option<usize> {
    bytes[from..].iter().position(|b| *b == what).map(|at| from + at)
}

/// Where a tag ends (its `>`), minding quotes; a quote that is never closed does not count.
fn tag_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'>' => return at,
            quote @ (b'"' | b'\'') => {
                let limit = bytes.len().min(at + 8192);
                match bytes[at + 1..limit].iter().position(|b| *b == quote) {
                    Some(end) => at += end + 2,
                    None => at += 1,
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Where the content of a script or style ends.
fn raw_end(html: &str, from: usize, name: &str) -> usize {
    let bytes = html.as_bytes();
    let mut at = from;
    while let Some(open) = find(bytes, at, b'<') {
        let rest = &bytes[open + 1..];
        if rest.first() == Some(&b'/')
            && rest.get(1..=name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name.as_bytes()))
        {
            return open;
        }
        at = open + 1;
    }
    bytes.len()
}

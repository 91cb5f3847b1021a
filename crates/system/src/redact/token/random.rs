//! Detects words that look random.

use super::rules::{RULES, has};

/// True if a word, or a part of it between separators, looks random. `before` is the text before
/// it.
pub(crate) fn is_random(word: &str, before: &str) -> bool {
    if is_rooted(word) || has_extension(word) || is_digest(word, before) {
        return false;
    }
    // A secret of 40 Base64 characters may contain the separator of paths.
    let base64 = |w: &str| w.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(&b));
    if word.len() == 40 && base64(word) && !word.starts_with('/') && chance(word, 40) {
        return true;
    }
    word.split(['/', '.', '-', '_', '+']).any(|part| part.len() >= 18 && chance(part, part.len()))
}

/// True for a path: `./x`, `~/x`, or below a folder that systems have in their root.
pub(crate) fn is_rooted(word: &str) -> bool {
    let path = word.trim_start_matches(['.', '~']);
    path.strip_prefix('/').is_some_and(|rest| {
        path.len() < word.len()
            || rest.split_once('/').is_some_and(|(first, _)| has(&RULES.root, first))
    })
}

/// True for a file name, by its extension.
pub(crate) fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, end)| !name.is_empty() && has(&RULES.extension, end))
}

/// True for a digest after its name: `sha256-...`, `SHA256:...`.
fn is_digest(word: &str, before: &str) -> bool {
    let named = |name: &str| {
        let tail = before.len().checked_sub(name.len() + 1).and_then(|at| before.get(at..));
        tail.and_then(|t| t.strip_suffix(':')).is_some_and(|t| t.eq_ignore_ascii_case(name))
    };
    word.split_once('-').is_some_and(|(name, _)| has(&RULES.digest, name))
        || RULES.digest.iter().any(|name| named(name))
}

fn chance(part: &str, len: usize) -> bool {
    let number = part.strip_prefix("0x").map(|n| n.trim_end_matches(['u', 'U', 'l', 'L']));
    if number.unwrap_or(part).bytes().all(|b| b.is_ascii_hexdigit()) {
        return false;
    }
    let count = |f: fn(&u8) -> bool| part.as_bytes().iter().filter(|b| f(b)).count();
    let lower = count(u8::is_ascii_lowercase);
    let upper = count(u8::is_ascii_uppercase);
    let digits = count(u8::is_ascii_digit);
    let class = |b: u8| match b {
        b'a'..=b'z' => 0u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let turns = part.as_bytes().windows(2).filter(|w| class(w[0]) != class(w[1])).count();
    let share = turns as f64 / (len - 1) as f64;
    let kinds = [lower, upper, digits].iter().filter(|n| **n > 0).count();
    match kinds {
        // In names made of words, the character class changes at most twice in five letters.
        3 => share >= 0.4 && entropy(part) >= 3.3,
        2 if digits == 0 => len >= 24 && share >= 0.4 && lower > len / 4 && upper > len / 4,
        2 => len >= 20 && digits >= 3 && share >= 0.24 && turns >= 5 && entropy(part) >= 3.3,
        _ => false,
    }
}

/// Returns Shannon's entropy in bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for b in text.bytes() {
        counts[usize::from(b)] += 1;
    }
    let n = text.len() as f64;
    counts
        .iter()
        .filter(|c| **c > 0)
        .map(|c| {
            let p = f64::from(*c) / n;
            -p * p.log2()
        })
        .sum()
}

//! Processors by their designations ("Xeon X5570"): what a phrase says, what a row says, and
//! whether the two are of one processor.

use std::collections::BTreeSet;

use crate::detect::mention::form;
use crate::read::token::Token;

/// Words before a designation.
const MAKES: [&str; 14] = [
    "xeon",
    "opteron",
    "intel",
    "amd",
    "itanium",
    "epyc",
    "ryzen",
    "ultrasparc",
    "sparc64",
    "qc",
    "processor",
    "chip",
    "quad",
    "series",
];

/// The designations of processors in a phrase: a letter or two with three or four digits, behind the
/// name of a make or in brackets with one.
pub(crate) fn designations(tokens: &[Token]) -> BTreeSet<String> {
    let made = tokens.iter().any(|t| MAKES[..9].contains(&t.lower.as_str()));
    tokens
        .windows(2)
        .filter(|w| MAKES.contains(&w[0].lower.as_str()) && made)
        .map(|w| form(&w[1].lower))
        .filter(|f| is_designation(f))
        .collect()
}

fn is_designation(form: &str) -> bool {
    let digits = form.bytes().filter(u8::is_ascii_digit).count();
    let letters = form.bytes().take_while(u8::is_ascii_alphabetic).count();
    (3..=4).contains(&digits) && letters <= 2 && letters + digits == form.len()
}

/// Whether two designations are surely of two processors: a letter that only one of them has is
/// left out often.
pub(crate) fn differ(a: &str, b: &str) -> bool {
    let split = |s: &str| {
        let letters: String = s.chars().take_while(char::is_ascii_alphabetic).collect();
        (letters.clone(), s[letters.len()..].to_owned())
    };
    let ((x, m), (y, n)) = (split(a), split(b));
    m != n || (x != y && !x.is_empty() && !y.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    #[test]
    fn designations_are_found_behind_makes() {
        let text = "Acme Q900 (Intel Xeon Z5570, 2 chips) with Opteron 8384";
        let found = designations(&tokens(text, Span::new(0, text.len())));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["8384", "z5570"]);
    }

    #[test]
    fn a_letter_may_be_left_out_but_not_be_another() {
        assert!(!differ("x5570", "5570"));
        assert!(differ("x5570", "w5570"));
        assert!(differ("w5580", "w5570"));
    }
}

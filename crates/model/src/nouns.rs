//! Singular and plural of English nouns, including nouns that programs and experiments supply.

/// Nouns whose singular and plural are alike.
const ALIKE: [&str; 2] = ["data", "series"];

/// Returns the plural of a noun given in either number: `trial` and `trials` give `trials`, `class`
/// gives `classes`, `copy` gives `copies`.
pub fn plural(noun: &str) -> String {
    if ALIKE.iter().any(|w| noun.ends_with(w)) {
        return noun.to_owned();
    }
    let one = singular(noun);
    if let Some(stem) = one.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'i', 'o', 'u'])
        && !stem.is_empty()
    {
        return format!("{stem}ies");
    }
    let hisses = one.ends_with(['s', 'x', 'z']) || one.ends_with("ch") || one.ends_with("sh");
    format!("{one}{}", if hisses { "es" } else { "s" })
}

/// Returns the singular of a noun given in either number; a noun that ends in `ss`, `us` or `is` is
/// already singular.
pub fn singular(noun: &str) -> String {
    if ALIKE.iter().any(|w| noun.ends_with(w)) {
        return noun.to_owned();
    }
    if let Some(stem) = noun.strip_suffix("ies")
        && stem.len() > 1
    {
        return format!("{stem}y");
    }
    let hissing = ["sses", "xes", "ches", "shes", "uses"];
    if hissing.iter().any(|end| noun.ends_with(end)) && !spelt_with_e(noun) {
        return noun[..noun.len() - 2].to_owned();
    }
    let one = ["ss", "us", "is"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('s') {
        Some(stem) if !one && stem.chars().count() > 1 => stem.to_owned(),
        _ => noun.to_owned(),
    }
}

/// Returns true for plurals of nouns in `-se`, `-che` or `-xe`, which only add an `s`.
fn spelt_with_e(noun: &str) -> bool {
    ["houses", "causes", "pauses", "caches", "clauses", "axes"].iter().any(|w| noun.ends_with(w))
}

/// Formats a count with its noun: `1 trial`, `6 trials`; the noun may be given in either number.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {}", if n == 1 { singular(noun) } else { plural(noun) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_has_one_plural_whichever_number_it_comes_in() {
        for (one, many) in [
            ("trial", "trials"),
            ("warehouse", "warehouses"),
            ("house", "houses"),
            ("copy", "copies"),
            ("class", "classes"),
            ("process", "processes"),
            ("flush", "flushes"),
            ("batch", "batches"),
            ("box", "boxes"),
            ("bus", "buses"),
            ("cache", "caches"),
            ("pause", "pauses"),
            ("case", "cases"),
            ("size", "sizes"),
            ("key", "keys"),
            ("day", "days"),
            ("rack unit", "rack units"),
            ("working set", "working sets"),
            ("imported trial", "imported trials"),
            ("series", "series"),
            ("data", "data"),
        ] {
            assert_eq!(plural(one), many);
            assert_eq!(plural(many), many);
            assert_eq!(singular(many), one);
            assert_eq!(singular(one), one);
        }
        assert_eq!(count(1, "warehouses"), "1 warehouse");
        assert_eq!(count(4, "warehouses"), "4 warehouses");
        assert_eq!(count(0, "trial"), "0 trials");
        for odd in ["", "s", "y", "ies", "es", "é", "és"] {
            // Any name that a program uses must terminate without a panic.
            let _ = (plural(odd), singular(odd));
        }
    }
}

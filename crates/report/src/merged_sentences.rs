//! Groups sentences that differ only in their numbers, so that each wording is printed once, with
//! the range of every number and the trials that reported it.

use std::collections::HashMap;

/// A group of sentences with the same wording.
#[derive(Debug, Clone)]
pub(crate) struct SentenceGroup {
    /// Text before, between and after the numbers.
    words: Vec<String>,
    /// Smallest and largest value of each number, as written in the sentences.
    ranges: Vec<(String, String)>,
    /// Numbers of the trials that reported the sentence.
    pub trials: Vec<u32>,
}

impl SentenceGroup {
    /// Creates a group of one sentence; `trial` is `None` for a sentence about the whole run.
    pub fn new(text: &str, trial: Option<u32>) -> Self {
        let (words, numbers) = split(text);
        let ranges = numbers.into_iter().map(|n| (n.clone(), n)).collect();
        SentenceGroup { words, ranges, trials: trial.into_iter().collect() }
    }

    /// Merges `other` into this group if it has the same wording; else returns false.
    pub fn take(&mut self, other: &SentenceGroup) -> bool {
        if self.words != other.words {
            return false;
        }
        let value = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        for (mine, theirs) in self.ranges.iter_mut().zip(&other.ranges) {
            if value(&theirs.0) < value(&mine.0) {
                mine.0.clone_from(&theirs.0);
            }
            if value(&theirs.1) > value(&mine.1) {
                mine.1.clone_from(&theirs.1);
            }
        }
        self.trials.extend(&other.trials);
        true
    }

    /// Returns the sentence, with `least..largest` where a number differed.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut ranges = self.ranges.iter();
        for words in &self.words {
            out.push_str(words);
            if let Some((low, high)) = ranges.next() {
                out.push_str(low);
                if low != high {
                    out.push_str("..");
                    out.push_str(high);
                }
            }
        }
        out
    }
}

/// Splits a sentence into the text around its numbers and the numbers. A number is digits with at
/// most one point inside.
fn split(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut words, mut numbers) = (vec![String::new()], Vec::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let digits = number(rest);
        // Digits that are part of a word (`p99`, `F22`) are not a number.
        let word =
            words.last().and_then(|w| w.chars().next_back()).is_some_and(char::is_alphabetic);
        if digits == 0 || word {
            let take = if digits == 0 { c.len_utf8() } else { digits };
            words.last_mut().expect("it begins with one").push_str(&rest[..take]);
            rest = &rest[take..];
        } else {
            numbers.push(rest[..digits].to_owned());
            words.push(String::new());
            rest = &rest[digits..];
        }
    }
    (words, numbers)
}

/// Returns the length in bytes of the number at the start of `text`, or 0.
fn number(text: &str) -> usize {
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    if whole == 0 || !text[whole..].starts_with('.') {
        return whole;
    }
    match digits(&text[whole + 1..]) {
        0 => whole,
        part => whole + 1 + part,
    }
}

/// Groups the sentences of trials by wording, in the order in which each wording came first.
pub(crate) fn group<'a>(all: impl Iterator<Item = (u32, &'a str)>) -> Vec<SentenceGroup> {
    let mut groups: Vec<SentenceGroup> = Vec::new();
    // Most trials report identical text, which is found here without comparing words.
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (trial, text) in all {
        if let Some(at) = known.get(text) {
            groups[*at].trials.push(trial);
            continue;
        }
        let one = SentenceGroup::new(text, Some(trial));
        let at = groups.iter_mut().position(|g| g.take(&one)).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push(one);
        }
        known.insert(text, at);
    }
    groups
}

/// Returns each distinct value once, in the order of first occurrence.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = Vec::new();
    for one in all {
        if !out.contains(&one) {
            out.push(one);
        }
    }
    out
}

/// Returns `trial 3` or `trials 1, 2, 5`; for more than six trials, their count and the first six.
pub(crate) fn trials_text(trials: &[u32]) -> String {
    const NAMED: usize = 6;
    let named: Vec<String> = trials.iter().take(NAMED).map(u32::to_string).collect();
    match trials {
        [] => String::new(),
        [one] => format!("trial {one}"),
        more if more.len() > NAMED => {
            format!("{} trials: {}, ...", more.len(), named.join(", "))
        }
        _ => format!("trials {}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_one_wording_become_one_with_ranges() {
        let sentences = [
            (1, "thread 1 used 98.5 % of CPU 0; p99 is 12 ms"),
            (2, "thread 1 used 97 % of CPU 0; p99 is 9 ms"),
            (3, "nothing was found"),
            (4, "thread 1 used 99 % of CPU 0; p99 is 10 ms"),
        ];
        let groups = group(sentences.into_iter());
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].text(), "thread 1 used 97..99 % of CPU 0; p99 is 9..12 ms");
        assert_eq!(groups[0].trials, [1, 2, 4]);
        assert_eq!(groups[1].text(), "nothing was found");
    }

    #[test]
    fn a_unit_is_a_word_and_numbers_end_at_their_point() {
        assert_eq!(group([(1, "it took 3 s."), (2, "it took 3 ms.")].into_iter()).len(), 2);
        let one = &group([(1, "it was 3. Then 4.5 came")].into_iter())[0];
        assert_eq!(one.text(), "it was 3. Then 4.5 came");
        assert_eq!(split("1..2 µs").1, ["1", "2"]);
    }

    #[test]
    fn many_trials_are_counted() {
        assert_eq!(trials_text(&[4]), "trial 4");
        assert_eq!(trials_text(&[1, 2]), "trials 1, 2");
        assert!(trials_text(&(1..=20).collect::<Vec<_>>()).starts_with("20 trials: 1, 2"));
    }
}

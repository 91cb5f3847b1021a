//! How the sentence of a claim puts the names and the values of its readings.

use super::called::Called;
use super::choice::first_two;
use super::phrase::{self, NEAR, NONE_BETWEEN, NOTHING, Phrase, SLOTS, Standing, UNSAID};
use super::reading::{Reading, View};
use super::say::Say;
use super::stands::Stands;

/// The least that a word must tell of a name, as a logarithm.
const TELLING: f64 = 0.05;

impl View<'_> {
    /// Tells of each reading how the sentence puts what it is about.
    pub(super) fn phrase(&self, found: &mut [Reading]) {
        let names = &self.book.names;
        let mut phrases: Vec<Option<Phrase>> = vec![None; names.len()];
        let mut tells: Vec<f64> = vec![0.0; names.vocabulary()];
        for slot in 0..SLOTS.len() {
            phrases.fill(None);
            tells.fill(0.0);
            let mut all: Vec<Called> = Vec::new();
            for name in found.iter().map(|r| r.names[slot]).filter(|name| !name.is_nothing()) {
                if phrases[name.place()].replace(UNSAID).is_none() {
                    all.push(name);
                }
            }
            for word in all.iter().flat_map(|name| names.numbers(*name)) {
                tells[*word] += 1.0;
            }
            // Of names of the same slot the fewer have a word the more it tells.
            let count = all.len() as f64;
            let telling = |own: f64| if count == 1.0 { 0.5 } else { ((count + 0.5) / own).ln() };
            self.scene.stands.words().for_each(|word| tells[word] = telling(tells[word]));
            for name in &all {
                phrases[name.place()] = Some(self.of_name(*name, &tells));
            }
            for r in found.iter_mut() {
                r.phrased.names[slot] = phrases[r.names[slot].place()];
            }
        }
        for r in found.iter_mut() {
            r.phrased.values = first_two(r).map(|v| Some(self.of_value(v?)));
        }
    }

    /// How the sentence puts a name, by the word of it that tells most and stands nearest.
    fn of_name(&self, name: Called, tells: &[f64]) -> Phrase {
        let stands = &self.scene.stands;
        let words = self.book.names.numbers(name);
        let own = &self.say.own;
        let away = |i: usize| if i < own.start { own.start - i } else { i + 1 - own.end };
        let mut best: Option<((i64, usize), usize)> = None;
        let mut said = 0;
        for word in words {
            let mut places = stands.places(*word).peekable();
            said += usize::from(places.peek().is_some());
            if tells[*word] <= TELLING {
                continue;
            }
            let weight = (10.0 * tells[*word]).round() as i64;
            for i in places.filter(|i| !own.contains(i)) {
                let key = (-weight, away(i));
                if best.is_none_or(|(k, _)| key < k) {
                    best = Some((key, i));
                }
            }
        }
        Phrase {
            place: best.map(|(_, i)| self.standing(i, words)),
            said: phrase::said(said, words.len()),
        }
    }

    /// Where a name stands of which a word is there.
    fn standing(&self, at: usize, words: &[usize]) -> Standing {
        let Stands { of, kinds, .. } = &self.scene.stands;
        let is_own = |i: usize| of.get(i).is_some_and(|w| w.iter().any(|w| words.contains(w)));
        let (mut first, mut last) = (at, at);
        while first > 0 && is_own(first - 1) {
            first -= 1;
        }
        while is_own(last + 1) {
            last += 1;
        }
        let Say { own, .. } = self.say;
        let behind = at >= own.end;
        let between = if behind {
            own.end..first.max(own.end)
        } else {
            (last.min(own.end - 1) + 1).min(own.start)..own.start
        };
        let bits = kinds[between].iter().fold(0, |bits, kind| bits | kind.between);
        let near = &kinds[first.saturating_sub(NEAR)..first];
        Standing {
            behind,
            before: near.iter().rev().find_map(|k| k.before).unwrap_or(NOTHING as u8),
            after: kinds[last + 1..].iter().find_map(|k| k.after).unwrap_or(0),
            between: if bits == 0 { NONE_BETWEEN } else { bits },
        }
    }

    /// Where a value is printed beside the claim's own.
    fn of_value(&self, value: f64) -> u8 {
        let is = |n: f64| (n - value).abs() <= 1e-6 * n.abs().max(value.abs()).max(1e-9);
        let own = &self.say.own;
        let there = || self.scene.stands.numbers.iter().filter(|(i, n)| !own.contains(i) && is(*n));
        let before = there().rev().find(|(i, _)| *i < own.start);
        match (before, there().next()) {
            (Some((i, _)), _) => phrase::printed(false, own.start - i - 1),
            (None, Some((i, _))) => phrase::printed(true, i - own.end),
            (None, None) => phrase::unprinted(self.scene.stands.earlier.iter().any(|n| is(*n))),
        }
    }
}

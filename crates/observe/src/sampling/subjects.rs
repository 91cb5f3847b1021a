//! Turns counters into changes: remembers the last reading of every subject of a monitor (a CPU, a
//! device, an interface), and drops it if the subject was missing for a tick.

use crate::{Field, FirstSeries, Recorder};

/// The subjects of one monitor, each with `N` counters.
#[derive(Debug, Default)]
pub struct Subjects<const N: usize> {
    known: Vec<CountedSubject<N>>,
    /// Index at which the next subject is expected: subjects come in the same order at each tick.
    cursor: usize,
    this_ns: Option<u64>,
    last_ns: Option<u64>,
}

#[derive(Debug)]
struct CountedSubject<const N: usize> {
    name: Box<[u8]>,
    admitted: bool,
    series: Option<FirstSeries>,
    read_ns: Option<u64>,
    counters: [Option<u64>; N],
}

/// Change of a subject's counters since the last tick.
pub struct CounterChange<'a, const N: usize> {
    subject: &'a mut CountedSubject<N>,
    /// Differences; NaN if a counter is missing or went backwards.
    pub delta: [f64; N],
    /// Time between the two readings, seconds; above 0.
    pub seconds: f64,
}

impl<const N: usize> Subjects<N> {
    /// Starts a tick. Called only if there are readings, so that a failed tick becomes part of the
    /// next interval.
    pub fn begin(&mut self, t_ns: u64) {
        self.last_ns = self.this_ns.replace(t_ns);
        self.cursor = 0;
    }

    /// Takes a subject's counters at this tick and returns their change. Returns `None` if there is
    /// no earlier reading, or if `admit`, called when a name first appears, rejects the subject.
    pub fn turn(
        &mut self,
        name: &[u8],
        now: [Option<u64>; N],
        admit: impl FnOnce(&str) -> bool,
    ) -> Option<CounterChange<'_, N>> {
        let index = self.place(name, admit);
        self.cursor = index + 1;
        let (this_ns, last_ns) = (self.this_ns, self.last_ns);
        let subject = &mut self.known[index];
        if !subject.admitted {
            return None;
        }
        let before = std::mem::replace(&mut subject.counters, now);
        let read_ns = std::mem::replace(&mut subject.read_ns, this_ns);
        // A name that comes twice in one tick, or that was missing at the last one, has no base.
        if read_ns.is_none() || read_ns != last_ns || read_ns == this_ns {
            return None;
        }
        let elapsed_ns = this_ns?.checked_sub(last_ns?).filter(|ns| *ns > 0)?;
        let mut delta = [f64::NAN; N];
        for ((slot, before), now) in delta.iter_mut().zip(before).zip(now) {
            if let Some(change) = before.zip(now).and_then(|(b, n)| n.checked_sub(b)) {
                *slot = change as f64;
            }
        }
        Some(CounterChange { subject, delta, seconds: elapsed_ns as f64 / 1e9 })
    }

    fn place(&mut self, name: &[u8], admit: impl FnOnce(&str) -> bool) -> usize {
        if self.known.get(self.cursor).is_some_and(|s| *s.name == *name) {
            return self.cursor;
        }
        if let Some(index) = self.known.iter().position(|s| *s.name == *name) {
            return index;
        }
        self.known.push(CountedSubject {
            name: name.into(),
            admitted: admit(&String::from_utf8_lossy(name)),
            series: None,
            read_ns: None,
            counters: [None; N],
        });
        self.known.len() - 1
    }
}

impl<const N: usize> CounterChange<'_, N> {
    /// Returns the change of counter `i` per second.
    pub fn rate(&self, i: usize) -> f64 {
        self.delta[i] / self.seconds
    }

    /// Returns `a / b` of two changes; NaN if `b` did not change.
    pub fn ratio(&self, a: usize, b: usize) -> f64 {
        if self.delta[b] > 0.0 { self.delta[a] / self.delta[b] } else { f64::NAN }
    }

    /// Returns the subject's series, created at the first call.
    pub fn series(&mut self, out: &mut Recorder, monitor: &str, fields: &[Field]) -> FirstSeries {
        let name = &self.subject.name;
        *self
            .subject
            .series
            .get_or_insert_with(|| out.intern(monitor, &String::from_utf8_lossy(name), fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(subjects: &mut Subjects<1>, t_ns: u64, readings: &[(&[u8], u64)]) -> Vec<f64> {
        subjects.begin(t_ns);
        readings
            .iter()
            .map(|(name, count)| {
                let change = subjects.turn(name, [Some(*count)], |_| true);
                change.map_or(f64::INFINITY, |c| c.rate(0))
            })
            .collect()
    }

    #[test]
    fn subjects_come_and_go() {
        let mut s = Subjects::default();
        let none = f64::INFINITY;
        assert_eq!(delta(&mut s, 1_000_000_000, &[(b"a", 5)]), [none]);
        assert_eq!(delta(&mut s, 2_000_000_000, &[(b"a", 7), (b"b", 100)]), [2.0, none]);
        assert_eq!(delta(&mut s, 4_000_000_000, &[(b"b", 104)]), [2.0]);
        assert_eq!(delta(&mut s, 5_000_000_000, &[(b"a", 70), (b"b", 105)]), [none, 1.0]);
        assert_eq!(delta(&mut s, 6_000_000_000, &[(b"b", 106), (b"a", 71)]), [1.0, 1.0]);
    }

    #[test]
    fn backwards_is_not_a_number_and_once_only() {
        let mut s = Subjects::default();
        delta(&mut s, 1_000_000_000, &[(b"a", u64::MAX)]);
        assert!(delta(&mut s, 2_000_000_000, &[(b"a", 3)])[0].is_nan());
        assert_eq!(delta(&mut s, 3_000_000_000, &[(b"a", 4)]), [1.0]);
    }

    #[test]
    fn the_same_name_twice_in_a_tick_has_no_base() {
        let mut s = Subjects::default();
        delta(&mut s, 1_000_000_000, &[(b"a", 1)]);
        let values = delta(&mut s, 2_000_000_000, &[(b"a", 2), (b"a", 3)]);
        assert_eq!(values, [1.0, f64::INFINITY]);
    }
}

//! Limits the request rate of each address with buckets that refill at a steady rate (token
//! buckets). Authenticated and anonymous requests have separate buckets, so that anonymous ones
//! cannot lock out the others. Wrong tokens have a smaller bucket.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use crate::locked;

/// Number of buckets at which idle ones are dropped. A bucket that was not used for a minute is
/// full, so dropping it changes nothing.
const REMEMBERED: usize = 4096;
/// Wrong tokens that an address may send: sustained per second, and in a burst.
const WRONG: (f64, f64) = (0.2, 10.0);

/// Kind of sender. Each kind has its own bucket for each address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    /// Sender with a valid token or session.
    Authenticated,
    /// Sender without a token or session.
    Anonymous,
    /// Sender of a wrong token.
    Mistaken,
}

/// Buckets by address and sender: the requests left, and when they were last counted.
#[derive(Debug)]
pub(crate) struct Rates {
    per_second: f64,
    buckets: Mutex<HashMap<(IpAddr, Sender), (f64, Instant)>>,
}

impl Rates {
    pub fn new(per_second: u32) -> Self {
        Rates { per_second: f64::from(per_second.max(1)), buckets: Mutex::default() }
    }

    /// Takes one request from the sender's bucket. Returns false if the bucket is empty.
    pub fn allows(&self, who: IpAddr, sender: Sender, now: Instant) -> bool {
        let (rate, most) = match sender {
            Sender::Mistaken => WRONG,
            _ => (self.per_second, self.per_second * 4.0),
        };
        let mut buckets = locked(&self.buckets);
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&(who, sender)) {
            buckets.retain(|_, (_, at)| now.saturating_duration_since(*at).as_secs() <= 60);
        }
        let (left, at) = buckets.entry((who, sender)).or_insert((most, now));
        let passed = now.saturating_duration_since(*at).as_secs_f64();
        *left = (*left + passed * rate).min(most);
        *at = now;
        let allowed = *left >= 1.0;
        *left -= f64::from(u8::from(allowed));
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn bursts_are_bounded_and_time_heals() {
        let rates = Rates::new(10);
        let (who, now) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
        let served = (0..100).filter(|_| rates.allows(who, Sender::Anonymous, now)).count();
        assert_eq!(served, 40);
        assert!(
            rates.allows(who, Sender::Authenticated, now),
            "anonymous requests take nothing from the others"
        );
        assert!(rates.allows(who, Sender::Anonymous, now + Duration::from_secs(1)));
        let tries = |who, now| rates.allows(who, Sender::Mistaken, now);
        assert_eq!((0..20).filter(|_| tries(who, now)).count(), 10);
        assert!(tries(who, now + Duration::from_secs(6)));
        assert!(tries(IpAddr::from([127, 0, 0, 2]), now));
    }

    #[test]
    fn idle_addresses_are_forgotten_when_there_are_many() {
        let (rates, now) = (Rates::new(10), Instant::now());
        let ask = |n: u32, now| rates.allows(IpAddr::from(n.to_be_bytes()), Sender::Anonymous, now);
        assert!((0..REMEMBERED as u32).all(|n| ask(n, now)));
        assert!(ask(u32::MAX, now + Duration::from_secs(61)));
        assert_eq!(rates.buckets.lock().unwrap().len(), 1);
    }
}

//! How many requests an address makes: a bucket that fills at a steady rate for those who have shown a
//! token, one for those who have not, so that these cannot lock those out, and a smaller one for wrong tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Addresses that are remembered; when there are more, those whose buckets are full are forgotten.
const REMEMBERED: usize = 4096;
/// Wrong tokens an address may give at once, and for long a second.
const WRONG: (f64, f64) = (10.0, 0.2);

/// Who makes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    /// One with a token or a session.
    Authenticated,
    /// Any other.
    Anonymous,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    anonymous_left: f64,
    wrong_left: f64,
    at: Instant,
}

/// The buckets.
#[derive(Debug)]
pub(crate) struct Rates {
    per_second: f64,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

impl Rates {
    pub fn new(per_second: u32) -> Self {
        Rates { per_second: f64::from(per_second.max(1)), buckets: Mutex::default() }
    }

    fn with<T>(&self, who: IpAddr, now: Instant, ask: impl FnOnce(&mut Bucket) -> T) -> T {
        let most = self.per_second * 4.0;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&who) {
            let idle = |b: &Bucket| now.duration_since(b.at).as_secs() > 60;
            buckets.retain(|_, b| !idle(b));
        }
        let fresh = Bucket { left: most, anonymous_left: most, wrong_left: WRONG.0, at: now };
        let bucket = buckets.entry(who).or_insert(fresh);
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + passed * self.per_second).min(most);
        bucket.anonymous_left = (bucket.anonymous_left + passed * self.per_second).min(most);
        bucket.wrong_left = (bucket.wrong_left + passed * WRONG.1).min(WRONG.0);
        bucket.at = now;
        ask(bucket)
    }

    /// Whether a request may be served.
    pub fn allows(&self, who: IpAddr, sender: Sender, now: Instant) -> bool {
        self.with(who, now, |b| {
            let left = match sender {
                Sender::Authenticated => &mut b.left,
                Sender::Anonymous => &mut b.anonymous_left,
            };
            let allowed = *left >= 1.0;
            if allowed {
                *left -= 1.0;
            }
            allowed
        })
    }

    /// Whether this address may try a token.
    pub fn may_try(&self, who: IpAddr, now: Instant) -> bool {
        self.with(who, now, |b| b.wrong_left >= 1.0)
    }

    /// It gave a wrong one.
    pub fn was_wrong(&self, who: IpAddr, now: Instant) {
        self.with(who, now, |b| b.wrong_left -= 1.0);
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
        for _ in 0..10 {
            assert!(rates.may_try(who, now));
            rates.was_wrong(who, now);
        }
        assert!(!rates.may_try(who, now));
        assert!(rates.may_try(who, now + Duration::from_secs(6)));
        assert!(rates.may_try(IpAddr::from([127, 0, 0, 2]), now));
    }
}

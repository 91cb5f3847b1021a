//! What a run is asked to do: the server, the connections, the loop, the mix of operations and the
//! phases, as plain data with defaults.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use crate::Error;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// TCP: `host:port`.
    Tcp(String),
    /// A UNIX socket.
    Unix(PathBuf),
    /// TLS over TCP.
    Tls {
        /// `host:port`.
        address: String,
        /// The name that the server's certificate must carry.
        name: String,
        /// Which certificates are believed.
        trust: Trust,
    },
}

/// Which certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those that the authorities of this PEM file vouch for.
    Authorities(PathBuf),
    /// Any: for a server with a certificate of its own making on a network of one's own.
    Anything,
}

/// The protocol spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `get` and `set` in text: every memcached.
    Text,
    /// `mg` and `ms` (memcached 1.6.13 and later). With a depth above 1 gets and sets are quiet and a
    /// no-op closes the batch, so that the server answers a batch in few writes.
    Meta,
    /// The binary protocol (1.4 and later; deprecated by memcached).
    Binary,
}

/// What a connection waits before its next operations, in a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Nothing.
    None,
    /// Always this long.
    Constant(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

/// When operations are due, in an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    Even,
    /// At exponentially distributed distances: a Poisson process, as many independent users make.
    Exponential,
}

/// How operations are started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Every connection sends `depth` operations at once, waits for all answers, thinks, repeats. A
    /// stalled server stalls the load, so response times here leave out what would have been asked
    /// meanwhile; use [`Mode::Open`] for response times that users would see.
    Closed {
        /// What is waited between an answer and the next operations.
        think: Think,
    },
    /// Operations are due at `rate`, whatever the server does, and response times count from when an
    /// operation was due. An operation that is due while every connection has `depth` unanswered
    /// operations waits for one, and that wait is part of its response time.
    Open {
        /// Operations a second, of all threads together.
        rate: f64,
        /// How they are spaced.
        arrivals: Arrivals,
    },
}

/// How often each key is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Popularity {
    /// All alike.
    Uniform,
    /// The k-th most popular key in proportion to 1 / k^`exponent`.
    Zipf {
        /// Above 0; web caches are reported between 0.6 and 1.1.
        exponent: f64,
    },
}

/// Objects of one size class. The length of an object is uniform between the two.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeClass {
    /// Its name in reports.
    pub name: String,
    /// The shortest value, bytes; 4 or more.
    pub min: u32,
    /// The longest value, bytes.
    pub max: u32,
    /// The share of keys in this class, relative to the other classes' shares.
    pub share: f64,
}

/// What is asked.
///
/// The default classes are those of the memcached study of 12 June 2009 that used objects of Apache
/// Olio (small 4-100 bytes, medium 1-2 KB, large 5-20 KB; 90 % gets). It does not say how many objects
/// each class has. The default of 60, 30 and 10 % has a mean of 1.8 KB, with which the published 352
/// thousand operations a second fit its 10 Gbit/s link at about half load; equal shares (4.8 KB) would
/// not have fitted. Neither does it speak of a skew, so the default popularity is uniform.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The share of gets, 0 to 1; the rest are sets.
    pub get_share: f64,
    /// The size classes, one to eight. A key belongs to one class and keeps its length for life.
    pub classes: Vec<SizeClass>,
    /// How many keys are set; below 2^39.
    pub keys: u64,
    /// Which of them are asked for how often.
    pub popularity: Popularity,
    /// The share of gets that ask for keys that were set; the rest ask for keys that never are.
    pub hit_ratio: f64,
    /// What every key begins with; ten hexadecimal digits follow. No blanks or control characters, at
    /// most 240 bytes.
    pub key_prefix: String,
}

impl Default for Mix {
    fn default() -> Self {
        let class =
            |name: &str, min, max, share| SizeClass { name: name.to_owned(), min, max, share };
        Mix {
            get_share: 0.9,
            classes: vec![
                class("small", 4, 100, 0.6),
                class("medium", 1024, 2048, 0.3),
                class("large", 5 * 1024, 20 * 1024, 0.1),
            ],
            keys: 100_000,
            popularity: Popularity::Uniform,
            hit_ratio: 1.0,
            key_prefix: "assay:".to_owned(),
        }
    }
}

/// Everything about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The server.
    pub target: Target,
    /// The protocol.
    pub protocol: Protocol,
    /// Worker threads; each has an equal part of the connections and of the rate.
    pub threads: usize,
    /// The CPUs that the threads are bound to, in turn. `None`: not bound, which the report notes.
    pub cpus: Option<Vec<usize>>,
    /// Connections, of all threads together.
    pub connections: usize,
    /// Operations that may be unanswered on a connection, 1 to 1024. A batch ends early when its
    /// requests have reached 4 MiB (TLS: 8 KiB, because memcached reads longer ones only in part).
    pub depth: usize,
    /// The loop.
    pub mode: Mode,
    /// What is asked.
    pub mix: Mix,
    /// Load that is not measured, before.
    pub ramp_up: Duration,
    /// The measurement window.
    pub steady: Duration,
    /// Load that is not measured, after.
    pub ramp_down: Duration,
    /// Decides keys, sizes, contents and times; the same seed asks the same. [`crate::preload()`] and
    /// [`crate::run()`] must have the same seed and mix, else contents are wrong.
    pub seed: u64,
    /// A connection with unanswered operations and no answer for this long is given up and opened
    /// again; its operations have timed out. Checked about eight times in this span.
    pub op_timeout: Duration,
    /// How long a connection may take to be opened.
    pub connect_timeout: Duration,
    /// A server that answers nothing on any connection for this long, while operations are
    /// outstanding, ends the run.
    pub give_up: Duration,
    /// The width of a bin of the series.
    pub bin: Duration,
    /// The server's process, where it runs on this machine: its CPU use and CPUs then help to say what
    /// the limit was.
    pub server_pid: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            target: Target::Tcp("127.0.0.1:11211".to_owned()),
            protocol: Protocol::Text,
            threads: 1,
            cpus: None,
            connections: 64,
            depth: 1,
            mode: Mode::Closed { think: Think::None },
            mix: Mix::default(),
            ramp_up: Duration::from_secs(2),
            steady: Duration::from_secs(10),
            ramp_down: Duration::from_millis(500),
            seed: 1,
            op_timeout: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(3),
            give_up: Duration::from_secs(5),
            bin: Duration::from_millis(100),
            server_pid: None,
        }
    }
}

/// The largest depth.
pub const MAX_DEPTH: usize = 1024;
/// Keys are counted below this; ids from here on are keys that are never set.
pub const KEY_LIMIT: u64 = 1 << 39;
/// The longest value that may be asked for, bytes.
pub const MAX_VALUE_BYTES: u32 = 64 << 20;

impl Config {
    /// Returns the same load in an open loop at `rate` operations a second, with its own arrivals;
    /// [`Arrivals::Even`] where it was a closed loop.
    #[must_use]
    pub fn at_rate(&self, rate: f64) -> Self {
        let arrivals = match self.mode {
            Mode::Open { arrivals, .. } => arrivals,
            Mode::Closed { .. } => Arrivals::Even,
        };
        Config { mode: Mode::Open { rate, arrivals }, ..self.clone() }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// [`Error::Config`] names the field, its value and what would be right.
    pub fn check(&self) -> Result<(), Error> {
        let Config { threads, connections, depth, bin, .. } = *self;
        let enough = (1..=connections).contains(&threads);
        must(enough, "threads", threads, "1 to the number of connections")?;
        must(connections <= 1_000_000, "connections", connections, "at most 1000000")?;
        must((1..=MAX_DEPTH).contains(&depth), "depth", depth, "1 to 1024")?;
        let some = self.cpus.as_ref().is_none_or(|cpus| !cpus.is_empty());
        must(some, "cpus", "an empty list", "at least one CPU, or no list")?;
        if let Mode::Open { rate, .. } = self.mode {
            let right = rate > 0.0 && rate <= 1e9;
            must(right, "rate", rate, "above 0, at most 1e9 operations/s")?;
        }
        let day = Duration::from_secs(86_400);
        let times = [
            ("ramp_up", self.ramp_up, Duration::ZERO),
            ("steady", self.steady, Duration::from_millis(1)),
            ("ramp_down", self.ramp_down, Duration::ZERO),
            ("op_timeout", self.op_timeout, Duration::from_millis(1)),
            ("connect_timeout", self.connect_timeout, Duration::from_millis(1)),
            ("give_up", self.give_up, Duration::from_millis(1)),
            ("bin", bin, Duration::from_millis(1)),
        ];
        for (field, value, minimum) in times {
            let right = (minimum..=day).contains(&value);
            must(right, field, format!("{value:?}"), "at least 1 ms, at most a day")?;
        }
        let bins = (self.ramp_up + self.steady + self.ramp_down).as_nanos() / bin.as_nanos();
        let want = "wider: over 4 million bins otherwise";
        must(bins <= 1 << 22, "bin", format!("{bin:?}"), want)?;
        self.mix.check()
    }
}

impl Mix {
    fn check(&self) -> Result<(), Error> {
        for (field, share) in [("get_share", self.get_share), ("hit_ratio", self.hit_ratio)] {
            must((0.0..=1.0).contains(&share), field, share, "0 to 1")?;
        }
        must((1..KEY_LIMIT).contains(&self.keys), "keys", self.keys, "1 to 2^39 - 1")?;
        if let Popularity::Zipf { exponent } = self.popularity {
            let right = exponent > 0.0 && exponent <= 10.0;
            must(right, "exponent", exponent, "above 0, at most 10")?;
        }
        let count = self.classes.len();
        must((1..=8).contains(&count), "classes", count, "one to eight")?;
        for SizeClass { min, max, share, .. } in &self.classes {
            let right = *min >= 4 && (*min..=MAX_VALUE_BYTES).contains(max);
            let value = format!("{min} to {max} bytes");
            must(right, "classes", value, "4 bytes or more, rising, at most 64 MiB")?;
            must(*share >= 0.0 && share.is_finite(), "share", share, "0 or more")?;
        }
        let sum: f64 = self.classes.iter().map(|c| c.share).sum();
        must(sum > 0.0, "share", "0 in sum", "one class with a share above 0")?;
        let prefix = &self.key_prefix;
        let right = prefix.len() <= 240 && prefix.bytes().all(|b| b.is_ascii_graphic());
        let want = "at most 240 printable ASCII characters without blanks";
        must(right, "key_prefix", format!("{prefix:?}"), want)
    }
}

/// Refuses the value of a field that is not right.
fn must(right: bool, field: &str, value: impl Display, want: &str) -> Result<(), Error> {
    if right {
        Ok(())
    } else {
        Err(Error::Config(format!("{field} is {value}; it must be {want}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Config);

    #[test]
    fn defaults_are_right_and_mistakes_are_named() {
        Config::default().check().unwrap();
        let broken: [(&str, Change); 9] = [
            ("threads", |c| c.threads = 65),
            ("depth", |c| c.depth = 0),
            ("cpus", |c| c.cpus = Some(vec![])),
            ("rate", |c| c.mode = Mode::Open { rate: f64::NAN, arrivals: Arrivals::Even }),
            ("steady", |c| c.steady = Duration::ZERO),
            ("get_share", |c| c.mix.get_share = 1.5),
            ("keys", |c| c.mix.keys = 0),
            ("classes", |c| c.mix.classes[0].min = 3),
            ("key_prefix", |c| c.mix.key_prefix = "a b".to_owned()),
        ];
        for (field, change) in broken {
            let mut config = Config::default();
            change(&mut config);
            let message = config.check().unwrap_err().to_string();
            assert!(message.contains(field), "{message}");
        }
    }
}

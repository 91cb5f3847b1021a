//! Configuration of a run as plain data with defaults: server, connections, loop, mix of operations
//! and phases.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::time::Duration;

use crate::Error;
use crate::sizes::{MAX_VALUE_BYTES, Sizes};

/// User and password for a server that requires them.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Empty: the user `default` of Redis.
    pub user: String,
    pub password: String,
}

impl fmt::Debug for Credentials {
    /// Writes the user only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Credentials").field(&self.user).finish()
    }
}

/// Address of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// TCP address as `host:port`.
    Tcp(String),
    /// Path of a UNIX socket.
    Unix(PathBuf),
    /// TLS over a TCP connection.
    Tls {
        /// TCP address as `host:port`.
        address: String,
        /// Name that the server's certificate must carry.
        name: String,
        /// Certificates that are accepted.
        trust: Trust,
    },
}

/// Certificates that are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those signed by the certificate authorities in this PEM file.
    Authorities(PathBuf),
    /// Any certificate: for a server with a self-signed certificate on a private network.
    Anything,
}

/// Protocol of requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `get` and `set` in the text protocol, which every memcached supports.
    Text,
    /// `mg` and `ms` (memcached 1.6.13 and later). With a depth above 1, gets and sets are quiet
    /// and a no-op closes the batch, so that the server answers a batch with few writes.
    Meta,
    /// The binary protocol (1.4 and later; deprecated by memcached).
    Binary,
    /// RESP2, which every Redis and Valkey supports.
    Resp2,
    /// RESP3 (Redis 6 and later, Valkey), which a connection begins with `HELLO 3`.
    Resp3,
}

impl Protocol {
    /// True for the protocols of Redis.
    pub fn is_resp(self) -> bool {
        matches!(self, Protocol::Resp2 | Protocol::Resp3)
    }
}

/// Think time of a connection before its next operations, in a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// No think time: the next operations follow at once.
    None,
    /// The same time always.
    Constant(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

/// Arrival process of operations in an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Operations at equal intervals.
    Even,
    /// Operations at exponentially distributed intervals: a Poisson process, as many independent
    /// users produce.
    Exponential,
}

/// Rule by which operations start: closed or open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Closed loop: every connection sends `depth` operations at once, waits for all responses,
    /// thinks, repeats. A stalled server stalls the load, so the response times omit the operations
    /// that would have arrived meanwhile (coordinated omission); use [`Mode::Open`] for the
    /// response times that users would see.
    Closed {
        /// Time between a response and the next operations.
        think: Think,
    },
    /// Open loop: operations are due at `rate`, independent of the server, and response times count
    /// from the due time. An operation that is due while every connection has `depth` outstanding
    /// operations waits for a free connection, and that wait is part of its response time.
    Open {
        /// Operations per second, all threads together.
        rate: f64,
        /// Arrival process of the operations.
        arrivals: Arrivals,
    },
}

/// Distribution of requests over the keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Popularity {
    /// All keys are equally popular.
    Uniform,
    /// The k-th most popular key has a share proportional to 1 / k^`exponent`.
    Zipf {
        /// Above 0; published values for web caches are between 0.6 and 1.1.
        exponent: f64,
    },
}

/// Objects of one size class.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeClass {
    /// Name of the class in reports.
    pub name: String,
    /// Lengths of its values; at least 4 bytes.
    pub sizes: Sizes,
    /// Share of keys in this class, relative to the other classes' shares.
    pub share: f64,
}

/// Mix of operations, keys and value sizes.
///
/// The default classes are those of the memcached study of 12 June 2009 that used objects of Apache
/// Olio (small 4-100 bytes, medium 1-2 KB, large 5-20 KB; 90 % gets). The study does not state how
/// many objects each class has. The default of 60, 30 and 10 % has a mean of 1.8 KB, with which the
/// published 352 thousand operations per second fit its 10 Gbit/s link at about half load; equal
/// shares (4.8 KB) would not have fitted. It does not mention skew either, so the default
/// popularity is uniform.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// Share of gets, 0 to 1; what the shares leave are sets.
    pub get_share: f64,
    /// Shares of deletes, increments and multi-gets (RESP).
    pub delete_share: f64,
    pub increment_share: f64,
    pub multi_get_share: f64,
    /// Number of keys of a multi-get.
    pub multi_get_keys: u32,
    /// True if a get that misses is followed by a set of its key on the same connection, which
    /// takes the place of the next operation. Keys that are never set stay so.
    pub read_through: bool,
    /// Size classes, one to eight. A key belongs to one class and its value never changes length.
    pub classes: Vec<SizeClass>,
    /// Number of keys that are set; below 2^39.
    pub keys: u64,
    /// Popularity of these keys.
    pub popularity: Popularity,
    /// Share of gets for keys that were set; the other gets ask for keys that are never set.
    pub hit_ratio: f64,
    /// Prefix of every key; ten hexadecimal digits follow. No blanks or control characters, at most
    /// 240 bytes.
    pub key_prefix: String,
    /// Lengths of the keys, prefix and digits included, up to 250 bytes: shorter keys are padded.
    /// `None`: keys are not padded.
    pub key_sizes: Option<Sizes>,
}

impl Default for Mix {
    fn default() -> Self {
        let class = |name: &str, min, max, share| SizeClass {
            name: name.to_owned(),
            sizes: Sizes::uniform(min, max),
            share,
        };
        Mix {
            get_share: 0.9,
            delete_share: 0.0,
            increment_share: 0.0,
            multi_get_share: 0.0,
            multi_get_keys: 10,
            read_through: false,
            classes: vec![
                class("small", 4, 100, 0.6),
                class("medium", 1024, 2048, 0.3),
                class("large", 5 * 1024, 20 * 1024, 0.1),
            ],
            keys: 100_000,
            popularity: Popularity::Uniform,
            hit_ratio: 1.0,
            key_prefix: "assay:".to_owned(),
            key_sizes: None,
        }
    }
}

/// Configuration of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub target: Target,
    pub protocol: Protocol,
    /// Password that the server requires.
    pub credentials: Option<Credentials>,
    /// Number of worker threads; each gets an equal part of the connections and of the rate.
    pub threads: usize,
    /// CPUs that the threads are bound to, in turn. `None` leaves them unbound, which the report
    /// notes.
    pub cpus: Option<Vec<usize>>,
    /// Number of connections, all threads together.
    pub connections: usize,
    /// Maximum outstanding operations per connection, 1 to 1024. A batch ends early when its
    /// requests have reached 4 MiB (memcached with TLS: 8 KiB, because it reads longer ones only in
    /// part).
    pub depth: usize,
    /// Closed or open loop.
    pub mode: Mode,
    pub mix: Mix,
    /// Duration of the unmeasured load before the measurement window.
    pub ramp_up: Duration,
    /// Duration of the measurement window.
    pub steady: Duration,
    /// Duration of the unmeasured load after the measurement window.
    pub ramp_down: Duration,
    /// Seed of keys, sizes, contents and times; the same seed gives the same requests.
    /// [`crate::preload()`] and [`crate::run()`] must use the same seed and mix, else
    /// contents are wrong.
    pub seed: u64,
    /// Maximum time without a response on a connection with outstanding operations. The connection
    /// is then closed and reopened, and its operations count as timed out. Checked about eight
    /// times in this interval.
    pub op_timeout: Duration,
    /// Maximum time to open a connection.
    pub connect_timeout: Duration,
    /// Maximum time without a response on any connection while operations are outstanding; the run
    /// then ends.
    pub give_up: Duration,
    /// Width of one bin of the time series.
    pub bin: Duration,
    /// Process id of the server, if it runs on this machine: its CPU use and CPU affinity then help
    /// to find the limiting side.
    pub server_pid: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            target: Target::Tcp("127.0.0.1:11211".to_owned()),
            protocol: Protocol::Text,
            credentials: None,
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

/// Bytes of a key after the prefix: the id in hexadecimal digits.
pub const KEY_DIGITS: usize = 10;
/// Maximum value of `depth`.
pub const MAX_DEPTH: usize = 1024;
/// Upper bound of key ids; ids from here on are keys that are never set.
pub const KEY_LIMIT: u64 = 1 << 39;
/// Id of the last key; those of counters are at the end, one for each connection.
pub const LAST_KEY: u64 = (1 << 40) - 1;
/// Maximum number of connections.
pub const MAX_CONNECTIONS: usize = 1_000_000;
/// Maximum length of a key in bytes.
pub const MAX_KEY_BYTES: u32 = 250;
/// Maximum number of keys of a multi-get.
pub const MAX_MULTI_GET: u32 = 100;
impl Config {
    /// Returns the same load as an open loop at `rate` operations per second. An open loop keeps
    /// its arrivals; a closed loop gets [`Arrivals::Even`].
    #[must_use]
    pub fn at_rate(&self, rate: f64) -> Self {
        let arrivals = match self.mode {
            Mode::Open { arrivals, .. } => arrivals,
            Mode::Closed { .. } => Arrivals::Even,
        };
        Config { mode: Mode::Open { rate, arrivals }, ..self.clone() }
    }

    /// Checks that every field is in its valid range.
    ///
    /// # Errors
    /// [`Error::Config`] names the field, its value and the valid range.
    pub fn check(&self) -> Result<(), Error> {
        let Config { threads, connections, depth, bin, .. } = *self;
        let enough = (1..=connections).contains(&threads);
        must(enough, "threads", threads, "1 to the number of connections")?;
        must(connections <= MAX_CONNECTIONS, "connections", connections, "at most 1000000")?;
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
        let more = self.mix.get_share < self.mix.share_sum();
        let want = "0 with this protocol; only RESP has deletes, increments and multi-gets";
        must(!more || self.protocol.is_resp(), "the share of other operations", "above 0", want)?;
        if let Some(Credentials { user, .. }) = &self.credentials {
            let (resp, binary) = (self.protocol.is_resp(), self.protocol == Protocol::Binary);
            must(!binary, "protocol", "binary", "text or meta with a password")?;
            let name = !user.is_empty() && user.bytes().all(|b| b.is_ascii_graphic());
            let want = "a name without blanks for memcached";
            must(resp || name, "the user", format!("{user:?}"), want)?;
        }
        self.mix.check()
    }
}

impl Mix {
    fn check(&self) -> Result<(), Error> {
        let shares = [
            ("get_share", self.get_share),
            ("delete_share", self.delete_share),
            ("increment_share", self.increment_share),
            ("multi_get_share", self.multi_get_share),
            ("hit_ratio", self.hit_ratio),
        ];
        for (field, share) in shares {
            must((0.0..=1.0).contains(&share), field, share, "0 to 1")?;
        }
        let sum = self.share_sum();
        must(sum <= 1.0 + 1e-9, "the sum of the shares", sum, "at most 1; the rest are sets")?;
        let multi = (1..=MAX_MULTI_GET).contains(&self.multi_get_keys);
        must(multi, "multi_get_keys", self.multi_get_keys, "1 to 100")?;
        // Keys that are never set and the counters of connections follow them.
        let most = KEY_LIMIT - MAX_CONNECTIONS as u64;
        must((1..=most).contains(&self.keys), "keys", self.keys, "1 to 2^39 - 1000000")?;
        if let Popularity::Zipf { exponent } = self.popularity {
            let right = exponent > 0.0 && exponent <= 10.0;
            must(right, "exponent", exponent, "above 0, at most 10")?;
        }
        let count = self.classes.len();
        must((1..=8).contains(&count), "classes", count, "one to eight")?;
        for SizeClass { sizes: Sizes { min, max, .. }, share, .. } in &self.classes {
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
        must(right, "key_prefix", format!("{prefix:?}"), want)?;
        let Some(Sizes { min, max, .. }) = self.key_sizes else { return Ok(()) };
        let (shortest, value) = (prefix.len() + KEY_DIGITS, format!("{min} to {max} bytes"));
        let right = min as usize >= shortest && (min..=MAX_KEY_BYTES).contains(&max);
        must(right, "key_sizes", value, &format!("{shortest} to {MAX_KEY_BYTES} bytes, rising"))
    }

    /// Returns the share of all operations but sets.
    fn share_sum(&self) -> f64 {
        self.get_share + self.delete_share + self.increment_share + self.multi_get_share
    }
}

/// Rejects a field's value if it is not `right`.
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

    type ConfigChange = fn(&mut Config);

    fn login(config: &mut Config, protocol: Protocol, user: &str) {
        let credentials = Credentials { user: user.into(), password: "secret".into() };
        (config.protocol, config.credentials) = (protocol, Some(credentials));
    }

    #[test]
    fn defaults_are_right_and_mistakes_are_named() {
        Config::default().check().unwrap();
        let broken: [(&str, ConfigChange); 15] = [
            ("text or meta with a password", |c| login(c, Protocol::Binary, "ann")),
            ("the user is \"a b\"", |c| login(c, Protocol::Text, "a b")),
            ("delete_share", |c| c.mix.delete_share = -0.1),
            ("only RESP", |c| c.mix.increment_share = 0.1),
            ("the sum of the shares", |c| {
                (c.protocol, c.mix.increment_share) = (Protocol::Resp2, 0.2);
            }),
            ("key_sizes", |c| c.mix.key_sizes = Some(Sizes::uniform(15, 20))),
            ("threads", |c| c.threads = 65),
            ("depth", |c| c.depth = 0),
            ("cpus", |c| c.cpus = Some(vec![])),
            ("rate", |c| c.mode = Mode::Open { rate: f64::NAN, arrivals: Arrivals::Even }),
            ("steady", |c| c.steady = Duration::ZERO),
            ("get_share", |c| c.mix.get_share = 1.5),
            ("keys", |c| c.mix.keys = 0),
            ("classes", |c| c.mix.classes[0].sizes.min = 3),
            ("key_prefix", |c| c.mix.key_prefix = "a b".to_owned()),
        ];
        for (field, change) in broken {
            let mut config = Config::default();
            change(&mut config);
            let message = config.check().unwrap_err().to_string();
            assert!(message.contains(field) && !message.contains("secret"), "{message}");
        }
    }
}

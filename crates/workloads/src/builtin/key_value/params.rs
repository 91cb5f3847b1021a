//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

use assay_loadgen::config::{Credentials, KEY_DIGITS, MAX_KEY_BYTES};
use assay_loadgen::sizes::{Distribution, Sizes};
use assay_loadgen::{
    Arrivals, Config, Mix, Mode, Popularity, Protocol, SizeClass, Target, Think, Trust,
};
use assay_model::environment::cpulist;
use assay_model::{ParamSpec, Scalar, units};

use crate::WorkloadError;
use crate::builtin::key_value::dialect::Dialect;
use crate::declare::{
    argv, flag, int, number, one_of, or_none, params, parsed, path, size, text, time, wrong,
};

/// Goal of a trial, the parameter `find`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Find {
    /// Throughput of one run.
    Throughput,
    /// Highest rate that stays within a latency limit.
    MaxRate,
    /// Response times at several rates.
    Saturation,
}

/// Transport between load generator and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Unix,
    Tls,
}

/// Network between load generator and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The machine's own network.
    Loopback,
    /// A network namespace for the server.
    Namespace,
}

/// CPUs of the load generator or of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cpus {
    /// The CPUs that the split of the trial's CPUs assigns.
    Auto,
    /// All CPUs of the trial, without binding.
    Any,
    /// An explicit list of CPUs.
    These(Vec<usize>),
}

/// Length to which longer values of a distribution without end are cut, in bytes: memcached's item
/// limit of 1 MiB with room for the key.
const MAX_OBJECT: u32 = 1_000_000;

/// Sizes of keys and values in the pool ETC: Atikoglu et al., "Workload analysis of a large-scale
/// key-value store", SIGMETRICS 2012, section 5 and table 5. Values of 0 to 14 bytes have the
/// shares [`ETC_SHORT`], the others the distribution [`ETC_VALUES`].
const ETC_KEYS: Distribution =
    Distribution::ExtremeValue { location: 30.7984, scale: 8.20449, shape: 0.078688 };
const ETC_VALUES: Distribution =
    Distribution::Pareto { location: 15.0, scale: 214.476, shape: 0.348238 };
const ETC_SHORT: [f64; 15] = [
    0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606, 0.00023, 0.00837,
    0.00837, 0.08989, 0.00092, 0.00326, 0.01980,
];

/// Parses a distribution of sizes from `min` to `max` bytes. The text `etc` gives the distribution
/// `etc`.
fn distribution(
    name: &str,
    text: &str,
    etc: &Distribution,
    (min, max): (u32, u32),
) -> Result<Sizes, WorkloadError> {
    let failed = |what: String| wrong(format!("`{name} = \"{text}\"`: {what}"));
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let parsed = match kind {
        "etc" if rest.is_empty() => Sizes { distribution: etc.clone(), min, max },
        "fixed" | "uniform" => {
            let (min, max) = sizes(rest).map_err(failed)?;
            Sizes::uniform(min, max)
        }
        "lognormal" => {
            let numbers: Option<Vec<f64>> =
                rest.split(',').map(|n| n.trim().parse().ok()).collect();
            let Some(&[median, sigma]) =
                numbers.as_deref().filter(|n| n.iter().all(|n| n.is_finite() && *n > 0.0))
            else {
                return Err(failed("it takes a median and a sigma above 0, such as 300,1".into()));
            };
            Sizes { distribution: Distribution::Lognormal { median, sigma }, min, max }
        }
        "file" => {
            let file = std::fs::read_to_string(rest).map_err(|e| failed(format!("{rest}: {e}")))?;
            Sizes::empirical(&file).map_err(|e| failed(format!("{rest}: {e}")))?
        }
        _ => {
            return Err(failed(
                "it takes a distribution: etc, fixed:BYTES, uniform:FROM-TO, \
                 lognormal:MEDIAN,SIGMA or file:PATH"
                    .into(),
            ));
        }
    };
    if kind != "file" || (parsed.min >= min && parsed.max <= max) {
        return Ok(parsed);
    }
    Err(failed(format!(
        "its sizes are {} to {} bytes; {min} to {max} are possible",
        parsed.min, parsed.max
    )))
}

/// A program that generates the load instead of assay.
#[derive(Debug, Clone)]
pub struct Driver {
    /// Path of the program; `None`: the one on PATH.
    pub path: Option<PathBuf>,
    /// Checks that the program is installed and can generate the load.
    pub check: fn(&KeyValueParams) -> Result<(), WorkloadError>,
}

params! {
    /// Parameters of a treatment that all key-value servers have.
    #[derive(Debug, Clone, PartialEq)]
    pub struct LoadParams {
        /// Goal of a trial: the throughput; the highest rate whose `quantile` stays within the
        /// latency limit `bound`; or the response times at rising rates.
        find: Find =
            one_of(&[("throughput", Find::Throughput), ("max-rate", Find::MaxRate),
            ("saturation", Find::Saturation)]), "throughput";
        /// `closed`: a connection sends its next request after the answer to the last one. `open`:
        /// operations are due at `rate` regardless of the server, and response times count from the
        /// time at which they were due.
        open as "mode": bool = one_of(&[("closed", false), ("open", true)]), "closed";
        /// Operations per second of `mode = "open"`, over all threads.
        rate: f64 = number(0.0, 1e9), Scalar::Float(0.0);
        /// Number of connections, over all threads.
        connections: usize = int(1, 1_000_000), 64;
        /// Operations that may be outstanding on a connection (pipeline depth).
        depth: usize = int(1, 1024), 1;
        /// Think time: pause of a closed loop's connection after an answer.
        think: Duration = time(), "0 s";
        /// Distribution of the arrivals of an open loop, or of the think times of a closed loop.
        spacing: Arrivals =
            one_of(&[("even", Arrivals::Even), ("exponential", Arrivals::Exponential)]), "even";
        /// Number of threads of the load generator.
        client_threads as "client.threads": usize = int(1, 1024), 1;
        /// The CPUs of the load generator, such as `2-3`; `auto` takes the last of the trial's
        /// CPUs, one for each of its threads, if that leaves some for the server; `any` binds it to
        /// none.
        client_cpus as "client.cpus": Cpus = parsed(cpus), "auto";
        /// Transport that carries the protocol.
        transport: Transport =
            one_of(&[("tcp", Transport::Tcp), ("unix", Transport::Unix), ("tls", Transport::Tls)]),
            "tcp";
        /// `loopback`: the machine's own network. `namespace`: the server runs in a network
        /// namespace, connected by a veth pair.
        network: Network =
            one_of(&[("loopback", Network::Loopback), ("namespace", Network::Namespace)]),
            "loopback";
        /// Latency limit of `find = "max-rate"`.
        bound: Duration = time(), "1 ms";
        /// Quantile of the response times that must stay within `bound`, 0 to 1.
        quantile: f64 = number(0.0, 0.9999), Scalar::Float(0.99);
        /// Relative difference between the highest rate that met the limit and the lowest that
        /// broke it below which the search ends.
        precision: f64 = number(0.001, 1.0), Scalar::Float(0.05);
        /// Rates of `find = "saturation"`, separated by blanks or commas; empty: `steps` rates up
        /// to 1.1 times the throughput of a closed loop.
        rates: Vec<f64> = parsed(rates), "";
        /// Number of rates if `rates` is empty.
        steps: u32 = int(2, 1000), 10;
        /// Number of objects in the cache.
        keys: u64 = int(1, 1 << 32), 100_000;
        /// Share of small objects, relative to the shares of the other classes.
        share_small as "share.small": f64 = number(0.0, 1.0), Scalar::Float(0.6);
        /// Share of medium objects, relative to the shares of the other classes.
        share_medium as "share.medium": f64 = number(0.0, 1.0), Scalar::Float(0.3);
        /// Share of large objects, relative to the shares of the other classes.
        share_large as "share.large": f64 = number(0.0, 1.0), Scalar::Float(0.1);
        /// Range of the size of a small object in bytes; sizes are uniformly distributed.
        size_small as "size.small": (u32, u32) = parsed(sizes), "4-100";
        /// Range of the size of a medium object in bytes.
        size_medium as "size.medium": (u32, u32) = parsed(sizes), "1024-2048";
        /// Range of the size of a large object in bytes.
        size_large as "size.large": (u32, u32) = parsed(sizes), "5120-20480";
        /// Sizes of the values: `classes` (the three above), `etc` (the published sizes of the
        /// Facebook pool ETC), `fixed:BYTES`, `uniform:FROM-TO`, `lognormal:MEDIAN,SIGMA`, or
        /// `file:PATH` (a line for each size: bytes, and its weight).
        sizes: String = text(), "classes";
        /// Sizes of the keys: `short` (16 bytes), or one of the distributions of `sizes`.
        key_sizes: String = text(), "short";
        /// Share of gets among the operations; what this and other shares leave are sets.
        gets: f64 = number(0.0, 1.0), Scalar::Float(0.9);
        /// Share of gets for objects that were set; the other gets ask for unknown keys.
        hits: f64 = number(0.0, 1.0), Scalar::Float(1.0);
        /// True: a get that misses is followed by a set of its object on the same connection, as
        /// in a cache in front of a database, and evictions are part of the load.
        read_through: bool = flag(), Scalar::Bool(false);
        /// Distribution of requests over the objects.
        skewed as "popularity": bool = one_of(&[("uniform", false), ("zipf", true)]), "uniform";
        /// Exponent of `popularity = "zipf"`: the k-th object is requested in proportion to 1 /
        /// k^zipf.
        zipf: f64 = number(0.01, 10.0), Scalar::Float(0.99);
        /// Seed of the random numbers; the same seed makes and requests the same objects.
        seed: u64 = int(0, i64::MAX), 1;
        /// Path of the server to start; empty: the one on PATH.
        server_path as "server.path": Option<PathBuf> = or_none(path()), "";
        /// `host:port`, or the path of a socket, of a server that is already running: assay neither
        /// starts nor stops it. Its values under the workload's keys are overwritten.
        address as "server.address": Option<String> = or_none(text()), "";
        /// Port that the server listens on; 0: a free one.
        port as "server.port": u16 = int(0, 65_535), 0;
        /// The CPUs of the server; `auto` takes those of the trial that `client.cpus = "auto"`
        /// leaves; `any` leaves it all of them.
        server_cpus as "server.cpus": Cpus = parsed(cpus), "auto";
        /// Memory of the server for objects.
        memory as "server.memory": u64 = size(), "1 GiB";
        /// More options of the server's command line.
        options as "server.options": Vec<OsString> = argv(), "";
        /// Host name that the certificate of a TLS server must carry.
        tls_name as "tls.name": String = text(), "localhost";
        /// PEM file of the trusted certificate authorities; empty: any certificate is accepted. A
        /// server that assay starts has a self-signed certificate.
        tls_authorities as "tls.authorities": Option<PathBuf> = or_none(path()), "";
        /// User of a server that requires a password; empty: the user `default` of Redis.
        user as "auth.user": String = text(), "";
        /// Path of a file with the password in its first line; empty: the server requires none. The
        /// password is on no command line and in no record.
        password_file as "auth.password_file": Option<PathBuf> = or_none(path()), "";
        /// Time under load before the measurement window.
        ramp_up: Duration = time(), "2 s";
        /// Length of the measurement window; for a search or a curve, the window of each rate.
        steady: Duration = time(), "10 s";
        /// Time under load after the measurement window.
        ramp_down: Duration = time(), "500 ms";
        /// Time after which an unanswered operation counts as missing.
        op_timeout: Duration = time(), "1 s";
        /// Maximum share of operations, ramps included, whose answers are missing (too late, or the
        /// connection was lost); above it the trial is invalid.
        max_missing: f64 = number(0.0, 1.0), Scalar::Float(0.001);
        /// Maximum share of operations, ramps included, that the server may refuse with an error;
        /// above it the trial is invalid. A wrong value is never allowed.
        max_errors: f64 = number(0.0, 1.0), Scalar::Float(0.0);
    }
}

fn cpus(text: &str) -> Result<Cpus, String> {
    match text {
        "auto" => Ok(Cpus::Auto),
        "any" => Ok(Cpus::Any),
        list => cpulist::parse(list)
            .map(Cpus::These)
            .map_err(|e| format!("it takes `auto`, `any` or CPUs: {e}")),
    }
}

/// Parses a size range in bytes such as `4-100`, or one size.
fn sizes(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('-').unwrap_or((text, text));
    let side = |side: &str| {
        let bytes = units::parse_bytes(side.trim()).ok().and_then(|b| u32::try_from(b).ok());
        bytes.ok_or_else(|| format!("`{text}`; it takes bytes from and to, such as 4-100"))
    };
    Ok((side(sides.0)?, side(sides.1)?))
}

fn rates(text: &str) -> Result<Vec<f64>, String> {
    let parts = text.split([',', ' ']).filter(|p| !p.is_empty());
    parts
        .map(|part| {
            let rate = part.parse().ok().filter(|r: &f64| r.is_finite() && *r > 0.0);
            rate.ok_or_else(|| {
                format!("`{part}`; it takes operations a second, such as 10000 20000")
            })
        })
        .collect()
}

/// Shares of the operations that not all servers have.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherOperations {
    pub deletes: f64,
    pub increments: f64,
    pub multi_gets: f64,
    /// Number of keys of a multi-get.
    pub multi_get_keys: u32,
}

/// The parameters of a treatment.
#[derive(Debug, Clone)]
pub struct KeyValueParams {
    load: LoadParams,
    pub dialect: &'static Dialect,
    pub protocol: Protocol,
    pub other: OtherOperations,
    pub server_threads: u32,
    /// `None`: assay's own load generator.
    pub driver: Option<Driver>,
}

impl Deref for KeyValueParams {
    type Target = LoadParams;

    fn deref(&self) -> &LoadParams {
        &self.load
    }
}

impl DerefMut for KeyValueParams {
    fn deref_mut(&mut self) -> &mut LoadParams {
        &mut self.load
    }
}

impl KeyValueParams {
    /// Reads the common parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn new(
        dialect: &'static Dialect,
        map: &BTreeMap<String, Scalar>,
        (protocol, other): (Protocol, OtherOperations),
        server_threads: u32,
    ) -> Result<Self, WorkloadError> {
        let load = LoadParams::read(map)?;
        let params =
            KeyValueParams { load, dialect, protocol, other, server_threads, driver: None };
        params.load()?.check().map_err(|e| wrong(e.to_string()))?;
        if params.network == Network::Namespace {
            if params.transport == Transport::Unix {
                return Err(wrong(
                    "`transport = \"unix\"` uses no network: `network = \"namespace\"` needs tcp",
                ));
            }
            if params.address.is_some() {
                return Err(wrong(
                    "`server.address` names a server that runs already; assay cannot put it into a \
                     network namespace (`network`)",
                ));
            }
        }
        params.refuse_idle(map)?;
        Ok(params)
    }

    fn mode(&self) -> Result<Mode, WorkloadError> {
        if !self.open && self.rate > 0.0 {
            return Err(wrong(
                "`rate` is for `mode = \"open\"`; a closed loop goes as fast as it is answered",
            ));
        }
        if self.open && self.rate <= 0.0 && self.find == Find::Throughput {
            return Err(wrong("`mode = \"open\"` needs a `rate`, in operations a second"));
        }
        if self.open {
            // A search and a curve set their own rates.
            return Ok(Mode::Open { rate: self.rate.max(1.0), arrivals: self.spacing });
        }
        let think = match (self.think, self.spacing) {
            (Duration::ZERO, _) => Think::None,
            (pause, Arrivals::Even) => Think::Constant(pause),
            (pause, Arrivals::Exponential) => Think::Exponential(pause),
        };
        Ok(Mode::Closed { think })
    }

    /// Returns the load configuration without target, CPUs and server process.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: `rate` and `mode` contradict each other.
    pub fn load(&self) -> Result<Config, WorkloadError> {
        let defaults = Mix::default();
        let keys = (defaults.key_prefix.len() + KEY_DIGITS) as u32;
        let other = self.other;
        Ok(Config {
            target: Target::Tcp(String::new()),
            protocol: self.protocol,
            credentials: self.credentials()?,
            threads: self.client_threads,
            connections: self.connections,
            depth: self.depth,
            mode: self.mode()?,
            mix: Mix {
                get_share: self.gets,
                delete_share: other.deletes,
                increment_share: other.increments,
                multi_get_share: other.multi_gets,
                multi_get_keys: other.multi_get_keys.max(1),
                read_through: self.read_through,
                classes: self.classes()?,
                key_sizes: match self.key_sizes.as_str() {
                    "short" => None,
                    text => {
                        Some(distribution("key_sizes", text, &ETC_KEYS, (keys, MAX_KEY_BYTES))?)
                    }
                },
                keys: self.keys,
                popularity: if self.skewed {
                    Popularity::Zipf { exponent: self.zipf }
                } else {
                    Popularity::Uniform
                },
                hit_ratio: self.hits,
                ..defaults
            },
            ramp_up: self.ramp_up,
            steady: self.steady,
            ramp_down: self.ramp_down,
            seed: self.seed,
            op_timeout: self.op_timeout,
            ..Config::default()
        })
    }

    /// Reads the password from its file.
    fn credentials(&self) -> Result<Option<Credentials>, WorkloadError> {
        let Some(file) = &self.password_file else {
            let idle = !self.user.is_empty();
            return if idle {
                Err(wrong("`auth.user` needs `auth.password_file`"))
            } else {
                Ok(None)
            };
        };
        let failed =
            |what: String| wrong(format!("`auth.password_file`, {}: {what}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
        let password = text.lines().next().unwrap_or_default().to_owned();
        if password.is_empty() {
            return Err(failed("its first line is empty; write the password there".into()));
        }
        Ok(Some(Credentials { user: self.user.clone(), password }))
    }

    /// Returns the classes of the values.
    fn classes(&self) -> Result<Vec<SizeClass>, WorkloadError> {
        let class = |name: &str, sizes, share| SizeClass { name: name.into(), sizes, share };
        let uniform = |(min, max)| Sizes::uniform(min, max);
        let all = |distribution: &Distribution, share: f64| {
            let sizes = Sizes { distribution: distribution.clone(), min: 4, max: MAX_OBJECT };
            class("all", sizes, share)
        };
        Ok(match self.sizes.as_str() {
            "classes" => vec![
                class("small", uniform(self.size_small), self.share_small),
                class("medium", uniform(self.size_medium), self.share_medium),
                class("large", uniform(self.size_large), self.share_large),
            ],
            "etc" => {
                let rows = ETC_SHORT.iter().zip(0u32..).map(|(share, n)| (*share, n.max(4)));
                let short = Sizes::weighted(rows.collect()).map_err(|e| wrong(e.to_string()))?;
                let share: f64 = ETC_SHORT.iter().sum();
                let longer = SizeClass { name: "longer".into(), ..all(&ETC_VALUES, 1.0 - share) };
                vec![class("short", short, share), longer]
            }
            text => {
                let sizes = distribution("sizes", text, &ETC_VALUES, (4, MAX_OBJECT))?;
                vec![class("all", sizes, 1.0)]
            }
        })
    }

    /// Returns the target for a TLS server at `address`.
    pub fn tls(&self, address: String) -> Target {
        let trust = match &self.tls_authorities {
            Some(file) => Trust::Authorities(file.clone()),
            None => Trust::Anything,
        };
        Target::Tls { address, name: self.tls_name.clone(), trust }
    }

    /// Rejects parameters that others leave without an effect: settings of a server that runs
    /// already, and classes of values that have a distribution.
    fn refuse_idle(&self, map: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        for ParamSpec { name, default, .. } in &(self.dialect.spec)().params {
            if map.get(name).map(Scalar::to_text) == default.as_ref().map(Scalar::to_text) {
                continue;
            }
            let server = name.starts_with("server.") && name != "server.address";
            if server && self.address.is_some() {
                return Err(wrong(format!(
                    "`{name}` is for a server that assay starts, not one of `server.address`"
                )));
            }
            let class = name.starts_with("size.") || name.starts_with("share.");
            if class && self.sizes != "classes" {
                return Err(wrong(format!(
                    "`{name}` is for `sizes = \"classes\"`; `sizes = \"{}\"` has no such class",
                    self.sizes
                )));
            }
        }
        Ok(())
    }
}

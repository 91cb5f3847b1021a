//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use assay_environment::cpulist;
use assay_memload::{Arrivals, Config, Mix, Mode, Popularity, Protocol, SizeClass, Target, Think};
use assay_model::{Scalar, units};

use crate::WorkloadError;
use crate::words::split_words;

/// What a trial finds.
#[derive(Debug, Clone, PartialEq)]
pub enum Find {
    /// The throughput of one run.
    Throughput,
    /// The highest rate that keeps a bound.
    MaxRate {
        /// The bound on the response time.
        bound: Duration,
        /// The quantile that is bound.
        quantile: f64,
        /// How close the rates around the answer must be, as a share.
        precision: f64,
    },
    /// Response times at rates.
    Saturation {
        /// The rates; empty: chosen from what a closed loop reaches.
        rates: Vec<f64>,
        /// How many, where they are chosen.
        steps: u32,
    },
}

/// What the bytes travel over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// A UNIX socket.
    Unix,
    /// TLS over TCP.
    Tls,
}

/// The network between load and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The machine's own.
    Loopback,
    /// A namespace of the server's own.
    Namespace,
}

/// Which CPUs one of the two sides has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cpus {
    /// What the split of the trial's CPUs gives it.
    Auto,
    /// All of the trial's, bound to none.
    Any,
    /// These.
    These(Vec<usize>),
}

/// Who makes the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Driver {
    /// assay's own generator.
    Assay,
    /// memtier_benchmark: the one at this path, or on PATH.
    Memtier(Option<PathBuf>),
}

/// A server that assay starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// The program; `None`: the one on PATH.
    pub path: Option<PathBuf>,
    /// Its port; 0: a free one.
    pub port: u16,
    /// Its threads.
    pub threads: u32,
    /// Its CPUs.
    pub cpus: Cpus,
    /// Its memory for objects, bytes.
    pub memory: u64,
    /// More options.
    pub options: Vec<OsString>,
}

/// The server.
#[derive(Debug, Clone, PartialEq)]
pub enum Server {
    /// Started and stopped by the trial.
    Own(Own),
    /// One that runs already, at this address.
    Foreign(String),
}

/// The parameters of a treatment.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// What is found.
    pub find: Find,
    /// The load, complete but for the target, the CPUs and the server's process.
    pub load: Config,
    /// The load generator's CPUs.
    pub client_cpus: Cpus,
    /// What the bytes travel over.
    pub transport: Transport,
    /// The network in between.
    pub network: Network,
    /// Who makes the load.
    pub driver: Driver,
    /// The share of operations whose answers may be missing.
    pub max_missing: f64,
    /// The server.
    pub server: Server,
    /// The name that a TLS server's certificate must carry.
    pub tls_name: String,
    /// The authorities that are believed; `None`: any certificate is.
    pub tls_authorities: Option<PathBuf>,
}

fn wrong(message: impl Into<String>) -> WorkloadError {
    WorkloadError::Param(message.into())
}

/// The checked values of a treatment by name.
struct Map<'a>(&'a BTreeMap<String, Scalar>);

impl Map<'_> {
    fn value(&self, name: &str) -> Result<&Scalar, WorkloadError> {
        self.0.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))
    }

    fn text(&self, name: &str) -> Result<String, WorkloadError> {
        Ok(self.value(name)?.to_text().trim().to_owned())
    }

    fn int(&self, name: &str) -> Result<u64, WorkloadError> {
        let value = self.value(name)?.as_i64().and_then(|v| u64::try_from(v).ok());
        value.ok_or_else(|| wrong(format!("`{name}` takes a whole number from 0")))
    }

    fn number(&self, name: &str) -> Result<f64, WorkloadError> {
        self.value(name)?.as_f64().ok_or_else(|| wrong(format!("`{name}` takes a number")))
    }

    fn time(&self, name: &str) -> Result<Duration, WorkloadError> {
        units::duration_of(self.value(name)?).map_err(|e| wrong(format!("`{name}`: {e}")))
    }

    fn file(&self, name: &str) -> Result<Option<PathBuf>, WorkloadError> {
        let text = self.text(name)?;
        Ok((!text.is_empty()).then(|| PathBuf::from(text)))
    }

    /// The value that stands beside the word of a choice.
    fn one_of<T: Clone>(&self, name: &str, of: &[(&str, T)]) -> Result<T, WorkloadError> {
        let text = self.text(name)?;
        let found = of.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone());
        found.ok_or_else(|| {
            let words: Vec<&str> = of.iter().map(|(word, _)| *word).collect();
            wrong(format!("`{name}` is `{text}`; it takes {}", words.join(", ")))
        })
    }

    fn cpus(&self, name: &str) -> Result<Cpus, WorkloadError> {
        match self.text(name)?.as_str() {
            "auto" => Ok(Cpus::Auto),
            "any" => Ok(Cpus::Any),
            list => cpulist::parse(list)
                .map(Cpus::These)
                .map_err(|e| wrong(format!("`{name}` takes `auto`, `any` or CPUs: {e}"))),
        }
    }

    fn class(&self, name: &str) -> Result<SizeClass, WorkloadError> {
        let key = format!("size.{name}");
        let text = self.text(&key)?;
        let sides = text.split_once('-').unwrap_or((&text, &text));
        let side = |side: &str| {
            let bytes = units::parse_bytes(side.trim()).ok().and_then(|b| u32::try_from(b).ok());
            bytes.ok_or_else(|| {
                wrong(format!("`{key}` is `{text}`; it takes bytes from and to, such as 4-100"))
            })
        };
        let (min, max) = (side(sides.0)?, side(sides.1)?);
        Ok(SizeClass {
            name: name.to_owned(),
            min,
            max,
            share: self.number(&format!("share.{name}"))?,
        })
    }
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let map = Map(map);
        let params = Params {
            find: find(&map)?,
            load: load(&map)?,
            client_cpus: map.cpus("client.cpus")?,
            transport: map.one_of(
                "transport",
                &[("tcp", Transport::Tcp), ("unix", Transport::Unix), ("tls", Transport::Tls)],
            )?,
            network: map.one_of(
                "network",
                &[("loopback", Network::Loopback), ("namespace", Network::Namespace)],
            )?,
            driver: match map.text("driver")?.as_str() {
                "memtier" => Driver::Memtier(map.file("driver.path")?),
                _ => Driver::Assay,
            },
            max_missing: map.number("max_missing")?,
            server: server(&map)?,
            tls_name: map.text("tls.name")?,
            tls_authorities: map.file("tls.authorities")?,
        };
        params.agree(&map)?;
        Ok(params)
    }

    fn agree(&self, map: &Map<'_>) -> Result<(), WorkloadError> {
        self.load.check().map_err(|e| wrong(e.to_string()))?;
        if self.network == Network::Namespace {
            if self.transport == Transport::Unix {
                return Err(wrong(
                    "`transport = \"unix\"` goes past every network; `network = \"namespace\"` takes tcp or tls",
                ));
            }
            if matches!(self.server, Server::Foreign(_)) {
                return Err(wrong(
                    "`server.address` names a server that runs already; assay cannot put it into a network \
                     namespace (`network`)",
                ));
            }
        }
        if let Server::Foreign(_) = self.server {
            foreign_alone(map)?;
        }
        if matches!(self.driver, Driver::Memtier(_)) {
            self.memtier_can()?;
        }
        Ok(())
    }

    fn memtier_can(&self) -> Result<(), WorkloadError> {
        let refuse = |what: &str| {
            Err(wrong(format!("memtier_benchmark cannot do {what}; use `driver = \"assay\"`")))
        };
        match () {
            () if self.find != Find::Throughput => refuse("`find` other than throughput"),
            () if self.load.protocol == Protocol::Meta => refuse("`protocol = \"meta\"`"),
            () if self.load.mix.hit_share < 1.0 => refuse("`hits` below 1"),
            () if !matches!(self.load.mode, Mode::Closed { think: Think::None }) => {
                refuse("an open loop that counts from when operations were due, or `think`")
            }
            () if matches!(self.load.mix.popularity, Popularity::Zipf { .. }) => {
                refuse("`popularity = \"zipf\"` over the same keys as assay")
            }
            () => Ok(()),
        }
    }
}

/// Parameters of a server that assay would start say nothing about one that runs.
fn foreign_alone(map: &Map<'_>) -> Result<(), WorkloadError> {
    let spec = super::spec::spec();
    let names = [
        "server.path",
        "server.port",
        "server.threads",
        "server.cpus",
        "server.memory",
        "server.options",
    ];
    for name in names {
        let default = spec.param(name).and_then(|p| p.default.clone());
        if default.is_some_and(|d| map.0.get(name).is_some_and(|v| v.to_text() != d.to_text())) {
            return Err(wrong(format!(
                "`{name}` is for a server that assay starts; the one at `server.address` runs already"
            )));
        }
    }
    Ok(())
}

fn find(map: &Map<'_>) -> Result<Find, WorkloadError> {
    Ok(match map.text("find")?.as_str() {
        "max-rate" => Find::MaxRate {
            bound: map.time("bound")?,
            quantile: map.number("quantile")?,
            precision: map.number("precision")?,
        },
        "saturation" => {
            Find::Saturation { rates: rates(&map.text("rates")?)?, steps: map.int("steps")? as u32 }
        }
        _ => Find::Throughput,
    })
}

fn rates(text: &str) -> Result<Vec<f64>, WorkloadError> {
    let parts = text.split([',', ' ']).filter(|p| !p.is_empty());
    parts
        .map(|part| {
            let rate = part.parse().ok().filter(|r: &f64| r.is_finite() && *r > 0.0);
            rate.ok_or_else(|| {
                wrong(format!(
                    "`rates` has `{part}`; it takes operations a second, such as 10000 20000"
                ))
            })
        })
        .collect()
}

fn load(map: &Map<'_>) -> Result<Config, WorkloadError> {
    let spacing =
        map.one_of("spacing", &[("even", Arrivals::Even), ("exponential", Arrivals::Exponential)])?;
    let think = match (map.time("think")?, spacing) {
        (Duration::ZERO, _) => Think::None,
        (pause, Arrivals::Even) => Think::Constant(pause),
        (pause, Arrivals::Exponential) => Think::Exponential(pause),
    };
    let rate = map.number("rate")?;
    let mode = match map.text("mode")?.as_str() {
        "open" if rate <= 0.0 && map.text("find")? == "throughput" => {
            return Err(wrong("`mode = \"open\"` needs a `rate`, in operations a second"));
        }
        // A search and a curve bring their own rates.
        "open" => Mode::Open { rate: rate.max(1.0), arrivals: spacing },
        _ if rate > 0.0 => {
            return Err(wrong(
                "`rate` is for `mode = \"open\"`; a closed loop goes as fast as it is answered",
            ));
        }
        _ => Mode::Closed { think },
    };
    Ok(Config {
        target: Target::Tcp(String::new()),
        protocol: map.one_of(
            "protocol",
            &[("text", Protocol::Text), ("meta", Protocol::Meta), ("binary", Protocol::Binary)],
        )?,
        threads: map.int("client.threads")? as usize,
        connections: map.int("connections")? as usize,
        depth: map.int("depth")? as usize,
        mode,
        mix: Mix {
            get_share: map.number("gets")?,
            classes: ["small", "medium", "large"]
                .iter()
                .map(|name| map.class(name))
                .collect::<Result<_, _>>()?,
            keys: map.int("keys")?,
            popularity: match map.text("popularity")?.as_str() {
                "zipf" => Popularity::Zipf { exponent: map.number("zipf")? },
                _ => Popularity::Uniform,
            },
            hit_share: map.number("hits")?,
            ..Mix::default()
        },
        ramp_up: map.time("ramp_up")?,
        steady: map.time("steady")?,
        ramp_down: map.time("ramp_down")?,
        seed: map.int("seed")?,
        op_timeout: map.time("op_timeout")?,
        ..Config::default()
    })
}

fn server(map: &Map<'_>) -> Result<Server, WorkloadError> {
    let address = map.text("server.address")?;
    if !address.is_empty() {
        return Ok(Server::Foreign(address));
    }
    let options = map.text("server.options")?;
    Ok(Server::Own(Own {
        path: map.file("server.path")?,
        port: map.int("server.port")? as u16,
        threads: map.int("server.threads")? as u32,
        cpus: map.cpus("server.cpus")?,
        memory: units::bytes_of(map.value("server.memory")?)
            .map_err(|e| wrong(format!("`server.memory`: {e}")))?,
        options: split_words(&options)
            .map_err(|e| wrong(format!("`server.options` is `{options}`: {e}")))?,
    }))
}

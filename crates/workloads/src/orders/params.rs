//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use assay_environment::cpulist;
use assay_model::{Scalar, units};
use assay_sut::Sched;

use super::schedule::Lengths;
use crate::WorkloadError;
use crate::words::split_words;

/// The faults that can be asked for, and the word of the kit.
pub const FAULTS: [(&str, &str); 7] = [
    ("none", ""),
    ("money", "MONEY"),
    ("stock", "STOCK"),
    ("orders", "ORDERS"),
    ("memory", "MEMORY"),
    ("exit", "EXIT"),
    ("hang", "HANG"),
];

/// Which CPUs the instances have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cpus {
    /// An even split of the trial's.
    Auto,
    /// All of the trial's, bound to none.
    Any,
    /// These, a list for each instance.
    These(Vec<Vec<usize>>),
}

/// The parameters of a treatment.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// How many virtual machines.
    pub instances: usize,
    /// The program; empty: `java` on PATH.
    pub jvm: String,
    /// The heap of each, bytes; `None`: by the warehouses.
    pub heap: Option<u64>,
    /// The options of the collector and the pages, as asked for.
    pub collector: String,
    /// What holds the heap.
    pub pages: String,
    /// More options.
    pub options: Vec<OsString>,
    /// The CPUs.
    pub cpus: Cpus,
    /// The scheduling class; `None`: the trial's.
    pub class: Option<Sched>,
    /// A jar of the kit; `None`: the one that assay compiles.
    pub jar: Option<PathBuf>,
    /// The mix of transactions.
    pub mix: String,
    /// The seed of the data.
    pub seed: u64,
    /// The seed of the transactions; `None`: drawn.
    pub stream: Option<u64>,
    /// The word of the fault; empty: none.
    pub fault: &'static str,
    /// The profile's name.
    pub profile: String,
    /// How long points are.
    pub lengths: Lengths,
    /// The expected peak; `None`: what the virtual machine reports.
    pub peak: Option<u32>,
    /// Why it is set.
    pub peak_reason: String,
    /// The least number of points.
    pub least_points: u32,
    /// How long an instance may take longer than planned.
    pub barrier: Duration,
}

fn wrong(message: impl Into<String>) -> WorkloadError {
    WorkloadError::Param(message.into())
}

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

    /// A length; `profile` where nothing is said.
    fn length(&self, name: &str, profile: Duration) -> Result<Duration, WorkloadError> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Ok(profile);
        }
        units::duration_of(&Scalar::Text(text)).map_err(|e| wrong(format!("`{name}`: {e}")))
    }

    fn cpus(&self, instances: usize) -> Result<Cpus, WorkloadError> {
        let text = self.text("cpus")?;
        match text.as_str() {
            "auto" => return Ok(Cpus::Auto),
            "any" => return Ok(Cpus::Any),
            _ => {}
        }
        let lists: Result<Vec<_>, _> = text.split_whitespace().map(cpulist::parse).collect();
        let lists =
            lists.map_err(|e| wrong(format!("`cpus` takes `auto`, `any` or lists: {e}")))?;
        if lists.len() != instances {
            return Err(wrong(format!(
                "`cpus` has {} lists and there are {instances} instances; give each its own, separated by blanks",
                lists.len()
            )));
        }
        Ok(Cpus::These(lists))
    }
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let map = Map(map);
        let instances = map.int("instances")? as usize;
        let profile = map.text("profile")?;
        let of = Lengths::of(&profile);
        let class = map.text("class")?;
        let class =
            (!class.is_empty()).then(|| class.parse::<Sched>()).transpose().map_err(|e| {
                wrong(format!("`class`: {e}; it takes other, batch, idle, fifo:1, rr:1"))
            })?;
        let fault = map.text("fault")?;
        let barrier = units::duration_of(map.value("barrier")?)
            .map_err(|e| wrong(format!("`barrier`: {e}")))?;
        let heap =
            units::bytes_of(map.value("heap")?).map_err(|e| wrong(format!("`heap`: {e}")))?;
        let params = Params {
            instances,
            jvm: map.text("jvm")?,
            heap: (heap > 0).then_some(heap),
            collector: map.text("collector")?,
            pages: map.text("pages")?,
            options: split_words(&map.text("options")?)
                .map_err(|e| wrong(format!("`options`: {e}")))?,
            cpus: map.cpus(instances)?,
            class,
            jar: Some(map.text("jar")?).filter(|t| !t.is_empty()).map(PathBuf::from),
            mix: map.text("mix")?,
            seed: map.int("seed")?,
            stream: Some(map.int("stream")?).filter(|s| *s > 0),
            fault: FAULTS.iter().find(|f| f.0 == fault).map_or("", |f| f.1),
            lengths: Lengths {
                below: map.length("below", of.below)?,
                scored: map.length("scored", of.scored)?,
                beyond: of.beyond,
                ramp_up: map.length("ramp_up", of.ramp_up)?,
                ramp_down: map.length("ramp_down", of.ramp_down)?,
            },
            profile,
            peak: Some(map.int("peak")? as u32).filter(|n| *n > 0),
            peak_reason: map.text("peak.reason")?,
            least_points: map.int("least_points")? as u32,
            barrier,
        };
        params.agree()
    }

    fn agree(self) -> Result<Self, WorkloadError> {
        if self.heap.is_some_and(|heap| heap < 2 << 20) {
            return Err(wrong("`heap` is below 2 MiB, which no virtual machine starts with"));
        }
        if self.lengths.below.is_zero() || self.lengths.scored.is_zero() {
            return Err(wrong("`below` and `scored` must be longer than 0 s"));
        }
        if let Some(jar) = self.jar.as_ref().filter(|jar| !jar.exists()) {
            return Err(wrong(format!("`jar`: there is no file {}", jar.display())));
        }
        Ok(self)
    }
}

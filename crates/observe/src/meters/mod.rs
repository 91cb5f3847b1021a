//! Power meters outside the kernel. Each source has a thread of its own that reads or polls, so
//! that a slow source delays nothing else; a reading is stamped with the clock of the run when it
//! arrives.

mod ask;
mod lines;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::NotAvailable;

pub use ask::{RedfishError, ipmi_watts, redfish_watts};
pub use lines::watts_of_line;

/// Source of power readings in watts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeterSource {
    /// `ipmi`: `ipmitool` with these arguments before `dcmi power reading`; the first one is the
    /// program if it contains a `/`.
    Ipmi(Vec<String>),
    /// `redfish:URL`: the resource `Power` or `EnvironmentMetrics`, fetched with curl.
    Redfish(String),
    /// `tcp:HOST:PORT`: lines from a TCP server.
    Tcp(String),
    /// `serial:DEVICE`: lines from a serial line, whose settings are left unchanged.
    Serial(String),
    /// `csv:FILE`: lines that another program appends to a file from now on.
    Csv(String),
}

/// Specification of a meter: its source, and which number of a line is the power.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterSpec {
    /// Specification as the user wrote it.
    pub name: String,
    pub source: MeterSource,
    /// Field of the line that holds watts, from 1; `None` for the last number.
    pub field: Option<usize>,
}

/// A specification that names no power meter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeterSpecError {
    #[error("`{0}`: after `#`, write the number of the field with watts, from 1")]
    Field(String),
    #[error(
        "`{0}` is not a power meter; write `ipmi`, `ipmi:-H HOST -U USER -E`, \
         `redfish:https://HOST/...`, `tcp:HOST:PORT`, `serial:/dev/ttyUSB0` or `csv:FILE` (`#2` \
         after the last three takes the second field of a line)"
    )]
    Source(String),
}

impl MeterSpec {
    /// Parses a specification such as `tcp:meter:9999#2`.
    ///
    /// # Errors
    /// The text names no source; the error lists the valid forms.
    pub fn parse(text: &str) -> Result<Self, MeterSpecError> {
        let (rest, field) = match text.rsplit_once('#') {
            None => (text, None),
            Some((rest, field)) => {
                let number = field.parse::<usize>().ok().filter(|n| (1..=1000).contains(n));
                (rest, Some(number.ok_or_else(|| MeterSpecError::Field(text.to_owned()))?))
            }
        };
        let (kind, value) = rest.split_once(':').unwrap_or((rest, ""));
        let value = value.trim().to_owned();
        let source = match kind {
            "ipmi" => {
                Some(MeterSource::Ipmi(value.split_whitespace().map(str::to_owned).collect()))
            }
            "redfish" if value.starts_with("http://") || value.starts_with("https://") => {
                Some(MeterSource::Redfish(value))
            }
            "tcp" if value.contains(':') => Some(MeterSource::Tcp(value)),
            "serial" if !value.is_empty() => Some(MeterSource::Serial(value)),
            "csv" if !value.is_empty() => Some(MeterSource::Csv(value)),
            _ => None,
        };
        let source = source.ok_or_else(|| MeterSpecError::Source(text.to_owned()))?;
        Ok(MeterSpec { name: text.to_owned(), source, field })
    }
}

/// Readings of a source since they were last taken.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Sum and number of the readings.
    sum: f64,
    count: u32,
    /// Time (nanoseconds) and value of the last reading.
    last: Option<(u64, f64)>,
    /// Problems of the source, each once, at most [`MAX_COMPLAINTS`].
    trouble: Vec<String>,
}

/// Maximum number of problems kept, for sources that report one on every line.
const MAX_COMPLAINTS: usize = 4;

impl Inbox {
    fn add(&mut self, t_ns: u64, watts: f64) {
        self.sum += watts;
        self.count += 1;
        self.last = Some((t_ns, watts));
    }
}

/// A running source. Its thread ends soon after this is dropped.
#[derive(Debug)]
pub struct Meter {
    inbox: Arc<Mutex<Inbox>>,
    stop: Arc<AtomicBool>,
}

/// Age beyond which a reading is no longer used.
const STALE: Duration = Duration::from_secs(10);

impl Meter {
    /// Starts to listen, or to poll every `period`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(spec: &MeterSpec, period: Duration) -> Result<Self, NotAvailable> {
        let inbox = Arc::new(Mutex::new(Inbox::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let post = Post { inbox: Arc::clone(&inbox), stop: Arc::clone(&stop) };
        let spec = spec.clone();
        std::thread::Builder::new()
            .name("assay-meter".into())
            .stack_size(256 << 10)
            .spawn(move || match &spec.source {
                MeterSource::Ipmi(words) => ask::ipmi(words, period, &post),
                MeterSource::Redfish(url) => ask::redfish(url, period, &post),
                MeterSource::Tcp(address) => lines::tcp(address, spec.field, &post),
                MeterSource::Serial(path) => lines::device(path, spec.field, &post),
                MeterSource::Csv(path) => lines::file(path, spec.field, &post),
            })
            .map_err(|e| NotAvailable::because(format!("no thread for a power meter: {e}")))?;
        Ok(Meter { inbox, stop })
    }

    /// Returns the mean of the readings since the last call; without any, the last reading if it is
    /// not stale at `t_ns`, else NaN.
    pub fn take(&self, t_ns: u64) -> f64 {
        let mut inbox = lock(&self.inbox);
        let (sum, count) = (std::mem::take(&mut inbox.sum), std::mem::take(&mut inbox.count));
        if count > 0 {
            return sum / f64::from(count);
        }
        let fresh = |at: u64| t_ns.saturating_sub(at) <= STALE.as_nanos() as u64;
        inbox.last.filter(|(at, _)| fresh(*at)).map_or(f64::NAN, |(_, watts)| watts)
    }

    /// Returns the problems of the source so far.
    pub fn trouble(&self) -> Vec<String> {
        lock(&self.inbox).trouble.clone()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

fn lock(inbox: &Mutex<Inbox>) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sending side of the inbox, held by a source.
pub(super) struct Post {
    inbox: Arc<Mutex<Inbox>>,
    stop: Arc<AtomicBool>,
}

impl Post {
    fn put(&self, watts: f64) {
        lock(&self.inbox).add(assay_system::clock::monotonic_ns(), watts);
    }

    fn complain(&self, sentence: impl FnOnce() -> String) {
        let mut inbox = lock(&self.inbox);
        if inbox.trouble.len() >= MAX_COMPLAINTS {
            return;
        }
        let sentence = sentence();
        if !inbox.trouble.contains(&sentence) {
            inbox.trouble.push(sentence);
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Waits; returns false if the source must stop instead.
    fn wait(&self, time: Duration) -> bool {
        const LOOK: Duration = Duration::from_millis(50);
        let until = std::time::Instant::now() + time;
        while !self.stopped() {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LOOK));
        }
        false
    }
}

#[cfg(test)]
mod tests;

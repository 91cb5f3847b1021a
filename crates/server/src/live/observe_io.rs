//! Live block I/O of this machine. All viewers that ask the same question share one tracer, which
//! runs only while they ask and no run is in progress.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_observe::io::{IoTracer, Method, TraceRequest};
use assay_traces::block_io::{Dimension, Filter, IoReport, Measure, NameTable, Question};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use crate::error::Refusal;
use crate::locked;
use crate::queue::shared::SharedQueue;

/// Time after the last request at which a question is dropped.
const UNUSED: Duration = Duration::from_secs(10);
/// Maximum time that a report covers; then tracing starts again.
const MAX_TIME: Duration = Duration::from_secs(600);
/// Maximum wait for the first report.
const FIRST_REPORT: Duration = Duration::from_secs(10);
/// Interval between reads of the kernel's event buffers.
const POLL: Duration = Duration::from_millis(10);
/// Interval between polls of the tracer if the kernel counts the events itself.
const COUNTER_POLL: Duration = Duration::from_millis(250);

/// Maximum number of questions that are traced at once.
const MAX_TRACES: usize = 4;
/// Maximum length of the name of a program or device, in bytes.
pub(crate) const MAX_NAME: usize = 64;

/// Question about block I/O, as query parameters.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct IoQuery {
    /// Dimension to group I/Os by, in addition to their direction; default: program
    #[schemars(extend("enum" = BY.map(Dimension::name)))]
    #[serde(alias = "io")]
    pub by: String,
    /// Name of the only program to include; default: all programs
    pub program: String,
    /// Name of the only device to include; default: all devices
    pub device: String,
}

/// Question about block I/O: its dimension, and the program and the device to include. An empty
/// name includes all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct IoQuestion {
    pub by: Dimension,
    pub program: String,
    pub device: String,
}

impl IoQuestion {
    fn question(&self) -> Question {
        let one = |name: &String| (!name.is_empty()).then(|| name.clone()).into_iter().collect();
        Question {
            by: vec![self.by, Dimension::Direction],
            histograms: vec![Measure::Size, Measure::Latency],
            filter: Filter {
                programs: one(&self.program),
                devices: one(&self.device),
                ..Filter::default()
            },
            ..Question::default()
        }
    }
}

impl IoQuery {
    /// Returns the question, or refuses an invalid one.
    pub(crate) fn read(&self) -> Result<IoQuestion, Refusal> {
        let name = |what: &str, name: &str| {
            let name = name.trim();
            if name.len() > MAX_NAME || name.chars().any(char::is_control) {
                return Err(Refusal::bad(format!(
                    "{what}: a name can have at most {MAX_NAME} bytes and no control characters"
                )));
            }
            Ok(name.to_owned())
        };
        Ok(IoQuestion {
            by: by(&self.by)?,
            program: name("program", &self.program)?,
            device: name("device", &self.device)?,
        })
    }
}

/// Dimensions to choose from, in addition to the direction.
pub(crate) const BY: [Dimension; 4] =
    [Dimension::Program, Dimension::Device, Dimension::File, Dimension::Cgroup];

/// Report so far, or why tracing failed; `None` before the first report.
type ReportResult = Option<Result<Arc<IoReport>, String>>;

struct SharedTrace {
    /// Time of the last request.
    asked: Instant,
    answer: watch::Receiver<ReportResult>,
}

/// Running tracers by the questions that they answer.
pub(crate) struct SharedTraces {
    queue: Arc<SharedQueue>,
    traces: Mutex<HashMap<IoQuestion, SharedTrace>>,
}

/// Returns the dimension of this name, or programs if the name is empty.
fn by(name: &str) -> Result<Dimension, Refusal> {
    let name = if name.is_empty() { Dimension::Program.name() } else { name };
    BY.into_iter().find(|d| d.name() == name).ok_or_else(|| {
        let known = BY.map(Dimension::name).join(", ");
        Refusal::bad(format!("by: `{name}` is not one of {known}"))
    })
}

/// Returns the newest report. Starts a tracer if the question has none.
pub(crate) async fn newest(
    shared: &Arc<SharedTraces>,
    about: &IoQuestion,
) -> Result<Arc<IoReport>, Refusal> {
    let mut receiver = subscribe(shared, about)?;
    let there = tokio::time::timeout(FIRST_REPORT, receiver.wait_for(Option::is_some)).await;
    let answer = match there {
        Ok(Ok(answer)) => answer.clone(),
        Ok(Err(_)) | Err(_) => None,
    };
    match answer {
        Some(Ok(report)) => Ok(report),
        Some(Err(why)) => Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why)),
        None => Err(Refusal::own(&"the tracer did not report in time; try again")),
    }
}

fn subscribe(
    shared: &Arc<SharedTraces>,
    about: &IoQuestion,
) -> Result<watch::Receiver<ReportResult>, Refusal> {
    let mut traces = locked(&shared.traces);
    if let Some(look) = traces.get_mut(about) {
        look.asked = Instant::now();
        return Ok(look.answer.clone());
    }
    if traces.len() >= MAX_TRACES {
        return Err(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{MAX_TRACES} block I/O traces are already running; close another page first"),
        ));
    }
    let (sender, receiver) = watch::channel(None);
    let (own, asked) = (Arc::clone(shared), about.clone());
    std::thread::Builder::new()
        .name("assay-io".into())
        .spawn(move || {
            let failure = own.trace(&asked, &sender).err();
            locked(&own.traces).remove(&asked);
            if let Some(why) = failure {
                sender.send_replace(Some(Err(why)));
            }
        })
        .map_err(|e| Refusal::own(&e))?;
    traces.insert(about.clone(), SharedTrace { asked: Instant::now(), answer: receiver.clone() });
    Ok(receiver)
}

impl SharedTraces {
    pub fn new(queue: Arc<SharedQueue>) -> Arc<Self> {
        Arc::new(SharedTraces { queue, traces: Mutex::default() })
    }

    fn wanted(&self, about: &IoQuestion) -> bool {
        locked(&self.traces).get(about).is_some_and(|look| look.asked.elapsed() < UNUSED)
    }

    /// Traces until nobody asks any more, a run starts, or the server stops.
    fn trace(&self, about: &IoQuestion, to: &watch::Sender<ReportResult>) -> Result<(), String> {
        let names = NameTable::default();
        let ask =
            TraceRequest { question: about.question(), classes: true, ..TraceRequest::default() };
        let wanted = || self.wanted(about) && self.queue.is_idle();
        while wanted() {
            let began = Instant::now();
            let mut tracer =
                IoTracer::start(Path::new("/"), &ask, &names).map_err(|e| e.to_string())?;
            let pause = if tracer.method() == Method::Tracepoints { POLL } else { COUNTER_POLL };
            let tick = ask.question.tick_ns;
            let mut next = (tracer.began_ns() / tick + 1) * tick;
            while wanted() && began.elapsed() < MAX_TIME {
                let now = assay_system::clock::monotonic_ns();
                if now < next {
                    std::thread::sleep(pause.min(Duration::from_nanos(next - now)));
                    tracer.poll();
                    continue;
                }
                tracer.tick(next);
                next = (now / tick + 1) * tick;
                to.send_replace(Some(Ok(Arc::new(tracer.report()))));
            }
            tracer.stop();
        }
        Ok(())
    }
}

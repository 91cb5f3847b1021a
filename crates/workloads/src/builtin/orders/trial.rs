//! Body of a trial: `assay __work orders JSON`, in a separate process. Starts the virtual machines,
//! drives them through the points, and ends them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_model::{Observation, Phase, units};
use assay_system::{Root, clock};

use super::{Spec, build, java, memory, nodes, rate, results};
use crate::Failure;
use crate::builtin::orders::instance::{self, Hello, InstanceLine};
use crate::builtin::orders::params::{Cpus, OrdersParams};
use crate::builtin::orders::result::{MeasuredPoint, Points, ResultNotes, Window};
use crate::builtin::orders::schedule::{PlannedPoint, last, points};
use crate::driver::copies::{CopiesError, Copy, CopyAnswer, ProcessGroup, places};
use crate::driver::work::Channel;
use crate::failure::Result;
use crate::words::quote_words;

/// Time from the start message of a point to its start; `LEAD_EACH` is added for each instance.
const LEAD: Duration = Duration::from_millis(30);
const LEAD_EACH: Duration = Duration::from_millis(3);
/// Default heap without warehouses; `HEAP_EACH` is added for each warehouse.
const HEAP: u64 = 256 << 20;
const HEAP_EACH: u64 = 64 << 20;

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if the measurement could not be completed. Inconsistent books are not an error: they
/// are reported as an event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<()> {
    let spec = Spec::read(json)?;
    let params = OrdersParams::from_map(&spec.params)?;
    let stop = spec.stop_flag()?;
    let keep = spec.keep()?;
    channel.phase(Phase::RampUp, None);
    let stream = params
        .stream
        .unwrap_or_else(|| (clock::monotonic_ns() ^ u64::from(std::process::id())).max(1));
    let (copies, heaps) = copies(&params, &spec, &keep, stream)?;
    let (stop, heaps, scored_s) = (&*stop, &*heaps, (0.0, 0.0));
    let mut trial = OrdersTrial { params: &params, stop, channel, heaps, scored_s };
    trial.tell(&copies, &spec.cpus, stream);
    let mut crew = ProcessGroup::start(&copies)?;
    let hello = trial.greet(&mut crew)?;
    let points = trial.points(&mut crew, &hello)?;
    let busy = trial.busy();
    let wrong: Vec<String> = points.all.iter().flat_map(MeasuredPoint::wrong).collect();
    let lines: Vec<String> = crew
        .members()
        .iter()
        .map(|m| format!("{} on {}", quote_words(&m.copy.argv), m.place()))
        .collect();
    nodes::report_locations(crew.members(), trial.channel);
    drop(crew);
    let about =
        ResultNotes {
            stream,
            unmodified: spec.more.sha256.as_ref().map(|sealed| {
                build::classes_sha256(&spec.more.path).is_ok_and(|now| now == *sealed)
            }),
            precompiled: Some(precompiled(&params)),
            wrong: &wrong,
            lines: &lines,
        };
    // The rule pack has no points at a rate.
    let result = (!params.under_rate()).then(|| points.result(&params, &hello, &about));
    results::files(&keep, &points, result.as_ref())?;
    results::phases(&points, trial.channel);
    results::metrics(&points, &params, busy, trial.channel);
    rate::report(&points, &params, &hello, &keep, trial.channel);
    trial.verdict(&points, &wrong);
    Ok(())
}

/// Returns true if options request precompiled code or archived classes; the archive of the
/// platform's classes comes with every virtual machine and does not count.
fn precompiled(params: &OrdersParams) -> bool {
    let text: Vec<String> =
        params.options.iter().map(|o| o.to_string_lossy().into_owned()).collect();
    let asks = ["AOT", "SharedArchiveFile", "CRaC", "-Xshareclasses", "ReplayDataFile"];
    text.iter().any(|o| asks.iter().any(|a| o.contains(a)))
}

/// Returns the commands and placement of the instances, and their heaps in bytes.
fn copies(
    params: &OrdersParams,
    spec: &Spec,
    keep: &Path,
    stream: u64,
) -> Result<(Vec<Copy>, Vec<u64>)> {
    let java = java::find(&params.jvm)?;
    let on = nodes::assign(&params.nodes, &spec.cpus, params.instances)?;
    let lists: Vec<Option<Vec<usize>>> = match &params.cpus {
        Cpus::Any => vec![None; params.instances],
        Cpus::These(lists) => lists.iter().cloned().map(Some).collect(),
        Cpus::Auto if !on.is_empty() => nodes::cpus(&on)?,
        Cpus::Auto => places(&spec.cpus, params.instances).into_iter().map(Some).collect(),
    };
    let copy = |(i, cpus): (usize, Option<Vec<usize>>)| {
        // Number of processors that the virtual machine will report unless an option or a limit
        // changes it.
        let processors = cpus.as_ref().map_or(spec.cpus.len(), Vec::len) as u32;
        let peak = params.peak.unwrap_or(processors);
        let most = if params.under_rate() { peak } else { last(peak, params.least_points) };
        let heap = params.heap.unwrap_or(HEAP + HEAP_EACH * u64::from(most));
        let log = keep.join(format!("collections-{}.log", i + 1));
        let mut argv = vec![java.path.clone().into_os_string()];
        argv.extend(java.options(params, heap, &log));
        argv.extend(["-cp".into(), spec.more.path.clone().into_os_string(), "orders.Main".into()]);
        let room = last(params.peak.unwrap_or(4096), params.least_points);
        let own = stream.wrapping_add(i as u64 * 0x9E37_79B9) >> 1;
        argv.extend(
            [params.seed.to_string(), own.to_string(), params.mix.clone(), room.to_string()]
                .map(Into::into),
        );
        let copy = Copy {
            argv,
            cwd: Some(spec.dir.clone()),
            cpus,
            node: on.get(i).map(|on| on.node),
            sched: params.class,
            log: PathBuf::from(keep).join(format!("instance-{}.log", i + 1)),
        };
        (copy, heap)
    };
    Ok(lists.into_iter().enumerate().map(copy).unzip())
}

/// State shared by the steps of a trial.
pub(super) struct OrdersTrial<'a> {
    pub(super) params: &'a OrdersParams,
    pub(super) stop: &'a AtomicBool,
    pub(super) channel: &'a mut Channel,
    /// Heap of each instance in bytes.
    pub(super) heaps: &'a [u64],
    /// CPU time of this process in the scored points, and their length, seconds.
    pub(super) scored_s: (f64, f64),
}

impl OrdersTrial<'_> {
    /// Notes the command line and seed, and reports the number of instances and CPUs.
    fn tell(&mut self, copies: &[Copy], cpus: &[usize], stream: u64) {
        if let Some(first) = copies.first() {
            self.channel.note(format!("instance 1: {}", quote_words(&first.argv)));
        }
        self.channel.note(format!("the seed of the transactions was {stream}"));
        let (count, cpus) = (copies.len() as u32, cpus.len() as u32);
        self.channel.evidence(Observation::Crowding { what: "instances".into(), count, cpus });
    }

    /// Waits until every instance has printed a line of the kit that `take` accepts.
    fn hear<T>(
        &self,
        crew: &mut ProcessGroup,
        what: &'static str,
        limit: Duration,
        take: impl Fn(InstanceLine) -> Option<T>,
    ) -> Result<Vec<CopyAnswer<T>>> {
        let read = |_, line: &str| instance::read(line).map(|line| line.and_then(&take));
        crew.meet(what, limit, self.stop, read)
            .map_err(|e| Failure::other(format!("{e}{}", hint(&e, self.heaps))))
    }

    /// Waits until all instances have started, and checks that they conform.
    fn greet(&mut self, crew: &mut ProcessGroup) -> Result<Vec<Hello>> {
        let began = clock::monotonic_ns();
        let answers = self.hear(crew, "its start", self.params.barrier, |line| match line {
            InstanceLine::Hello(hello) => Some(*hello),
            _ => None,
        })?;
        let unsound = |index: usize, detail: String| {
            Failure::other(format!("instance {}: {detail}; nothing was measured", index + 1))
        };
        for (i, answer) in answers.iter().enumerate() {
            if let Some(wrong) = &answer.value.wrong {
                return Err(unsound(i, wrong.clone()));
            }
            // Instances and this process must use the same clock, or the barrier's times mean
            // nothing.
            if !(began.saturating_sub(1_000_000_000)..=answer.t_ns).contains(&answer.value.now_ns) {
                return Err(unsound(
                    i,
                    "the clock of this virtual machine is not CLOCK_MONOTONIC, by which instances \
                    are led"
                        .into(),
                ));
            }
        }
        Ok(answers.into_iter().map(|a| a.value).collect())
    }

    /// Returns the share of a CPU that this process used over the scored points.
    fn busy(&self) -> Option<f64> {
        let (cpu, wall) = self.scored_s;
        (wall > 0.0).then(|| cpu / wall)
    }

    /// Measures the points of the trial in order.
    fn points(&mut self, crew: &mut ProcessGroup, hello: &[Hello]) -> Result<Points> {
        let reported = || hello.iter().map(|h| h.processors);
        let processors = reported().max().unwrap_or(1);
        if reported().any(|p| p != processors) {
            self.channel.note(format!(
                "the instances report different numbers of processors ({}); N is the largest",
                reported().map(|p| p.to_string()).collect::<Vec<_>>().join(", ")
            ));
        }
        let peak = self.params.peak.unwrap_or(processors);
        let mut all = Points { peak, processors, all: Vec::new() };
        if self.params.under_rate() {
            all.all = rate::points(self, crew, peak)?;
            return Ok(all);
        }
        let plan = points(peak, self.params.least_points, &self.params.lengths());
        let total: f64 = plan.iter().map(|p| p.length.as_secs_f64()).sum();
        let mut done = 0.0;
        for (i, planned) in plan.iter().enumerate() {
            let fault = if i == 1 { self.params.fault } else { "" };
            let measured = self.point(crew, *planned, fault)?;
            results::curve(&measured, self.channel);
            all.all.push(measured);
            done += planned.length.as_secs_f64();
            self.channel.progress(done / total);
        }
        Ok(all)
    }

    /// Measures a point and sends its throughput over time.
    pub(super) fn point(
        &mut self,
        crew: &mut ProcessGroup,
        planned: PlannedPoint,
        fault: &str,
    ) -> Result<MeasuredPoint> {
        let cpu = clock::process_cpu_time();
        let lengths = self.params.lengths();
        let barrier = self.params.barrier;
        let last = crew.members().len().saturating_sub(1);
        let say = |crew: &mut ProcessGroup, line: String| {
            for index in 0..last {
                crew.send_line(index, &line);
            }
            crew.send_line(last, format!("{line} {fault}").trim_end());
        };
        say(crew, format!("prepare {}", planned.warehouses));
        let ready = |line| matches!(line, InstanceLine::Prepared(n) if n == planned.warehouses);
        self.hear(crew, "its warehouses", barrier, |line| ready(line).then_some(()))?;
        let after = |at: u64, d: Duration| at.saturating_add(d.as_nanos() as u64);
        let begin = after(clock::monotonic_ns(), LEAD + LEAD_EACH * (last as u32 + 1));
        let start = after(begin, lengths.ramp_up);
        let end = after(start, planned.length);
        let window = Window { begin, start, end, stop: after(end, lengths.ramp_down) };
        say(crew, rate::command(self.params, planned.rate, &window));
        let limit =
            barrier + Duration::from_nanos(window.stop.saturating_sub(clock::monotonic_ns()));
        let answers = self.hear(crew, "the end of its point", limit, |line| match line {
            InstanceLine::Point(point) => Some(*point),
            _ => None,
        })?;
        let root = Root::system();
        let memory = crew.members().iter().map(|m| memory::read(&root, m.pid())).collect();
        let instances = answers.into_iter().map(|a| a.value).collect();
        let measured = MeasuredPoint { planned, window, instances, memory };
        if planned.scored {
            let cpu = clock::process_cpu_time().saturating_sub(cpu);
            self.scored_s.0 += cpu.as_secs_f64();
            self.scored_s.1 += (window.stop - window.begin) as f64 * 1e-9;
        }
        results::series(&measured, self.channel);
        Ok(measured)
    }

    /// Reports whether the books were consistent and all instances ran during all measurements.
    fn verdict(&mut self, points: &Points, wrong: &[String]) {
        let count: u64 =
            points.all.iter().flat_map(|m| &m.instances).map(|p| p.bins.iter().sum::<u64>()).sum();
        let well = format!(
            "the books added up after each of {} points of {} ({} transactions, ramps included), \
             and all were measured while all ran",
            points.all.len(),
            if self.params.instances == 1 {
                "1 instance".into()
            } else {
                format!("{} instances", self.params.instances)
            },
            units::format_value(count as f64, "1"),
        );
        self.channel.verdict(wrong, well);
    }
}

impl From<CopiesError> for Failure {
    fn from(error: CopiesError) -> Self {
        Failure::other(error)
    }
}

/// Returns the remedy for a virtual machine that ended or is late. `heaps` has the heap of each in
/// bytes.
fn hint(error: &CopiesError, heaps: &[u64]) -> String {
    let says = |stderr: &str, texts: &[&str]| texts.iter().any(|text| stderr.contains(text));
    // The last two are of a heap in which it does not even start.
    let small = ["OutOfMemoryError", "Too small", "GC triggered before VM init"];
    let remedy = match error {
        CopiesError::Ended { index, stderr, .. } if says(stderr, &small) => {
            let heap = units::format_bytes(heaps.get(index - 1).copied().unwrap_or(0));
            return format!(
                "; the heap of {heap} is too small: raise `heap` (a warehouse holds about 25 MB)"
            );
        }
        CopiesError::Ended { stderr, .. } if says(stderr, &["Could not reserve enough space"]) => {
            "; the machine has no room for this heap: lower `heap` or `instances`"
        }
        CopiesError::Ended { status, .. } if status.contains("signal: 9") => {
            "; it was killed, perhaps by the kernel for lack of memory (see `dmesg`)"
        }
        CopiesError::Late { .. } => {
            "; raise `heap` if collections-N.log has one full collection after another, or \
             `barrier` if the machine is that slow, else see the instance's log"
        }
        _ => "",
    };
    remedy.to_owned()
}

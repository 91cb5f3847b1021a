//! Monitor of GPUs: AMD from the files of the driver amdgpu, NVIDIA from one `nvidia-smi` that runs
//! as long as the monitor. Its library NVML is not loaded, because a static program cannot.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_system::clock;

use crate::sampling::scan::{WordIter, decimal, lines, number};
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, FirstSeries, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static BUSY: Chart = Chart::lines("GPU utilization");
static MEMORY: Chart = Chart::lines("GPU memory");
static POWER: Chart = Chart::lines("GPU power");
static CLOCK: Chart = Chart::lines("GPU clock");

/// Description of the monitor `gpu`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "gpu",
    help: "GPUs: AMD from the driver amdgpu (/sys/class/drm), NVIDIA from /usr/bin/nvidia-smi.",
    subjects: "AMD cards (`card0`) and NVIDIA devices (`nvidia0`)",
    fields: &[
        Field::new("busy", "%", "Share of the time in which the GPU was busy").drawn(&BUSY, ""),
        Field::new("memory", "B", "Memory of the device in use").drawn(&MEMORY, ""),
        Field::new("power", "W", "Power by the board's own sensor").lower().drawn(&POWER, ""),
        Field::new("clock", "Hz", "Clock of the shaders").drawn(&CLOCK, ""),
        Field::new("power_cap", "1", "1 if a power limit lowers the clock (NVIDIA)").lower(),
        Field::new("thermal_cap", "1", "1 if the temperature lowers the clock (NVIDIA)").lower(),
    ],
    open: |tree| Gpus::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

const CARDS: &str = "sys/class/drm";
/// Values of the fields of a device; NaN if unknown.
type Values = [f64; 6];

/// Columns of nvidia-smi. Newer drivers keep the old name of the last one.
const QUERY: &str = "--query-gpu=index,utilization.gpu,memory.used,power.draw,clocks.sm,\
                     clocks_throttle_reasons.active";
/// Reasons to lower the clock (`nvmlClocksThrottleReason...`): power cap and brake; slowdowns.
const POWER_BITS: u64 = 0x84;
const THERMAL_BITS: u64 = 0x60;
/// Time until the first answer of nvidia-smi, and age at which one is no longer valid.
const PATIENCE: Duration = Duration::from_secs(5);

struct Card {
    subject: String,
    /// Files of the first four fields, which [`READERS`] read.
    files: [Option<SampledFile>; 4],
    series: Option<FirstSeries>,
}

struct Gpus {
    cards: Vec<Card>,
    nvidia: Option<Smi>,
    /// Series of the NVIDIA devices by index.
    series: Vec<FirstSeries>,
    trouble: Trouble,
}

impl Gpus {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let mut trouble = Trouble::default();
        let mut cards = Vec::new();
        for card in tree.names(CARDS) {
            let folder = format!("{CARDS}/{card}/device");
            let busy = tree.path(&format!("{folder}/gpu_busy_percent"));
            if !card.starts_with("card") || !busy.exists() {
                continue;
            }
            let sensors = format!("{folder}/hwmon");
            let mut power = tree.names(&sensors).into_iter().flat_map(|chip| {
                ["average", "input"].map(|kind| format!("{sensors}/{chip}/power1_{kind}"))
            });
            let power = power.find(|file| tree.path(file).exists());
            let file = |name: &str| Some(format!("{folder}/{name}"));
            let files =
                [file("gpu_busy_percent"), file("mem_info_vram_used"), power, file("pp_dpm_sclk")]
                    .map(|file| trouble.opened("open", tree.open(&file?, ReadMode::Whole)));
            cards.push(Card { subject: card, files, series: None });
        }
        let nvidia = Smi::start(tree).map_err(|e| trouble.note("nvidia", || e.reason)).ok();
        if cards.is_empty() && nvidia.is_none() {
            trouble.note("amdgpu", || "no card in /sys/class/drm is one of amdgpu".to_owned());
            return Err(NotAvailable::because(trouble.sentences().join("; ")));
        }
        Ok(Gpus { cards, nvidia, series: Vec::new(), trouble })
    }
}

impl Monitor for Gpus {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        for card in &mut self.cards {
            let mut values = [f64::NAN; 6];
            for (i, file) in card.files.iter_mut().enumerate() {
                let text = file.as_mut().and_then(|f| f.text("read", &mut self.trouble));
                values[i] = text.map_or(f64::NAN, READERS[i]);
            }
            let intern = || out.intern(SPEC.name, &card.subject, SPEC.fields);
            let series = *card.series.get_or_insert_with(intern);
            out.push(t_ns, series, &values);
        }
        let latest = self.nvidia.as_ref().and_then(|smi| smi.latest.lock().ok());
        let now_ns = clock::monotonic_ns();
        for (i, (read_ns, values)) in latest.iter().flat_map(|all| all.iter()).enumerate() {
            if self.series.len() == i {
                self.series.push(out.intern(SPEC.name, &format!("nvidia{i}"), SPEC.fields));
            }
            let fresh = now_ns.saturating_sub(*read_ns) < PATIENCE.as_nanos() as u64;
            out.push(t_ns, self.series[i], if fresh { values } else { &[f64::NAN; 6] });
        }
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

/// Readers of the files of a card, in the order of the fields.
const READERS: [fn(&[u8]) -> f64; 4] = [whole, whole, |text| whole(text) * 1e-6, current_clock];

fn whole(text: &[u8]) -> f64 {
    WordIter::new(text).next().and_then(number).map_or(f64::NAN, |n| n as f64)
}

/// Returns the clock in Hz of the line that is marked as current, such as `1: 1350Mhz *`.
fn current_clock(text: &[u8]) -> f64 {
    let word = lines(text).find(|l| l.ends_with(b"*")).and_then(|l| WordIter::new(l).nth(1));
    let mhz = word.and_then(|word| number(word.split(u8::is_ascii_alphabetic).next()?));
    mhz.map_or(f64::NAN, |mhz| mhz as f64 * 1e6)
}

/// The last answer for each device, with the time of its arrival in ns.
type Latest = Arc<Mutex<Vec<(u64, Values)>>>;

/// A running nvidia-smi. It ends with this process too: its next answer finds no reader.
struct Smi {
    child: Child,
    latest: Latest,
}

impl Smi {
    fn start(tree: &Tree) -> Result<Self, NotAvailable> {
        let program = tree.path("usr/bin/nvidia-smi");
        program.metadata().map_err(|e| NotAvailable::file(&program, &e))?;
        let mut child = Command::new(&program)
            .args([QUERY, "--format=csv,noheader,nounits", "-lms", "500"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| NotAvailable::file(&program, &e))?;
        let answers = child.stdout.take().map(BufReader::new);
        let smi = Smi { child, latest: Latest::default() };
        let (latest, (first, begun)) = (smi.latest.clone(), channel());
        std::thread::spawn(move || {
            for line in answers.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
                let read = device(&line).map(|(index, values)| {
                    let Ok(mut all) = latest.lock() else { return };
                    let room = all.len().max(index + 1);
                    all.resize(room, (0, [f64::NAN; 6]));
                    all[index] = (clock::monotonic_ns(), values);
                });
                // Nobody listens any more after the first answer.
                let _ = first.send(read.ok_or(line));
            }
        });
        let answer = begun.recv_timeout(PATIENCE).unwrap_or_else(|_| Err("nothing".to_owned()));
        answer
            .map(|()| smi)
            .map_err(|why| NotAvailable::because(format!("{} answered: {why}", program.display())))
    }
}

impl Drop for Smi {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses a line of [`QUERY`] into the index of the device and its values.
fn device(line: &str) -> Option<(usize, Values)> {
    let mut cells = line.split(',').map(str::trim);
    let index = cells.next()?.parse().ok().filter(|index| *index < 64)?;
    let mut value = || cells.next().map(|cell| decimal(cell.as_bytes()));
    let (busy, memory, power, clock) = (value()?, value()? * 1_048_576.0, value()?, value()? * 1e6);
    let reasons =
        u64::from_str_radix(cells.next()?.strip_prefix("0x").unwrap_or_default(), 16).ok();
    let cap = |bits| reasons.map_or(f64::NAN, |reasons| f64::from(u8::from(reasons & bits != 0)));
    Some((index, [busy, memory, power, clock, cap(POWER_BITS), cap(THERMAL_BITS)]))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use super::super::fake::{Fake, value};
    use super::*;

    /// Files of an RX 6800, in the format of the kernel's documentation of amdgpu.
    fn card() -> Fake {
        Fake::new(&[
            ("sys/class/drm/card0/device/gpu_busy_percent", "37\n"),
            ("sys/class/drm/card0/device/mem_info_vram_used", "1073741824\n"),
            ("sys/class/drm/card0/device/pp_dpm_sclk", "0: 500Mhz \n1: 1350Mhz *\n2: 2475Mhz \n"),
            ("sys/class/drm/card0/device/hwmon/hwmon4/power1_average", "81000000\n"),
            ("sys/class/drm/card0-DP-1/status", "connected\n"),
            ("sys/class/drm/card1/device/vendor", "0x8086\n"),
        ])
    }

    fn smi(fake: &Fake, text: &str) {
        fake.write("usr/bin/nvidia-smi", &format!("#!/bin/sh\n{text}\n"));
        let path = fake.root().join("usr/bin/nvidia-smi");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_card_of_amd() {
        let fake = card();
        let mut watch = fake.open(&SPEC).unwrap();
        let rows = watch.after(1);
        let of = |field| value(&rows, "card0", field);
        assert_eq!((of("busy"), of("memory"), of("power")), (37.0, 1_073_741_824.0, 81.0));
        assert_eq!(of("clock"), 1.35e9);
        assert!(of("power_cap").is_nan(), "the driver does not report it");
        assert_eq!(rows.len(), 6);
        assert!(watch.monitor.not_seen()[0].contains("nvidia-smi does not exist"));
        fake.write("sys/class/drm/card0/device/pp_dpm_sclk", "S: 19Mhz *\n0: 500Mhz \n");
        fake.write("sys/class/drm/card0/device/gpu_busy_percent", "\n");
        let rows = watch.after(1);
        assert_eq!(value(&rows, "card0", "clock"), 19e6);
        assert!(value(&rows, "card0", "busy").is_nan());
    }

    #[test]
    fn devices_of_nvidia_and_the_end_of_the_program() {
        let fake = card();
        smi(
            &fake,
            "echo '0, 98, 40331, 297.55, 1410, 0x0000000000000004'\n\
             echo '1, 0, 4, [N/A], 210, 0x0000000000000041'\nexec sleep 1000",
        );
        let mut watch = fake.open(&SPEC).unwrap();
        let began = Instant::now();
        let rows = loop {
            let rows = watch.after(1);
            if rows.len() == 18 || began.elapsed() > Duration::from_secs(30) {
                break rows;
            }
        };
        let of = |i: u32, field| value(&rows, &format!("nvidia{i}"), field);
        assert_eq!((of(0, "busy"), of(0, "memory")), (98.0, 40331.0 * 1_048_576.0));
        assert_eq!((of(0, "power"), of(0, "clock")), (297.55, 1.41e9));
        assert_eq!((of(0, "power_cap"), of(0, "thermal_cap")), (1.0, 0.0));
        assert_eq!((of(1, "power_cap"), of(1, "thermal_cap")), (0.0, 1.0));
        assert!(of(1, "power").is_nan());
        assert_eq!(value(&rows, "card0", "busy"), 37.0);
    }

    #[test]
    fn lines_that_are_none_of_a_device() {
        for line in ["", "0", "x, 1, 1, 1, 1, 0x0", "64, 1, 1, 1, 1, 0x0", "No devices were found"]
        {
            assert_eq!(device(line), None, "{line}");
        }
        let (_, values) = device("3, 5, 6, 7, 8, [Not Supported]").unwrap();
        assert!(values[4].is_nan() && values[5].is_nan() && values[0] == 5.0);
    }

    #[test]
    fn what_is_missing_is_reported() {
        let fake = Fake::new(&[]);
        let error = fake.open(&SPEC).err().unwrap().reason;
        assert!(
            error.contains("one of amdgpu") && error.contains("nvidia-smi does not"),
            "{error}"
        );
        smi(&fake, "echo 'NVIDIA-SMI has failed because it could not reach the driver.'; exit 9");
        let error = fake.open(&SPEC).err().unwrap().reason;
        assert!(error.contains("answered: NVIDIA-SMI has failed"), "{error}");
        smi(&fake, "exit 9");
        let error = fake.open(&SPEC).err().unwrap().reason;
        assert!(error.contains("answered: nothing"), "{error}");
    }
}

//! Compares the rendered tables with the expected text, character by character.

use assay_model::SampleSet;

use super::{DiskTableLayout, Disks, Frame, Renderer, View};
use crate::{Recorder, monitors};

/// Row of test data: (monitor, subject, values of its first fields).
type TestRow = (&'static str, &'static str, &'static [f64]);

const NAN: f64 = f64::NAN;

const MACHINE: &[TestRow] = &[
    ("cpu", "all", &[61.5, 0.5, 9.0, 0.5, 0.5, 3.0, 1.0, 24.0]),
    ("cpu", "cpu0", &[100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("cpu", "cpu1", &[NAN; 8]),
    ("switches", "", &[12_345.0, 900.0, 3.0, 5.0, 1.0, 2.25]),
    (
        "disk",
        "vda",
        &[
            20.0, 160.0, 5.0, 20.0, 2.0, 8.0, 5.0, 20.0, 0.0, 0.0, 10.0, 4.0, 0.0, 0.0, 0.0, NAN,
            NAN, NAN, 2.0, 1.5, 2.0, 50.0,
        ],
    ),
    ("disk", "vdb", &[0.0; 22]),
    ("memory", "", &[32e9, 23.4e9, 25e9, 1e6, 1.65e9, 250e6, 0.0, 1e8, 0.0, 0.0]),
    ("pressure", "cpu", &[12.0, 3.0]),
    ("pressure", "io", &[45.0, 3.0, 40.0, 3.0]),
    ("network", "lo", &[9e9]),
    ("network", "eth0", &[1.5, 10.0, 0.0, 0.0, 2300.0]),
];

fn samples(rows: &[TestRow]) -> SampleSet {
    let mut out = Recorder::default();
    for (t_ns, scale) in [(1, 0.5), (2, 1.0)] {
        for (monitor, subject, values) in rows {
            let fields = &monitors::find(monitor).unwrap().fields[..values.len()];
            let series = out.intern(monitor, subject, fields);
            let values: Vec<f64> = values.iter().map(|v| v * scale).collect();
            out.push(t_ns, series, &values);
        }
    }
    out.samples().window(0, u64::MAX)
}

fn text(view: View, width: usize, rows: &[TestRow]) -> String {
    let frame = Frame::newest(&samples(rows)).unwrap();
    let renderer = Renderer::new(view, width, &frame);
    renderer.header() + &renderer.lines(&frame)
}

#[test]
fn a_frame_is_the_newest_tick() {
    let frame = Frame::newest(&samples(MACHINE)).unwrap();
    assert_eq!(frame.t_ns, 2);
    assert_eq!(frame.value("cpu", "all", "idle"), 24.0);
    assert!(frame.value("cpu", "all", "nonsense").is_nan());
    assert!(frame.value("pressure", "cpu", "full").is_nan());
    assert_eq!(frame.subjects("cpu").collect::<Vec<_>>(), ["all", "cpu0", "cpu1"]);
    assert_eq!(frame.busiest_disk(), Some("vda"));
    assert_eq!(frame.largest("pressure", "some"), Some(("io", 45.0)));
    assert!(frame.watts().is_nan());
    assert_eq!(Frame::newest(&SampleSet::default()), None);
}

#[test]
fn the_summary_takes_80_columns() {
    let expected = "\
cpu % ------------ tasks - memory B ----- busiest disk ---------- net B/s - psi
 us  sy  wa st  id  r cs/s free cach dirt  r/s  w/s  B/s   ms %ut   rx   tx    %
 62  10   3  1  24  5  12k  23G 1.6G 250M   20    5 184k  3.6  50 1.5k 2.3M  i45
";
    assert_eq!(text(View::Summary, 80, MACHINE), expected);
}

#[test]
fn a_wide_terminal_shows_more_and_power_shows_where_it_is_seen() {
    let power: &[TestRow] = &[
        ("power", "package-0", &[40.0]),
        ("power", "package-0/dram", &[90.0]),
        ("power", "package-1", &[42.0]),
    ];
    let machine: Vec<TestRow> = MACHINE.iter().chain(power).copied().collect();
    let expected = "\
cpu % ------------ tasks ---- memory B ----- busiest disk ------------------ net B/s - psi
 us  sy  wa st  id  r  b cs/s free cach dirt    name  r/s  w/s  B/s   ms %ut   rx   tx    %    W
 62  10   3  1  24  5  1  12k  23G 1.6G 250M     vda   20    5 184k  3.6  50 1.5k 2.3M  i45   82
";
    assert_eq!(text(View::Summary, 200, &machine), expected);
    let narrow = text(View::Summary, 80, &machine);
    assert!(narrow.contains(" W\n") && !narrow.contains("dirt"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
}

#[test]
fn what_was_not_sampled_is_a_dash() {
    let line = text(View::Summary, 80, &MACHINE[..3]);
    let last = line.lines().last().unwrap();
    assert_eq!(
        last,
        " 62  10   3  1  24  -    -    -    -    -    -    -    -    -   -    -    -    -"
    );
}

#[test]
fn disks_in_the_columns_of_iostat() {
    let expected = "\
Device     r/s   rkB/s  rrqm/s   %rrqm r_await rareq-sz     w/s   wkB/s  wrqm/s   %wrqm w_await \
wareq-sz     d/s   dkB/s  drqm/s   %drqm d_await dareq-sz     f/s f_await  aqu-sz   %util
vda      20.00  160.00    5.00   20.00    2.00     8.00    5.00   20.00    0.00    0.00   \
10.00     4.00    0.00    0.00    0.00       -       -        -    2.00    1.50    2.00   50.00
vdb       0.00    0.00    0.00    0.00    0.00     0.00    0.00    0.00    0.00    0.00    \
0.00     0.00    0.00    0.00    0.00    0.00    0.00     0.00    0.00    0.00    0.00    0.00

";
    assert_eq!(text(View::Disk, 80, MACHINE), expected);
}

fn disks(disks: Disks) -> String {
    let frame = Frame::newest(&samples(MACHINE)).unwrap();
    Renderer::new(View::Disk, 80, &frame).with_disks(disks).lines(&frame)
}

#[test]
fn disks_as_on_solaris() {
    let expected = "     cpu
 us sy wt id
 62 10  3 24
                    extended device statistics
   r/s    w/s    kr/s    kw/s wait actv wsvc_t asvc_t svc_t %w  %b device
  20.0    5.0   160.0    20.0    -    -      -      -   3.6  -  50 vda
   0.0    0.0     0.0     0.0    -    -      -      -     -  -   0 vdb
";
    assert_eq!(
        disks(Disks { shape: DiskTableLayout::Solaris, cpu: true, ..Disks::default() }),
        expected
    );
}

#[test]
fn disks_in_80_characters_without_those_that_were_idle() {
    let expected = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          61.50    0.50   10.00    3.00    1.00   24.00

Device      tps       kB/s    rqm/s   await  areq-sz  aqu-sz  %util
vda       25.00     180.00     5.00    3.60     7.20    2.00  50.00

";
    let shown =
        Disks { shape: DiskTableLayout::Short, cpu: true, skip_idle: true, ..Disks::default() };
    assert_eq!(disks(shown), expected);
}

#[test]
fn a_line_for_every_cpu() {
    let expected = "\
CPU     user    nice  system     irq softirq  iowait   steal    idle
all    61.50    0.50    9.00    0.50    0.50    3.00    1.00   24.00
cpu0  100.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00
cpu1       -       -       -       -       -       -       -       -

";
    assert_eq!(text(View::Cpu, 80, MACHINE), expected);
}

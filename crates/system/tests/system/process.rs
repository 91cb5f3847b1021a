//! Tests with real programs: their exit status, their captured output, and that no process is left
//! alive.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use assay_model::Exit;
use assay_system::Interrupt;
use assay_system::process::{
    Limits, ProcessEnd, ProcessError, ProcessResult, ProgramSpec, Runner, Sink,
};
use assay_testing::alone;
use rustix::process::{WaitId, WaitIdOptions};

fn limits() -> Limits {
    Limits {
        timeout: Duration::from_secs(20),
        grace: Duration::from_millis(300),
        keep_bytes: 1 << 20,
    }
}

fn run_with(
    runner: &mut Runner,
    argv: &[&str],
    limits: &Limits,
    protocol: bool,
    sink: &mut dyn Sink,
) -> Result<ProcessResult, ProcessError> {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    let program = ProgramSpec { argv: &argv, protocol, ..ProgramSpec::default() };
    runner.run(&program, limits, sink)
}

fn sh(runner: &mut Runner, script: &str) -> ProcessResult {
    run_with(runner, &["sh", "-c", script], &limits(), false, &mut ()).unwrap()
}

/// True if another process has `mark` in its command line.
fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let cmdline = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        !own && String::from_utf8_lossy(&cmdline).replace('\0', " ").contains(mark)
    })
}

#[test]
fn exit_codes_signals_and_output() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    let ran = sh(&mut runner, "echo out; echo err >&2; exit 7");
    assert_eq!(ran.exit, Exit::Code(7));
    assert_eq!(
        (runner.stdout.bytes(), runner.stderr.bytes()),
        (b"out\n".to_vec(), b"err\n".to_vec())
    );
    assert_eq!(sh(&mut runner, "kill -SEGV $$").exit, Exit::Signal(11));
    assert!(runner.stdout.bytes().is_empty(), "the last program's output is forgotten");
}

#[test]
fn user_time_is_that_of_the_program() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    let ran = sh(&mut runner, "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
    assert!(ran.resources.user_s > 0.02, "{:?}", ran.resources);
    assert!(ran.resources.user_s <= ran.resources.wall_s * 1.2 + 0.02, "{:?}", ran.resources);
    let idle = sh(&mut runner, "exec sleep 0.2");
    assert!(idle.resources.user_s < 0.05 && idle.resources.wall_s >= 0.2, "{:?}", idle.resources);
}

#[test]
fn peak_memory_is_that_of_the_program_or_unknown() {
    let _turn = alone();
    // This test process has touched more memory than `grep` needs.
    let ballast = vec![1u8; 64 << 20];
    let mut runner = Runner::new(None);
    let large = sh(&mut runner, "head -c 200000000 /dev/zero | tail -c 150000000 > /dev/null");
    assert!(large.resources.peak_memory_bytes.unwrap() > 100_000_000, "{:?}", large.resources);
    let own = ["grep", "VmHWM", "/proc/self/status"];
    let small = run_with(&mut runner, &own, &limits(), false, &mut ()).unwrap();
    let told = match assay_system::taskstats::Taskstats::listen() {
        Ok(_) => small.resources.peak_memory_bytes.unwrap(),
        Err(why) => {
            println!("skipped: because {why}");
            return assert_eq!(small.resources.peak_memory_bytes, None, "{}", ballast.len());
        }
    };
    let printed = String::from_utf8(runner.stdout.bytes()).unwrap();
    let kib: u64 = printed.split_whitespace().nth(1).unwrap().parse().unwrap();
    // After this, the program only prints and exits. The kernel counts resident memory per CPU; the
    // file adds up the parts and the report does not.
    let ratio = told as f64 / (kib * 1024) as f64;
    assert!((0.8..1.25).contains(&ratio), "{told} B told, {kib} KiB printed");
    // Of several processes the largest counts, in whatever order they exit.
    let several = sh(
        &mut runner,
        "sleep 0.05 & head -c 30000000 /dev/zero | tail -c 30000000 >/dev/null; wait",
    );
    let peak = several.resources.peak_memory_bytes.unwrap();
    assert!((30_000_000..60_000_000).contains(&peak), "{peak}");
    // More processes than the kernel's buffer has room for: the peak must not be that of only a
    // part.
    let many = sh(&mut runner, "for i in $(seq 9000); do (:); done");
    let peak = many.resources.peak_memory_bytes;
    assert!(peak.is_none_or(|p| p > 500_000), "{peak:?}");
}

#[test]
fn a_gigabyte_of_output_stays_bounded() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    let ran = sh(&mut runner, "echo first; head -c 1000000000 /dev/zero; echo last");
    assert_eq!(ran.exit, Exit::Code(0));
    assert_eq!(runner.stdout.total(), 1_000_000_011);
    assert_eq!(runner.stdout.kept(), 1 << 20);
    let kept = runner.stdout.bytes();
    assert!(kept.starts_with(b"first\n") && kept.ends_with(b"last\n"));
}

#[test]
fn a_program_that_hangs_is_ended_with_its_group() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    let limits = Limits { timeout: Duration::from_millis(300), ..limits() };
    // The shell and its child ignore SIGTERM, so that SIGKILL is needed.
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; exec sleep 987.125' & wait; sleep 987.125";
    let ran = run_with(&mut runner, &["sh", "-c", script], &limits, false, &mut ()).unwrap();
    assert_eq!((ran.end, ran.exit), (ProcessEnd::TimedOut, Exit::Signal(9)));
    assert!(!alive("sleep 987.125"));
}

#[test]
fn what_forks_and_leaves_is_found_and_ended() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    // Kill leftovers of other tests in this process.
    assay_system::end_strays();
    // One in the group, one outside of it, both holding the output open.
    let ran = sh(&mut runner, "sleep 986.25 & setsid sleep 986.25 & echo gone");
    assert_eq!(ran.exit, Exit::Code(0));
    assert_eq!(ran.leftovers, 2);
    assert!(ran.resources.wall_s < 5.0, "it does not wait for them: {:?}", ran.resources);
    assert_eq!(runner.stdout.bytes(), b"gone\n");
    assert!(!alive("sleep 986.25"));
}

#[test]
fn what_ended_before_a_program_is_not_counted_as_left_by_it() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    assay_system::end_strays();
    // The shell ends at once, and its child becomes a child of this process, which ends too.
    std::process::Command::new("sh").args(["-c", "setsid sleep 0.25 &"]).status().unwrap();
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::All, ended).unwrap();
    assert_eq!(sh(&mut runner, "true").leftovers, 0);
}

#[test]
fn an_interrupt_ends_it() {
    let _turn = alone();
    let interrupt = Interrupt::manual().unwrap();
    let mut runner = Runner::new(Some(interrupt.clone()));
    let thread = std::thread::spawn(move || {
        while !alive("sleep 985.5") {
            std::thread::yield_now();
        }
        interrupt.fire();
    });
    let ran = run_with(&mut runner, &["sleep", "985.5"], &limits(), false, &mut ()).unwrap();
    thread.join().unwrap();
    assert_eq!((ran.end, ran.exit), (ProcessEnd::Interrupted, Exit::Signal(15)));
}

#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    ticks: u32,
}

impl Sink for Collected {
    fn line(&mut self, line: &[u8], t_ns: u64) {
        assert!(t_ns > 0);
        self.lines.push(String::from_utf8_lossy(line).into_owned());
    }
    fn every(&self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }
    fn tick(&mut self) {
        self.ticks += 1;
    }
}

#[test]
fn the_protocol_is_read_line_by_line() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    let mut collected = Collected::default();
    let script = "echo '{\"note\":\"a\"}' >&3; sleep 0.3; printf '{\"note\":\"b\"}' >&3";
    run_with(&mut runner, &["sh", "-c", script], &limits(), true, &mut collected).unwrap();
    assert_eq!(collected.lines, ["{\"note\":\"a\"}", "{\"note\":\"b\"}"]);
    assert!(collected.ticks >= 1);
}

#[test]
fn what_cannot_start_says_why() {
    let _turn = alone();
    let mut runner = Runner::new(None);
    let error =
        run_with(&mut runner, &["/no/such/program"], &limits(), false, &mut ()).unwrap_err();
    assert!(error.to_string().contains("`/no/such/program`"), "{error}");
    assert!(error.to_string().contains("installed"), "{error}");
    assert!(run_with(&mut runner, &[], &limits(), false, &mut ()).is_err());
}

/// A runner that starts programs through the launcher.
fn launching() -> Runner {
    let mut runner = Runner::new(None);
    runner.start_launcher();
    runner
}

#[test]
fn programs_are_as_started_by_std() {
    let _turn = alone();
    // Files of the shell itself, settings that programs inherit, and the parent.
    let script = "grep -E '^(Sig[PBIC]|Shd|Cpus|Mems|NoNew|Secc|Umask|Cap|Thr)' /proc/self/status; \
        umask; ulimit -a; nice; pwd; env | sort; ls /proc/$$/fd; cat /proc/$$/oom_score_adj; \
        cat /proc/$$/cgroup; [ $(ps -o pgid= $$) = $$ ] && echo group; echo $PPID; \
        wc -c < /dev/stdin; echo $0 $# err >&2";
    let argv = ["sh", "-c", script, "name", "two words"];
    let text = |bytes| String::from_utf8(bytes).unwrap();
    // posix_spawn of glibc ignores signals 32 and 33, which glibc uses itself.
    let ignored = |mask: &str| u64::from_str_radix(mask, 16).unwrap() & !(3 << 31);
    let line = |line: &str| match line.strip_prefix("SigIgn:\t") {
        Some(mask) => format!("ignored {:x}", ignored(mask)),
        None => line.to_owned(),
    };
    let lines = |bytes| text(bytes).lines().map(line).collect::<Vec<_>>();
    let (mut direct, mut launching) = (Runner::new(None), launching());
    let output = std::process::Command::new(argv[0])
        .args(&argv[1..])
        .process_group(0)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let expected = (lines(output.stdout), text(output.stderr));
    assert!(expected.0.contains(&std::process::id().to_string()), "{:?}", expected.0);
    for (runner, protocol) in [(&mut direct, false), (&mut launching, false)]
        .into_iter()
        .chain([(&mut Runner::new(None), true), (&mut self::launching(), true)])
    {
        let ran = run_with(runner, &argv, &limits(), protocol, &mut ()).unwrap();
        assert_eq!(ran.exit, Exit::Code(0));
        let mut found = (lines(runner.stdout.bytes()), text(runner.stderr.bytes()));
        if protocol {
            let third = found.0.iter().position(|line| line == "3").expect("descriptor 3");
            found.0.remove(third);
        }
        assert_eq!(found, expected);
    }
    for argv in [&["/nonexistent/prog"][..], &["/etc/passwd"], &["nosuchprogram"], &["/"]] {
        let errors = [&mut direct, &mut launching].map(|runner| {
            run_with(runner, argv, &limits(), false, &mut ()).unwrap_err().to_string()
        });
        assert_eq!(errors[0], errors[1]);
    }
    let ran = sh(&mut launching, "kill -SEGV $$");
    assert_eq!((ran.exit, ran.leftovers), (Exit::Signal(11), 0));
    let ran = sh(&mut launching, "sleep 600.25 & setsid sleep 600.25 & exit 3");
    assert_eq!((ran.exit, ran.leftovers), (Exit::Code(3), 2));
    assert!(!alive("600.25"));
    let long = "x".repeat(100_000);
    for runner in [&mut direct, &mut launching] {
        let mut with = |count: usize| {
            let words = std::iter::repeat_n(long.as_str(), count);
            let argv: Vec<&str> = ["sh", "-c", "echo $#", "sh"].into_iter().chain(words).collect();
            run_with(runner, &argv, &limits(), false, &mut ()).map_err(|e| e.to_string())
        };
        assert!(with(90).unwrap_err().contains("too long"));
        with(12).unwrap();
        assert_eq!(runner.stdout.bytes(), b"12\n");
        let error = run_with(runner, &["echo", "a\0b"], &limits(), false, &mut ()).unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
    }
}

#[test]
fn launched_programs_have_peak_memory_of_their_own() {
    let _turn = alone();
    let ballast = vec![1u8; 64 << 20];
    let mut runner = launching();
    for size in [1_000_000u64, 2_000_000, 20_000_000] {
        let script = format!("head -c {size} /dev/zero | tail -c {size} >/dev/null");
        let ran = sh(&mut runner, &format!("/usr/bin/time -f %M sh -c '{script}'"));
        let text = String::from_utf8(runner.stderr.bytes()).unwrap();
        let expected: f64 = text.trim().parse().unwrap_or_else(|_| panic!("{text}"));
        let told = ran.resources.peak_memory_bytes.unwrap() as f64;
        let ratio = told / (expected * 1024.0);
        assert!((0.95..1.05).contains(&ratio), "{size}: {told} B, {expected} KiB by time");
    }
    assert_eq!(ballast.len(), 64 << 20);
}

#[test]
fn a_killed_launcher_is_an_error_once() {
    let _turn = alone();
    let mut runner = launching();
    sh(&mut runner, "true");
    let of_ours = |line: &str| {
        let mut words = line.split_whitespace().map(|word| word.parse::<i32>().unwrap());
        (words.next().unwrap(), words.next().unwrap() == std::process::id() as i32)
    };
    let output = std::process::Command::new("ps").args(["-eo", "pid=,ppid="]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let children: Vec<i32> =
        text.lines().map(of_ours).filter(|(_, ours)| *ours).map(|(pid, _)| pid).collect();
    for child in children {
        if let Some(pid) = rustix::process::Pid::from_raw(child) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
    let error = run_with(&mut runner, &["true"], &limits(), false, &mut ()).unwrap_err();
    assert!(error.to_string().contains("launcher"), "{error}");
    assert_eq!(sh(&mut runner, "exit 4").exit, Exit::Code(4));
}

//! Tests the waits for a CPU against the kernel's own sum of them. Tests that cannot run here print
//! the reason.

use std::path::Path;
use std::process::Command;

use assay_observe::Tracer;
use assay_observe::runqueue::RunQueueWatch;

/// Two shells that count on one CPU; each prints its time on the CPU, its time waiting for one, and
/// its number of turns, as the kernel counts them.
const SHARE_A_CPU: &str = "work() { i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; \
                           read line < /proc/self/schedstat; echo $line; }; work & work & wait";

#[test]
fn two_programs_on_one_cpu_wait_as_long_as_the_kernel_counts() {
    let _alone = assay_testing::alone();
    let mut watch = match RunQueueWatch::start(Path::new("/"), &()) {
        Ok(watch) => watch,
        Err(why) => return println!("skipped: because {why}"),
    };
    if !Path::new("/proc/self/schedstat").exists() {
        return println!("skipped: because the kernel has no /proc/PID/schedstat");
    }
    watch.begin();
    let done = Command::new("taskset").args(["-c", "0", "sh", "-c", SHARE_A_CPU]).output();
    let Ok(done) = done else { return println!("skipped: because there is no taskset") };
    watch.end();
    let seen = watch.stop().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    let numbers: Vec<Vec<u64>> =
        text.lines().map(|l| l.split_whitespace().map(|n| n.parse().unwrap()).collect()).collect();
    assert_eq!(numbers.len(), 2, "{done:?}");
    let kernel_ns: u64 = numbers.iter().map(|n| n[1]).sum();
    let shells = seen.tasks.iter().find(|task| task.program == "sh").unwrap();
    // The shell that waits for both has waits too, but short ones.
    let ratio = shells.ns as f64 / kernel_ns as f64;
    assert!((0.95..1.05).contains(&ratio), "{} of {kernel_ns} ns: {seen:?}", shells.ns);
    let turns: u64 = numbers.iter().map(|n| n[2]).sum();
    assert!(shells.waits() * 10 >= turns * 8, "{} waits in {turns} turns", shells.waits());
    assert!(shells.shortest_ns <= shells.longest_ns && shells.longest_ns <= shells.ns);
    assert_eq!((seen.lost, seen.lost_tasks), (0, 0));
}

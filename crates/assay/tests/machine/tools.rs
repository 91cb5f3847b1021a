//! Kits of known tools: each runs for a second, and its deciding metric has a value.

use crate::common::{World, metric};

/// Kits, programs that they need, parameters, and deciding metrics.
const KITS: [(&str, &[&str], &[&str], &str); 11] = [
    ("sysbench-cpu", &["sysbench"], &["seconds=1"], "throughput"),
    ("sysbench-memory", &["sysbench"], &["seconds=1", "operation=write"], "throughput"),
    ("stress-ng", &["stress-ng"], &["seconds=1", "stressor=pipe"], "benchmarks"),
    ("openssl-speed", &["openssl"], &["seconds=1", "algorithm=sha256"], "throughput"),
    ("hackbench", &["hackbench"], &["groups=1", "loops=50", "channel=pipe"], "time"),
    ("cyclictest", &["cyclictest", "hackbench"], &["seconds=1", "groups=1"], "latency_p99"),
    ("sqlite-speedtest", &["tclsh", "dpkg-source"], &["size=1", "sync=false"], "time"),
    ("iperf3", &["iperf3"], &["seconds=1", "port=25391"], "throughput"),
    ("fio", &["fio"], &[], "benchmarks"),
    ("pgbench", &["pgbench"], &["seconds=1", "scale=1", "clients=2"], "throughput"),
    ("wrk-nginx", &["nginx", "wrk"], &["seconds=1", "port=25392"], "throughput"),
];

#[test]
fn every_kit_of_a_tool_gives_its_metric() {
    let world = World::new();
    let there = |program: &&&str| {
        ["/usr/bin", "/usr/sbin"].iter().any(|dir| std::path::Path::new(dir).join(program).exists())
    };
    for (kit, programs, params, name) in KITS {
        if let Some(missing) = programs.iter().find(|p| !there(p)) {
            println!("skipped: {kit}: because there is no {missing}");
            continue;
        }
        let mut arguments = vec!["run", kit, "--blocks", "1", "--monitors", "none", "--json"];
        arguments.extend(params.iter().flat_map(|param| ["--set", param]));
        let done = world.run(&arguments);
        let record = done.records().remove(0);
        assert_eq!(record["outcome"], "completed", "{kit}: {}", record["error"]);
        assert!(metric(&record, name).is_some_and(|v| v > 0.0), "{kit}: {}", record["metrics"]);
    }
}

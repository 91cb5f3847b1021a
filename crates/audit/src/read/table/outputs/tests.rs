use crate::read::line::lines;
use crate::read::table::reports;

/// The columns and the rows of the only table of a text.
fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut found = reports::read(text, &lines(text));
    assert_eq!(found.len(), 1, "{text}");
    let (table, _) = found.remove(0);
    let rows = table.rows.iter();
    let rows = rows.map(|r| r.cells.iter().map(|c| c.text.clone()).collect()).collect();
    (table.columns, rows)
}

fn in_code(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    table(&format!("```\n{text}```\n"))
}

#[test]
fn runs_of_wrk_are_named_by_their_comments() {
    let run = |name: &str, rate: &str| {
        format!(
            "```\n$ wrk -t4 -c256 -d60s --latency http://10.0.3.7:8080/small     # {name}\n\
             Running 1m test @ http://10.0.3.7:8080/small\n  4 threads and 256 connections\n  \
             Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     3.12ms    1.48ms  41.20ms   88.10%\n    \
             Req/Sec    20.61k     1.02k   23.90k    71.25%\n  Latency Distribution\n     50%    2.84ms\n     99%    8.93ms\n  \
             4921624 requests in 1.00m, 3.52GB read\nRequests/sec:  {rate}\nTransfer/sec:     59.99MB\n```\n"
        )
    };
    let (columns, rows) = table(&format!(
        "{}\nAnd with plugins:\n\n{}",
        run("heddle 1.9", "81917.84"),
        run("2.0", "90")
    ));
    assert_eq!(
        columns[1..],
        [
            "average latency",
            "latency standard deviation",
            "max latency",
            "p50 median latency 50th percentile",
            "p99 latency 99th percentile",
            "total requests",
            "duration of the run",
            "data read",
            "requests/sec",
            "transfer/sec"
        ]
    );
    assert_eq!(
        rows[0],
        [
            "heddle 1.9",
            "3.12ms",
            "1.48ms",
            "41.20ms",
            "2.84ms",
            "8.93ms",
            "4921624",
            "1.00m",
            "3.52GB",
            "81917.84",
            "59.99MB/s"
        ]
    );
    assert_eq!((rows[1][0].as_str(), rows[1][9].as_str()), ("2.0", "90"));
}

#[test]
fn perf_stat_counts_events_of_what_it_ran() {
    let (columns, rows) = in_code(
        " Performance counter stats for './filter-old lineitem.bin' (5 runs):\n\n          \
         4,812.33 msec task-clock          #    0.999 CPUs utilized     ( +-  0.31% )\n    \
         17,340,118,204      cycles              #    3.603 GHz               ( +-  0.28% )\n    \
         19,876,402,551      instructions        #    1.15  insn per cycle    ( +-  0.00% )\n       \
         412,336,090      branch-misses       #   10.56% of all branches   ( +-  0.04% )\n        \
         88,120,345      cache-misses                                     ( +-  0.92% )\n\n            \
         4.8171 +- 0.0150 seconds time elapsed  ( +-  0.31% )\n       4.700000000 seconds user\n",
    );
    assert_eq!(
        columns[1..],
        [
            "task-clock",
            "CPUs utilized",
            "cycles",
            "clock rate",
            "instructions",
            "instructions per cycle (IPC)",
            "branch-misses",
            "branch-misses rate of all branches",
            "cache-misses",
            "time elapsed",
            "user time"
        ]
    );
    assert_eq!(
        rows[0],
        [
            "./filter-old lineitem.bin",
            "4,812.33 msec",
            "0.999",
            "17,340,118,204",
            "3.603 GHz",
            "19,876,402,551",
            "1.15",
            "412,336,090",
            "10.56%",
            "88,120,345",
            "4.8171 +- 0.0150 seconds",
            "4.700000000 seconds"
        ]
    );
}

#[test]
fn commands_of_one_name_are_told_apart_by_their_options() {
    let run = |host: &str, options: &str, name: &str, rate: &str| {
        format!(
            "$ redis-benchmark -h {host} -n 200 -q {options} # {name}\nSET: {rate} requests per second, p50=0.263 msec\n\
             GET: 104602.51 requests per second, p50=0.239 msec\n\n"
        )
    };
    let (columns, rows) = in_code(
        &[
            run("a", "-t set,get,lpush", "redis 7.2", "98231.83"),
            run("b", "-t set,get,lpush", "valkyr", "121951.22"),
            run("a", "-P 16 -t set,get", "redis 7.2", "641025.62"),
        ]
        .concat(),
    );
    assert_eq!(
        columns[1..3],
        ["SET requests per second", "SET p50 median latency 50th percentile"]
    );
    let names: Vec<&str> = rows.iter().map(|r| r[0].as_str()).collect();
    assert_eq!(names, ["redis 7.2", "valkyr", "redis 7.2 -P 16"]);
    assert_eq!(rows[2][1..3], ["641025.62", "0.263 msec"]);
}

#[test]
fn sums_of_iperf_are_named_by_the_comment_over_them() {
    let (columns, rows) = in_code(
        "# host network\n[  5]   0.00-30.00  sec  20.1 GBytes  5.75 Gbits/sec   12   sender\n\
         [SUM]   0.00-30.00  sec  82.1 GBytes  23.5 Gbits/sec   412   sender\n# vxlan\n\
         [SUM]   0.00-30.00  sec  49.6 GBytes  14.2 Gbits/sec  1877   sender\n",
    );
    assert_eq!(columns[1..], ["data transfer", "bandwidth (bitrate)", "retransmits (retries)"]);
    assert_eq!(rows[0], ["host network", "82.1 GBytes", "23.5 Gbits/sec", "412"]);
    assert_eq!(rows[1][0], "vxlan");
}

#[test]
fn ping_gives_its_statistics_one_unit() {
    let (columns, rows) = in_code(
        "--- node-7 ping statistics ---\n100 packets transmitted, 100 received, 0% packet loss, time 101ms\n\
         rtt min/avg/max/mdev = 0.035/0.041/0.060/0.004 ms\n",
    );
    assert_eq!(
        columns[1..],
        ["packet loss", "min rtt", "average rtt", "max rtt", "rtt standard deviation"]
    );
    assert_eq!(rows[0], ["node-7", "0%", "0.035 ms", "0.041 ms", "0.060 ms", "0.004 ms"]);
}

#[test]
fn apache_bench_has_units_in_brackets() {
    let (columns, rows) = in_code(
        "Complete requests:      10000\nRequests per second:    1234.50 [#/sec] (mean)\n\
         Time per request:       8.100 [ms] (mean)\nTime per request:       0.810 [ms] (mean, across all concurrent requests)\n\
         Transfer rate:          512.30 [Kbytes/sec] received\n\nConnection Times (ms)\n              \
         min  mean[+/-sd] median   max\nTotal:          1    8   3.1      8      40\n\n\
         Percentage of the requests served within a certain time (ms)\n  50%      8\n  99%     31\n 100%     40 (longest request)\n",
    );
    assert_eq!(
        columns[1..],
        [
            "Complete requests",
            "Requests per second",
            "Time per request",
            "Time per request across all concurrent requests",
            "Transfer rate received",
            "min total",
            "average total",
            "total standard deviation",
            "median total p50",
            "max total",
            "p50 median latency 50th percentile",
            "p99 latency 99th percentile",
            "p100 latency 100th percentile"
        ]
    );
    assert_eq!(rows[0][2..6], ["1234.50 /s", "8.100 ms", "0.810 ms", "512.30 Kbytes/sec"]);
    assert_eq!(rows[0][12], "31 ms");
}

#[test]
fn k6_vegeta_and_ycsb_name_their_statistics() {
    let (columns, rows) = in_code(
        "     http_req_duration..............: avg=1.5ms  min=612us med=1.3ms max=10ms p(95)=3.1ms\n",
    );
    assert_eq!(columns[1], "average http_req_duration");
    assert_eq!(columns[5], "p95 http_req_duration 95th percentile");
    assert_eq!(rows[0][5], "3.1ms");
    let (columns, rows) = in_code(
        "Requests      [total, rate, throughput]  3000, 100.03, 99.95\n\
         Latencies     [min, mean, 50, 99, max]   1.1ms, 2.1ms, 2.0ms, 9.4ms, 12ms\n",
    );
    assert_eq!(columns[1..4], ["total requests", "rate requests", "throughput requests"]);
    assert_eq!(rows[0][7], "9.4ms");
    let (columns, rows) = in_code(
        "[OVERALL], RunTime(ms), 10110\n[OVERALL], Throughput(ops/sec), 98911.97\n[READ], Operations, 50000\n\
         [READ], AverageLatency(us), 312.5\n[READ], 99thPercentileLatency(us), 1234\n[READ], Return=OK, 50000\n",
    );
    assert_eq!(
        columns[1..],
        [
            "OVERALL run time (ms)",
            "OVERALL throughput (ops/sec)",
            "READ average latency (us)",
            "READ p99 latency 99th percentile (us)"
        ]
    );
    assert_eq!(rows[0][4], "1234");
}

#[test]
fn shells_print_times_in_their_own_ways() {
    let (columns, rows) = in_code(
        "./old in.bin  9.12s user 0.41s system 99% cpu 9.530 total\n./new in.bin  4.02s user 0.40s system 98% cpu 1:04.53 total\n",
    );
    assert_eq!(columns[1..], ["user", "system", "cpu", "total"]);
    assert_eq!(rows[0][1..], ["9.12s", "0.41s", "99%", "9.530 s"]);
    assert_eq!(rows[1][4], "1 min 04.53 s");
    let (columns, rows) = in_code(
        "$ /usr/bin/time ./old\n8.50user 0.41system 0:09.12elapsed 97%CPU (0avgtext+0avgdata 25040maxresident)k\n\
         0inputs+0outputs (0major+6012minor)pagefaults 0swaps\n",
    );
    assert_eq!(columns[1..], ["user", "system", "elapsed", "cpu"]);
    assert_eq!(rows[0], ["/usr/bin/time ./old", "8.50 s", "0.41 s", "0 min 09.12 s", "97%"]);
    let (_, rows) = in_code("$ time ./a\n        9.12 real         8.50 user         0.41 sys\n");
    assert_eq!(rows[0][1..], ["9.12 s", "8.50 s", "0.41 s"]);
    let (_, rows) = in_code("% time ./a\n8.500u 0.410s 0:09.12 97.7%\t0+0k 0+0io 0pf+0w\n");
    assert_eq!(rows[0], ["time ./a", "8.500 s", "0.410 s", "0 min 09.12 s"]);
    let (_, rows) = in_code("$ time -p ./a\nreal 9.12\nuser 8.50\nsys 0.41\n");
    assert_eq!(rows[0][1..], ["9.12 s", "8.50 s", "0.41 s"]);
}

#[test]
fn gnu_time_has_units_in_its_names() {
    let (columns, rows) = in_code(
        "\tCommand being timed: \"./old\"\n\tUser time (seconds): 8.50\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:09.12\n\
         \tMaximum resident set size (kbytes): 25040\n\tExit status: 0\n",
    );
    assert_eq!(
        columns[1..4],
        ["User time", "Elapsed (wall clock) time", "Maximum resident set size"]
    );
    assert_eq!(rows[0][..4], ["./old", "8.50 seconds", "0 min 09.12 s", "25040 kbytes"]);
}

#[test]
fn dd_is_read_out_of_code_too() {
    let (columns, rows) = table(
        "It is the one that everybody understands.\n\n# dd if=/dev/zero of=/tank/big bs=1M       (raidz2)\n\
         17179869184 bytes (17 GB) copied, 58.1 s, 296 MB/s\n# dd if=/dev/zero of=/tank/big bs=1M       (mirrors)\n\
         17179869184 bytes (17 GB, 16 GiB) copied, 44.0 s, 390 MB/s\n",
    );
    assert_eq!(columns[1..], ["bytes copied", "time", "throughput (rate)"]);
    assert_eq!(rows[0], ["raidz2", "17179869184 bytes", "58.1 s", "296 MB/s"]);
    assert_eq!(rows[1][0], "mirrors");
}

#[test]
fn what_looks_a_little_like_a_report_is_none() {
    for text in [
        "```\nAvg Min Max\na b c\n1 2 3\n```\n",
        "[x] [a, b]  1, 2\n[READ], , \n[SUM] - sec  1 B 2 b\n",
        " Performance counter stats for '':\n # \n 1 # \n 1 x # 2 GHz\n seconds time elapsed\n",
        "50%\n%\n Latency Distribution\n%\n101% 3\n",
        "a: =\n: b=1 c=2\n bytes () copied, , \n = /// \n$ # \n$\n#\n",
    ] {
        let _ = reports::read(text, &lines(text));
    }
    assert!(
        reports::read(
            "- a: 1\n- b: 2\n\n- a: 3\n- b: 4\n",
            &lines("- a: 1\n- b: 2\n\n- a: 3\n- b: 4\n")
        )
        .is_empty()
    );
}

#[test]
fn prose_over_a_block_names_its_run_and_sections_do_not() {
    let run = |rate: &str| {
        format!(
            "```\nSummary:\n  Total:\t30.0105 secs\n  Average:\t0.0042 secs\n  Requests/sec:\t{rate}\n\nLatency distribution:\n  \
             50% in 0.0038 secs\n  99% in 0.0121 secs\n```\n"
        )
    };
    let (columns, rows) =
        table(&format!("nginx:\n\n{}\ncaddy:\n\n{}", run("11873.2114"), run("8173.2114")));
    assert_eq!(columns[3..5], ["requests/sec", "p50 median latency 50th percentile"]);
    assert_eq!(rows[0][..3], ["nginx", "30.0105 secs", "0.0042 secs"]);
    assert_eq!(rows[1][0], "caddy");
}

#[test]
fn loops_and_latencies_are_read_a_line_a_run() {
    let (columns, rows) = in_code(
        "In [3]: %timeit f(x)\n1.23 ms ± 4.1 µs per loop (mean ± std. dev. of 7 runs, 1000 loops each)\n\n\
         In [4]: %timeit g(x)\n812 µs ± 2.2 µs per loop (mean ± std. dev. of 7 runs, 1000 loops each)\n",
    );
    assert_eq!(columns[1..], ["time per loop"]);
    assert_eq!(rows[1], ["timeit g(x)", "812 µs ± 2.2 µs"]);
    let (_, rows) = in_code(
        "# stock\nT: 0 ( 1234) P:80 I:1000 C: 100000 Min:      2 Act:    4 Avg:    3 Max:      121\n\
         # rt\nT: 0 ( 1240) P:80 I:1000 C: 100000 Min:      1 Act:    3 Avg:    2 Max:       21\n",
    );
    assert_eq!(rows[1], ["rt", "1 us", "2 us", "21 us"]);
}

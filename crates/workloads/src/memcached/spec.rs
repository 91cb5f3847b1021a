//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, ParamSpec, ParamType, Scalar, WorkloadSpec};

use crate::rows::{choice, int, metric, param};

fn number(name: &str, (min, max): (f64, f64), default: f64, help: &str) -> ParamSpec {
    let ty = ParamType::Float { min, max };
    ParamSpec { name: name.into(), ty, default: Some(Scalar::Float(default)), help: help.into() }
}

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Starts a real memcached, fills it with small, medium and large objects, asks for them over many \
               connections in a closed loop or at a rate, checks every value, and stops it."
            .into(),
        params: [load(), objects(), server(), phases()].concat(),
        metrics: metrics(),
        suite: None,
    }
}

fn load() -> Vec<ParamSpec> {
    let text = || ParamType::Text;
    vec![
        param(
            "find",
            choice(&["throughput", "max-rate", "saturation"]),
            "throughput",
            "What a trial finds: the throughput; the highest rate whose `quantile` stays within `bound`; or the \
             response times at rising rates.",
        ),
        param(
            "mode",
            choice(&["closed", "open"]),
            "closed",
            "`closed`: a connection asks again when it was answered. `open`: operations are due at `rate`, \
             whatever the server does, and response times count from then.",
        ),
        number(
            "rate",
            (0.0, 1e9),
            0.0,
            "Operations a second of `mode = \"open\"`, of all threads together.",
        ),
        param("connections", int(1, 1_000_000), 64, "Connections, of all threads together."),
        param("depth", int(1, 1024), 1, "Operations that may be unanswered on a connection."),
        param(
            "think",
            ParamType::Duration,
            "0 s",
            "What a connection of a closed loop waits after an answer.",
        ),
        param(
            "spacing",
            choice(&["even", "exponential"]),
            "even",
            "How the operations of an open loop and the waits of `think` are spaced around their mean.",
        ),
        param("client.threads", int(1, 1024), 1, "Threads of the load generator."),
        param(
            "client.cpus",
            text(),
            "auto",
            "The CPUs of the load generator, such as `2-3`; `auto` takes the last of the trial's CPUs, one for each \
             of its threads, if some are left for the server; `any` binds it to none.",
        ),
        param("protocol", choice(&["text", "meta", "binary"]), "text", "What is spoken."),
        param("transport", choice(&["tcp", "unix", "tls"]), "tcp", "What it is spoken over."),
        param(
            "network",
            choice(&["loopback", "namespace"]),
            "loopback",
            "`namespace`: the server runs in a network of its own, reached over a virtual cable (veth).",
        ),
        param(
            "driver",
            choice(&["assay", "memtier"]),
            "assay",
            "Who makes the load: assay, or memtier_benchmark.",
        ),
        param("driver.path", text(), "", "The memtier_benchmark to use; empty: the one on PATH."),
        param("bound", ParamType::Duration, "1 ms", "The bound of `find = \"max-rate\"`."),
        number(
            "quantile",
            (0.0, 0.9999),
            0.99,
            "The quantile of the response times that is bound, 0 to 1.",
        ),
        number(
            "precision",
            (0.001, 1.0),
            0.05,
            "The search ends when the rate that kept the bound and the one that broke it differ by less than this share.",
        ),
        param(
            "rates",
            text(),
            "",
            "The rates of `find = \"saturation\"`, with blanks or commas; empty: `steps` rates up to 1.1 times the throughput \
             of a closed loop.",
        ),
        param("steps", int(2, 1000), 10, "How many rates, where `rates` does not say."),
    ]
}

fn objects() -> Vec<ParamSpec> {
    let share = |name, default, help| number(name, (0.0, 1.0), default, help);
    let text = || ParamType::Text;
    vec![
        param("keys", int(1, 1 << 32), 100_000, "How many objects there are."),
        share(
            "share.small",
            0.6,
            "The share of objects that are small, relative to the other classes' shares.",
        ),
        share("share.medium", 0.3, "The share of objects that are medium."),
        share("share.large", 0.1, "The share of objects that are large."),
        param(
            "size.small",
            text(),
            "4-100",
            "Bytes of a small object, from and to; uniform between them.",
        ),
        param("size.medium", text(), "1024-2048", "Bytes of a medium object."),
        param("size.large", text(), "5120-20480", "Bytes of a large object."),
        share("gets", 0.9, "The share of gets among the operations; the rest are sets."),
        share(
            "hits",
            1.0,
            "The share of gets that ask for objects that were set; the rest ask for others.",
        ),
        param(
            "popularity",
            choice(&["uniform", "zipf"]),
            "uniform",
            "Which objects are asked for how often.",
        ),
        number(
            "zipf",
            (0.01, 10.0),
            0.99,
            "The exponent of `popularity = \"zipf\"`: the k-th object is asked for in proportion to 1 / k^zipf.",
        ),
        param("seed", int(0, i64::MAX), 1, "The same seed makes and asks for the same objects."),
    ]
}

fn server() -> Vec<ParamSpec> {
    let text = || ParamType::Text;
    vec![
        param("server.path", text(), "", "The memcached to start; empty: the one on PATH."),
        param(
            "server.address",
            text(),
            "",
            "host:port (or the path of a socket) of a server that runs already: nothing is started or stopped. What \
             it holds under the keys that are used is overwritten.",
        ),
        param(
            "server.port",
            int(0, 65_535),
            0,
            "The port that the server listens on; 0: a free one.",
        ),
        param(
            "server.threads",
            int(1, 1024),
            4,
            "Threads of the server (`-t`); 4 is memcached's own default.",
        ),
        param(
            "server.cpus",
            text(),
            "auto",
            "The CPUs of the server; `auto` takes those of the trial that `client.cpus = \"auto\"` leaves; `any` \
             leaves all of them to it.",
        ),
        param("server.memory", ParamType::Bytes, "1 GiB", "Memory for objects (`-m`)."),
        param(
            "server.options",
            text(),
            "",
            "More options of memcached, such as `-o no_lru_maintainer -I 2m`.",
        ),
        param(
            "tls.name",
            text(),
            "localhost",
            "The name that the certificate of a TLS server must carry.",
        ),
        param(
            "tls.authorities",
            text(),
            "",
            "A PEM file of the authorities whose certificates are believed; empty: any certificate is. The server \
             that is started has one of its own making.",
        ),
    ]
}

fn phases() -> Vec<ParamSpec> {
    let time = |name, default: &str, help| param(name, ParamType::Duration, default, help);
    vec![
        time("ramp_up", "2 s", "Load before the measurement window."),
        time(
            "steady",
            "10 s",
            "The measurement window; for a search or a curve that of each rate.",
        ),
        time("ramp_down", "500 ms", "Load after the measurement window."),
        time("op_timeout", "1 s", "How long an answer may take before it counts as missing."),
        number(
            "max_missing",
            (0.0, 1.0),
            0.001,
            "The share of operations, ramps included, whose answers may be missing (too late, or the connection was \
             lost) before the trial is invalid.",
        ),
    ]
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    use Kind::{Derived, Measured};
    vec![
        metric(
            "throughput",
            "ops/s",
            Higher,
            Measured,
            "Right answers that came in the measurement window over its length. For `max-rate` that at the rate \
             found; for `saturation` the highest of all rates.",
        ),
        metric(
            "max_rate",
            "ops/s",
            Higher,
            Measured,
            "The highest rate that kept the bound (`max-rate` alone).",
        ),
        metric(
            "p50",
            "s",
            Lower,
            Measured,
            "Median response time of gets, hits and misses of all classes.",
        ),
        metric(
            "p99",
            "s",
            Lower,
            Measured,
            "99th percentile; missing with fewer than ten gets beyond it.",
        ),
        metric("p99.9", "s", Lower, Measured, "99.9th percentile, likewise."),
        metric("set_p99", "s", Lower, Measured, "99th percentile of sets, likewise."),
        metric("hit_share", "1", Neither, Measured, "Hits among the gets of the window."),
        metric("bytes_in", "B/s", Neither, Measured, "What the load generator received."),
        metric("bytes_out", "B/s", Neither, Measured, "What it sent."),
        metric(
            "client_cpu",
            "us/op",
            Lower,
            Derived,
            "CPU time of the load generator for an answer.",
        ),
        metric(
            "client_busy",
            "1",
            Neither,
            Measured,
            "The share of a CPU that its busiest thread used.",
        ),
        metric(
            "server_cpu",
            "us/op",
            Lower,
            Derived,
            "CPU time of the server for an answer, by its own count; missing where it does not tell.",
        ),
        metric(
            "server_busy",
            "1",
            Neither,
            Measured,
            "The share of a CPU that its busiest thread used; missing for a server on another machine.",
        ),
        metric(
            "server_cpus",
            "1",
            Neither,
            Measured,
            "How many CPUs' worth of time it used, likewise.",
        ),
        metric(
            "evictions",
            "1",
            Lower,
            Measured,
            "Objects that the server threw out for others in the window.",
        ),
        metric(
            "unanswered",
            "1",
            Lower,
            Measured,
            "Operations of the window that came to no answer.",
        ),
        metric(
            "errors",
            "1",
            Lower,
            Measured,
            "Wrong answers of the whole trial; above 0 it is invalid.",
        ),
        metric(
            "missing",
            "1",
            Lower,
            Measured,
            "Operations of the whole trial without an answer within `op_timeout`, or whose connection was lost; judged \
             by `max_missing`.",
        ),
    ]
}

//! Runs the generator from the shell, for `bench/memcached.sh`: `key=value` arguments in, one line
//! of `key=value` out.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program of its own

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_loadgen::sizes::Sizes;
use assay_loadgen::{
    Arrivals, Config, Error, LoadReport, Mode, Protocol, SizeClass, Target, Think, preload, run,
};

const USAGE: &str = "memload [tcp=HOST:PORT] [protocol=text|meta|binary|resp2|resp3] [cpus=0,1] \
[connections=N] [depth=N] \
[rate=R | think_us=N] [gets=SHARE] [keys=N] [value=BYTES] [ramp=S] [steady=S] [pid=N] [preload=no]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match asked(&arguments) {
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            ExitCode::from(2)
        }
        Ok((config, preloads)) => match act(&config, preloads) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("memload: {e}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Parses the arguments into a configuration, and true if the keys are set before the run.
fn asked(arguments: &[String]) -> Result<(Config, bool), String> {
    let (mut c, mut preloads) = (Config::default(), true);
    for argument in arguments {
        let (key, value) =
            argument.split_once('=').ok_or_else(|| format!("not key=value: {argument}"))?;
        let wrong = |_| format!("cannot read {argument}");
        let number = || value.parse::<f64>().map_err(|e| format!("{argument}: {e}"));
        let count = || value.parse::<usize>().map_err(|e| format!("{argument}: {e}"));
        match (key, value) {
            ("tcp", _) => c.target = Target::Tcp(value.to_owned()),
            ("protocol", "text") => c.protocol = Protocol::Text,
            ("protocol", "meta") => c.protocol = Protocol::Meta,
            ("protocol", "binary") => c.protocol = Protocol::Binary,
            ("protocol", "resp2") => c.protocol = Protocol::Resp2,
            ("protocol", "resp3") => c.protocol = Protocol::Resp3,
            ("gets", _) => c.mix.get_share = number()?,
            ("cpus", _) => {
                let cpus: Result<Vec<usize>, _> = value.split(',').map(str::parse).collect();
                c.cpus = Some(cpus.map_err(|e: std::num::ParseIntError| wrong(e))?);
            }
            ("connections", _) => c.connections = count()?,
            ("depth", _) => c.depth = count()?,
            ("rate", _) => c.mode = Mode::Open { rate: number()?, arrivals: Arrivals::Even },
            ("think_us", _) => {
                let think = Think::Constant(Duration::from_micros(count()? as u64));
                c.mode = Mode::Closed { think };
            }
            ("keys", _) => c.mix.keys = count()? as u64,
            ("value", _) => {
                let length = count()? as u32;
                let name = "all".to_owned();
                c.mix.classes =
                    vec![SizeClass { name, sizes: Sizes::uniform(length, length), share: 1.0 }];
            }
            ("ramp", _) => c.ramp_up = Duration::from_secs_f64(number()?),
            ("steady", _) => c.steady = Duration::from_secs_f64(number()?),
            ("pid", _) => c.server_pid = Some(count()? as u32),
            ("preload", "no") => preloads = false,
            _ => return Err(format!("not known: {argument}")),
        }
    }
    Ok((c, preloads))
}

fn act(config: &Config, preloads: bool) -> Result<(), Error> {
    let stop = AtomicBool::new(false);
    if preloads {
        let loaded = preload(config, &stop)?;
        if loaded.stored != loaded.keys {
            eprintln!("memload: stored {} of {}: {:?}", loaded.stored, loaded.keys, loaded.errors);
        }
    }
    show(&run(config, &stop, |_, _| {})?);
    Ok(())
}

fn show(r: &LoadReport) {
    let ns = |q: f64| r.quantile(q).map_or("none".to_owned(), |t| t.to_string());
    let late = |q: f64| {
        r.late.as_ref().map_or("none".to_owned(), |l| l.own.value_at_quantile(q).to_string())
    };
    println!(
        "window_ns={}..{} start_ns={} ops={} window_s={:.3} throughput={:.0} cpu_us={:.4} \
         busy={:.3} server_busy={:.3} p50_ns={} p99_ns={} \
         p999_ns={} max_ns={} due={} unanswered={} late_p50_ns={} late_p99_ns={} hits={:.4} \
         evicted={} errors={} \
         read_late={} steady={:?} limit={:?} ended={:?}",
        r.window_ns.0,
        r.window_ns.1,
        r.series_start_ns,
        r.completed(),
        r.window_s(),
        r.throughput().unwrap_or(f64::NAN),
        r.cpu_us_per_operation().unwrap_or(f64::NAN),
        r.limit.generator_busy.unwrap_or(f64::NAN),
        r.limit.server.map_or(f64::NAN, |s| s.busiest),
        ns(0.5),
        ns(0.99),
        ns(0.999),
        r.times(None).max(),
        r.times(None).len() + r.unanswered,
        r.unanswered,
        late(0.5),
        late(0.99),
        r.hit_ratio().unwrap_or(f64::NAN),
        r.evicted,
        r.errors.total(),
        r.read_late,
        r.steady.class,
        r.limit.limiter,
        r.ended
    );
    for (kind, text) in &r.errors.texts {
        eprintln!("memload: {}: {text}", kind.name());
    }
}

//! Drives the generator from the shell, for `bench/memcached.sh`: `key=value` arguments in, one line of
//! `key=value` out.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program of its own

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_memload::{
    Arrivals, Config, Error, Mode, Popularity, Protocol, Report, SearchBound, SizeClass, Target,
    Think, preload, run, search_max,
};

const USAGE: &str = "memload [tcp=HOST:PORT | unix=PATH] [protocol=text|meta|binary] [threads=N] [cpus=0,1] \
[connections=N] [depth=N] [rate=R [arrivals=even|exponential]] [think_us=N] [keys=N] [value=BYTES] [zipf=S] \
[hit=SHARE] [get=SHARE] [ramp=S] [steady=S] [seed=N] [pid=N] [preload=no] [do=run|search] [p99_us=N]";

struct Asked {
    config: Config,
    preload: bool,
    verb: String,
    bound: SearchBound,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match asked(&arguments) {
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            ExitCode::from(2)
        }
        Ok(asked) => match act(&asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("memload: {e}");
                ExitCode::FAILURE
            }
        },
    }
}

fn asked(arguments: &[String]) -> Result<Asked, String> {
    let mut a = Asked {
        config: Config::default(),
        preload: true,
        verb: "run".to_owned(),
        bound: SearchBound::default(),
    };
    let (mut rate, mut arrivals) = (None, Arrivals::Even);
    for argument in arguments {
        let (key, value) =
            argument.split_once('=').ok_or_else(|| format!("not key=value: {argument}"))?;
        let wrong = |_| format!("cannot read {argument}");
        let number = || value.parse::<f64>().map_err(|e| format!("{argument}: {e}"));
        let count = || value.parse::<usize>().map_err(|e| format!("{argument}: {e}"));
        let c = &mut a.config;
        match (key, value) {
            ("tcp", _) => c.target = Target::Tcp(value.to_owned()),
            ("unix", _) => c.target = Target::Unix(value.into()),
            ("protocol", "text") => c.protocol = Protocol::Text,
            ("protocol", "meta") => c.protocol = Protocol::Meta,
            ("protocol", "binary") => c.protocol = Protocol::Binary,
            ("threads", _) => c.threads = count()?,
            ("cpus", _) => {
                let cpus: Result<Vec<usize>, _> = value.split(',').map(str::parse).collect();
                c.cpus = Some(cpus.map_err(|e: std::num::ParseIntError| wrong(e))?);
            }
            ("connections", _) => c.connections = count()?,
            ("depth", _) => c.depth = count()?,
            ("rate", _) => rate = Some(number()?),
            ("arrivals", "even") => arrivals = Arrivals::Even,
            ("arrivals", "exponential") => arrivals = Arrivals::Exponential,
            ("think_us", _) => {
                let think = Think::Constant(Duration::from_micros(count()? as u64));
                c.mode = Mode::Closed { think };
            }
            ("keys", _) => c.mix.keys = count()? as u64,
            ("value", _) => {
                let length = count()? as u32;
                let name = "all".to_owned();
                c.mix.classes = vec![SizeClass { name, min: length, max: length, share: 1.0 }];
            }
            ("zipf", _) => c.mix.popularity = Popularity::Zipf { exponent: number()? },
            ("hit", _) => c.mix.hit_ratio = number()?,
            ("get", _) => c.mix.get_share = number()?,
            ("ramp", _) => c.ramp_up = Duration::from_secs_f64(number()?),
            ("steady", _) => c.steady = Duration::from_secs_f64(number()?),
            ("seed", _) => c.seed = count()? as u64,
            ("pid", _) => c.server_pid = Some(count()? as u32),
            ("preload", "no") => a.preload = false,
            ("do", "run" | "search") => value.clone_into(&mut a.verb),
            ("p99_us", _) => a.bound.limit_ns = (number()? * 1e3) as u64,
            _ => return Err(format!("not known: {argument}")),
        }
    }
    if let Some(rate) = rate {
        a.config.mode = Mode::Open { rate, arrivals };
    }
    Ok(a)
}

fn act(asked: &Asked) -> Result<(), Error> {
    let stop = AtomicBool::new(false);
    let config = &asked.config;
    if asked.preload {
        let loaded = preload(config, &stop)?;
        if loaded.stored != loaded.keys {
            eprintln!("memload: stored {} of {}: {:?}", loaded.stored, loaded.keys, loaded.errors);
        }
    }
    match asked.verb.as_str() {
        "search" => {
            let found = search_max(config, asked.bound, &stop, |p, kept| {
                println!("rate={:.0} p99_ns={:?} kept={kept}", p.rate, p.bound_ns);
            })?;
            let best = found.best.as_ref().map(|p| p.rate.round());
            let above = found.above.as_ref().map(|p| p.rate.round());
            println!("best={best:?} above={above:?} confirmed={}", found.confirmed);
        }
        _ => show(&run(config, &stop, |_, _| {})?),
    }
    Ok(())
}

fn show(r: &Report) {
    let ns = |q: f64| r.quantile(q).map_or("none".to_owned(), |t| t.to_string());
    let late = |q: f64| {
        r.late.as_ref().map_or("none".to_owned(), |l| l.own.value_at_quantile(q).to_string())
    };
    println!(
        "window_ns={}..{} start_ns={} ops={} window_s={:.3} throughput={:.0} cpu_us={:.4} busy={:.3} server_busy={:.3} p50_ns={} p99_ns={} \
         p999_ns={} max_ns={} due={} unanswered={} late_p50_ns={} late_p99_ns={} hits={:.4} evicted={} errors={} \
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

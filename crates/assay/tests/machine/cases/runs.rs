//! Scenes of runs and imports.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use assay_testing::git_command;

use super::Scene;
use crate::common::figures::{Figures, noise};
use crate::common::says::{in_list, json, of_run};
use crate::common::virtual_slurm::Slurm;
use crate::common::{World, done, mini_suite, repository};

/// Makes a scene, or returns `None` if it is not about runs.
pub fn make(world: &World, name: &str) -> Option<Scene> {
    let vs = |seconds: &'static str, more: &[&str]| {
        run(world, &[more, &["--vs", seconds, "--", "sleep", "0.01"]].concat())
    };
    Some(match name {
        "plain" => vs("sleep 0.011", &["--blocks", "6"]),
        "suite without its reader" => {
            run(world, &["--blocks", "3", "--", "echo", "test a ... bench: 1 ns/iter (+/- 0)"])
        }
        "few trials" => few_trials(world, name),
        "three levels" => {
            run(world, &["--blocks", "3", "--set", "level=a,b,c", &noisy(world, name).path()])
        }
        "one trial" => run(world, &["--blocks", "1", "--", "true"]),
        "sequential" => sequential(world),
        "changing program" => changing_program(world),
        "built for the host" => built_for_the_host(world),
        "base and peak" => with(
            world,
            name,
            &[("cc", TEXT, "\"cc\""), ("tuning", TUNING, "\"base\"")],
            &["--set", "tuning=base,peak"],
        ),
        "trained on its input" => feedback(world, name, "size=train"),
        "trained on another" => feedback(world, name, "size=ref"),
        "wrong output" => {
            run(world, &["--blocks", "3", "--set", "result=6,7", &noisy(world, name).path()])
        }
        "one failed" => failing(world, name, &["b"]),
        "all failed" => failing(world, name, &["a", "b"]),
        "evidence" => reported(world, name, &[UNLIKE, ""]),
        "other parameters" => other_parameters(world),
        "nodes apart" => nodes(world, "1 ns"),
        "small effect" => small_effect(world, name, &[]),
        "effect within the margin" => small_effect(world, name, &["--margin", "10 %"]),
        "one layout" => small_effect(world, name, &["--set", "controls.aslr=off"]),
        "one mode" | "two modes" => modes(world, name),
        "cold first trial" => cold(world, name),
        "floor" => floor(world),
        "ended by hand" => ended_by_hand(world),
        "imported" => import(world, &data("hyperfine.json")),
        "imported unequal" => imported_unequal(world),
        "imported derived" => import(world, &data("jmh.json")),
        "imported without detectable" => import(world, &data("mcperf.txt")),
        "imported small effect" => imported_small_effect(world),
        "imported percentiles" => import(world, &data("memtier-runs.json")),
        "imported paced" => imported_paced(world),
        "a control in one run" => a_control_in_one_run(world),
        "program of a changed tree" => program_of_a_changed_tree(world),
        "suite" | "suite with a hole" | "suite whose means disagree" => suite(name),
        "nodes" => nodes(world, "1 min"),
        "no such difference" => compared(world, &["--factor", "memory.total"]),
        "two machines" => two_machines(world),
        "no metric shared" => no_metric_shared(world),
        _ => return None,
    })
}

const TEXT: &str = "\"text\"";
const TUNING: &str = "\"choice\"\nof = [\"base\", \"peak\"]";
const SIZE: &str = "\"choice\"\nof = [\"train\", \"ref\"]";

/// Returns the id of the run that was written last.
pub fn newest(world: &World) -> String {
    // The time of the folder's creation is unusable: tmpfs does not store it on Linux 5.10.
    let written = |p: &PathBuf| fs::metadata(p.join("run.json")).unwrap().modified().unwrap();
    let run = world.runs().into_iter().max_by_key(written);
    run.unwrap().file_name().unwrap().to_string_lossy().into_owned()
}

pub fn checked(world: &World) -> Scene {
    Scene::Run(of_run(world, &newest(world), "lab").0)
}

/// Makes a run, whatever happens to its trials, and returns its id.
pub fn made(world: &World, arguments: &[&str]) -> String {
    let before = world.runs().len();
    let done = world.run(&[&["run", "--quiet", "--monitors", "none"], arguments].concat());
    assert!(world.runs().len() > before, "{arguments:?}: {}", done.stderr);
    // This is shown if a check has another result than its case expects.
    println!("{arguments:?} ended with {}\n{}{}", done.code, done.stdout, done.stderr);
    newest(world)
}

pub fn run(world: &World, arguments: &[&str]) -> Scene {
    made(world, arguments);
    checked(world)
}

fn noisy<'a>(world: &'a World, name: &str) -> Figures<'a> {
    Figures::new(world, name)
}

fn with(world: &World, name: &str, params: &[(&str, &str, &str)], more: &[&str]) -> Scene {
    let kit = noisy(world, name).with(params);
    run(world, &[&["--blocks", "3"], more, &[&kit.path()]].concat())
}

fn feedback(world: &World, name: &str, size: &str) -> Scene {
    let params = [("feedback", "\"bool\"", "true"), ("size", SIZE, "\"ref\"")];
    with(world, name, &params, &["--set", size, "--set", "level=a,b"])
}

fn failing(world: &World, name: &str, levels: &[&str]) -> Scene {
    let kit = noisy(world, name);
    for level in levels {
        kit.fails(level);
    }
    run(world, &["--blocks", "3", "--set", "level=a,b", &kit.path()])
}

/// Runs programs that write these lines to file descriptor 3, by level.
fn reported(world: &World, name: &str, lines: &[&str; 2]) -> Scene {
    let kit = noisy(world, name);
    kit.tells("a", lines[0]);
    kit.tells("b", lines[1]);
    run(world, &["--blocks", "3", "--set", "level=a,b", &kit.path()])
}

/// Nodes that differ and clocks that drift apart, neither of which a Slurm on one machine has, and
/// an emulated guest.
const UNLIKE: &str = concat!(
    r#"{"evidence":{"saw":"clock-drift","node":"n2","drift":0.5,"bound":0.01}}"#,
    "\n",
    r#"{"evidence":{"saw":"unlike-nodes","differences":[{"path":"cpu.model","first":["n1","A"],"#,
    r#""others":["n2"],"other":"B","hard":true}]}}"#,
    "\n",
    r#"{"evidence":{"saw":"guest-machine","accelerator":"tcg","metric":"value","unit":"s"}}"#,
    "\n",
);

fn small_effect(world: &World, name: &str, more: &[&str]) -> Scene {
    let kit = noisy(world, name);
    kit.figures("b", &noise(102.0));
    run(world, &[&["--blocks", "6", "--set", "level=a,b"], more, &[&kit.path()]].concat())
}

/// Runs two levels with the same mean: their difference is noise, and a few trials cannot detect
/// smaller ones.
fn few_trials(world: &World, name: &str) -> Scene {
    let kit = noisy(world, name);
    let mut figures = noise(100.0);
    figures.rotate_left(5);
    kit.figures("b", &figures);
    let few = ["--blocks", "4", "--warmup", "1", "--margin", "0.01 %", "--set", "level=a,b"];
    run(world, &[&few[..], &[&kit.path()]].concat())
}

fn modes(world: &World, name: &str) -> Scene {
    let kit = noisy(world, name);
    let far = |(i, v): (usize, f64)| if i % 2 == 0 { v } else { 2.0 * v };
    if name == "two modes" {
        let apart: Vec<f64> = noise(100.0).into_iter().enumerate().map(far).collect();
        kit.figures("a", &apart);
    }
    run(world, &["--blocks", "24", &kit.path()])
}

fn cold(world: &World, name: &str) -> Scene {
    let kit = noisy(world, name);
    let mut figures = noise(100.0);
    figures[0] *= 1.5;
    kit.figures("a", &figures);
    run(world, &["--blocks", "8", &kit.path()])
}

fn sequential(world: &World) -> Scene {
    let text = "schema_version = 1\nname = \"ordered\"\nworkload = \"command\"\n\n\
                [params]\ncommand = \"true\"\n\n[factors]\n\"controls.nice\" = [0, 5]\n\n\
                [design]\nblocks = 4\norder = \"sequential\"\n";
    let file = world.write("ordered.toml", text);
    run(world, &[file.to_str().unwrap()])
}

fn changing_program(world: &World) -> Scene {
    let script = world.write("self.sh", "#!/bin/sh\necho '#' >> \"$0\"\n");
    executable(&script);
    let program = script.to_str().unwrap();
    run(world, &["--blocks", "3", "--set", "controls.nice=0,5", "--", program])
}

fn executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the instruction-set level of this machine's processor.
fn isa_level() -> u32 {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|f| f == flag);
    let levels = [("ssse3", 2), ("avx2", 3), ("avx512vl", 4)];
    levels.iter().filter(|(flag, _)| has(flag)).map(|(_, level)| *level).max().unwrap_or(1)
}

fn built_for_the_host(world: &World) -> Scene {
    world.write("main.c", "int main(void) { return 0; }\n");
    let (native, plain) = (world.path("native"), world.path("generic"));
    let option = format!("-Wl,-z,x86-64-v{}", isa_level());
    for (out, option) in [(&native, option.as_str()), (&plain, "-O1")] {
        let mut cc = Command::new("cc");
        cc.arg(world.path("main.c")).arg(option).arg("-o").arg(out);
        match cc.output() {
            Err(_) => return Scene::Skipped("there is no cc".to_owned()),
            Ok(made) if !made.status.success() => {
                return Scene::Skipped(
                    "this linker marks no program with its processor".to_owned(),
                );
            }
            Ok(_) => {}
        }
    }
    run(world, &["--blocks", "3", "--vs", plain.to_str().unwrap(), "--", native.to_str().unwrap()])
}

/// Makes an A/A run, whose floor is kept for all later runs, and one of these.
fn floor(world: &World) -> Scene {
    let kit = noisy(world, "floor");
    kit.figures("a", &noise(100.0).repeat(20));
    kit.figures("b", &noise(200.0));
    made(world, &["--aa", &kit.path()]);
    run(world, &["--blocks", "10", "--set", "level=a,b", &kit.path()])
}

fn ended_by_hand(world: &World) -> Scene {
    use rustix::process::{Pid, Signal, kill_process};
    let events = world.path("events");
    let arguments = [
        "run",
        "--quiet",
        "--blocks",
        "400",
        "--events",
        events.to_str().unwrap(),
        "--",
        "sleep",
        "0.05",
    ];
    let child = world.assay(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let ended = || fs::read_to_string(&events).unwrap_or_default().contains("\"event\":\"ended\"");
    crate::common::wait_for("no trial ended", ended);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    checked(world)
}

fn data(name: &str) -> PathBuf {
    repository().join("crates/workloads/tests/workloads/readers/data").join(name)
}

fn imported(world: &World, file: &std::path::Path) -> String {
    let done = world.run(&["archive", "import", file.to_str().unwrap(), "--again"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout.lines().next().unwrap().to_owned()
}

fn import(world: &World, file: &std::path::Path) -> Scene {
    let run = imported(world, file);
    Scene::Run(of_run(world, &run, "lab").0)
}

/// Imports a benchmark with three repetitions and one with a single one.
fn imported_unequal(world: &World) -> Scene {
    let mut of = json(&fs::read_to_string(data("google-benchmark.json")).unwrap());
    let more = |b: &serde_json::Value| b["name"] == "BM_sort/4096" && b["repetition_index"] != 0;
    of["benchmarks"].as_array_mut().unwrap().retain(|b| !more(b));
    import(world, &world.write("unequal.json", &of.to_string()))
}

/// Imports hyperfine's output for two commands that differ by 2 %.
fn imported_small_effect(world: &World) -> Scene {
    let result = |command: &str, centre: f64| {
        let times = noise(centre);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let (min, max) = times.iter().fold((f64::MAX, 0.0_f64), |(a, b), t| (a.min(*t), b.max(*t)));
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        let median = f64::midpoint(sorted[(times.len() - 1) / 2], sorted[times.len() / 2]);
        let squares: f64 = times.iter().map(|t| (t - mean).powi(2)).sum();
        let stddev = (squares / (times.len() - 1) as f64).sqrt();
        serde_json::json!({
            "command": command, "mean": mean, "stddev": stddev, "median": median,
            "user": 0.1, "system": 0.1,
            "min": min, "max": max, "times": times, "exit_codes": vec![0; times.len()],
        })
    };
    let text = serde_json::json!({ "results": [result("a", 1.0), result("b", 1.02)] });
    let file = world.write("small.json", &text.to_string());
    import(world, &file)
}

/// Imports fio's output for reads at a fixed rate.
fn imported_paced(world: &World) -> Scene {
    let file = world.path("fio.json");
    let mut fio = Command::new("fio");
    fio.current_dir(world.path(""))
        .args(["--name=paced", "--rw=randread", "--bs=4k", "--size=1m", "--rate_iops=1000"])
        .args(["--output-format=json", "--output"])
        .arg(&file);
    match fio.output() {
        Err(_) => Scene::Skipped("there is no fio".to_owned()),
        Ok(ran) => {
            assert!(ran.status.success(), "{ran:?}");
            import(world, &file)
        }
    }
}

/// Makes two runs, one of them under a control that the other does not have.
fn a_control_in_one_run(world: &World) -> Scene {
    let text = |name: &str, controls: &str| {
        format!(
            "schema_version = 1\nname = \"{name}\"\nworkload = \"command\"\n[params]\n\
             command = \"true\"\n\
             {controls}[design]\nblocks = 3\n"
        )
    };
    let runs = [("set", "[controls]\nnice = 5\n"), ("free", "")].map(|(name, controls)| {
        let file = world.write(&format!("{name}.toml"), &text("controls", controls));
        made(world, &[file.to_str().unwrap()])
    });
    side_by_side(world, &runs, &[])
}

/// Runs a program whose work tree has a change that is not committed.
fn program_of_a_changed_tree(world: &World) -> Scene {
    fs::create_dir(world.path("tree")).unwrap();
    let script = world.write("tree/own.sh", "#!/bin/sh\n");
    executable(&script);
    let git = |arguments: &[&str]| {
        let mut git = git_command(&world.path("tree"));
        git.args(arguments).output().map(|ran| assert!(ran.status.success(), "{ran:?}"))
    };
    if git(&["init", "--quiet"]).is_err() {
        return Scene::Skipped("there is no git".to_owned());
    }
    git(&["add", "own.sh"]).unwrap();
    git(&["commit", "--quiet", "-m", "a"]).unwrap();
    world.write("tree/own.sh", "#!/bin/sh\ntrue\n");
    run(world, &["--blocks", "3", "--", script.to_str().unwrap()])
}

fn suite(name: &str) -> Scene {
    let (alpha, beta) = match name {
        "suite" => {
            ("sleep 0.02; echo sum 6", "test {cflags} = -O3 || sleep 0.1; sleep 0.05; echo sum 6")
        }
        "suite with a hole" => ("echo sum 6", "test {cflags} = -O2 && echo sum 6"),
        _ => (
            "test {cflags} = -O2 || sleep 0.05; sleep 0.01; echo sum 6",
            "test {cflags} = -O3 || sleep 0.3; sleep 0.2; echo sum 6",
        ),
    };
    let (world, mini) = mini_suite::of(alpha, beta);
    let base = ["--set", "size=ref", "--set", "tuning=base,peak", "--blocks", "3"];
    run(&world, &[&base[..], &[&mini]].concat())
}

fn nodes(world: &World, bound: &str) -> Scene {
    let Some(slurm) = Slurm::start(2) else {
        return Scene::Skipped("there is no Slurm".to_owned());
    };
    let text = format!(
        "name = \"n\"\nworkload = \"command\"\nparams.command = \"sleep 0.2\"\n[design]\n\
                blocks = 1\n\
                [observe]\nmonitors = []\n[where]\nengine = \"slurm\"\nnodes = 2\n\
                phase_bound = \"{bound}\"\n"
    );
    let file = world.write("n.toml", &text);
    let mut command = world.assay(&["run", "--quiet", file.to_str().unwrap()]);
    let ran = done(command.env("SLURM_CONF", slurm.conf()));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    checked(world)
}

/// Compares two runs of one command side by side.
fn compared(world: &World, more: &[&str]) -> Scene {
    let runs = [(); 2].map(|()| made(world, &["--blocks", "3", "--", "true"]));
    side_by_side(world, &runs, more)
}

/// Compares two runs of one program with different arguments.
fn other_parameters(world: &World) -> Scene {
    let runs = ["0.01", "0.02"].map(|time| made(world, &["--blocks", "3", "--", "sleep", time]));
    side_by_side(world, &runs, &[])
}

fn side_by_side(world: &World, runs: &[String; 2], more: &[&str]) -> Scene {
    let done = world.run(&[&["compare", &runs[0], &runs[1], "--json"], more].concat());
    let all = json(&done.stdout);
    Scene::Findings(all["findings"].clone())
}

fn two_machines(world: &World) -> Scene {
    let other = imported(world, &data("hyperfine.json"));
    let own = made(world, &["--blocks", "3", "--", "true"]);
    side_by_side(world, &[own, other], &[])
}

fn no_metric_shared(world: &World) -> Scene {
    let kit = noisy(world, "no metric shared");
    let figures = made(world, &["--blocks", "3", &kit.path()]);
    kit.fails("a");
    let failed = made(world, &["--blocks", "1", &kit.path()]);
    let scene = side_by_side(world, &[figures, failed], &["--metric", "figure"]);
    if let Scene::Findings(found) = &scene {
        assert_ne!(in_list(found, "F46"), crate::common::says::Says::Passes, "{found}");
    }
    scene
}

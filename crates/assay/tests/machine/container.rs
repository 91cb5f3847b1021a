//! Programs in containers: images made here, without a registry, in a storage of the test's own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Done, World, alive, done, metric, root, wait_for};

pub const IMAGE: &str = "localhost/assay-test";
/// A server that the images have if it is installed.
pub const MEMCACHED: &str = "/usr/bin/memcached";

/// A world with a podman that has a storage of its own in it.
pub struct Containers {
    pub world: World,
    /// Variables that give podman this storage.
    env: [(&'static str, PathBuf); 2],
}

impl Containers {
    /// Makes a world with an image for each runtime that starts containers here; none, with the
    /// reason on the output, if no container runs here.
    pub fn all() -> Vec<Self> {
        if !root() {
            println!("skipped: because the tests of containers run as root");
            return Vec::new();
        }
        let missing = |name: &&str| {
            Command::new(name).arg("--version").stdout(Stdio::null()).status().is_err()
        };
        if let Some(name) = ["podman"].iter().find(|name| missing(name)) {
            println!("skipped: because {name} is missing");
            return Vec::new();
        }
        ["crun", "runc"]
            .iter()
            .filter_map(|runtime| {
                if missing(runtime) {
                    println!("skipped: {runtime}: because it is not installed");
                    return None;
                }
                Containers::of(runtime)
                    .map_err(|why| println!("skipped: {runtime}: because {why}"))
                    .ok()
            })
            .collect()
    }

    fn of(runtime: &str) -> Result<Self, String> {
        let world = World::new();
        let [graph, run] = ["storage", "run"].map(|name| world.path(name).display().to_string());
        // The driver overlay mounts its folder, which would keep it from being removed.
        let storage =
            format!("[storage]\ndriver = \"vfs\"\ngraphroot = \"{graph}\"\nrunroot = \"{run}\"\n");
        fs::create_dir(world.path("etc")).unwrap();
        let env = [
            ("CONTAINERS_STORAGE_CONF", world.write("etc/storage.conf", &storage)),
            ("CONTAINERS_CONF", world.write("etc/containers.conf", "")),
        ];
        let containers = Containers { world, env };
        containers.import(IMAGE, "one", "amd64");
        // crun refuses control groups of both versions with controllers in both: there it does not
        // see those of version 2.
        let script = "exec unshare --mount sh -c 'umount /sys/fs/cgroup/unified; exec \"$@\"' sh";
        let alone =
            containers.world.write("alone", &format!("#!/bin/sh\n{script} {runtime} \"$@\"\n"));
        fs::set_permissions(&alone, fs::Permissions::from_mode(0o755)).unwrap();
        let mut why = String::new();
        for own in
            [String::new(), format!("[engine.runtimes]\n{runtime} = [\"{}\"]\n", path(&alone))]
        {
            let text =
                format!("[engine]\nruntime = \"{runtime}\"\ncgroup_manager = \"cgroupfs\"\n{own}");
            containers.world.write("etc/containers.conf", &text);
            let ran = containers.run(IMAGE, &["/bin/sh", "-c", "exit 0"]);
            if ran.code == 0 {
                return Ok(containers);
            }
            why = ran.stderr;
        }
        Err(why)
    }

    /// Imports an image of a [`folder`].
    fn import(&self, name: &str, content: &str, architecture: &str) {
        let (folder, archive) = (folder(&self.world, content), self.world.path("root.tar"));
        let mut pack = Command::new("tar");
        pack.arg("-C").arg(&folder).arg("-cf").arg(&archive).arg(".");
        assert!(pack.status().unwrap().success());
        let imported = self.podman(&["import", "--arch", architecture, path(&archive), name]);
        assert_eq!(imported.code, 0, "{}", imported.stderr);
    }

    pub fn podman(&self, arguments: &[&str]) -> Done {
        done(Command::new("podman").args(arguments).envs(self.env.clone()))
    }

    fn assay(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.assay(arguments);
        command.envs(self.env.clone());
        command
    }

    /// Runs a command once in an image.
    fn run(&self, image: &str, command: &[&str]) -> Done {
        self.run_with(image, &[], command)
    }

    /// Runs a command once in an image, with additional options.
    fn run_with(&self, image: &str, more: &[&str], command: &[&str]) -> Done {
        let set = format!("controls.image={image}");
        let options = ["run", "--json", "--quiet", "--blocks", "1", "--set", &set];
        done(&mut self.assay(&[&options, more, &["--"], command].concat()))
    }

    /// Returns the newest run's standard output of trial 1.
    fn printed(&self) -> String {
        fs::read_to_string(self.world.newest().join("trials/0001/stdout.log")).unwrap_or_default()
    }

    pub fn none_left(&self) {
        let left = self.podman(&["ps", "--all", "--format", "{{.Names}}"]);
        assert_eq!((left.stdout.as_str(), left.code), ("", 0), "{}", left.stderr);
    }
}

/// Makes the content of an image: busybox and the libraries of assay, with `content` in
/// `/etc/image`.
fn folder(world: &World, content: &str) -> PathBuf {
    let folder = world.path(&format!("root-{content}"));
    for below in ["bin", "etc", "tmp", "proc"] {
        fs::create_dir_all(folder.join(below)).unwrap();
    }
    fs::write(folder.join("etc/image"), content).unwrap();
    fs::copy("/bin/busybox", folder.join("bin/busybox")).unwrap();
    for applet in ["sh", "cat", "sleep", "head", "tail", "wc"] {
        let _ = std::os::unix::fs::symlink("busybox", folder.join("bin").join(applet));
    }
    fs::write(folder.join("etc/passwd"), "root:x:0:0:root:/:/bin/sh\n").unwrap();
    let mut linked = Command::new("ldd");
    linked.arg(env!("CARGO_BIN_EXE_assay"));
    if Path::new(MEMCACHED).exists() {
        fs::create_dir_all(folder.join("usr/bin")).unwrap();
        fs::copy(MEMCACHED, folder.join(&MEMCACHED[1..])).unwrap();
        linked.arg(MEMCACHED);
    }
    let libraries = done(&mut linked).stdout;
    let libraries = libraries.split_whitespace().filter(|word| word.starts_with('/'));
    for library in libraries.filter(|word| !word.ends_with(':')) {
        let copy = folder.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
    folder
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the observation of a record about its container.
fn container(record: &Value) -> Option<&Value> {
    record["evidence"].as_array().unwrap().iter().find(|seen| seen["saw"] == "container")
}

#[test]
fn a_program_runs_in_an_image_as_it_does_without() {
    for containers in Containers::all() {
        let world = &containers.world;
        let digest =
            containers.podman(&["image", "inspect", "--format", "{{.Digest}}", IMAGE]).stdout;
        // Working folder, standard input, variables and exit code; this machine lacks the program.
        world.write("in.txt", "input");
        let script = "cat /etc/image - in.txt; echo $ASSAY_TRIAL $V $(pwd); cat /proc/self/status";
        let set = ["--set", "controls.env.V=v", "--set", "controls.cpus=0", "--stdin", "in.txt"];
        let ran = containers.run_with(IMAGE, &set, &["busybox", "sh", "-c", script]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let record = ran.record("completed");
        assert_eq!(container(&record).unwrap()["digest"], digest.trim());
        assert!(metric(&record, "elapsed").unwrap() > 0.0);
        let printed = containers.printed();
        let here = fs::canonicalize(world.path("")).unwrap();
        let start = format!("oneinputinput1 v {}\n", here.display());
        assert!(printed.starts_with(&start), "{printed}");
        assert!(printed.contains("Cpus_allowed_list:\t0\n"), "{printed}");
        let system = fs::read_to_string(world.newest().join("system.json")).unwrap();
        assert!(system.contains(digest.trim()) && !system.contains("workload.command.sha256"));

        let failed = containers.run(IMAGE, &["sh", "-c", "exit 7"]).record("failed");
        assert_eq!(failed["exit"]["code"], 7);
        let absent = containers.run(IMAGE, &["no-such-program"]).record("failed");
        let error = absent["error"].as_str().unwrap();
        assert!(error.contains("in its container: cannot start `no-such-program`"), "{error}");

        // A built-in workload reports on descriptor 3.
        let set = format!("controls.image=default,{IMAGE}");
        let built_in = ["run", "--json", "--quiet", "--blocks", "1", "--set", &set, "round-trip"];
        let both = done(&mut containers.assay(&built_in));
        // One block is too few for a comparison.
        assert_eq!(both.code, 4, "{}", both.stderr);
        let both = both.records();
        assert_eq!(both.iter().filter(|record| container(record).is_some()).count(), 1);
        let names = |record: &Value| {
            let metrics = record["metrics"].as_array().unwrap();
            metrics.iter().map(|m| m["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&both[0]), names(&both[1]));
        containers.none_left();
    }
}

#[test]
fn the_server_and_the_load_of_a_trial_run_in_its_image() {
    if !Path::new(MEMCACHED).exists() {
        println!("skipped: because there is no {MEMCACHED}");
        return;
    }
    for containers in Containers::all() {
        let sets =
            [&format!("controls.image={IMAGE}"), "steady=1 s", "ramp_up=0 s", "ramp_down=0 s"];
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let options = ["run", "memcached", "--json", "--quiet", "--blocks", "1"];
        let options: Vec<&str> = options.into_iter().chain(sets).collect();
        let record = done(&mut containers.assay(&options)).record("completed");
        assert!(metric(&record, "throughput").unwrap() > 0.0);
        assert!(container(&record).is_some());
        containers.none_left();
    }
}

#[test]
fn limits_and_tracers_reach_into_a_container() {
    for containers in Containers::all() {
        let script = "head -c 200000000 /dev/zero | tail -c 150000000 | wc -c";
        let set = ["--set", "controls.memory=32MiB"];
        let limited = containers.run_with(IMAGE, &set, &["sh", "-c", script]);
        if limited.stderr.contains("`memory` cannot be set here") {
            println!("skipped: because {}", limited.stderr);
        } else {
            let record = limited.records().remove(0);
            // It is the error if the kernel chose the process whose exit code counts.
            let said = format!("{} {}", record["notes"], record["error"]);
            assert!(said.contains("exceeded the limit"), "{record:#}");
        }

        let script = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i; done";
        let traced = containers.run_with(IMAGE, &["--tracers", "syscalls"], &["sh", "-c", script]);
        let record = traced.record("completed");
        let observers = record["observers"].to_string();
        if record["metrics"].to_string().contains("syscalls.calls") {
            // Each line is written by itself; the engine's calls do not count.
            let calls = metric(&record, "syscalls.calls").unwrap();
            assert!((1000.0..2000.0).contains(&calls), "{calls}");
        } else {
            println!("skipped: because {observers}");
        }
        containers.none_left();
    }
}

#[test]
fn images_that_cannot_run_are_refused_before_the_run() {
    for containers in Containers::all() {
        containers.import("localhost/foreign", "foreign", "s390x");
        let refused = |setting: &str, why: &str| {
            let ran = done(&mut containers.assay(&["run", "--set", setting, "--", "true"]));
            let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(ran.code == 2 && said.contains(why), "{}: {said}", ran.code);
        };
        refused("controls.image=localhost/absent", "cannot show the image `localhost/absent`");
        refused("controls.image=localhost/foreign", "is for s390x; this machine is");
        refused("controls.image=-x", "`image` cannot be `-x`");
        refused("controls.image.engine=x", "`engine` is not podman, docker or apptainer");
    }
}

#[test]
fn an_image_is_identified_once_in_a_run() {
    for containers in Containers::all() {
        let world = &containers.world;
        // A podman before the real one in `$PATH` writes down its verbs.
        let real = done(Command::new("sh").args(["-c", "command -v podman"])).stdout;
        let real = real.trim();
        let log = world.path("verbs");
        let script =
            format!("#!/bin/sh\necho \"$1 $2\" >> {}\nexec {real} \"$@\"\n", log.display());
        fs::create_dir(world.path("first")).unwrap();
        let first = world.write("first/podman", &script);
        fs::set_permissions(&first, fs::Permissions::from_mode(0o755)).unwrap();
        let others = std::env::var("PATH").unwrap();
        let path = format!("{}:{others}", world.path("first").display());
        let set = format!("controls.image={IMAGE}");
        let options =
            ["run", "--quiet", "--blocks", "2", "--set", &set, "--", "/bin/sh", "-c", "exit 0"];
        let ran = done(containers.assay(&options).env("PATH", path));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let verbs = fs::read_to_string(log).unwrap();
        let asked = |verb: &str| verbs.lines().filter(|line| line.starts_with(verb)).count();
        assert_eq!((asked("image inspect"), asked("info")), (1, 1), "{verbs}");
        assert!(asked("--events-backend=none run") == 2, "{verbs}");
    }
}

#[test]
fn a_program_runs_in_a_file_of_apptainer() {
    if Command::new("apptainer").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: because apptainer is missing");
        return;
    }
    let world = World::new();
    let file = world.path("image.sif");
    let built =
        done(Command::new("apptainer").args(["build", path(&file)]).arg(folder(&world, "one")));
    assert_eq!(built.code, 0, "{}", built.stderr);
    let run = |file: &Path, script: &str| {
        let set = format!("controls.image.apptainer={}", file.display());
        let options = ["run", "--json", "--quiet", "--blocks", "1", "--set", &set, "--"];
        let mut command = world.assay(&[&options[..], &["busybox", "sh", "-c", script]].concat());
        // Root of a machine that is itself a guest may lack it, and Apptainer insists on all.
        done(command.env("APPTAINER_DROP_CAPS", "CAP_SYS_RESOURCE"))
    };
    let record = run(&file, "cat /etc/image; pwd; exit 7").record("failed");
    assert_eq!(record["exit"]["code"], 7, "{}", record["error"]);
    let sum = done(Command::new("sha256sum").arg(&file)).stdout;
    let digest = container(&record).unwrap()["digest"].as_str().unwrap().to_owned();
    assert!(sum.starts_with(digest.strip_prefix("sha256:").unwrap()), "{digest} {sum}");
    let printed = fs::read_to_string(world.newest().join("trials/0001/stdout.log")).unwrap();
    assert_eq!(printed, format!("one{}\n", fs::canonicalize(world.path("")).unwrap().display()));
    assert!(!alive(path(&file)), "a container is left");
    let refused = run(&world.write("x.sif", "no image"), "true");
    assert!(refused.code == 2 && refused.stderr.contains("apptainer build"), "{}", refused.stderr);
}

#[test]
fn another_image_is_a_hard_difference() {
    for containers in Containers::all() {
        containers.import("localhost/two", "two", "amd64");
        let ids = ["default", IMAGE, "localhost/two"].map(|image| {
            let set = format!("controls.image={image}");
            let run =
                ["run", "--quiet", "--blocks", "3", "--set", &set, "--", "sh", "-c", "exit 0"];
            let ran = done(&mut containers.assay(&run));
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            containers.world.newest().file_name().unwrap().to_str().unwrap().to_owned()
        });
        let [native, one, two] = ids.each_ref().map(String::as_str);
        for (a, b) in [(native, one), (one, two)] {
            let compared = containers.world.run(&["compare", a, b]);
            assert!(compared.stdout.contains("container.digest differs"), "{}", compared.stdout);
            let meant = containers.world.run(&["compare", a, b, "--factor", "image"]);
            assert!(!meant.stdout.contains("not a comparison"), "{}", meant.stdout);
        }
    }
}

#[test]
fn no_container_outlives_its_trial() {
    for containers in Containers::all() {
        let set = format!("controls.image={IMAGE}");
        let mark = containers.world.path("mark").display().to_string();
        // A program that ignores SIGTERM.
        let stubborn = format!("trap '' TERM; : >{mark}; while :; do sleep 1; done");
        let slow = containers.run_with(IMAGE, &["--timeout", "1s"], &["sh", "-c", &stubborn]);
        assert_eq!(slow.record("timed-out")["exit"]["signal"], 9);
        assert!(!alive(&mark));
        containers.none_left();

        fs::remove_file(&mark).unwrap();
        let run = ["run", "--quiet", "--blocks", "2", "--set", &set, "--", "sh", "-c", &stubborn];
        let mut child = containers.assay(&run).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the program does not start", || Path::new(&mark).exists());
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("the program lives on", || !alive(&mark));
        wait_for("a container is left", || containers.podman(&["ps", "--quiet"]).stdout.is_empty());
        let next = done(&mut containers.assay(&["archive", "list"]));
        assert!(next.stderr.contains("a killed run had"), "{}", next.stderr);
        let after = done(&mut containers.assay(&["archive", "list"]));
        assert!(!after.stderr.contains("a killed run had"), "{}", after.stderr);
        containers.none_left();
    }
}

#[test]
fn doctor_lists_what_a_container_hides() {
    for containers in Containers::all() {
        let assay = env!("CARGO_BIN_EXE_assay");
        let mount = format!("{assay}:/bin/assay:ro");
        let doctor = |options: &[&str]| {
            let common =
                ["run", "--rm", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "-v"];
            let words =
                [&common, &[mount.as_str()][..], options, &[IMAGE, "assay", "doctor"]].concat();
            containers.podman(&words).stdout
        };
        let closed = doctor(&["--network=none"]);
        for line in
            ["other processes of the machine: --pid=host", "network interfaces: --network=host"]
        {
            assert!(closed.contains(line), "{closed}");
        }
        let open = doctor(&["--network=host", "--pid=host", "--cgroupns=host", "--privileged"]);
        assert!(open.contains("CPUs:") && !open.contains("In a container"), "{open}");
    }
}

/// An image of a distribution, made as users make theirs.
#[test]
#[ignore = "downloads packages of Debian"]
fn an_image_of_mmdebstrap() {
    for containers in Containers::all() {
        let archive = containers.world.path("debian.tar");
        let made = Command::new("mmdebstrap")
            .args(["--quiet", "--variant=essential", "bookworm"])
            .arg(&archive)
            .stderr(Stdio::null())
            .status();
        if !made.is_ok_and(|made| made.success()) {
            println!("skipped: because mmdebstrap cannot make a root of Debian here");
            return;
        }
        let imported = containers.podman(&["import", path(&archive), "localhost/debian"]);
        assert_eq!(imported.code, 0, "{}", imported.stderr);
        let ran = containers.run("localhost/debian", &["dpkg", "--version"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(containers.printed().contains("Debian"), "{}", containers.printed());
        containers.none_left();
    }
}

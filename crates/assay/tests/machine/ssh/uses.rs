//! Uses of hosts: one machine elsewhere, a factor, replicates, and roles.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::{fields, nodes, on, run, said};
use crate::common::virtual_hosts::Hosts;
use crate::common::{World, fits, metric};
use crate::container::{Containers, IMAGE, MEMCACHED};

#[test]
fn a_command_runs_on_a_host_with_a_copy_of_assay() {
    let Some(hosts) = Hosts::start(1) else { return };
    let world = World::new();
    let arguments = on(&["h1"], &["--blocks", "2", "--json", "--", "sh", "-c", "hostname; pwd"]);
    let first = run(&world, &hosts, &arguments);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let result = first.json();
    assert_eq!(result["records"].as_array().unwrap().len(), 2);
    let stdout = world.newest().join("trials/0002/stdout.log");
    let printed = std::fs::read_to_string(stdout).unwrap();
    assert!(printed.lines().any(|line| line == "h1"), "{printed}");
    let copies = || {
        let copies = std::fs::read_dir(hosts.path("h1", "cache/assay/agents")).unwrap();
        let of = |copy: std::fs::Metadata| (copy.permissions().mode() & 0o777, copy.ino());
        copies.map(|c| of(c.unwrap().metadata().unwrap())).collect::<Vec<_>>()
    };
    let missing = run(&world, &hosts, &on(&["h1"], &["--", "/no/such/program"]));
    assert!(
        said(&missing).contains("node h1: the program `/no/such/program`"),
        "{}",
        missing.stderr
    );
    let copied = copies();
    assert!(copied.len() == 1 && copied[0].0 == 0o700, "{copied:?}");
    let second = run(&world, &hosts, &arguments);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert_eq!(copies(), copied, "the copy is used again");
}

#[test]
fn hosts_are_compared_as_a_factor() {
    let Some(hosts) = Hosts::start(2) else { return };
    let world = World::new();
    let program = "if [ $(hostname) = h2 ]; then sleep 0.1; else sleep 0.05; fi";
    let options = ["--hosts-as", "factor", "--blocks", "6", "--json", "--", "sh", "-c", program];
    let done = run(&world, &hosts, &on(&["h1", "h2"], &options));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let result = done.json();
    let comparison = &result["analysis"]["comparisons"][0];
    let ratio = comparison["ratio"].as_f64().unwrap();
    assert!((1.5..2.5).contains(&ratio), "{comparison:#}");
    let listed = run(&world, &hosts, &["hosts", "--json"]);
    let rows = listed.json();
    let rows = rows["hosts"].as_array().unwrap();
    assert_eq!(fields(rows, "host"), ["h1", "h2"]);
    assert!(rows[1]["ratio"].as_f64().unwrap() > 1.5, "{rows:?}");
    assert!(rows[0]["out_of_line"].is_null(), "two hosts cannot tell");
}

#[test]
fn replicates_have_one_value_per_host_and_the_odd_one_is_named() {
    let Some(hosts) = Hosts::start(4) else { return };
    let world = World::new();
    // The host h3 is three times as slow; the treatments differ by a factor of 1.5 on each.
    let program =
        "n=1; [ $(hostname) = h3 ] && n=3; sleep $(echo $n | awk '{print $1 * 0.0{pause}}')";
    let options = [
        "--hosts-as",
        "replicates",
        "--blocks",
        "8",
        "--warmup",
        "0",
        "--set",
        "pause=4,6",
        "--json",
        "--",
        "sh",
        "-c",
        program,
    ];
    let done = run(&world, &hosts, &on(&["h1", "h2", "h3", "h4"], &options));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let result = done.json();
    let records = result["records"].as_array().unwrap();
    let counted = |host: &str| records.iter().filter(|r| r["host"] == host).count();
    assert_eq!(["h1", "h2", "h3", "h4"].map(counted), [4; 4]);
    let comparison = &result["analysis"]["comparisons"][0];
    assert_eq!(
        comparison["pairs"].as_u64().or(comparison["n"].as_u64()),
        Some(4),
        "{comparison:#}"
    );
    let listed = run(&world, &hosts, &["hosts"]);
    assert_eq!(listed.code, 4, "{}{}", listed.stdout, listed.stderr);
    fits(&listed.stdout);
    assert!(listed.stdout.contains("h3 is out of line"), "{}", listed.stdout);
}

#[test]
fn roles_have_the_server_on_the_first_host_and_clients_on_the_others() {
    let Some(hosts) = Hosts::start(3) else { return };
    let key_value = "steady = \"1 s\"\nramp_up = \"0 s\"\nramp_down = \"0 s\"";
    let workloads = [
        ("memcached", "/usr/bin/memcached", key_value),
        ("redis", "/usr/bin/redis-server", key_value),
        ("bulkload", "/usr/lib/postgresql", "rows = 20000\nsessions = 2\nfiles = 4"),
    ];
    for (workload, server, params) in workloads {
        if !std::path::Path::new(server).exists() {
            println!("skipped: because there is no {server}");
            continue;
        }
        let world = World::new();
        // The server of bulkload runs as a user of its own.
        std::fs::set_permissions(world.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        let text = format!(
            "name = \"x\"\nworkload = \"{workload}\"\n[where]\nengine = \"ssh\"\n\
             hosts = [\"h1\", \"h2\", \"h3\"]\nserver_node = true\n[params]\n{params}\n\
             [design]\nblocks = 2\n[observe]\nmonitors = []\n"
        );
        let experiment = world.write("x.toml", &text);
        let done = run(&world, &hosts, &["run", experiment.to_str().unwrap(), "--json"]);
        assert!(done.code == 0 || done.code == 4, "{workload}: {}", done.stderr);
        let result = done.json();
        let record = result["records"].as_array().unwrap().last().unwrap();
        assert_eq!(record["outcome"], "completed", "{workload}: {}", record["error"]);
        assert!(metric(record, "throughput").is_some_and(|n| n > 0.0), "{workload}");
        let all = nodes(&world, "0002");
        assert_eq!(fields(&all, "did"), ["served", "ran", "ran"], "{workload}");
    }
}

/// Mounts the control groups of this machine, which `ip netns` hides.
const CONTROL_GROUPS: &str = "mount -t tmpfs groups /sys/fs/cgroup
while read -r _ at type options _; do
    case $type in cgroup*) mkdir -p $at && mount -t $type -o ${options##*,} groups $at ;; esac
done < /proc/1/mounts\n";

#[test]
fn a_server_on_a_host_runs_in_its_image() {
    let Some(hosts) = Hosts::start(2) else { return };
    if !std::path::Path::new(MEMCACHED).exists() {
        println!("skipped: because there is no {MEMCACHED}");
        return;
    }
    for containers in Containers::all() {
        let world = &containers.world;
        let groups = world.write("groups", CONTROL_GROUPS);
        let settings = world.path("etc");
        for name in ["policy.json", "registries.conf"] {
            let _ = std::fs::copy(format!("/etc/containers/{name}"), settings.join(name));
        }
        let text = format!(
            "name = \"x\"\nworkload = \"memcached\"\n[where]\nengine = \"ssh\"\n\
             hosts = [\"h1\", \"h2\"]\nserver_node = true\n[controls]\nimage = \"{IMAGE}\"\n\
             [params]\nsteady = \"1 s\"\nramp_up = \"0 s\"\nramp_down = \"0 s\"\n[design]\n\
             blocks = 1\n[observe]\nmonitors = []\n"
        );
        let experiment = world.write("x.toml", &text);
        let arguments = ["run", experiment.to_str().unwrap(), "--json"];
        let mount = |host: &str, of: &std::path::Path| {
            let (of, groups) = (of.display(), groups.display());
            let line = format!("mount --bind {of} /etc/containers && sh {groups}");
            let done = hosts.ssh(host, &line);
            assert!(done.status.success(), "{done:?}");
        };
        // A host without the image is named before the first trial.
        let runs = world.runs().len();
        mount("h1", &settings);
        let lacking = run(world, &hosts, &arguments);
        let printed = said(&lacking);
        assert!(printed.contains("node h2: ") && printed.contains(IMAGE), "{printed}");
        assert_eq!(world.runs().len(), runs);
        mount("h2", &settings);
        let done = run(world, &hosts, &arguments);
        let record = done.record("completed");
        assert!(metric(&record, "throughput").is_some_and(|n| n > 0.0));
        assert_eq!(fields(&nodes(world, "0001"), "did"), ["served", "ran"]);
        containers.none_left();
        for host in ["h1", "h2"] {
            assert!(hosts.ssh(host, "umount /etc/containers").status.success());
        }
    }
}

#[test]
fn doctor_examines_each_host() {
    let Some(hosts) = Hosts::start(2) else { return };
    let world = World::new();
    let arguments =
        ["doctor", "--on", "ssh", "--host", "h1", "--host", "h2-password", "--host", "h2"];
    let done = run(&world, &hosts, &arguments);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    fits(&done.stdout);
    let shown = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("yes h1 assay") && shown.contains("yes h2 assay"), "{shown}");
    assert!(shown.contains("no h2-password") && shown.contains("ssh-copy-id"), "{shown}");
    assert!(shown.contains("yes clocks"), "{shown}");
}

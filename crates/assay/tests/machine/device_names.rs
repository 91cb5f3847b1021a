//! Names of devices: NVMe, SCSI and virtio disks, an MD array over two of them and a device-mapper
//! mapping over the third; in lists, as a filter and in results. Needs the disks of `make test-vm`.

use std::path::Path;
use std::process::Command;

use crate::common::World;
use serde_json::Value;

const MAPPED: &str = "assay-names";
const ARRAY: &str = "/dev/md/assay-names";

fn done(program: &str, arguments: &[&str]) -> String {
    let out = Command::new(program).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{program} {arguments:?}: {printed}");
    printed.into_owned()
}

/// An array of two disks, and a mounted mapping of the third; removed when dropped.
struct Stacks {
    disks: Vec<String>,
    /// Kernel names of the array and the mapping.
    array: String,
    mapping: String,
    mount: std::path::PathBuf,
}

impl Stacks {
    fn new(world: &World, disks: &str) -> Self {
        let disks: Vec<String> = disks.split_whitespace().map(str::to_owned).collect();
        let mount = world.path("mount");
        std::fs::create_dir(&mount).unwrap();
        let mut made = Stacks { disks, array: String::new(), mapping: String::new(), mount };
        let [nvme, scsi, virtio] = made.disks.as_slice() else { panic!("{:?}", made.disks) };
        let create = ["--create", ARRAY, "--run", "--level=0", "--chunk=64", "--raid-devices=2"];
        done("mdadm", &[&create[..], &[nvme, scsi]].concat());
        let blocks = std::fs::read_to_string(format!("/sys/block/{}/size", name(virtio))).unwrap();
        let table = format!("0 {} linear {virtio} 0", blocks.trim());
        done("dmsetup", &["create", MAPPED, "--table", &table]);
        done("udevadm", &["settle"]);
        let of =
            |path: &str| name(std::fs::canonicalize(path).unwrap().to_str().unwrap()).to_owned();
        let (array, mapping) = (of(ARRAY), of(&format!("/dev/mapper/{MAPPED}")));
        (made.array, made.mapping) = (array, mapping);
        done("mkfs.ext4", &["-q", "-F", &format!("/dev/mapper/{MAPPED}")]);
        done("mount", &[&format!("/dev/mapper/{MAPPED}"), made.mount.to_str().unwrap()]);
        done("udevadm", &["settle"]);
        made
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        let run = |program: &str, arguments: &[&str]| {
            let _ = Command::new(program).args(arguments).output();
        };
        run("umount", &[self.mount.to_str().unwrap()]);
        run("dmsetup", &["remove", "--retry", MAPPED]);
        run("mdadm", &["--stop", ARRAY]);
        for disk in &self.disks {
            run("wipefs", &["--all", "--quiet", disk]);
        }
    }
}

/// Returns the last component of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

fn of<'a>(all: &'a Value, device: &str) -> &'a Value {
    let found = all.as_array().unwrap().iter().find(|d| d["name"] == device);
    found.unwrap_or_else(|| panic!("no {device}: {all:#}"))
}

/// Returns true if one of these paths is a link in the folder with this end.
fn linked(paths: &Value, folder: &str, end: &str) -> bool {
    paths
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .any(|path| Path::new(path).starts_with(folder) && path.ends_with(end))
}

/// Returns the number of I/Os of dd by device.
fn by_device(world: &World, target: &str, filter: &[&str]) -> Vec<(String, u64)> {
    let ask = ["io", "--by", "device", "--write", "--program", "dd", "--json"];
    let to = format!("of={target}");
    let load = ["--", "dd", "if=/dev/zero", &to, "bs=64k", "count=16", "oflag=direct"];
    let seen = world.run(&[&ask[..], filter, &load].concat());
    assert_eq!(seen.code, 0, "{target}: {}{}", seen.stdout, seen.stderr);
    let groups = seen.json()["groups"].as_array().unwrap().clone();
    let mut all: Vec<(String, u64)> = groups
        .iter()
        .map(|g| (g["key"][0].as_str().unwrap().to_owned(), g["ios"].as_u64().unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn every_device_is_known_by_all_its_names() {
    let Ok(disks) = std::env::var("ASSAY_TEST_DISKS") else {
        println!("skipped: because no disk may be overwritten here (ASSAY_TEST_DISKS)");
        return;
    };
    let world = World::new();
    let made = Stacks::new(&world, &disks);
    let [nvme, scsi, virtio] = [0, 1, 2].map(|n| name(&made.disks[n]).to_owned());
    let (array, mapping) = (made.array.as_str(), made.mapping.as_str());
    let mapper = &*format!("/dev/mapper/{MAPPED}");
    let mount = made.mount.to_str().unwrap();
    let striped = &*format!("raid0 of {nvme}+{scsi}");
    let linear = &*format!("{MAPPED} of {virtio}");

    // Names in the list.
    let all = world.run(&["io", "--devices", "--json"]).json();
    for (device, serial) in
        [(&nvme, "_assay-nvme"), (&scsi, "_assay-scsi"), (&virtio, "virtio-assay-virtio")]
    {
        let device = of(&all, device);
        assert!(linked(&device["paths"], "/dev/disk/by-id", serial), "{serial}: {device:#}");
    }
    assert_eq!(of(&all, array)["made_of"], striped, "{all:#}");
    assert!(linked(&of(&all, array)["paths"], "/dev/md", name(ARRAY)), "{all:#}");
    let mapped = of(&all, mapping);
    assert_eq!((&mapped["mapped"], &mapped["made_of"]), (&MAPPED.into(), &linear.into()));
    assert!(linked(&mapped["paths"], "/dev/mapper", MAPPED), "{mapped:#}");
    assert_eq!(mapped["mounted"], serde_json::json!([mount]), "{mapped:#}");
    let text = world.run(&["io", "--devices"]).stdout;
    for words in [striped, linear, mapper, mount] {
        assert!(text.contains(words), "{words}: {text}");
    }
    println!("{text}");

    // Names in filters and results: an I/O is counted on each device of a stack.
    let row = |device: &str, ios| (device.to_owned(), ios);
    let mut halves = vec![row(array, 16), row(&nvme, 8), row(&scsi, 8)];
    halves.sort();
    assert_eq!(by_device(&world, ARRAY, &[]), halves);
    let file = made.mount.join("file");
    let file = file.to_str().unwrap();
    let mut both = vec![row(mapping, 16), row(&virtio, 16)];
    both.sort();
    assert_eq!(by_device(&world, file, &[]), both);
    for filter in [mapping, MAPPED, mapper, mount, file] {
        assert_eq!(by_device(&world, file, &["--device", filter]), [row(mapping, 16)], "{filter}");
    }
    for filter in [array, ARRAY] {
        assert_eq!(by_device(&world, ARRAY, &["--device", filter]), [row(array, 16)], "{filter}");
    }
    for (naming, shown) in [("kernel", mapping), ("mapped", MAPPED), ("mount", mount)] {
        let stat = ["stat", "--disk", "--names", naming, "-n", "1", "--shape", "short"];
        let table = world.run(&stat);
        assert_eq!(table.code, 0, "{}", table.stderr);
        for shown in [shown, array, &nvme, &scsi, &virtio] {
            let rows = table.stdout.lines().flat_map(str::split_whitespace);
            assert!(
                rows.into_iter().any(|word| word == shown),
                "{naming}, {shown}: {}",
                table.stdout
            );
        }
    }
}

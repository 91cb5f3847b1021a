//! Compares the disk monitor with sysstat's `iostat -x`, for the same requests on a loop device.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use assay_observe::Sampler;
use assay_observe::stat::Frame;

/// A loop device over a file; removed when dropped.
struct Loop(String);

impl Loop {
    fn new(file: &Path) -> Result<Self, String> {
        std::fs::File::create(file).unwrap().set_len(64 << 20).unwrap();
        let made = run("losetup", &["-f", "--show", file.to_str().unwrap()])?;
        if made.status.success() {
            Ok(Loop(String::from_utf8_lossy(&made.stdout).trim().to_owned()))
        } else {
            Err(format!("losetup: {}", String::from_utf8_lossy(&made.stderr).trim()))
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<Output, String> {
    let mut command = Command::new(program);
    let done = command.args(arguments).env("LC_ALL", "C").output();
    done.map_err(|e| format!("{program}: {e}"))
}

/// Makes reads and writes of known number and size that bypass the page cache.
fn load(device: &str) {
    let of = format!("of={device}");
    let from = format!("if={device}");
    for (arguments, count) in [
        ([of.as_str(), "if=/dev/zero", "bs=16k", "oflag=direct"], "count=40"),
        ([from.as_str(), "of=/dev/null", "bs=8k", "iflag=direct"], "count=25"),
    ] {
        let done = run("dd", &[&arguments[..], &[count, "status=none"]].concat()).unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Returns iostat's columns of a device in its second report.
fn columns(json: &[u8], device: &str) -> Vec<(String, f64)> {
    let text = String::from_utf8_lossy(json);
    let from = text.find(&format!("\"disk_device\": \"{device}\"")).expect("the device is there");
    let object = &text[from..text[from..].find('}').unwrap() + from];
    object
        .split(',')
        .filter_map(|pair| {
            let (name, value) = pair.split_once(':')?;
            Some((name.trim().trim_matches('"').to_owned(), value.trim().parse().ok()?))
        })
        .collect()
}

#[test]
fn the_columns_agree_with_iostat() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("disk");
    let device = match Loop::new(&file) {
        Ok(device) => device,
        Err(why) => return println!("skipped: because there is no loop device ({why})"),
    };
    if let Err(why) = run("iostat", &["-V"]) {
        return println!("skipped: because iostat is not installed (package sysstat; {why})");
    }
    let name = device.0.trim_start_matches("/dev/").to_owned();
    // iostat omits devices that never had any I/O.
    load(&device.0);
    let interval = Duration::from_secs(3);
    let sampler = Sampler::start(Path::new("/"), &["disk".to_owned()], interval).unwrap();
    let start = sampler.tick_now();
    let iostat = std::thread::spawn(|| run("iostat", &["-x", "-y", "-o", "JSON", "3", "1"]));
    // Both have read their first counters long before the load, and read the second after it.
    std::thread::sleep(Duration::from_secs(1));
    load(&device.0);
    let at = sampler.wait_after(start, Duration::from_secs(10)).expect("a tick");
    let frame = Frame::newest(&sampler.window(start + 1, at)).expect("a frame");
    let theirs = columns(&iostat.join().unwrap().unwrap().stdout, &name);
    // In JSON, iostat writes `%util` as `util`.
    let of = |field: &str| {
        theirs.iter().find(|(n, _)| n == field.trim_start_matches('%')).map(|(_, v)| *v)
    };
    let ours = |field: &str| frame.value("disk", &name, field);
    if ours("w/s") * 3.0 < 39.0 || of("w/s").unwrap() * 3.0 < 39.0 {
        return println!(
            "skipped: because the machine is so busy that the load missed an interval"
        );
    }
    // The two intervals differ by milliseconds; means do not depend on that, and all rates do in
    // the same way.
    let scale = ours("w/s") / of("w/s").unwrap();
    for field in ["r/s", "w/s", "rkB/s", "wkB/s", "rrqm/s", "wrqm/s", "f/s", "aqu-sz", "%util"] {
        let theirs = of(field).expect(field);
        let near = 0.006 * scale + 0.006 / of("w/s").unwrap() * theirs * scale;
        assert!((ours(field) - theirs * scale).abs() <= near, "{field}: {} {theirs}", ours(field));
    }
    for field in ["%rrqm", "%wrqm", "r_await", "w_await", "rareq-sz", "wareq-sz"] {
        let theirs = of(field).expect(field);
        assert!((ours(field) - theirs).abs() <= 0.006, "{field}: {} {theirs}", ours(field));
    }
}

//! Tests the counting of system calls with programs whose calls are known: the same counts as
//! strace, by kind, with errors. Tests that cannot run here print the reason.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use assay_observe::ProcessFilter;
use assay_observe::Tracer;
use assay_observe::syscalls::{SyscallRequest, SyscallWatch};
use assay_testing::Turn;
use assay_traces::syscalls::{Dimension, Syscalls};

/// Counts the calls of this process's children, so only one test at a time may have any.
fn watch(ask: &SyscallRequest) -> Option<(SyscallWatch, Turn)> {
    let alone = assay_testing::alone();
    Some((start(ask)?, alone))
}

/// Counts the calls of this process's children, for a test that has its turn.
fn start(ask: &SyscallRequest) -> Option<SyscallWatch> {
    match SyscallWatch::start(Path::new("/"), ask) {
        Ok(watch) => Some(watch),
        Err(why) => {
            println!("skipped: because {why}");
            None
        }
    }
}

/// Number of calls and errors by name.
type Counts = BTreeMap<String, (u64, u64)>;

fn counts(seen: &Syscalls, wanted: impl Fn(&str) -> bool) -> Counts {
    let mut all = Counts::new();
    for c in seen.calls.iter().filter(|c| wanted(&c.program)) {
        let of = all.entry(c.call.clone()).or_default();
        *of = (of.0 + c.amounts.calls, of.1 + c.amounts.errors);
    }
    all
}

/// Runs a program under strace and the probes at once: both must count the same.
fn same_as_strace(program: &[&str]) {
    // Another test would count the shells below.
    let _alone = assay_testing::alone();
    let folder = tempfile::tempdir().unwrap();
    for needed in ["strace", program[0]] {
        let found = Command::new("sh").args(["-c", &format!("command -v {needed}")]).output();
        if !found.is_ok_and(|f| f.status.success()) {
            return println!("skipped: because there is no {needed}");
        }
    }
    let Some(watch) = start(&SyscallRequest::default()) else { return };
    let file = folder.path().join("counts");
    let done = Command::new("strace")
        .args(["-c", "-f", "-U", "name,calls,errors", "-o"])
        .arg(&file)
        .args(program)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let seen = watch.stop().unwrap();
    if !done.status.success() && String::from_utf8_lossy(&done.stderr).contains("ptrace") {
        return println!("skipped: because strace may not trace here");
    }
    assert!(done.status.success(), "{done:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let strace: Counts = text
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>())
        .filter_map(|words| {
            let calls = words.get(1)?.parse().ok()?;
            Some((words[0].to_owned(), (calls, words.get(2).map_or(0, |n| n.parse().unwrap()))))
        })
        .filter(|(name, _)| name != "total")
        .collect();
    assert!(strace.len() > 5, "{text}");
    let lost = &seen.lost;
    assert_eq!(counts(&seen, |program| program != "strace"), strace, "{program:?} {lost:?}");
    assert_eq!(seen.lost, assay_traces::syscalls::LostCalls::default());
}

#[test]
fn a_pipeline_of_a_shell_counts_as_strace_counts_it() {
    same_as_strace(&[
        "sh",
        "-c",
        "for i in 1 2 3; do ls -l /etc | sort | wc -l; cat /nowhere; done; true",
    ]);
}

#[test]
fn a_compiler_counts_as_strace_counts_it() {
    same_as_strace(&[
        "sh",
        "-c",
        "echo 'int main(void){return 0;}' > a.c && cc -O1 -o a a.c && ./a",
    ]);
}

#[test]
fn threads_and_sockets_count_as_strace_counts_them() {
    let program = "
import threading, socket, os
a, b = socket.socketpair()
def reader():
    n = 0
    while n < 100000: n += len(b.recv(4096))
threads = [threading.Thread(target=reader)] + [threading.Thread(target=lambda: [os.stat('/') for _ \
        in range(50)]) for _ in range(4)]
for t in threads: t.start()
for _ in range(100): a.sendall(b'x' * 1000)
for t in threads: t.join()
";
    same_as_strace(&["python3", "-c", program]);
}

const KINDS: &str = r"
import os, socket, select, tempfile
f = tempfile.TemporaryFile(); r, w = os.pipe(); a, b = socket.socketpair()
null = os.open('/dev/null', os.O_RDWR); event = os.eventfd(0)
for _ in range(7): os.pwrite(f.fileno(), b'x' * 100, 0)
for _ in range(5): os.write(w, b'y' * 10)
for _ in range(4): a.send(b'z' * 20)
for _ in range(3): os.write(null, b'n' * 30)
for _ in range(2): os.write(event, (1).to_bytes(8, 'little'))
for _ in range(6):
    try: os.write(999, b'-')
    except OSError: pass
";

#[test]
fn kinds_of_descriptors_their_bytes_and_errors_are_distinguished() {
    let Some((watch, _alone)) = watch(&SyscallRequest::default()) else { return };
    let done = Command::new("python3").args(["-c", KINDS]).output();
    let seen = watch.stop().unwrap();
    let Ok(done) = done else { return println!("skipped: because there is no python3") };
    assert!(done.status.success(), "{done:?}");
    // `python3` may be a script that starts the interpreter.
    let by = seen.by(&[Dimension::Call, Dimension::Kind, Dimension::Program]);
    let of = |call: &str, on: &str| {
        let found = by.iter().find(|g| g.key == [call, on, "python3"]);
        found.map(|g| (g.amounts.calls, g.amounts.errors, g.amounts.bytes)).unwrap_or_default()
    };
    assert_eq!(of("pwrite64", "file"), (7, 0, Some(700)), "{by:#?}");
    assert_eq!(of("write", "pipe"), (5, 0, Some(50)));
    assert_eq!(of("sendto", "socket"), (4, 0, Some(80)));
    assert_eq!(of("write", "device"), (3, 0, Some(90)));
    assert_eq!(of("write", "other"), (2, 0, Some(16)));
    assert_eq!(of("write", "not open"), (6, 6, Some(0)));
    assert!(seen.errors_by_call().contains(&("write".into(), "EBADF".into(), 6)));
    for group in &by {
        assert_eq!(group.amounts.times.iter().sum::<u64>(), group.amounts.calls, "{group:?}");
        assert!(group.amounts.longest_ns <= group.amounts.ns);
    }
}

#[test]
fn only_what_returns_in_the_measured_part_counts() {
    let Some((mut watch, _alone)) = watch(&SyscallRequest::default()) else { return };
    let run = || assert!(Command::new("true").status().unwrap().success());
    run();
    watch.begin();
    run();
    run();
    watch.end();
    run();
    let seen = watch.stop().unwrap();
    assert_eq!(counts(&seen, |_| true)["execve"].0, 2, "{seen:?}");
}

/// Uses more thread names than there is room for groups.
#[test]
fn what_has_no_room_is_counted_as_lost() {
    let Some((watch, _alone)) = watch(&SyscallRequest::default()) else { return };
    let program = "
import ctypes
c = ctypes.CDLL(None)
for i in range(20000): c.prctl(15, str(i).encode())
";
    let Ok(done) = Command::new("python3").args(["-c", program]).output() else {
        return println!("skipped: because there is no python3");
    };
    let seen = watch.stop().unwrap();
    assert!(done.status.success(), "{done:?}");
    let kept = counts(&seen, |_| true)["prctl"].0;
    assert!(seen.lost.calls > 0 && kept + seen.lost.calls >= 20_000, "{kept} {:?}", seen.lost);
}

#[test]
fn a_process_that_is_there_is_followed_with_its_children() {
    let mut shell = Command::new("sh")
        .args(["-c", "read x; for i in 1 2 3; do /bin/true; done; read y"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let ask =
        SyscallRequest { whose: ProcessFilter::Processes(vec![shell.id()]), by_process: true };
    if let Some((watch, _alone)) = watch(&ask) {
        use std::io::Write as _;
        let mut stdin = shell.stdin.take().unwrap();
        stdin.write_all(b"go\n").unwrap();
        drop(stdin);
        shell.wait().unwrap();
        let seen = watch.stop().unwrap();
        assert_eq!(counts(&seen, |program| program == "true")["execve"].0, 3, "{seen:?}");
        let processes = seen.by(&[Dimension::Process]);
        assert_eq!(processes.len(), 4, "{processes:?}");
        assert!(processes.iter().any(|g| g.key[0] == shell.id().to_string()));
    } else {
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}

#[test]
fn a_process_that_is_gone_is_named() {
    let ask =
        SyscallRequest { whose: ProcessFilter::Processes(vec![999_999_999]), by_process: false };
    let why = SyscallWatch::start(Path::new("/"), &ask).err().unwrap().to_string();
    assert!(why.contains("no process 999999999") || why.contains("process numbers"), "{why}");
}

const URING: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/io_uring.h>
int main(void) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    int ring = syscall(SYS_io_uring_setup, 8, &p);
    if (ring < 0) { puts("none"); return 0; }
    for (int i = 0; i < 3; i++) syscall(SYS_io_uring_enter, ring, 0, 0, 0, 0, 0);
    for (int i = 0; i < 2; i++)
        syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 1, 8);
    syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, 1, 8);
    puts("ring");
    return 0;
}
"#;

#[test]
fn submissions_are_distinguished_from_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("u.c"), folder.path().join("u"));
    std::fs::write(&source, URING).unwrap();
    if !Command::new("cc").arg("-o").args([&program, &source]).status().is_ok_and(|s| s.success()) {
        return println!("skipped: because there is no C compiler with linux/io_uring.h");
    }
    let Some((watch, _alone)) = watch(&SyscallRequest::default()) else { return };
    let done = Command::new(&program).output().unwrap();
    let seen = watch.stop().unwrap();
    if done.stdout != b"ring\n" {
        return println!("skipped: because this kernel gives no io_uring");
    }
    let by = seen.by(&[Dimension::Call, Dimension::Kind]);
    for (on, n) in [("async submission", 3), ("async submission, wait", 2), ("async wait", 1)] {
        let found = by.iter().find(|g| g.key == ["io_uring_enter", on]);
        assert_eq!(found.map(|g| g.amounts.calls), Some(n), "{on}: {by:#?}");
    }
}

#[test]
fn nothing_is_left_when_it_ends() {
    let Some((watch, _alone)) = watch(&SyscallRequest::default()) else { return };
    let ours = || {
        aya::programs::loaded_programs()
            .filter_map(Result::ok)
            .filter(|p| p.name_as_str() == Some("returned"))
            .count()
    };
    let with = ours();
    assert!(with > 0);
    drop(watch);
    // The kernel removes programs after a grace period.
    for _ in 0..1000 {
        if ours() < with {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the probes are still there");
}

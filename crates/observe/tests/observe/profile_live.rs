//! Tests the profiler with programs whose shares and waits are known. Tests that cannot run here
//! print the reason.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use assay_observe::ProcessFilter;
use assay_observe::Tracer;
use assay_observe::profile::{ProfileRequest, ProfileWatch, Unwind};
use assay_testing::shared;
use assay_traces::profile::{FrameKind, Profile, ProfileSide, ThreadState, functions, truncation};

fn skipped(reason: &str) {
    println!("skipped: because {reason}");
}

/// Compiles a program under a name, which its threads inherit: it distinguishes tests that run at
/// the same time.
fn compiled(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let program = folder.join(name);
    let done = Command::new("cc")
        // A loop that crosses a line of the cache may take longer than one that does not.
        .args(["-O1", "-falign-functions=64", "-pthread", "-o"])
        .arg(&program)
        .arg(&file)
        .args(flags)
        .status();
    done.is_ok_and(|d| d.success()).then_some(program)
}

/// Runs a program under the profiler. Returns the profile of the threads with its name, its output,
/// and its run time in seconds; `None` if it cannot be profiled here.
fn profiled(program: &Path, rate_hz: f64) -> Option<(Profile, String, f64)> {
    profiled_as(program, &ProfileRequest { rate_hz, ..ProfileRequest::default() })
}

fn profiled_as(program: &Path, ask: &ProfileRequest) -> Option<(Profile, String, f64)> {
    profiled_under(Path::new("/"), program, ask)
}

/// Profiles like [`profiled_as`], with `root` as the folder of the kernel's files.
fn profiled_under(
    root: &Path,
    program: &Path,
    ask: &ProfileRequest,
) -> Option<(Profile, String, f64)> {
    let _turn = shared();
    let watch = match ProfileWatch::start(root, ask) {
        Ok(watch) => watch,
        Err(why) => {
            skipped(&why.to_string());
            return None;
        }
    };
    let began = Instant::now();
    let out = Command::new(program).output().unwrap();
    let took = began.elapsed().as_secs_f64();
    assert!(out.status.success(), "{out:?}");
    let mut profile = watch.stop().unwrap();
    let name = program.file_name().unwrap().to_str().unwrap();
    profile.stacks.retain(|s| s.thread == name);
    profile.cpu.retain(|t| t.thread == name);
    Some((profile, String::from_utf8(out.stdout).unwrap(), took))
}

fn only_sampled(profile: &Profile) {
    skipped(&format!("only samples are to be had here: {}", profile.method));
}

/// Program whose function `twice` makes twice as many steps as `once`, each of which waits for the
/// one before.
const TWO_TO_ONE: &str = r"
#include <stdio.h>
#include <time.h>
#include <unistd.h>
volatile unsigned sink;
unsigned turns, seed;
__attribute__((noinline)) void twice(void) {
    unsigned x = sink; for (unsigned i = 0; i < 2 * turns; i++) x = x * 7 + i; sink = x; }
__attribute__((noinline)) void once(void) {
    unsigned x = sink; for (unsigned i = 0; i < turns; i++) x = x * 7 + i; sink = x; }
/* Of changing length, so that no sampler keeps step with it. */
__attribute__((noinline)) void both(void) {
    seed = seed * 1664525u + 1013904223u; turns = 5000 + (seed >> 8) % 30011;
    twice(); once(); sink++; }
int main(int c, char **v) {
    (void)c;
    if (UNLINK) unlink(v[0]);
    while (clock() < CLOCKS_PER_SEC) both();
    return 0;
}
";

#[test]
fn shares_of_two_functions_are_those_of_their_work() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fno-omit-frame-pointer", "-DUNLINK=0"];
    let Some(program) = compiled(folder.path(), "twotoone", TWO_TO_ONE, &flags) else {
        return skipped("there is no C compiler");
    };
    let Some((profile, _, _)) = profiled(&program, 997.0) else { return };
    let all = functions(&profile, ProfileSide::OnCpu, None);
    let of = |name: &str| {
        let found = all.iter().find(|f| f.frame.name.as_deref() == Some(name));
        found.map_or((0, 0), |f| (f.self_count, f.total_count))
    };
    let (twice, once) = (of("twice").0 as f64, of("once").0 as f64);
    let n = twice + once;
    assert!(n > 100.0, "{all:#?}");
    // Five times the sampling error of a share of 2/3.
    let error = 5.0 * (2.0 / 9.0 / n).sqrt();
    assert!((twice / n - 2.0 / 3.0).abs() < error, "{twice} and {once} samples");
    // The kernel's share is that of the machine: an emulated one reads its clock slowly.
    let user = all.iter().filter(|f| f.frame.kind == FrameKind::User);
    let samples = user.map(|f| f.self_count).sum::<u64>() as f64;
    assert!(n > 0.8 * samples, "{n} of {samples}: {all:#?}");
    // Functions that call nothing have no frame of their own at -O1, which hides `both` above them.
    assert!(of("main").1 as f64 >= 0.9 * n, "{all:#?}");
    let cut = truncation(&profile, ProfileSide::OnCpu);
    assert!(cut.broken_ns * 10 < cut.user_ns, "{cut:?}");
}

#[test]
fn a_program_that_is_deleted_while_it_runs_has_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fno-omit-frame-pointer", "-DUNLINK=1"];
    let Some(program) = compiled(folder.path(), "deleted", TWO_TO_ONE, &flags) else {
        return skipped("there is no C compiler");
    };
    let Some((profile, _, _)) = profiled(&program, 199.0) else { return };
    assert!(!program.exists());
    let all = functions(&profile, ProfileSide::OnCpu, None);
    let named = all.iter().any(|f| f.frame.name.as_deref() == Some("twice"));
    // On a machine so loaded that the file was deleted before it was read, a note must state that.
    let noted = profile.notes.iter().any(|n| n.contains("could no longer be read"));
    assert!(named || noted, "{all:#?} {:?}", profile.notes);
}

const WAITS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static double at(clockid_t c) { struct timespec t;
    clock_gettime(c, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double now(void) { return at(CLOCK_MONOTONIC); }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void snooze(double s) {
    struct timespec t = { 0, (long)(s * 1e9) }; nanosleep(&t, 0); }
__attribute__((noinline)) void *holds(void *p) {
    pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return p; }
int main(void) {
    double began = now();
    pthread_t t;
    pthread_mutex_lock(&lock);
    pthread_create(&t, 0, holds, 0);
    snooze(0.4);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    clock_t until = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < until) ;
    printf("%f\n", now() - began);
    return 0;
}
"#;

#[test]
fn waits_have_their_reason_and_time_adds_up_to_the_wall() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), "waits", WAITS, &["-fno-omit-frame-pointer"])
    else {
        return skipped("there is no C compiler");
    };
    let Some((mut profile, printed, took)) = profiled(&program, 99.0) else { return };
    let Some(on) = profile.cpu_ns() else { return only_sampled(&profile) };
    let own: f64 = printed.trim().parse().unwrap();
    let of = |state: ThreadState| {
        let all = profile.stacks.iter().filter(|s| s.state == state);
        all.map(|s| s.ns).sum::<u64>() as f64 / 1e9
    };
    assert!(of(ThreadState::Sleep) >= 0.399, "{profile:#?}");
    // The other thread waited for the lock from the moment when it reached it.
    let lock = of(ThreadState::Lock);
    assert!(lock > 0.2 && lock <= took, "{lock} {:?}", profile.stacks);
    // The time of both threads: the main thread's is that of the program, the other's is its wait
    // for the lock and little else.
    let on = on as f64 / 1e9;
    let off = profile.total_ns(ProfileSide::OffCpu) as f64 / 1e9;
    let all = on + off;
    // Each short wait counts as 0.4 ms or not at all, at random: a standard error of at most 0.2 ms
    // each.
    let short = profile.notes.iter().find_map(|n| n.split_once(" waits were shorter"));
    let short = short.map_or(0.0, |(n, _)| n.parse().unwrap());
    let chance = 5.0 * 0.2e-3 * f64::sqrt(short);
    assert!(all >= own + lock - 0.001 - chance, "{all} s of {own} and {lock}, {short} short waits");
    // Threads wait for a CPU too; nothing is counted twice.
    assert!(all <= 2.0 * took, "{all} of {took}");
    assert!(on >= 0.2, "{on}");
    profile.stacks.retain(|s| s.state == ThreadState::Sleep);
    let asleep = functions(&profile, ProfileSide::OffCpu, None);
    let asleep: Vec<String> = asleep.iter().map(|f| f.frame.label()).collect();
    assert!(asleep.iter().any(|f| f.contains("nanosleep")), "{asleep:?}");
}

#[test]
fn without_frame_pointers_the_stacks_that_stop_short_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fomit-frame-pointer", "-DUNLINK=0"];
    let Some(program) = compiled(folder.path(), "nopointer", TWO_TO_ONE, &flags) else {
        return skipped("there is no C compiler");
    };
    let ask = ProfileRequest {
        rate_hz: 499.0,
        unwind: Unwind::FramePointers,
        ..ProfileRequest::default()
    };
    let Some((profile, _, _)) = profiled_as(&program, &ask) else { return };
    let all = functions(&profile, ProfileSide::OnCpu, None);
    assert!(all.iter().any(|f| f.frame.name.as_deref() == Some("twice")), "{all:#?}");
    if cfg!(target_arch = "aarch64") {
        let notes = &profile.notes;
        assert!(notes.iter().any(|n| n.contains("frame pointers lead past")), "{notes:?}");
        return;
    }
    let cut = truncation(&profile, ProfileSide::OnCpu);
    assert!(cut.broken_ns * 2 > cut.user_ns, "{cut:?}");
}

/// Returns true if DWARF was used: kernels before 5.15 do not provide registers.
fn was_unwound(profile: &Profile) -> bool {
    let said = profile.notes.iter().any(|n| n.contains("were unwound by DWARF"));
    if !said {
        skipped(&format!("nothing was unwound: {:?}", profile.notes));
    }
    said
}

#[test]
fn without_frame_pointers_stacks_are_unwound_by_dwarf() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fomit-frame-pointer", "-DUNLINK=0"];
    let Some(program) = compiled(folder.path(), "unwound", TWO_TO_ONE, &flags) else {
        return skipped("there is no C compiler");
    };
    for unwind in [Unwind::Auto, Unwind::Dwarf] {
        let ask = ProfileRequest { rate_hz: 499.0, unwind, ..ProfileRequest::default() };
        let Some((profile, _, _)) = profiled_as(&program, &ask) else { return };
        if !was_unwound(&profile) {
            return;
        }
        let all = functions(&profile, ProfileSide::OnCpu, None);
        let of = |name: &str| {
            let found = all.iter().find(|f| f.frame.name.as_deref() == Some(name));
            found.map_or((0, 0), |f| (f.self_count, f.total_count))
        };
        let n = of("twice").0 + of("once").0;
        assert!(n > 50, "{all:#?}");
        // Their callers are there too, also of functions that call nothing.
        assert!(of("both").1 * 100 >= 95 * n && of("main").1 * 100 >= 95 * n, "{all:#?}");
        let cut = truncation(&profile, ProfileSide::OnCpu);
        assert!(cut.broken_ns * 20 < cut.user_ns, "{cut:?} {:?}", profile.notes);
    }
}

/// Program that recurses `DEPTH` times in each of two threads and then sorts by `qsort`, which
/// calls back from the C library, where frame pointers are missing.
const DEEP: &str = r"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
volatile unsigned sink;
__attribute__((noinline)) int compares(const void *a, const void *b) {
    for (unsigned i = 0; i < 200; i++) sink = sink * 7 + i;
    return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) void sorts(void) {
    int all[64];
    for (int i = 0; i < 64; i++) all[i] = (i * 37) % 64;
#ifdef OWN
    for (int i = 0; i < 200; i++) compares(all, all + 1);
#else
    qsort(all, 64, sizeof *all, compares);
#endif
    sink++;
}
__attribute__((noinline)) void down(int n) { if (n > 0) down(n - 1); else sorts(); sink++; }
void *works(void *p) {
    struct timespec t;
    do { down(DEPTH); clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); } while (t.tv_nsec < 400000000);
    return p;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, works, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
";

#[test]
fn threads_and_callbacks_through_libraries_have_whole_stacks() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-DDEPTH=20"];
    let Some(program) = compiled(folder.path(), "callsback", DEEP, &flags) else {
        return skipped("there is no C compiler");
    };
    let Some((profile, _, _)) = profiled(&program, 499.0) else { return };
    if !was_unwound(&profile) {
        return;
    }
    let (mut whole, mut all) = (0, 0);
    for stack in profile.side(ProfileSide::OnCpu) {
        let names: Vec<String> =
            profile.frames_of(stack).map(assay_traces::profile::Frame::label).collect();
        if names.last().is_some_and(|n| n == "compares") {
            all += stack.count;
            let down = names.iter().filter(|n| *n == "down").count();
            let through = names.iter().any(|n| n == "works") && names.iter().any(|n| n == "sorts");
            whole += if down == 21 && through { stack.count } else { 0 };
        }
    }
    assert!(all > 50, "{profile:#?}");
    assert!(whole * 100 >= 95 * all, "{whole} of {all}: {:?}", profile.notes);
}

#[test]
fn what_is_deeper_than_the_limit_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    // `OWN` avoids the library's code, which has no frame pointers and breaks most stacks.
    let flags = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-DDEPTH=300", "-DOWN"];
    let Some(program) = compiled(folder.path(), "toodeep", DEEP, &flags) else {
        return skipped("there is no C compiler");
    };
    for unwind in [Unwind::FramePointers, Unwind::Auto] {
        let ask = ProfileRequest { rate_hz: 199.0, unwind, ..ProfileRequest::default() };
        let Some((profile, _, _)) = profiled_as(&program, &ask) else { return };
        assert!(profile.notes.iter().any(|n| n.contains("127 functions")), "{:?}", profile.notes);
    }
}

#[test]
fn what_has_no_room_is_counted_and_no_time_is_lost_silently() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fno-omit-frame-pointer", "-DDEPTH=3"];
    let Some(program) = compiled(folder.path(), "noroom", DEEP, &flags) else {
        return skipped("there is no C compiler");
    };
    for unwind in [Unwind::FramePointers, Unwind::Dwarf] {
        let ask = ProfileRequest { rate_hz: 499.0, unwind, room: 2, ..ProfileRequest::default() };
        let Some((profile, _, _)) = profiled_as(&program, &ask) else { return };
        let lost = profile.loss;
        assert!(lost.samples + lost.stacks > 50, "{lost:?}");
        // Without eBPF the sample is kept and only its stack is lost.
        let by_probe = profile.cpu_ns().is_some() && unwind == Unwind::FramePointers;
        assert!(!by_probe || lost.samples > 0 && lost.ns > 0, "{lost:?}");
    }
}

/// Program that keeps the address of its thread control block in the frame-pointer register, as the
/// C library does while a thread starts: the block begins with its own address, so that frame
/// pointers lead in circles within it.
const ROUND: &str = r#"
#include <pthread.h>
void *adrift(void *p) {
    __asm__ volatile(
        "push %%rbp\n mov %%fs:0, %%rbp\n mov $900000000, %%rcx\n 1: dec %%rcx\n jnz 1b\n pop %%rbp"
        ::: "rcx", "memory");
    return p;
}
int main(void) { pthread_t t; pthread_create(&t, 0, adrift, 0); pthread_join(t, 0); return 0; }
"#;

#[test]
fn frame_pointers_that_lead_into_data_are_not_followed_there() {
    if !cfg!(target_arch = "x86_64") {
        return skipped("the program is for x86-64");
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), "roundabout", ROUND, &["-mno-red-zone"]) else {
        return skipped("there is no C compiler");
    };
    let ask = ProfileRequest {
        rate_hz: 499.0,
        unwind: Unwind::FramePointers,
        ..ProfileRequest::default()
    };
    let Some((profile, _, _)) = profiled_as(&program, &ask) else { return };
    let of = |s: &&assay_traces::profile::Stack| {
        profile.frames_of(s).any(|f| f.name.as_deref() == Some("adrift"))
    };
    let found: Vec<_> = profile.side(ProfileSide::OnCpu).filter(of).collect();
    assert!(!found.is_empty(), "{profile:#?}");
    // The program has one function; those of the kernel may be on top of it.
    assert!(found.iter().all(|s| s.frames.len() < 60), "{found:?} {:?}", profile.notes);
    assert!(!profile.notes.iter().any(|n| n.contains("127 functions")), "{:?}", profile.notes);
}

#[test]
fn where_the_kernel_does_not_describe_its_types_programs_are_sampled_on_the_cpu_alone() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fomit-frame-pointer", "-DUNLINK=0"];
    let Some(program) = compiled(folder.path(), "nobtf", TWO_TO_ONE, &flags) else {
        return skipped("there is no C compiler");
    };
    let ask = ProfileRequest { rate_hz: 499.0, ..ProfileRequest::default() };
    let Some((profile, _, _)) = profiled_under(folder.path(), &program, &ask) else { return };
    let said = profile.notes.join("; ");
    assert!(said.contains("CONFIG_DEBUG_INFO_BTF") && said.contains("waits"), "{said}");
    assert_eq!((profile.off_cpu, profile.count(ProfileSide::OffCpu)), (false, 0));
    if !was_unwound(&profile) {
        return;
    }
    let all = functions(&profile, ProfileSide::OnCpu, None);
    let of = |name: &str| {
        let found = all.iter().find(|f| f.frame.name.as_deref() == Some(name));
        found.map_or((0, 0), |f| (f.self_count, f.total_count))
    };
    let n = of("twice").0 + of("once").0;
    assert!(n > 50 && of("main").1 * 100 >= 95 * n, "{all:#?} {said}");
}

#[test]
fn a_second_snapshot_reads_no_file_again() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fno-omit-frame-pointer", "-DUNLINK=0"];
    let Some(program) = compiled(folder.path(), "snapped", TWO_TO_ONE, &flags) else {
        return skipped("there is no C compiler");
    };
    // The program begins only when it gets a line, so that it is profiled from its start.
    let mut child = Command::new("sh")
        .args(["-c", "read go; exec \"$0\""])
        .arg(&program)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let ask = ProfileRequest {
        whose: ProcessFilter::Processes(vec![child.id()]),
        rate_hz: 997.0,
        ..ProfileRequest::default()
    };
    let _turn = shared();
    let watch = ProfileWatch::start(Path::new("/"), &ask);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
    let watch = match watch {
        Ok(watch) => watch,
        Err(why) => return skipped(&why.to_string()),
    };
    let first = watch.snapshot().unwrap().recv().unwrap();
    // Stacks copied for unwinding before a snapshot appear in a later one: when two are equal, all
    // have arrived.
    let mut late = watch.snapshot().unwrap().recv().unwrap();
    let mut second = watch.snapshot().unwrap().recv().unwrap();
    let mut read = first.read + late.read;
    while late.profile.stacks != second.profile.stacks {
        read += second.read;
        (late, second) = (second, watch.snapshot().unwrap().recv().unwrap());
    }
    println!("{:?}, then {:?}", first.cpu, second.cpu);
    // Each file (the kernel's functions, the program, its library) that named a function. Which
    // ones are sampled on a loaded machine is random, except for the program.
    let named = second.profile.frames.iter().filter(|f| f.name.is_some());
    let files: BTreeSet<&str> = named.map(|f| f.module.as_str()).collect();
    assert!(!files.is_empty() && read >= files.len(), "{read} of {files:?}");
    assert_eq!(second.read, 0);
    let all = functions(&second.profile, ProfileSide::OnCpu, None);
    assert!(all.iter().any(|f| f.frame.name.as_deref() == Some("twice")), "{all:#?}");
    assert_eq!(late.profile.stacks, second.profile.stacks);
}

const MANY: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#define MANY 10000
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t all[MANY];
static double used(clockid_t c) { struct timespec t;
    clock_gettime(c, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) static void spin(void) {
    double end = used(CLOCK_THREAD_CPUTIME_ID) + 0.0002;
    while (used(CLOCK_THREAD_CPUTIME_ID) < end) ; }
static void *one(void *p) {
    pthread_mutex_lock(&gate); pthread_mutex_unlock(&gate); spin(); return p; }
int main(void) {
    pthread_attr_t a; char go;
    pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < MANY; i++)
        if (pthread_create(&all[i], &a, one, 0)) { printf("only %d\n", i); return 0; }
    printf("ready\n"); fflush(stdout);
    if (read(0, &go, 1) != 1) return 1;
    double before = used(CLOCK_PROCESS_CPUTIME_ID);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < MANY; i++) pthread_join(all[i], 0);
    printf("%f\n", used(CLOCK_PROCESS_CPUTIME_ID) - before);
    return 0;
}
"#;

#[test]
fn ten_thousand_threads_are_followed_and_none_of_their_time_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fno-omit-frame-pointer"];
    let Some(program) = compiled(folder.path(), "manythreads", MANY, &flags) else {
        return skipped("there is no C compiler");
    };
    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    if first != "ready" {
        child.wait().unwrap();
        return skipped(&format!("this system lets a program have {first} threads"));
    }
    let whose = ProcessFilter::Processes(vec![child.id()]);
    let ask = ProfileRequest { whose, rate_hz: 997.0, ..ProfileRequest::default() };
    let _turn = shared();
    let watch = ProfileWatch::start(Path::new("/"), &ask);
    child.stdin.take().unwrap().write_all(b"g").unwrap();
    let used: f64 = lines.next().unwrap().unwrap().parse().unwrap();
    child.wait().unwrap();
    let profile = match watch {
        Ok(watch) => watch.stop().unwrap(),
        Err(why) => return skipped(&why.to_string()),
    };
    assert_eq!(profile.loss.threads, 0, "{:?}", profile.loss);
    let Some(exact) = profile.cpu_ns().filter(|ns| *ns > 0) else {
        return only_sampled(&profile);
    };
    let exact = exact as f64 / 1e9;
    // Two seconds of work; the process's own clock leaves out the kernel's last work for a thread
    // that ends.
    assert!(used > 2.0 && (0.95..1.25).contains(&(exact / used)), "{exact} s of {used} s");
    let waits = profile.stacks.iter().filter(|s| s.state == ThreadState::Lock).map(|s| s.count);
    assert!(waits.sum::<u64>() >= 10_000, "each waited for the lock");
}

/// Helper that the next test starts: profiles everything until it is killed.
#[test]
fn looks_until_it_is_killed() {
    if std::env::var_os("ASSAY_LOOKS_UNTIL_KILLED").is_none() {
        return println!("not asked to: another test starts this one");
    }
    let ask = ProfileRequest { whose: ProcessFilter::All, ..ProfileRequest::default() };
    match ProfileWatch::start(Path::new("/"), &ask) {
        Ok(watch) => {
            println!("looking");
            let _kept = watch.snapshot().unwrap().recv();
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
        Err(why) => println!("cannot: {why}"),
    }
}

/// Returns the ids of the probes and maps that a process holds.
fn held(pid: u32) -> (Vec<u32>, Vec<u32>) {
    let (mut probes, mut maps) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let of =
            |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse::<u32>().ok());
        // A link contains the id of the probe that it attaches, too.
        probes.extend(of("prog_id:"));
        maps.extend(of("map_id:"));
    }
    (probes, maps)
}

#[test]
fn killed_while_it_looks_it_leaves_no_probe_no_map_and_no_file() {
    let _turn = shared();
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "profile_live::looks_until_it_is_killed", "--nocapture"])
        .env("ASSAY_LOOKS_UNTIL_KILLED", "1")
        .env("TMPDIR", folder.path())
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.map(Result::unwrap).find(|l| l.contains("looking") || l.contains("cannot"));
    let said = said.unwrap_or_default();
    if !said.contains("looking") {
        child.wait().unwrap();
        return skipped(&said);
    }
    let (probes, maps) = held(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    if probes.is_empty() {
        return skipped("it looks without eBPF here");
    }
    assert!(maps.len() > 3, "{maps:?}");
    let left = || {
        let probes_left = aya::programs::loaded_programs().filter_map(Result::ok);
        let maps_left = aya::maps::loaded_maps().filter_map(Result::ok);
        probes_left.filter(|p| probes.contains(&p.id())).count()
            + maps_left.filter(|m| maps.contains(&m.id())).count()
    };
    // The kernel removes them after a grace period.
    let gone = (0..3000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        left() == 0
    });
    assert!(gone, "{} of {probes:?} and {maps:?} are still there", left());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file is left");
}

/// Program with two threads on one CPU that hand over to each other as fast as they can. Their
/// lifetime counts from their creation, not from their first run: until then they wait for a CPU.
/// The first thread has their name until then, so the time to start the program counts, too: on an
/// emulated machine that is a tenth of the total.
const HAND_OVER: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
static double at(clockid_t c) { struct timespec t;
    clock_gettime(c, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double now(void) { return at(CLOCK_MONOTONIC); }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn, over; static long turns; static double end, began[2], lived[2];
static void *one(void *p) {
    int me = (int)(long)p;
    pthread_mutex_lock(&lock);
    while (!over) {
        while (turn != me && !over) { pthread_cond_wait(&turned, &lock); turns++; }
        turn = !me; over |= now() > end;
        pthread_cond_signal(&turned);
    }
    pthread_mutex_unlock(&lock);
    lived[me] = now() - began[me];
    return 0;
}
int main(void) {
    pthread_t t[2]; cpu_set_t set, all;
    sched_getaffinity(0, sizeof all, &all);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &all)) { CPU_ZERO(&set); CPU_SET(c, &set); break; }
    sched_setaffinity(0, sizeof set, &set);
    end = now() + 0.6;
    pthread_setname_np(pthread_self(), "handedover");
    double started = at(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < 2; i++) { began[i] = now(); pthread_create(&t[i], 0, one, (void *)i); }
    pthread_setname_np(pthread_self(), "starter");
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf("%f %ld\n", started + lived[0] + lived[1], turns);
    return 0;
}
"#;

#[test]
fn short_waits_are_represented_by_some_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-fno-omit-frame-pointer"];
    let Some(program) = compiled(folder.path(), "handedover", HAND_OVER, &flags) else {
        return skipped("there is no C compiler");
    };
    let Some((profile, out, _)) = profiled(&program, 99.0) else { return };
    let Some(on) = profile.cpu_ns() else { return only_sampled(&profile) };
    let (lived, turns) = out.trim().split_once(' ').unwrap();
    let (lived, turns) = (lived.parse::<f64>().unwrap() * 1e9, turns.parse::<u64>().unwrap());
    let off = profile.total_ns(ProfileSide::OffCpu) as f64;
    let notes = &profile.notes;
    assert!(notes.iter().any(|n| n.contains("represent all")), "{notes:?}");
    // Of the 1.2 s that both live, some 0.6 s are off CPU, represented by 1,500 waits of 0.4 ms
    // each: known to 2.6 %, which is 1.3 % of the total.
    let share = (on as f64 + off) / lived;
    assert!((share - 1.0).abs() < 0.08, "{share}: {on} on CPU, {off} off");
    let of = |state: ThreadState| profile.stacks.iter().filter(move |s| s.state == state);
    let waited: u64 = of(ThreadState::Lock).chain(of(ThreadState::Runnable)).map(|s| s.ns).sum();
    assert!(waited as f64 > 0.9 * off, "{waited} of {off}");
    let count: u64 = of(ThreadState::Lock).map(|s| s.count).sum();
    assert!(count > turns * 3 / 4, "their number is that of all: {count} of {turns}");
}

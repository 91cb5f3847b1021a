//! Tests of the matcher on sequences of events.

use super::*;
use crate::block_io::fixtures::IoCollector;

fn event(action: IoAction, time_ns: u64, sector: u64, bytes: u64) -> Event {
    Event {
        action,
        time_ns,
        device: 3,
        sector,
        bytes,
        op: Op::Write,
        flags: Flags::SYNC,
        pid: Some(1),
        program: NameTable::NONE,
        cgroup: NameTable::NONE,
        other_sector: 0,
    }
}

fn run(events: &[Event]) -> (IoCollector, Completeness) {
    let mut kept = IoCollector::default();
    let mut matcher = Matcher::default();
    for e in events {
        matcher.event(e, &mut kept);
    }
    let completeness = matcher.finish(&mut kept);
    assert_eq!(kept.started.len(), kept.ended.len(), "every start has its end");
    (kept, completeness)
}

#[test]
fn queue_and_device_time_add_up() {
    let (kept, h) = run(&[
        event(IoAction::Queue, 10, 8, 4096),
        event(IoAction::Start, 11, 8, 4096),
        event(IoAction::Insert, 12, 8, 4096),
        event(IoAction::Issue, 25, 8, 4096),
        event(IoAction::Complete, 65, 8, 4096),
        event(IoAction::Done, 66, 8, 4096),
    ]);
    let io = kept.ended[0];
    assert_eq!((io.queue_ns, io.device_ns, io.latency_ns), (Some(15), Some(40), Some(55)));
    assert_eq!((h.ios, h.matched, h.ambiguous, h.unmatched_ends, h.lost()), (1, 1, 0, 0, false));
}

/// Events as biolatency traces them: the completion has no size.
#[test]
fn from_start_to_done_alone() {
    let (kept, h) = run(&[
        event(IoAction::Start, 10, 8, 4096),
        event(IoAction::Done, 66, 8, 0),
        event(IoAction::Start, 70, 8, 4096),
        event(IoAction::Done, 71, 8, 0),
    ]);
    let latencies: Vec<_> = kept.ended.iter().map(|io| (io.latency_ns, io.bytes)).collect();
    assert_eq!(latencies, [(Some(56), 4096), (Some(1), 4096)]);
    assert_eq!((h.matched, h.unmatched_ends), (2, 0));
}

#[test]
fn equal_requests_are_first_in_first_out_and_counted() {
    let (kept, h) = run(&[
        event(IoAction::Issue, 0, 8, 4096),
        event(IoAction::Issue, 10, 8, 4096),
        event(IoAction::Issue, 11, 8, 8192),
        event(IoAction::Complete, 30, 8, 4096),
        event(IoAction::Complete, 50, 8, 8192),
        event(IoAction::Complete, 70, 8, 4096),
    ]);
    let latencies: Vec<_> = kept.ended.iter().map(|io| io.latency_ns.unwrap()).collect();
    assert_eq!(latencies, [30, 39, 60]);
    assert_eq!((h.matched, h.ambiguous), (3, 2));
}

#[test]
fn joined_bios_leave_nothing_behind() {
    // Merges at the back and at the front, reported by events.
    let (kept, h) = run(&[
        event(IoAction::Queue, 0, 16, 4096),
        event(IoAction::Queue, 1, 24, 4096),
        event(IoAction::BackMerge, 2, 24, 4096),
        event(IoAction::Queue, 3, 8, 4096),
        event(IoAction::FrontMerge, 4, 8, 4096),
        event(IoAction::Issue, 10, 8, 12_288),
        event(IoAction::Complete, 15, 8, 12_288),
        event(IoAction::Queue, 100, 24, 4096),
        event(IoAction::Issue, 101, 24, 4096),
        event(IoAction::Complete, 110, 24, 4096),
    ]);
    let queues: Vec<_> = kept.ended.iter().map(|io| io.queue_ns).collect();
    assert_eq!((queues, h.queue_unknown), (vec![Some(10), Some(1)], 0));
    // The same without merge events.
    let (kept, _) = run(&[
        event(IoAction::Queue, 0, 16, 4096),
        event(IoAction::Queue, 1, 24, 4096),
        event(IoAction::Issue, 10, 16, 8192),
        event(IoAction::Queue, 100, 24, 4096),
        event(IoAction::Issue, 101, 24, 4096),
    ]);
    assert_eq!(kept.started[1].queue_ns, Some(1), "not since the bio of before");
}

#[test]
fn the_second_part_of_a_split_waits_as_long_as_the_whole() {
    let mut split = event(IoAction::Split, 2, 8, 4096);
    split.other_sector = 12;
    let (kept, h) = run(&[
        event(IoAction::Queue, 0, 8, 4096),
        split,
        event(IoAction::Issue, 5, 8, 2048),
        event(IoAction::Issue, 9, 12, 2048),
    ]);
    let queues: Vec<_> = kept.started.iter().map(|io| io.queue_ns).collect();
    assert_eq!((queues, h.queue_unknown), (vec![Some(5), Some(9)], 0));
    assert_eq!(h.in_flight, 2);
}

#[test]
fn a_request_that_is_issued_again_starts_once() {
    let (kept, h) = run(&[
        event(IoAction::Issue, 0, 8, 4096),
        event(IoAction::Requeue, 5, 8, 4096),
        event(IoAction::Issue, 20, 8, 4096),
        event(IoAction::Complete, 30, 8, 4096),
    ]);
    assert_eq!((kept.started.len(), h.requeued, h.ios), (1, 1, 1));
    assert_eq!(kept.ended[0].latency_ns, Some(30));
}

#[test]
fn a_device_that_passes_bios_on_is_timed_from_the_queue() {
    let (kept, h) = run(&[
        event(IoAction::Queue, 0, 8, 4096),
        event(IoAction::Complete, 7, 8, 4096),
        event(IoAction::Queue, 10, 8, 4096),
        event(IoAction::Queue, 12, 16, 4096),
        event(IoAction::Complete, 19, 16, 4096),
    ]);
    let latencies: Vec<_> = kept.ended.iter().map(|io| io.latency_ns).collect();
    assert_eq!(latencies, [Some(7), Some(7), None]);
    assert_eq!((h.ios, h.in_flight, h.unmatched_ends), (3, 1, 0));
    let serials: Vec<_> = kept.started.iter().map(|io| io.serial).collect();
    assert_eq!(serials, [0, 1, 2]);
}

#[test]
fn flushes_and_discards_are_neither_reads_nor_writes() {
    let flush = Flags::PREFLUSH.with(Flags::SYNC);
    let with = |action, time, op, flags| Event { op, flags, ..event(action, time, 8, 4096) };
    let empty = |action, t, sector| Event { flags: flush, ..event(action, t, sector, 0) };
    let (kept, h) = run(&[
        empty(IoAction::Issue, 0, u64::MAX),
        empty(IoAction::Complete, 4, 0),
        with(IoAction::Issue, 5, Op::Discard, Flags::default()),
        with(IoAction::Complete, 9, Op::Discard, Flags::default()),
        with(IoAction::Complete, 10, Op::Write, flush),
        with(IoAction::Complete, 11, Op::Write, Flags::default()),
    ]);
    let ops: Vec<_> = kept.ended.iter().map(|io| io.op).collect();
    assert_eq!(ops, [Op::Flush, Op::Discard]);
    assert_eq!((h.matched, h.flush_ends, h.unmatched_ends), (2, 1, 1));
    assert!(h.lost());
}

#[test]
fn a_clock_that_steps_back_gives_no_latency() {
    let (kept, h) = run(&[
        event(IoAction::Issue, 100, 8, 4096),
        event(IoAction::Complete, 90, 8, 4096),
        event(IoAction::Issue, 95, 8, 4096),
    ]);
    assert_eq!(kept.ended[0].latency_ns, None);
    assert_eq!(h.clock_backwards, 2, "the event and the latency");
}

#[test]
fn a_full_table_gives_up_the_older_half_and_says_so() {
    let mut kept = IoCollector::default();
    let mut matcher = Matcher::new(100);
    for i in 0..1_000u64 {
        matcher.event(&event(IoAction::Issue, i, i * 8, 4096), &mut kept);
    }
    let h = matcher.finish(&mut kept);
    assert_eq!(h.given_up + h.in_flight, 1_000);
    assert!(h.in_flight <= 100 && h.lost());
    assert_eq!(kept.ended.len(), 1_000);
}

/// A hot spot: many concurrent requests of several sizes for the same few blocks.
#[test]
fn every_request_of_a_hot_spot_is_matched() {
    let mut rng = assay_stats::rng::Rng::new(23);
    let mut kept = IoCollector::default();
    let mut matcher = Matcher::default();
    let mut under_way: Vec<(u64, u64)> = Vec::new();
    let (mut issued, mut sum) = (0u64, 0i128);
    for t in 0..300_000u64 {
        if under_way.len() < 32 && (rng.below(2) == 0 || under_way.is_empty()) {
            let sector = (rng.uniform().powi(6) * 50.0) as u64 * 8;
            let bytes = 4096 << rng.below(3);
            under_way.push((sector, bytes));
            matcher.event(&event(IoAction::Issue, t, sector, bytes), &mut kept);
            issued += 1;
            sum -= i128::from(t);
        } else {
            let (sector, bytes) = under_way.swap_remove(rng.below(under_way.len()));
            matcher.event(&event(IoAction::Complete, t, sector, bytes), &mut kept);
            sum += i128::from(t);
        }
    }
    for (sector, bytes) in under_way {
        matcher.event(&event(IoAction::Complete, 300_000, sector, bytes), &mut kept);
        sum += 300_000;
    }
    let h = matcher.finish(&mut kept);
    assert_eq!((h.matched, h.ios, h.in_flight, h.unmatched_ends), (issued, issued, 0, 0));
    assert!(h.ambiguous > issued / 10, "{}", h.ambiguous);
    let got: i128 = kept.ended.iter().map(|io| i128::from(io.latency_ns.unwrap())).sum();
    assert_eq!(got, sum, "exchanged latencies keep their sum");
}

/// Recorded from a loop device without `block_rq_requeue`: the same request is issued twice.
#[test]
fn issued_again_without_being_made_again_is_one_request() {
    let (kept, h) = run(&[
        event(IoAction::Start, 0, 8, 4096),
        event(IoAction::Issue, 5, 8, 4096),
        event(IoAction::Issue, 9, 8, 4096),
        event(IoAction::Complete, 20, 8, 4096),
    ]);
    assert_eq!((h.ios, h.matched, h.requeued, h.queue_unknown), (1, 1, 1, 0));
    assert_eq!(kept.ended[0].latency_ns, Some(20));
}

/// Found by fuzzing: every way of merging a bio into a request that was requeued.
#[test]
fn what_came_back_and_was_joined_ends_all_the_same() {
    let back = [
        event(IoAction::Queue, 0, 8, 4096),
        event(IoAction::Issue, 1, 8, 4096),
        event(IoAction::Requeue, 2, 8, 4096),
    ];
    let joins = [
        vec![event(IoAction::BackMerge, 3, 8, 4096)],
        vec![event(IoAction::Queue, 3, 16, 4096), event(IoAction::FrontMerge, 4, 8, 4096)],
        vec![event(IoAction::Queue, 3, 0, 4096), event(IoAction::Issue, 4, 0, 8192)],
    ];
    for join in joins {
        // `run` checks that every start has an end.
        let (_, h) = run(&[&back[..], &join].concat());
        assert_eq!(h.given_up, 1);
    }
}

//! Tests that the responses of a batch, parsed in one piece (mostly as complete hits), give the
//! same result as the same bytes parsed one at a time.

use proptest::prelude::*;

use super::*;
use crate::config::{KEY_LIMIT, Protocol};
use crate::latency::worker_stats::Timeline;
use crate::protocol::Parser;
use crate::receive::pending::NOOP;
use crate::send::mix::{KeyAction, Op};

/// The server's reaction to an operation.
#[derive(Debug, Clone, Copy)]
enum Reaction {
    Right,
    /// A get misses, a set is rejected.
    Not,
    /// Index of the changed byte in the value, or in the line for a set.
    Changed(usize),
    /// An error line instead of the response.
    Failed,
}

fn operations() -> impl Strategy<Value = Vec<(Op, Reaction)>> {
    let answer = prop_oneof![
        40 => Just(Reaction::Right),
        2 => Just(Reaction::Not),
        1 => (0usize..120).prop_map(Reaction::Changed),
        1 => Just(Reaction::Failed),
    ];
    let operation = (0u8..10, 0u64..6, any::<u8>()).prop_map(|(dice, key, version)| {
        let action = match dice {
            0 => KeyAction::Set,
            1 => KeyAction::GetAbsent,
            _ => KeyAction::Get,
        };
        let key = if action == KeyAction::GetAbsent { key + KEY_LIMIT } else { key };
        let class = (key % 2) as u8;
        Op { action, key, class, length: (key % 6 * 23 + 4) as u32, version }
    });
    proptest::collection::vec((operation, answer), 0..40)
}

/// Returns the bytes of a response. `number` is that of a quiet request.
fn bytes(
    content: &Content,
    protocol: Protocol,
    number: Option<u32>,
    op: Op,
    how: Reaction,
) -> Vec<u8> {
    let opaque = number.map(|n| format!(" O{:03x}", n & 0xfff)).unwrap_or_default();
    let is_set = op.action == KeyAction::Set;
    let right = match how {
        Reaction::Failed => return b"SERVER_ERROR out of memory\r\n".to_vec(),
        Reaction::Not => false,
        Reaction::Right | Reaction::Changed(_) => op.action != KeyAction::GetAbsent,
    };
    let line = match (protocol, is_set, right) {
        (Protocol::Text, true, true) => "STORED\r\n".to_owned(),
        (Protocol::Text, true, false) => "NOT_STORED\r\n".to_owned(),
        (Protocol::Text, false, false) => "END\r\n".to_owned(),
        (Protocol::Text, false, true) => {
            format!("VALUE p:{:010x} 0 {}\r\n", op.key, op.length)
        }
        (_, true, true) | (_, false, false) if number.is_some() => String::new(),
        (_, true, true) => "HD\r\n".to_owned(),
        (_, true, false) => format!("NS{opaque}\r\n"),
        (_, false, false) => "EN\r\n".to_owned(),
        (_, false, true) => format!("VA {}{opaque}\r\n", op.length),
    };
    let mut out = line.into_bytes();
    let from = if is_set || !right { 0 } else { out.len() };
    if !is_set && right {
        content.write(op.key, op.length, op.version, &mut out);
        out.extend_from_slice(if protocol == Protocol::Text { b"\r\nEND\r\n" } else { b"\r\n" });
    }
    if let Reaction::Changed(at) = how
        && from < out.len()
    {
        let at = from + at % (out.len() - from);
        out[at] ^= 1;
    }
    out
}

/// Returns the final statistics and ring, and the error that stopped the parser, as text.
fn judged(protocol: Protocol, operations: &[(Op, Reaction)], piece: usize) -> String {
    let content = Content::new(7, 200);
    let encoder = Encoder::new(protocol, "p:");
    let quiet = encoder.quiet(operations.len());
    let line = Timeline { start: 0, steady: 10, down: 1_000, end: 2_000, bin: 100 };
    let mut stats = WorkerStats::new(line, 2);
    let mut ring = Ring::new(64);
    let mut answers = Vec::new();
    for (op, how) in operations {
        let number = quiet.then_some(ring.next_number());
        answers.extend(bytes(&content, protocol, number, *op, *how));
        let (key, length, class, action) = (op.key, op.length, op.class, Some(op.action));
        // In an open loop each operation has a time of its own, in a closed loop that of its batch.
        let at = if key % 3 == 0 { WITH_BATCH } else { 100 + key };
        ring.push(Pending { at, key, length, class, action, quiet });
    }
    if quiet {
        ring.push(NOOP);
        answers.extend(b"MN\r\n");
    }
    stats.at(500);
    let mut parser = Parser::new(protocol);
    let mut current = Current::Idle;
    let mut judge = Judge {
        ring: &mut ring,
        current: &mut current,
        sent_at: 90,
        stats: &mut stats,
        content: &content,
        encoder: &encoder,
        text: protocol == Protocol::Text,
    };
    let failed = answers.chunks(piece).find_map(|p| parser.feed(p, &mut judge).err());
    stats.at(501);
    let left: Vec<_> = ring.iter().collect();
    // The kind of error is the same; how many bytes it shows depends on the split.
    format!("{stats:?} {current:?} {left:?} {:?}", failed.map(|g| g.what))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn answers_taken_whole_count_as_those_taken_apart(
        operations in operations(),
        protocol in prop_oneof![Just(Protocol::Text), Just(Protocol::Meta)],
        piece in 2usize..500,
    ) {
        let apart = judged(protocol, &operations, 1);
        prop_assert_eq!(&judged(protocol, &operations, usize::MAX), &apart);
        prop_assert_eq!(&judged(protocol, &operations, piece), &apart);
    }
}

#[test]
fn right_answers_are_counted_by_operation_and_time() {
    let op = |action, key| Op { action, key, class: 0, length: 27, version: 3 };
    let all = [op(KeyAction::Get, 1), op(KeyAction::Set, 1), op(KeyAction::Get, 1)]
        .map(|o| (o, Reaction::Right));
    for protocol in [Protocol::Text, Protocol::Meta] {
        let seen = judged(protocol, &all, usize::MAX);
        assert!(seen.contains("answers: 3") && seen.ends_with("Idle [] None"), "{seen}");
    }
}

//! Tests that the responses of a batch, parsed in one piece (mostly as complete hits), give the
//! same result as the same bytes parsed one at a time.

use proptest::prelude::*;

use super::*;
use crate::config::{KEY_LIMIT, Protocol};
use crate::latency::worker_stats::Timeline;
use crate::protocol::pending::NOOP;
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
        Op { action, key, pad: 0, class, length: (key % 6 * 23 + 4) as u32, version }
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
        Reaction::Failed if protocol.is_resp() => return b"-OOM command not allowed\r\n".to_vec(),
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
        (Protocol::Resp2 | Protocol::Resp3, true, true) => "+OK\r\n".to_owned(),
        (Protocol::Resp2 | Protocol::Resp3, true, false) => "-ERR syntax error\r\n".to_owned(),
        (Protocol::Resp2, false, false) => "$-1\r\n".to_owned(),
        (Protocol::Resp3, false, false) => "_\r\n".to_owned(),
        (Protocol::Resp2 | Protocol::Resp3, false, true) => format!("${}\r\n", op.length),
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
    let quiet = Encoder::new(protocol, "p:").quiet(operations.len());
    let mut ring = Ring::new(64);
    let mut answers = Vec::new();
    for (op, how) in operations {
        let number = quiet.then_some(ring.next_number());
        answers.extend(bytes(&content, protocol, number, *op, *how));
        // In an open loop each operation has a time of its own, in a closed loop that of its batch.
        let at = if op.key % 3 == 0 { WITH_BATCH } else { 100 + op.key };
        ring.push(Pending::new(op, at, quiet));
    }
    if quiet {
        ring.push(NOOP);
        answers.extend(b"MN\r\n");
    }
    let (stats, state, left, failed) = read(protocol, ring, &answers, piece);
    // The kind of error is the same; how many bytes it shows depends on the split.
    format!("{stats:?} {state:?} {left:?} {failed:?}")
}

type Outcome = (WorkerStats, ResponseState, Vec<Pending>, Option<&'static str>);

/// Parses responses to the requests of `ring` in pieces of this length.
fn read(protocol: Protocol, mut ring: Ring, answers: &[u8], piece: usize) -> Outcome {
    let content = Content::new(7, 200);
    let encoder = Encoder::new(protocol, "p:");
    let line = Timeline { start: 0, steady: 10, down: 1_000, end: 2_000, bin: 100 };
    let mut stats = WorkerStats::new(line, 2);
    stats.at(500);
    let mut parser = encoder.parser();
    let mut state = ResponseState::default();
    let mut judge = Judge {
        ring: &mut ring,
        state: &mut state,
        sent_at: 90,
        stats: &mut stats,
        content: &content,
        encoder: &encoder,
        text: protocol == Protocol::Text,
        refills: true,
        own_counter: true,
    };
    let failed = answers.chunks(piece).find_map(|p| parser.feed(p, &mut judge).err());
    stats.at(501);
    let left = ring.iter().copied().collect();
    (stats, state, left, failed.map(|g| g.what))
}

/// Creates the requests of one operation each: three gets of a multi-get, a delete and two
/// increments.
fn requests() -> Ring {
    let mut ring = Ring::new(64);
    let op = |action, key| Op { action, key, pad: 0, class: 0, length: 4, version: 0 };
    for key in 1..=3 {
        let part = op(KeyAction::Get, key);
        ring.push(Pending { part: true, ..Pending::new(&part, WITH_BATCH, false) });
    }
    for action in
        [KeyAction::MultiGet, KeyAction::Delete, KeyAction::Increment, KeyAction::Increment]
    {
        ring.push(Pending::new(&op(action, 9), WITH_BATCH, false));
    }
    ring
}

/// Returns the array of a multi-get of the keys 1 to 3, of which the second is gone.
fn array() -> Vec<u8> {
    let content = Content::new(7, 200);
    let mut out = b"*3\r\n$4\r\n".to_vec();
    content.write(1, 4, 0, &mut out);
    out.extend(b"\r\n$-1\r\n$4\r\n");
    content.write(3, 4, 0, &mut out);
    out.extend(b"\r\n");
    out
}

#[test]
fn arrays_and_numbers_are_judged_however_they_are_cut() {
    let answers = [&array()[..], b":0\r\n:7\r\n:8\r\n"].concat();
    for piece in [1, 2, 7, usize::MAX] {
        let (stats, state, left, failed) = read(Protocol::Resp2, requests(), &answers, piece);
        assert_eq!((failed, left.len(), stats.errors.total()), (None, 0, 0), "{piece}");
        assert_eq!((stats.answers, stats.parts, stats.evicted), (4, [2, 1], 1), "{piece}");
        assert_eq!(state.refill, [2], "the key that is gone is to be set again");
    }
}

#[test]
fn every_kind_of_wrong_answer_is_found() {
    let mut wrong_value = array();
    wrong_value[10] ^= 1;
    let cases: [(&[u8], &[u8], ErrorKind); 5] = [
        (&wrong_value, b":0\r\n:7\r\n:8\r\n", ErrorKind::WrongContent),
        (b"-MOVED 1 h:1\r\n", b":0\r\n:7\r\n:8\r\n", ErrorKind::Moved),
        (&array(), b":2\r\n:7\r\n:8\r\n", ErrorKind::WrongNumber),
        (&array(), b":1\r\n:7\r\n:7\r\n", ErrorKind::WrongNumber),
        (&array(), b":1\r\n:7\r\n-LOADING data\r\n", ErrorKind::NotReady),
    ];
    for (array, numbers, kind) in cases {
        for piece in [1, usize::MAX] {
            let answers = [array, numbers].concat();
            let (stats, _, left, failed) = read(Protocol::Resp2, requests(), &answers, piece);
            assert_eq!((failed, left.len()), (None, 0), "{kind:?}");
            assert_eq!((stats.errors.count(kind), stats.errors.total()), (1, 1), "{kind:?}");
            assert_eq!(stats.answers, 3, "{kind:?}");
            assert_eq!(
                stats.parts.iter().sum::<u64>() % 3,
                0,
                "{kind:?}: keys of whole multi-gets"
            );
        }
    }
    for (answers, what) in [
        (&b"*2\r\n$-1\r\n$-1\r\n"[..], "another length"),
        (b"$-1\r\n", "another kind"),
        (b"$4\r\nabcd\r\n", "a value without a request"),
        (b":1\r\n", "a number without a request"),
        (b"+OK\r\n", "another kind"),
        (b"VALUE\r\n", "not an answer"),
    ] {
        let failed = read(Protocol::Resp2, requests(), answers, usize::MAX).3.unwrap();
        assert!(failed.contains(what), "{answers:?}: {failed}");
    }
}

#[test]
fn the_answer_to_hello_is_skipped_and_its_refusal_is_reported() {
    let hello = b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nmodules\r\n*1\r\n$0\r\n\r\n";
    let answers = [&hello[..], &array(), b":0\r\n:7\r\n:8\r\n"].concat();
    for piece in [1, 3, usize::MAX] {
        let (stats, _, left, failed) = read(Protocol::Resp3, requests(), &answers, piece);
        assert_eq!((failed, left.len(), stats.answers), (None, 0, 4), "{piece}");
    }
    let refused = read(Protocol::Resp3, requests(), b"-ERR unknown command\r\n", 99).3.unwrap();
    assert!(refused.contains("refused HELLO 3"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn answers_taken_whole_count_as_those_taken_apart(
        operations in operations(),
        protocol in prop_oneof![Just(Protocol::Text), Just(Protocol::Meta), Just(Protocol::Resp2)],
        piece in 2usize..500,
    ) {
        let apart = judged(protocol, &operations, 1);
        prop_assert_eq!(&judged(protocol, &operations, usize::MAX), &apart);
        prop_assert_eq!(&judged(protocol, &operations, piece), &apart);
    }
}

#[test]
fn right_answers_are_counted_by_operation_and_time() {
    let op = |action, key| Op { action, key, pad: 0, class: 0, length: 27, version: 3 };
    let all = [op(KeyAction::Get, 1), op(KeyAction::Set, 1), op(KeyAction::Get, 1)]
        .map(|o| (o, Reaction::Right));
    for protocol in [Protocol::Text, Protocol::Meta, Protocol::Resp2] {
        let seen = judged(protocol, &all, usize::MAX);
        assert!(seen.contains("answers: 3") && seen.ends_with(" [] None"), "{seen}");
    }
}

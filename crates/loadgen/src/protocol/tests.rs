//! Tests of the parsers with whole conversations, with every split of them, and with random bytes.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::latency::report::ErrorKind;
use crate::send::mix::KeyAction;

/// Pieces that the sink received; chunks of a value are joined.
#[derive(Debug, Default, PartialEq)]
struct ReceivedPieces(Vec<String>);

impl Sink for ReceivedPieces {
    fn reply(&mut self, reply: Reply<'_>) -> Result<(), InvalidReply> {
        let text = match reply {
            Reply::Chunk(bytes) => {
                let hex: String = bytes.iter().fold(String::new(), |mut hex, b| {
                    write!(hex, "{b:02x}").unwrap();
                    hex
                });
                match self.0.last_mut() {
                    Some(last) if last.starts_with('#') => {
                        last.push_str(&hex);
                        return Ok(());
                    }
                    _ => format!("#{hex}"),
                }
            }
            other => format!("{other:?}"),
        };
        self.0.push(text);
        Ok(())
    }
}

fn read(protocol: Protocol, pieces: &[&[u8]]) -> (ReceivedPieces, bool) {
    let mut seen = ReceivedPieces::default();
    let mut parser = Encoder::new(protocol, "p:").parser();
    let good = pieces.iter().all(|p| parser.feed(p, &mut seen).is_ok());
    (seen, good)
}

fn protocols() -> impl Strategy<Value = Protocol> {
    prop_oneof![
        Just(Protocol::Text),
        Just(Protocol::Meta),
        Just(Protocol::Binary),
        Just(Protocol::Resp2),
        Just(Protocol::Resp3)
    ]
}

/// Generates conversations of responses and fragments, so that the parsers reach their deeper
/// states.
fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<Vec<u8>> = [
        "VALUE a:00 0 5\r\nhello\r\nEND\r\n",
        "VALUE a:00 0 0 17\r\n\r\nEND\r\n",
        "END\r\n",
        "STORED\r\n",
        "VA 3 O01f\r\nabc\r\n",
        "VA 2\r\n\r\n\r\n",
        "HD O00a\r\n",
        "EN\r\n",
        "MN\r\n",
        "SERVER_ERROR out of memory storing object\r\n",
        "ERROR\r\n",
        "VA 3 O\r\n",
        "$5\r\nhello\r\n",
        "$0\r\n\r\n",
        "*2\r\n$-1\r\n",
        "%1\r\n+a\r\n:7\r\n",
        "-OOM command not allowed\r\n",
        "VALUE a\r\n",
        "\r\n",
        "\n",
        "V",
    ]
    .iter()
    .map(|w| w.as_bytes().to_vec())
    .chain([binary_answer(0, 0, 7, 4, b"\0\0\0\0value"), binary_answer(0, 1, 8, 0, b"Not found")])
    .chain([binary_answer(1, 0, 9, 0, b""), binary_answer(1, 0x82, 9, 0, b"Out of memory")])
    .collect();
    let piece = prop_oneof![
        8 => proptest::sample::select(words),
        1 => proptest::collection::vec(any::<u8>(), 0..30),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|p| p.concat())
}

fn binary_answer(opcode: u8, status: u16, opaque: u32, extras: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x81, opcode, 0, 0, extras, 0];
    packet.extend(status.to_be_bytes());
    packet.extend((body.len() as u32).to_be_bytes());
    packet.extend(opaque.to_be_bytes());
    packet.extend([0; 8]);
    packet.extend(body);
    packet
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_cut_gives_the_same(protocol in protocols(), bytes in conversation(),
                              cuts in proptest::collection::vec(0usize..400, 0..6)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut from = 0;
        let piece = |to: &usize| &bytes[std::mem::replace(&mut from, *to)..*to];
        let pieces: Vec<&[u8]> = cuts.iter().map(piece).collect();
        prop_assert_eq!(read(protocol, &pieces), read(protocol, &[&bytes]));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(read(protocol, &single), read(protocol, &[&bytes]));
    }

    #[test]
    fn arbitrary_bytes_never_panic(protocol in protocols(),
                                   bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
        read(protocol, &[&bytes]);
        read(protocol, &bytes.chunks(7).collect::<Vec<_>>());
    }
}

#[test]
fn reads_the_text_protocol() {
    let (seen, good) = read(
        Protocol::Text,
        &[b"VALUE p:0a 0 5\r\nhe\r\no\r\nEND\r\nEND\r\nSTORED\r\n\
            SERVER_ERROR object too large for cache\r\n"],
    );
    assert!(good);
    let want = [
        format!("{:?}", Reply::Value { key: Some(b"p:0a"), opaque: None, length: 5 }),
        "#68650d0a6f".to_owned(),
        "ValueEnd".to_owned(),
        "End".to_owned(),
        "End".to_owned(),
        "Stored(None)".to_owned(),
        format!(
            "{:?}",
            Reply::Error {
                kind: ErrorKind::ServerError,
                opaque: None,
                text: b"SERVER_ERROR object too large for cache"
            }
        ),
    ];
    assert_eq!(seen.0, want);
}

#[test]
fn reads_the_meta_protocol() {
    let (seen, good) =
        read(Protocol::Meta, &[b"VA 2 O0ff\r\nab\r\nHD O001\r\nNS O002\r\nEN\r\nMN\r\n"]);
    assert!(good);
    assert!(seen.0[0].contains("opaque: Some(255), length: 2"), "{seen:?}");
    let rest = ["Stored(Some(1))", "NotStored(Some(2))", "Miss(None)", "Noop"];
    assert_eq!(seen.0[3..], rest);
}

#[test]
fn reads_the_binary_protocol() {
    let bytes = [
        binary_answer(0, 0, 7, 4, b"\0\0\0\0ab"),
        binary_answer(0, 1, 8, 0, b"Not found"),
        binary_answer(1, 0, 9, 0, b""),
        binary_answer(1, 3, 10, 0, b"Too large"),
    ];
    let (seen, good) = read(Protocol::Binary, &[&bytes.concat()]);
    assert!(good);
    assert!(seen.0[0].contains("opaque: Some(7), length: 2"));
    assert_eq!(seen.0[3..5], ["Miss(Some(8))", "Stored(Some(9))"]);
    assert!(seen.0[5].starts_with("Error { kind: ServerError"));
}

#[test]
fn refuses_what_is_no_answer() {
    for bad in
        ["HELLO\r\n", "VALUE a 0 x\r\n", "VA -1\r\n", "VA 1 Ozz\r\n", "END\n", "VA 1\r\nabc\r\n"]
    {
        assert!(!read(Protocol::Text, &[bad.as_bytes()]).1, "{bad:?}");
    }
    assert!(!read(Protocol::Text, &[&[b'A'; 5000]]).1, "a line without end");
    assert!(!read(Protocol::Binary, &[&[0x80; 24]]).1, "a request is no answer");
    assert!(
        !read(Protocol::Binary, &[&binary_answer(0, 0, 1, 9, b"abc")]).1,
        "extras beyond the body"
    );
}

#[test]
fn requests_are_as_documented_and_foretell_their_answers() {
    let content = Content::new(1, 100);
    let op = Op { action: KeyAction::Get, key: 0x1f, pad: 0, class: 0, length: 9, version: 0 };
    let set = Op { action: KeyAction::Set, ..op };
    let encode = |protocol, op: &Op, quiet| {
        let mut out = Vec::new();
        let foreseen = Encoder::new(protocol, "p:").push(op, 0x1234, quiet, &content, &mut out);
        (String::from_utf8_lossy(&out).into_owned(), foreseen)
    };
    let answer = "VALUE p:000000001f 0 9\r\n123456789\r\nEND\r\n";
    assert_eq!(
        encode(Protocol::Text, &op, false),
        ("get p:000000001f\r\n".to_owned(), answer.len())
    );
    let (text, foreseen) = encode(Protocol::Text, &set, false);
    assert!(text.starts_with("set p:000000001f 0 0 9\r\n") && text.ends_with("\r\n"));
    assert_eq!(foreseen, "STORED\r\n".len());
    let want = ("mg p:000000001f v q O234\r\n".to_owned(), "VA 9 O234\r\n123456789\r\n".len());
    assert_eq!(encode(Protocol::Meta, &op, true), want);
    let want = ("mg p:000000001f v\r\n".to_owned(), "VA 9\r\n123456789\r\n".len());
    assert_eq!(encode(Protocol::Meta, &op, false), want);
    let (text, foreseen) = encode(Protocol::Meta, &set, true);
    assert!(text.starts_with("ms p:000000001f 9 q O234\r\n") && foreseen == 0, "{text}");
    let absent = Op { action: KeyAction::GetAbsent, key: crate::config::KEY_LIMIT + 1, ..op };
    let (text, foreseen) = encode(Protocol::Resp2, &set, false);
    assert!(text.starts_with("*3\r\n$3\r\nSET\r\n$12\r\np:000000001f\r\n$9\r\n"), "{text}");
    assert_eq!(foreseen, "+OK\r\n".len());
    let get = "*2\r\n$3\r\nGET\r\n$15\r\np:000000001f...\r\n".to_owned();
    let padded = Op { pad: 3, ..op };
    assert_eq!(encode(Protocol::Resp3, &padded, false), (get, "$9\r\n123456789\r\n".len()));
    let multi = Op { action: KeyAction::MultiGet, length: 12, ..op };
    let want = ("*13\r\n$4\r\nMGET\r\n".to_owned(), "*12\r\n".len());
    assert_eq!(encode(Protocol::Resp2, &multi, false), want);
    assert_eq!(encode(Protocol::Resp2, &absent, false).1, "$-1\r\n".len());
    assert_eq!(encode(Protocol::Text, &absent, false).1, "END\r\n".len());
    assert_eq!(encode(Protocol::Binary, &absent, false).1, 24 + "Not found".len());
    assert_eq!(encode(Protocol::Binary, &op, false).1, 24 + 4 + 9);
}

//! A minimal memcached client as a lower bound: it sends prebuilt requests, counts bytes to know
//! when a batch is answered, and checks and records nothing else. The cost of a real client above
//! it is the cost of its bookkeeping. Arguments and output are `key=value`, as for `memload`; the
//! keys must have been set (by `memload`).
//!
//! Depth 1 uses the text protocol (so do deeper batches with `protocol=text`). Deeper batches use
//! quiet gets and sets of the meta protocol with a closing no-op, with (`mark=yes`) or without a
//! low-water mark on received bytes.
#![allow(clippy::print_stdout)] // a program of its own
#![allow(unsafe_code)] // the low-water mark is a socket option that no safe crate here sets

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use assay_loadgen::clock::thread_cpu_ns;
use assay_loadgen::config::SizeClass;
use assay_loadgen::protocol::Encoder;
use assay_loadgen::send::content::Content;
use assay_loadgen::send::mix::OperationSource;
use assay_loadgen::sizes::Sizes;
use assay_loadgen::{Config, Protocol};
use rustix::event::epoll;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// Number of prebuilt operations, sent in turn: enough keys that the server's caches behave as with
/// a real client.
const OPERATIONS: usize = 1 << 16;

struct Batch {
    request: Vec<u8>,
    answer: usize,
}

fn batches(config: &Config) -> Vec<Batch> {
    let longest = config.mix.classes.iter().map(|c| c.sizes.max).max().unwrap_or(0);
    let content = Content::new(config.seed, longest);
    let encoder = Encoder::new(config.protocol, &config.mix.key_prefix);
    let mut source = OperationSource::mix(&config.mix, config.seed, 99);
    let many = OPERATIONS / config.depth;
    let batch = |_| {
        let (mut request, mut answer) = (Vec::new(), 0);
        let quiet = encoder.quiet(config.depth);
        for number in 0..config.depth {
            let op = source.draw().expect("a mix has no end");
            answer += encoder.push(&op, number as u32, quiet, &content, &mut request);
        }
        if quiet {
            answer += encoder.close(&mut request);
        }
        Batch { request, answer }
    };
    (0..many).map(batch).collect()
}

fn set_mark(socket: &TcpStream, bytes: usize) {
    let value = bytes as libc::c_int;
    // SAFETY: the descriptor is open, and pointer and length describe `value`, which the kernel
    // reads.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    assert_eq!(done, 0, "SO_RCVLOWAT");
}

fn main() {
    let mut config = Config::default();
    let (mut address, mut mark, mut seconds, mut text) = (String::new(), false, 5.0, false);
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').expect("arguments are key=value");
        match key {
            "tcp" => value.clone_into(&mut address),
            "connections" => config.connections = value.parse().expect("a number"),
            "depth" => config.depth = value.parse().expect("a number"),
            "keys" => config.mix.keys = value.parse().expect("a number"),
            "value" => {
                let length = value.parse().expect("a number");
                let name = "all".to_owned();
                config.mix.classes =
                    vec![SizeClass { name, sizes: Sizes::uniform(length, length), share: 1.0 }];
            }
            "protocol" => text = value == "text",
            "mark" => mark = value == "yes",
            "steady" => seconds = value.parse().expect("a number"),
            _ => panic!("not known: {argument}"),
        }
    }
    if config.depth > 1 && !text {
        config.protocol = Protocol::Meta;
    }
    let batches = batches(&config);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("epoll");
    let mut conns: Vec<(TcpStream, usize)> = Vec::new();
    for i in 0..config.connections {
        let socket = TcpStream::connect(&address).expect("a server");
        socket.set_nodelay(true).expect("TCP_NODELAY");
        socket.set_nonblocking(true).expect("O_NONBLOCK");
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &socket, epoll::EventData::new_u64(i as u64), flags).expect("epoll_ctl");
        conns.push((socket, 0));
    }
    let mut next = 0;
    let mut ask = |(socket, left): &mut (TcpStream, usize)| {
        let batch = &batches[next];
        next = (next + 1) % batches.len();
        *left = batch.answer;
        if mark {
            set_mark(socket, batch.answer.min(256 << 10));
        }
        let mut bytes = batch.request.as_slice();
        while !bytes.is_empty() {
            match send(&*socket, bytes, SendFlags::NOSIGNAL) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::AGAIN) => {}
                Err(e) => panic!("send: {e}"),
            }
        }
    };
    conns.iter_mut().for_each(&mut ask);
    let mut input = vec![0u8; 256 << 10];
    let none =
        epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
    let mut events = vec![none; 256];
    let warm = Instant::now() + Duration::from_millis(500);
    let mut begun: Option<(Instant, u64)> = None;
    let mut done = 0u64;
    loop {
        let count = epoll::wait(&epoll, events.as_mut_slice(), None).expect("epoll_wait");
        for event in &events[..count] {
            let conn = &mut conns[event.data.u64() as usize];
            loop {
                match recv(&conn.0, input.as_mut_slice(), RecvFlags::empty()) {
                    Ok((n, _)) => {
                        assert!(n > 0, "closed by the server");
                        conn.1 = conn.1.saturating_sub(n);
                        if conn.1 == 0 {
                            done += config.depth as u64;
                            ask(conn);
                        } else if mark {
                            set_mark(&conn.0, conn.1.min(256 << 10));
                        }
                        if n < input.len() {
                            break;
                        }
                    }
                    Err(rustix::io::Errno::AGAIN) => break,
                    Err(e) => panic!("recv: {e}"),
                }
            }
        }
        // The clock is read for each round of events, as in a real client's loop.
        let now = Instant::now();
        match begun {
            None if now >= warm => {
                begun = Some((now, thread_cpu_ns()));
                done = 0;
            }
            Some((from, cpu)) if (now - from).as_secs_f64() >= seconds => {
                let wall = (now - from).as_secs_f64();
                let used = (thread_cpu_ns() - cpu) as f64;
                println!(
                    "ops={done} window_s={wall:.3} throughput={:.0} cpu_us={:.4} busy={:.3}",
                    done as f64 / wall,
                    used / 1e3 / done as f64,
                    used / 1e9 / wall
                );
                return;
            }
            _ => {}
        }
    }
}

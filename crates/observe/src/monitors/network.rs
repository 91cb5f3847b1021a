//! Monitor of network interfaces, from `/proc/net/dev`, and of TCP retransmits, from
//! `/proc/net/snmp`, both of the network namespace that the process is in.

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::{WordIter, lines, number};
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::subjects::Subjects;
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static THROUGHPUT: Chart = Chart::lines("Network throughput");
static TROUBLE: Chart = Chart::lines("Packets damaged, dropped or retransmitted");

static SUMMARY: ColumnGroup = ColumnGroup::new("net B/s", 4, ColumnSubject::Interfaces);
static RX: SampleColumn = SampleColumn::new(&SUMMARY, 1, "rx", 4, 2);
static TX: SampleColumn = SampleColumn::new(&SUMMARY, 2, "tx", 4, 2);

/// Description of the monitor `network`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "network",
    help: "Traffic of every interface of this network namespace, from /proc/net/dev, and TCP \
           retransmissions, from /proc/net/snmp. Here kB is 1000 bytes (`sar` prints KiB under \
           that name).",
    subjects: "every interface (`lo`, `eth0`, ...); `tcp` for `retransmits`",
    fields: &[
        Field::new("rx", "kB/s", "Data received")
            .cost("net_received_per_op")
            .drawn(&THROUGHPUT, "received")
            .column(&RX),
        Field::rate("rx_packets", "Packets received"),
        Field::rate("rx_errors", "Packets received damaged")
            .drawn(&TROUBLE, "received damaged")
            .lower(),
        Field::rate("rx_drops", "Packets received and dropped for lack of space")
            .drawn(&TROUBLE, "dropped on the way in")
            .lower(),
        Field::new("tx", "kB/s", "Data sent")
            .cost("net_sent_per_op")
            .drawn(&THROUGHPUT, "sent")
            .column(&TX),
        Field::rate("tx_packets", "Packets sent"),
        Field::rate("tx_errors", "Packets that could not be sent")
            .drawn(&TROUBLE, "not sent")
            .lower(),
        Field::rate("tx_drops", "Packets dropped on the way out")
            .drawn(&TROUBLE, "dropped on the way out")
            .lower(),
        Field::rate("retransmits", "TCP segments retransmitted, over all interfaces")
            .drawn(&TROUBLE, "TCP retransmits")
            .lower(),
    ],
    open: |tree| Network::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

/// Number of fields of an interface; the field after them is TCP's.
const INTERFACE: usize = 8;

struct Network {
    dev: SampledFile,
    snmp: Option<SampledFile>,
    interfaces: Subjects<INTERFACE>,
    tcp: Subjects<1>,
    trouble: Trouble,
}

impl Network {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let dev = tree.open("proc/net/dev", ReadMode::Records)?;
        let mut trouble = Trouble::default();
        let snmp = trouble.opened("snmp", tree.open("proc/net/snmp", ReadMode::Whole));
        Ok(Self { dev, snmp, interfaces: Subjects::default(), tcp: Subjects::default(), trouble })
    }

    fn interfaces(&mut self, t_ns: u64, out: &mut Recorder) {
        let Some(text) = self.dev.text("dev", &mut self.trouble) else { return };
        self.interfaces.begin(t_ns);
        for line in lines(text) {
            // The name of an interface may contain a colon (an alias): the last one ends it.
            let Some(colon) = line.iter().rposition(|b| *b == b':') else { continue };
            let Some(name) = WordIter::new(&line[..colon]).next() else { continue };
            let numbers: [Option<u64>; 12] = WordIter::new(&line[colon + 1..]).numbers();
            // Bytes, packets, errors and drops come first in both halves of eight.
            let [rb, rp, re, rd, _, _, _, _, tb, tp, te, td] = numbers;
            let counters = [rb, rp, re, rd, tb, tp, te, td];
            let turned = self.interfaces.turn(name, counters, |_| true);
            let Some(mut change) = turned else { continue };
            let mut values: [f64; INTERFACE] = std::array::from_fn(|i| change.rate(i));
            values[0] /= 1000.0;
            values[4] /= 1000.0;
            let series = change.series(out, SPEC.name, &SPEC.fields[..INTERFACE]);
            out.push(t_ns, series, &values);
        }
    }

    fn tcp(&mut self, t_ns: u64, out: &mut Recorder) {
        let Some(snmp) = &mut self.snmp else { return };
        let Some(text) = snmp.text("snmp", &mut self.trouble) else { return };
        let count = retransmits(text);
        if count.is_none() {
            let sentence = || format!("{} has no RetransSegs of TCP", snmp.path().display());
            self.trouble.note("retransmits", sentence);
        }
        self.tcp.begin(t_ns);
        if let Some(mut change) = self.tcp.turn(b"tcp", [count], |_| true) {
            let value = change.rate(0);
            let series = change.series(out, SPEC.name, &SPEC.fields[INTERFACE..]);
            out.push(t_ns, series, &[value]);
        }
    }
}

/// Returns `RetransSegs` from the two lines that begin with `Tcp:`, the first of which names the
/// columns.
fn retransmits(snmp: &[u8]) -> Option<u64> {
    let mut tcp = lines(snmp).filter(|line| line.starts_with(b"Tcp:"));
    let column = WordIter::new(tcp.next()?).position(|word| word == b"RetransSegs")?;
    WordIter::new(tcp.next()?).nth(column).and_then(number)
}

impl Monitor for Network {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        self.interfaces(t_ns, out);
        self.tcp(t_ns, out);
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    fn dev(lo: &str) -> String {
        format!(
            "Inter-|   Receive         |  Transmit\n face |bytes    packets|bytes packets\n\
             \u{20}   lo:{lo}\nveth0:1:    1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
        )
    }

    const SNMP: &str = "Ip: a b\nIp: 1 2\nTcp: OutSegs RetransSegs InErrs\nTcp: 10 4 0\n";

    #[test]
    fn interfaces_and_tcp() {
        let fake = Fake::new(&[
            ("proc/net/dev", &dev(" 1000 10 0 1 0 0 0 0 2000 20 3 0 0 0 0 0")),
            ("proc/net/snmp", SNMP),
        ]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        fake.write("proc/net/dev", &dev("5000 14 0 3 0 0 0 0 4000 30 7 0 0 0 0 0"));
        fake.write("proc/net/snmp", &SNMP.replace("10 4 0", "10 10 0"));
        let rows = watch.after(2);
        for (field, expected) in [
            ("rx", 2.0),
            ("rx_packets", 2.0),
            ("rx_errors", 0.0),
            ("rx_drops", 1.0),
            ("tx", 1.0),
            ("tx_packets", 5.0),
            ("tx_errors", 2.0),
            ("tx_drops", 0.0),
        ] {
            assert_eq!(value(&rows, "lo", field), expected, "{field}");
        }
        assert_eq!(value(&rows, "veth0:1", "rx"), 0.0);
        assert_eq!(value(&rows, "tcp", "retransmits"), 3.0);
    }

    #[test]
    fn tcp_that_cannot_be_seen_is_reported() {
        let fake = Fake::new(&[("proc/net/dev", ""), ("proc/net/snmp", "Tcp: RetransSegs\n")]);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        assert!(watch.after(1).iter().all(|(.., v)| v.is_nan()));
        assert!(watch.monitor.not_seen()[0].contains("RetransSegs"));
    }
}

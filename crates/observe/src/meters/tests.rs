use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use super::*;

fn until(meter: &Meter, wanted: f64) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        if meter.take(u64::MAX) == wanted {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn start(text: &str) -> Meter {
    Meter::start(&MeterSpec::parse(text).unwrap(), Duration::from_secs(1)).unwrap()
}

#[test]
fn sources_as_they_are_written() {
    let parse = |text: &str| MeterSpec::parse(text);
    assert_eq!(parse("ipmi").unwrap().source, MeterSource::Ipmi(Vec::new()));
    let words = parse("ipmi:-H bmc -U admin").unwrap().source;
    assert_eq!(words, MeterSource::Ipmi(["-H", "bmc", "-U", "admin"].map(String::from).into()));
    let tcp = parse("tcp:meter:9999#2").unwrap();
    assert_eq!((tcp.source, tcp.field), (MeterSource::Tcp("meter:9999".into()), Some(2)));
    for bad in ["", "tcp:meter", "redfish:bmc", "csv:", "usb:1", "tcp:a:1#0", "tcp:a:1#x"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn watts_in_lines() {
    for (line, field, watts) in [
        ("123.5", None, Some(123.5)),
        ("12:00:01,230.1,0.52, 119.6 W", None, Some(119.6)),
        ("1700000000;230.1;119.6W;0.97", Some(3), Some(119.6)),
        ("time,,7", Some(3), Some(7.0)),
        ("time,,7", Some(2), None),
        ("V 230  W 1e2", Some(4), Some(100.0)),
        ("watts", None, None),
        ("inf", None, None),
        ("", Some(1), None),
    ] {
        assert_eq!(watts_of_line(line, field), watts, "{line}");
    }
}

#[test]
fn recorded_answers_of_management_controllers() {
    let ipmi = "\n    Instantaneous power reading:                   220 Watts\n    Minimum during \
                sampling period:                 70 Watts\n    \
                Average power reading over sample period:      178 Watts\n    Power reading state \
                is:                   activated\n";
    assert_eq!(ipmi_watts(ipmi), Some(220.0));
    assert_eq!(ipmi_watts("DCMI request failed"), None);
    let power = r##"{"@odata.type":"#Power.v1_5_0.Power",
        "PowerControl":[{"MemberId":"0","PowerConsumedWatts":344},
        {"PowerConsumedWatts":null},{"PowerConsumedWatts":6.5}]}"##;
    assert_eq!(redfish_watts(power).unwrap(), 350.5);
    assert_eq!(redfish_watts(r#"{"PowerWatts":{"Reading":91.0}}"#).unwrap(), 91.0);
    assert!(
        matches!(redfish_watts("{}"), Err(RedfishError::NoWatts))
            && matches!(redfish_watts("<html>"), Err(RedfishError::Json(_)))
    );
}

#[test]
fn a_meter_over_tcp_is_read_and_its_end_is_reported() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let meter = start(&format!("tcp:{}#2", server.local_addr().unwrap()));
    let (mut line, _) = server.accept().unwrap();
    line.write_all(b"time,watts\r\n2,60\r\n").unwrap();
    assert!(until(&meter, 60.0));
    line.write_all(b"3,7").unwrap();
    line.write_all(b"1.5\n").unwrap();
    assert!(until(&meter, 71.5));
    let (at, _) = lock(&meter.inbox).last.unwrap();
    assert_eq!(meter.take(at), 71.5, "what is not stale stands");
    assert!(meter.take(at + 11_000_000_000).is_nan(), "what is stale does not");
    drop(line);
    let began = Instant::now();
    while meter.trouble().is_empty() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(meter.trouble().iter().any(|t| t.contains("closed")), "{:?}", meter.trouble());
}

#[test]
fn a_file_is_read_from_now_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    std::fs::write(&path, "t,watts\n1,5\n").unwrap();
    let meter = start(&format!("csv:{}", path.display()));
    // Written repeatedly, because it is unknown when the file was opened.
    let mut file = File::options().append(true).open(&path).unwrap();
    let began = Instant::now();
    let mut seen = f64::NAN;
    while seen.is_nan() && began.elapsed() < Duration::from_secs(60) {
        writeln!(file, "2,80.5").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        seen = meter.take(u64::MAX);
    }
    assert_eq!(seen, 80.5);
}

#[test]
fn programs_are_asked_and_what_is_missing_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let tool = dir.path().join("ipmitool");
    let script = "#!/bin/sh\n[ \"$*\" = '-H bmc dcmi power reading' ] && echo ' Instantaneous \
        power reading:  220 Watts'\n";
    std::fs::write(&tool, script).unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(until(&start(&format!("ipmi:{} -H bmc", tool.display())), 220.0));
    let broken = start(&format!("ipmi:{}/none", dir.path().display()));
    let began = Instant::now();
    while broken.trouble().is_empty() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(broken.trouble()[0].contains("ipmitool"), "{:?}", broken.trouble());
}

#[test]
fn every_different_complaint_is_kept_up_to_a_limit() {
    let inbox = Arc::new(Mutex::new(Inbox::default()));
    let post = Post { inbox: Arc::clone(&inbox), stop: Arc::default() };
    for n in [1, 1, 2, 3, 4, 5] {
        post.complain(|| format!("line {n} has no watts"));
    }
    assert_eq!(lock(&inbox).trouble.len(), MAX_COMPLAINTS);
    assert_eq!(lock(&inbox).trouble[1], "line 2 has no watts");
}

#[test]
fn redfish_over_http() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: because there is no curl (Debian package curl)");
        return;
    }
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 2048];
            let _ = std::io::Read::read(&mut stream, &mut request);
            let body = r#"{"PowerControl":[{"PowerConsumedWatts":344}]}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    assert!(until(&start(&format!("redfish:http://{address}/redfish/v1/Chassis/1/Power")), 344.0));
}

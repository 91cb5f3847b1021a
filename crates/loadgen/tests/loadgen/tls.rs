//! Tests of TLS against a memcached that was built with it.

use std::path::Path;

use crate::support::{Memcached, never, quick};
use assay_loadgen::{Config, Error, LoadEnd, Protocol, Target, Trust, preload, run};

/// Starts a memcached with a self-signed certificate for `localhost`; `None` (with a message) if it
/// was built without TLS.
fn server(folder: &Path) -> Option<(Memcached, String)> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let help = std::process::Command::new("memcached").arg("-h").output().ok();
    if !help.is_some_and(|h| String::from_utf8_lossy(&h.stdout).contains("ssl_chain_cert")) {
        eprintln!("skipped: because there is no memcached with TLS");
        return None;
    }
    let options =
        [format!("ssl_chain_cert={}", certificate.display()), format!("ssl_key={}", key.display())];
    let server = Memcached::tcp(&["-Z", "-o", &options[0], "-o", &options[1]])?;
    let Target::Tcp(address) = server.target.clone() else { unreachable!() };
    Some((server, address))
}

fn config(address: &str, name: &str, trust: Trust) -> Config {
    let target = Target::Tls { address: address.to_owned(), name: name.to_owned(), trust };
    quick(&target)
}

#[test]
fn speaks_tls_and_checks_the_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_server, address)) = server(folder.path()) else { return };
    let authorities = Trust::Authorities(folder.path().join("cert.pem"));
    for (protocol, depth) in [(Protocol::Text, 1), (Protocol::Meta, 64), (Protocol::Binary, 8)] {
        let mut config = config(&address, "localhost", authorities.clone());
        (config.protocol, config.depth) = (protocol, depth);
        let loaded = preload(&config, &never()).unwrap();
        assert_eq!((loaded.stored, loaded.errors.total()), (500, 0), "{:?}", loaded.errors);
        let report = run(&config, &never(), |_, _| {}).unwrap();
        assert_eq!(report.ended, LoadEnd::Complete);
        assert_eq!(report.errors.total(), 0, "{:?}", report.errors);
        assert!(report.completed() > 0);
    }
    let anything = config(&address, "localhost", Trust::Anything);
    assert_eq!(run(&anything, &never(), |_, _| {}).unwrap().errors.total(), 0);
}

#[test]
fn a_certificate_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_server, address)) = server(folder.path()) else { return };
    let right = folder.path().join("cert.pem");
    let other = folder.path().join("other.pem");
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&other, made.cert.pem()).unwrap();
    let refused = [
        config(&address, "localhost", Trust::Authorities(other)),
        config(&address, "elsewhere", Trust::Authorities(right.clone())),
    ];
    for config in refused {
        let error = run(&config, &never(), |_, _| {}).unwrap_err();
        assert!(matches!(error, Error::Tls { .. }), "{error}");
    }
    let missing = config(&address, "localhost", Trust::Authorities("/nonexistent.pem".into()));
    let error = run(&missing, &never(), |_, _| {}).unwrap_err();
    assert!(matches!(error, Error::Authorities { .. }), "{error}");
    std::fs::write(&right, "nothing").unwrap();
    let empty = config(&address, "localhost", Trust::Authorities(right));
    let error = run(&empty, &never(), |_, _| {}).unwrap_err();
    assert!(matches!(error, Error::Authorities { .. }), "{error}");
}

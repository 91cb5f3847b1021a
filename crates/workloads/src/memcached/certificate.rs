//! A certificate of the server's own making, for `transport = "tls"`: made by openssl(1), good for two
//! days, gone with the trial's folder.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Failure;

const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// Makes the certificate for `name` and its key in `dir`.
///
/// # Errors
/// openssl is missing or refuses.
pub fn make(dir: &Path, name: &str) -> Result<(), Failure> {
    let failed = |message: String| Failure::Program { what: "openssl".into(), message };
    let out = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .arg("-nodes")
        .args(["-days", "2", "-subj", &format!("/CN={name}")])
        .args(["-addext", &format!("subjectAltName=DNS:{name}")])
        .arg("-keyout")
        .arg(dir.join(KEY))
        .arg("-out")
        .arg(dir.join(CERTIFICATE))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| {
            failed(format!(
                "{e}; it makes the server's certificate: install the Debian package openssl"
            ))
        })?;
    if out.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&out.stderr).trim().to_owned()))
}

/// memcached's options for them.
pub fn arguments(dir: &Path) -> Vec<OsString> {
    let option = |name: &str, file: &str| {
        let mut option = OsString::from(format!("{name}="));
        option.push(dir.join(file));
        option
    };
    vec![
        "-Z".into(),
        "-o".into(),
        option("ssl_chain_cert", CERTIFICATE),
        "-o".into(),
        option("ssl_key", KEY),
    ]
}

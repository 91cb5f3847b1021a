//! TLS by rustls (no OpenSSL), over a non-blocking socket. Unlike plain connections, TLS allocates
//! for every record.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::Error;
use crate::config::Trust;

/// TLS settings that all connections to a server share.
#[derive(Debug)]
pub struct Settings {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// Reads the certificate authorities and parses the server's name.
pub fn settings(name: &str, trust: &Trust) -> Result<Settings, Error> {
    let failed = |what: String| Error::Tls { target: name.to_owned(), what };
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| failed(e.to_string()))?;
    let config = match trust {
        Trust::Authorities(path) => {
            let broken = |what: String| Error::Authorities { path: path.clone(), what };
            let mut roots = RootCertStore::empty();
            let file = CertificateDer::pem_file_iter(path).map_err(|e| broken(e.to_string()))?;
            for certificate in file {
                let certificate = certificate.map_err(|e| broken(e.to_string()))?;
                roots.add(certificate).map_err(|e| broken(e.to_string()))?;
            }
            if roots.is_empty() {
                return Err(broken("there is no certificate in it".to_owned()));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Trust::Anything => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unverified(provider)))
            .with_no_client_auth(),
    };
    let name = ServerName::try_from(name.to_owned()).map_err(|e| failed(e.to_string()))?;
    Ok(Settings { config: Arc::new(config), name })
}

/// Verifier that accepts every certificate, but still checks that the server holds its key.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A TLS connection over TCP.
#[derive(Debug)]
pub struct TlsLink {
    socket: TcpStream,
    session: ClientConnection,
}

impl AsFd for TlsLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

impl TlsLink {
    /// Creates a session that shakes hands with the first bytes.
    pub fn begin(socket: OwnedFd, settings: &Settings) -> io::Result<Self> {
        let mut session =
            ClientConnection::new(Arc::clone(&settings.config), settings.name.clone())
                .map_err(invalid)?;
        // The depth bounds the bytes to send; a limit here would cut requests.
        session.set_buffer_limit(None);
        Ok(TlsLink { socket: socket.into(), session })
    }

    /// Creates a session and completes its handshake, over a blocking socket.
    pub fn open(socket: OwnedFd, settings: &Settings, timeout: Duration) -> io::Result<Self> {
        let mut link = Self::begin(socket, settings)?;
        link.socket.set_read_timeout(Some(timeout))?;
        link.socket.set_write_timeout(Some(timeout))?;
        while link.session.is_handshaking() {
            link.session.complete_io(&mut link.socket)?;
        }
        link.socket.set_read_timeout(None)?;
        link.socket.set_write_timeout(None)?;
        Ok(link)
    }

    /// Encrypts all bytes; [`TlsLink::flush`] sends the rest of them.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.session.writer().write_all(bytes)?;
        self.flush()?;
        Ok(bytes.len())
    }

    /// Sends encrypted bytes. Returns true if none remain.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Receives decrypted bytes, reading from the socket until there are some.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(into) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                done => return done,
            }
            if self.session.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            self.session.process_new_packets().map_err(invalid)?;
            // The handshake and key updates need responses of their own.
            self.flush()?;
        }
    }
}

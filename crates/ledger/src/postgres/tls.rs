//! Encryption on the way to the database, and whether the other end must prove who it is.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::AddressError;

/// Whose certificates are good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Anybody's: `prefer` and `require` encrypt, as other clients do, and prove nothing.
    Anyone,
    /// Those that the machine trusts, for the name in the URL.
    Machine,
    /// Those that a file of certificates vouches for, for the name in the URL.
    File(PathBuf),
}

/// The TLS side of a connection.
pub(super) fn connector(trust: &Trust) -> Result<MakeRustlsConnect, AddressError> {
    let provider = Arc::new(ring::default_provider());
    let wrong = |why: String| AddressError::Roots(why);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| wrong(e.to_string()))?;
    let config = match trust {
        Trust::Anyone => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider))).with_no_client_auth()
        }
        Trust::Machine => {
            let verifier = Verifier::new(provider).map_err(|e| wrong(e.to_string()))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
        }
        Trust::File(path) => {
            let unreadable = |e: rustls::pki_types::pem::Error| wrong(format!("{}: {e}", path.display()));
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
                let refused = |e: rustls::Error| wrong(format!("{}: {e}", path.display()));
                roots.add(certificate.map_err(unreadable)?).map_err(refused)?;
            }
            if roots.is_empty() {
                return Err(wrong(format!("{}: no certificate in it", path.display())));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// Takes any certificate; that the other end holds its key is checked all the same.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
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
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

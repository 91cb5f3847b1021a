//! How an agent finds its collector, and the token by which each knows the other.

use std::fs::File;
use std::io::Read;

use crate::ClusterError;

/// Name of the variable by which an agent finds its collector.
pub(crate) const ADDRESS: &str = "ASSAY_AGENT_TO";
/// Name of the variable with its token.
pub(crate) const TOKEN: &str = "ASSAY_AGENT_TOKEN";

/// Thirty-two hexadecimal digits that nobody can guess.
pub(crate) fn random_hex() -> Result<String, ClusterError> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    read.map_err(ClusterError::Random)?;
    Ok(assay_sut::hex(&bytes))
}

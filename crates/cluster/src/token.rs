//! Environment variables through which an agent finds its collector and authenticates.

use std::fs::File;
use std::io::Read;

use crate::ClusterError;

/// Variable with the collector's address.
pub(crate) const ADDRESS: &str = "ASSAY_AGENT_TO";
/// Variable with the token that proves membership in the job.
pub(crate) const TOKEN: &str = "ASSAY_AGENT_TOKEN";

/// Returns 32 unpredictable hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, ClusterError> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    read.map_err(ClusterError::Random)?;
    Ok(assay_system::hex(&bytes))
}

//! Environment variables through which an agent finds its collector and authenticates.

use crate::ClusterError;

/// Variable with the collector's address.
pub(crate) const ADDRESS: &str = "ASSAY_AGENT_TO";
/// Variable with the token that proves membership in the job.
pub(crate) const TOKEN: &str = "ASSAY_AGENT_TOKEN";

/// Returns 32 unpredictable hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, ClusterError> {
    let bytes: [u8; 16] = assay_system::state_file::random().map_err(ClusterError::Random)?;
    Ok(assay_system::hex(&bytes))
}

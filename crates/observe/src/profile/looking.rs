//! What the ways to look at programs have in common.

use assay_profile::Profile;

/// A way to look at programs. Dropped, it ends.
pub(super) trait Looking {
    /// Takes up what happened; wanted every few hundredths of a second.
    fn poll(&mut self);
    /// The measured part begins now.
    fn begin(&mut self);
    /// It ends now.
    fn end(&mut self);
    /// Ends the looking.
    fn stop(&mut self);
    /// What was seen so far.
    fn profile(&mut self) -> Profile;
    /// How many files were read for names.
    fn read(&self) -> usize;
}

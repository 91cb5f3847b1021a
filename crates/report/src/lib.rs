//! Terminal tables, exports, and self-contained pages of a run.

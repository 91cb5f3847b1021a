//! The plan and the run: prepare, warm up, measure, validate, record, restore.

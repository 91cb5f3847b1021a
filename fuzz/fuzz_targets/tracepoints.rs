//! Whatever the bytes, the reader of tracepoints comes to an end.
#![no_main]

assay_fuzz::reader!("tracepoints");

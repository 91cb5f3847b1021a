//! Whatever the bytes, the reader of quantize comes to an end.
#![no_main]

assay_fuzz::reader!("quantize");

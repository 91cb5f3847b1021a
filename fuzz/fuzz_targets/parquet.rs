//! Whatever the bytes, the reader of parquet comes to an end.
#![no_main]

assay_fuzz::reader!("parquet");

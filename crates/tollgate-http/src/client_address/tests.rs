//! Tests of the address reader.

//! Tests of the metrics.

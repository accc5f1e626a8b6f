//! What the core promises, seen through its public interface only.

mod carry_over;
mod concurrency;
mod field_cases;
mod fixed_window;
mod leaky_bucket;
mod properties;
mod quota;
mod rules;
mod settle;
mod several;
mod sliding_log;
mod sliding_window;
mod spec_errors;
mod step_back;
mod token_bucket;
mod words;
mod world;

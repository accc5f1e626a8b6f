//! The project's own tasks: `cargo xtask check`, `cargo xtask bench`, `cargo xtask fuzz`.

fn main() {}

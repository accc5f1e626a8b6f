//! Tollgate: the library and the command.

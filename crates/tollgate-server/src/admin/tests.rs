//! Tests of the admin listener, over real sockets.

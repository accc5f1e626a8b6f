//! A stream of which only so much is read at a time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Reads up to a number of bytes until it is told to begin anew; more is an error. A reply is kept in memory until it is all
/// there, so it must end somewhere.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    reader: R,
    most: usize,
    read: usize,
}

impl<R> Bounded<R> {
    pub(super) fn new(reader: R, most: usize) -> Bounded<R> {
        Bounded { reader, most, read: 0 }
    }

    /// Counts from zero again.
    pub(super) fn begin(&mut self) {
        self.read = 0;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        self.read += buffer.filled().len() - before;
        Poll::Ready(if self.read <= self.most {
            Ok(())
        } else {
            let what = format!("a reply of more than {} bytes", self.most);
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn more_than_the_most_is_an_error_until_it_begins_anew() {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut reader = Bounded::new(&[7; 30][..], 10);
            let mut ten = [0; 10];
            reader.read_exact(&mut ten).await.expect("ten bytes");
            reader.begin();
            reader.read_exact(&mut ten).await.expect("ten more");
            let error = reader.read_exact(&mut ten).await.expect_err("without a beginning");
            assert_eq!(error.to_string(), "a reply of more than 10 bytes");
        });
    }
}

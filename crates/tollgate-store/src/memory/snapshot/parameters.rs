//! The parameters of a limit, algorithm by algorithm.

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Micros, Quota, Rate, SlidingLog,
    SlidingWindow, Timestamp, TokenBucket,
};

use super::fields::{In, Out};

/// Writes them behind a byte that says of what.
pub(super) fn write(algorithm: &Algorithm, out: &mut Out) {
    match algorithm {
        Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at }) => {
            out.byte(1);
            write_rate(*rate, out);
            match burst {
                Burst::Units(units) => (out.flag(false), out.long(*units)),
                Burst::Span(span) => (out.flag(true), out.long(span.get())),
            };
            out.perhaps(empty_at.map(Timestamp::as_micros));
        }
        Algorithm::LeakyBucket(LeakyBucket { rate, burst, nodelay, max_wait }) => {
            out.byte(2);
            write_rate(*rate, out);
            out.long(*burst);
            out.flag(*nodelay);
            out.perhaps(max_wait.map(Micros::get));
        }
        Algorithm::FixedWindow(FixedWindow { limit, window }) => {
            out.byte(3);
            write_window(*limit, *window, out);
        }
        Algorithm::SlidingWindow(SlidingWindow { limit, window, cells }) => {
            out.byte(4);
            write_window(*limit, *window, out);
            out.short(*cells);
        }
        Algorithm::SlidingLog(SlidingLog { limit, window }) => {
            out.byte(5);
            write_window(*limit, *window, out);
        }
        Algorithm::Quota(Quota { limit }) => {
            out.byte(6);
            out.long(*limit);
        }
        Algorithm::Concurrency(Concurrency { limit, ttl }) => {
            out.byte(7);
            write_window(*limit, *ttl, out);
        }
    }
}

fn write_rate(rate: Rate, out: &mut Out) {
    out.long(rate.count);
    out.long(rate.per.get());
}

fn write_window(limit: u64, window: Micros, out: &mut Out) {
    out.long(limit);
    out.long(window.get());
}

/// Reads what [`write`] wrote. Whether the parameters go is another question.
pub(super) fn read(content: &mut In<'_>) -> Option<Algorithm> {
    Some(match content.byte()? {
        1 => Algorithm::TokenBucket(TokenBucket {
            rate: read_rate(content)?,
            burst: match content.flag()? {
                false => Burst::Units(content.long()?),
                true => Burst::Span(Micros::new(content.long()?)),
            },
            empty_at: content.perhaps()?.map(Timestamp::from_micros),
        }),
        2 => Algorithm::LeakyBucket(LeakyBucket {
            rate: read_rate(content)?,
            burst: content.long()?,
            nodelay: content.flag()?,
            max_wait: content.perhaps()?.map(Micros::new),
        }),
        3 => {
            let (limit, window) = read_window(content)?;
            Algorithm::FixedWindow(FixedWindow { limit, window })
        }
        4 => {
            let (limit, window) = read_window(content)?;
            Algorithm::SlidingWindow(SlidingWindow { limit, window, cells: content.short()? })
        }
        5 => {
            let (limit, window) = read_window(content)?;
            Algorithm::SlidingLog(SlidingLog { limit, window })
        }
        6 => Algorithm::Quota(Quota { limit: content.long()? }),
        7 => {
            let (limit, ttl) = read_window(content)?;
            Algorithm::Concurrency(Concurrency { limit, ttl })
        }
        _ => return None,
    })
}

fn read_rate(content: &mut In<'_>) -> Option<Rate> {
    Some(Rate { count: content.long()?, per: Micros::new(content.long()?) })
}

fn read_window(content: &mut In<'_>) -> Option<(u64, Micros)> {
    Some((content.long()?, Micros::new(content.long()?)))
}

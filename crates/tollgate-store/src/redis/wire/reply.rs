//! What a script answers, as `scripts/program.rs` describes it.

use super::Parameters;
use super::state::Width;

/// What a script answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply<'r> {
    /// It decided.
    Decided(Vec<Read<'r>>),
    /// The bucket at this place was written under other parameters; this is its state. Nothing is changed.
    Foreign(usize, &'r [u8]),
    /// A quota's period is not the one around now. Nothing is changed.
    OtherPeriod,
}

/// What it says of one limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Read<'r> {
    /// Whether the limit refuses.
    pub(crate) refused: bool,
    /// The state as it was before.
    pub(crate) raw: &'r [u8],
}

/// A reply and its moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer<'r> {
    /// Now, in microseconds.
    pub(crate) now: u64,
    pub(crate) reply: Reply<'r>,
}

impl<'r> Answer<'r> {
    /// The moment and the state of a bucket that a script found under other parameters; `None` where it did not.
    pub(crate) fn foreign(bytes: &'r [u8]) -> Option<(u64, &'r [u8])> {
        let answer = Answer::read(bytes, [])?;
        match answer.reply {
            Reply::Foreign(_, raw) => Some((answer.now, raw)),
            _ => None,
        }
    }

    /// Reads what the script of `parameters` answered; `None` where that is no answer of it.
    pub(crate) fn read<'p>(
        bytes: &'r [u8],
        parameters: impl IntoIterator<Item = &'p Parameters>,
    ) -> Option<Answer<'r>> {
        let mut rest = bytes;
        let now = whole(take(&mut rest, 8)?)?;
        let reply = match rest.split_first() {
            Some((b'f', foreign)) => {
                let (place, state) = foreign.split_at_checked(2)?;
                let place = u16::from_le_bytes(place.try_into().ok()?);
                Reply::Foreign(usize::from(place).checked_sub(1)?, state)
            }
            Some((b'p', [])) => Reply::OtherPeriod,
            _ => Reply::Decided(decided(&mut rest, parameters)?),
        };
        Some(Answer { now, reply })
    }
}

fn decided<'r, 'p>(
    rest: &mut &'r [u8],
    parameters: impl IntoIterator<Item = &'p Parameters>,
) -> Option<Vec<Read<'r>>> {
    let mut reads = Vec::with_capacity(4);
    for parameters in parameters {
        let refused = match take(rest, 1)? {
            b"a" => false,
            b"r" => true,
            _ => return None,
        };
        reads.push(Read { refused, raw: take(rest, parameters.width())? });
    }
    rest.is_empty().then_some(reads)
}

fn take<'r>(rest: &mut &'r [u8], length: usize) -> Option<&'r [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

/// A whole number below 2^53 from its little-endian double.
pub(crate) fn whole(bytes: &[u8]) -> Option<u64> {
    let number = f64::from_le_bytes(bytes.try_into().ok()?);
    let fits = (0.0..9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0;
    fits.then_some(number as u64)
}

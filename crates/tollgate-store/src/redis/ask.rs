//! One script's call: all asks of a group, at one moment.

use redis::Value;
use smallvec::SmallVec;
use tollgate_core::{Micros, State, Timestamp};

use super::RedisStore;
use super::carry::{Carried, carry, parse};
use super::key::{KeyName, Purpose};
use super::lent;
use super::plan::Ask;
use super::scripts::{Kind, Part, replace};
use super::servers::Deadline;
use super::wire::{Answer, Arguments, MOST, Parameters, Reply, decode};
use crate::{StoreError, Trouble};

/// How a group is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// By when the answer must be there.
    pub(crate) deadline: Deadline,
    /// Nothing is written.
    pub(crate) looks: bool,
    /// Nobody has refused yet.
    pub(crate) open: bool,
    /// How long slots are held after the request leaves, where known.
    pub(crate) hold: Option<Micros>,
    /// The longest delay of limits that were asked before.
    pub(crate) delay: Micros,
    /// The decision's ticket.
    pub(crate) ticket: u64,
    /// The caller's now, which counts in a replay.
    pub(crate) now: Timestamp,
}

/// What a group's script said.
#[derive(Debug)]
pub(crate) struct Told {
    /// The moment of its decision.
    pub(crate) now: Timestamp,
    /// Whether each limit refused.
    pub(crate) refused: SmallVec<[bool; 4]>,
    /// What was remembered of each key before.
    pub(crate) states: SmallVec<[State; 4]>,
}

/// How often one bucket may be found under other parameters while it is asked: another node writes it by its own.
pub(crate) const HANDOVERS: usize = 4;

impl RedisStore {
    /// Runs the script of `asks`, whose keys share a slot.
    pub(crate) async fn ask(&self, asks: &[&Ask<'_>], manner: &Manner) -> Result<Told, StoreError> {
        let Some(first) = asks.first() else {
            let (refused, states) = (SmallVec::new(), SmallVec::new());
            return Ok(Told { now: manner.now, refused, states });
        };
        let mut request = self.request(asks, manner)?;
        for _ in 0..asks.len() + HANDOVERS {
            let arguments = request.arguments();
            let program = &request.program.script;
            let call = self.0.servers.call(
                manner.deadline,
                first.slot,
                program,
                &request.keys,
                &arguments,
            );
            let reply = bytes(call.await?)?;
            drop(arguments);
            let of_asks = asks.iter().map(|ask| ask.parameters);
            let answer = Answer::read(&reply, of_asks).ok_or(Trouble::Unexpected)?;
            match answer.reply {
                Reply::Decided(reads) => {
                    let mut told = Told {
                        now: Timestamp::from_micros(answer.now),
                        refused: SmallVec::new(),
                        states: SmallVec::new(),
                    };
                    for (ask, read) in asks.iter().zip(reads) {
                        let state = decode(&ask.live.limit, ask.parameters, read.raw);
                        told.refused.push(read.refused);
                        told.states.push(state.ok_or(Trouble::Unexpected)?);
                    }
                    return Ok(told);
                }
                Reply::OtherPeriod => {
                    let now = Timestamp::from_micros(answer.now);
                    return Err(StoreError::OtherPeriod(now));
                }
                Reply::Foreign(place, raw) => {
                    let ask = asks.get(place).ok_or(Trouble::Unexpected)?;
                    let own = lent::parameters_of(raw) == Some(ask.parameters.tag);
                    if own && lent::is_leased(raw) {
                        // Units of it are on lease: the script that counts them in.
                        request.parts[place].leased = true;
                        request.program = self.0.library.program(&request.parts, request.holds);
                    } else {
                        self.carry(ask, raw, answer.now, manner.deadline).await?;
                    }
                }
            }
        }
        Err(Trouble::Unexpected.into())
    }

    fn request(&self, asks: &[&Ask<'_>], manner: &Manner) -> Result<Request, StoreError> {
        let parts: SmallVec<[Part; 4]> =
            asks.iter().map(|ask| Part { looks: manner.looks, ..ask.parameters.part }).collect();
        let holds = parts.iter().any(|part| part.kind == Kind::Concurrency);
        let hold = manner.hold.filter(|_| holds);
        let mut numbers = Arguments::default();
        numbers.push(f64::from(u8::from(manner.open)));
        if self.0.virtual_time {
            if manner.now.as_micros() >= MOST {
                return Err(StoreError::TooLate(manner.now));
            }
            numbers.push(manner.now.as_micros() as f64);
        }
        if let Some(hold) = hold {
            numbers.extend([hold, manner.delay].map(|span| span.get().min(MOST) as f64));
        }
        asks.iter().for_each(|ask| ask.arguments(&mut numbers));
        Ok(Request {
            program: self.0.library.program(&parts, hold.is_some()),
            parts,
            holds: hold.is_some(),
            keys: asks.iter().map(|ask| ask.name.clone()).collect(),
            numbers,
            lasting: asks
                .iter()
                .filter(|ask| ask.parameters.part.kind.tells_lasting())
                .map(|ask| ask.parameters.lasting.clone())
                .collect(),
            ticket: manner.ticket.to_le_bytes(),
        })
    }

    /// Brings a bucket that was written under other parameters to those of `ask`.
    pub(crate) async fn carry(
        &self,
        ask: &Ask<'_>,
        raw: &[u8],
        now: u64,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let tag = lent::parameters_of(raw).ok_or(Trouble::Unexpected)?;
        let known = ask.counter.known.find(tag).cloned();
        let old = match known {
            None if !self.0.virtual_time => self.parameters_of(ask, tag, deadline).await?,
            known => known,
        };
        let carried = carry(ask.live, old.as_ref(), raw, now).ok_or(Trouble::Unexpected)?;
        let Carried { raw: next, lasting } = carried;
        let lasting = self.at_least_a_replay(lasting).to_string();
        let keys = [ask.name.clone()];
        let arguments = [raw, &next, lasting.as_bytes()];
        self.0.servers.call(deadline, ask.slot, replace(), &keys, &arguments).await?;
        Ok(())
    }

    /// The limit whose parameters have this tag, as some node keeps it on the server.
    async fn parameters_of(
        &self,
        ask: &Ask<'_>,
        tag: u32,
        deadline: Deadline,
    ) -> Result<Option<tollgate_core::Limit>, Trouble> {
        let name = ask.counter.scope.own(Purpose::Parameters, &tag.to_le_bytes());
        let get = redis::cmd("GET").arg(name.as_bytes()).to_owned();
        let kept = self.0.servers.command(deadline, self.0.servers.slot(&name), &get).await?;
        let Value::BulkString(text) = kept else { return Ok(None) };
        Ok(std::str::from_utf8(&text).ok().and_then(parse))
    }
}

/// A call's bytes.
struct Request {
    program: std::sync::Arc<super::scripts::Program>,
    /// What the program does, and whether slots are held for a known time.
    parts: SmallVec<[Part; 4]>,
    holds: bool,
    keys: SmallVec<[KeyName; 4]>,
    numbers: Arguments,
    lasting: SmallVec<[Box<[u8]>; 4]>,
    ticket: [u8; 8],
}

impl Request {
    /// `ARGV`.
    fn arguments(&self) -> SmallVec<[&[u8]; 8]> {
        let numbers = std::iter::once(self.numbers.as_bytes());
        let lasting = self.lasting.iter().map(AsRef::as_ref);
        let ticket = self.program.wants_ticket.then_some(self.ticket.as_slice());
        numbers.chain(lasting).chain(ticket).collect()
    }
}

/// A script's answer, which is one string.
pub(crate) fn bytes(value: Value) -> Result<Vec<u8>, Trouble> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        _ => Err(Trouble::Unexpected),
    }
}

/// Parameters for a lone ask.
pub(crate) fn by_force<'r>(ask: Ask<'r>) -> Ask<'r> {
    let parameters: &'r Parameters = &ask.live.by_force;
    Ask { parameters, ..ask }
}

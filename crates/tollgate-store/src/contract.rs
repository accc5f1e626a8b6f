//! The contract that every store keeps.

use std::future::Future;
use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Decision, Limit, Micros, Outcome, Period, Standing, Timestamp};

use crate::{Sharing, Source, StoreError};

/// A limit of one class, as a store learns it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The limit's name.
    pub name: Arc<str>,
    /// The class, where the limit has `by`. Each class counts apart.
    pub class: Option<Arc<str>>,
    /// The arithmetic.
    pub limit: Limit,
    /// What must not change for the counts to survive a reload.
    pub shape: Shape,
    /// Most keys that all classes of `name` together remember.
    pub max_keys: usize,
    /// How nodes count it together; a store of one process has no use for it.
    pub sharing: Sharing,
}

/// A digest of what makes counts comparable: algorithm, key, `by`, window, cells, every, zone, starts. A definition with
/// the same name, class and shape as one that the store holds takes over its counts; another begins fresh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape(pub String);

/// A definition within one store. Ids are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LimitId(pub u32);

/// One (limit, key, cost) to be taken.
#[derive(Clone, Copy, Debug)]
pub struct Charge<'a> {
    /// Which limit.
    pub limit: LimitId,
    /// Who is counted: an injective encoding of the key's values.
    pub key: &'a [u8],
    /// Units; 0 asks without taking.
    pub cost: u64,
    /// The period around now, for a quota.
    pub period: Option<Period>,
}

/// Charges that stand or fall together.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Narrow to wide. Those with equal limit and key are added before the check.
    pub charges: &'a [Charge<'a>],
    /// Now. A shared store uses its own clock instead.
    pub now: Timestamp,
    /// How long slots are held after the request leaves, where known (a replay).
    pub hold: Option<Micros>,
}

/// The answer to a call. The default says nothing yet: it is there to be written over, and may be so again and again.
#[derive(Debug, Default)]
pub struct StoreOutcome {
    /// What all say together.
    pub decision: Decision,
    /// What each says, in the order of the call's charges (added ones share theirs).
    pub limits: SmallVec<[ChargeOutcome; 4]>,
    /// What was taken, for `settle` and `release`.
    pub receipt: Receipt,
    /// The store's moment of the decision.
    pub now: Timestamp,
}

/// What one charge's limit says.
#[derive(Clone, Copy, Debug)]
pub struct ChargeOutcome {
    /// The limit's own verdict and standing; says nothing where `source` is [`Source::Unasked`].
    pub outcome: Outcome,
    /// Whose word it is.
    pub source: Source,
}

/// What a call took; single use, so it is moved and never cloned.
#[derive(Debug, Default)]
pub struct Receipt {
    /// One entry for each key that something was taken from, with its charge's place in the call.
    pub taken: SmallVec<[Taken; 4]>,
}

/// What one charge took.
#[derive(Debug)]
pub struct Taken {
    /// The charge's place in its call; the first of those that were added.
    pub place: usize,
    /// The limit.
    pub limit: LimitId,
    /// The store's own name of the key.
    pub key: u128,
    /// Units, moment and ticket.
    pub charged: tollgate_core::Charged,
    /// The period it was charged in, for a quota.
    pub period: Option<Period>,
    /// Where it was taken, so where it is given back.
    pub source: Source,
}

/// Where counts live.
pub trait Store: Send + Sync + 'static {
    /// Tells the store its limits, all at once; the answer has one id for each, in order. Limits that are not among them are
    /// forgotten, though not before calls that began under the last set can have ended (they stay until the next `define`).
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId>;

    /// Takes all of the call's charges or none.
    ///
    /// # Errors
    /// [`StoreError`] where there is no answer.
    fn charge_all(
        &self,
        call: &Call<'_>,
    ) -> impl Future<Output = Result<StoreOutcome, StoreError>> + Send;

    /// [`Store::charge_all`] whose answer, which is large to move, is written where it is wanted: over whatever `answer` said
    /// before. It says nothing after an error.
    ///
    /// # Errors
    /// As [`Store::charge_all`].
    fn charge_all_into(
        &self,
        call: &Call<'_>,
        answer: &mut StoreOutcome,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        async {
            *answer = self.charge_all(call).await?;
            Ok(())
        }
    }

    /// Corrects what was taken to `units`, once the true cost is known: gives back, or charges more.
    ///
    /// # Errors
    /// [`StoreError`] where there is no answer.
    fn settle(
        &self,
        taken: Taken,
        units: u64,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Frees a slot.
    ///
    /// # Errors
    /// [`StoreError`] where there is no answer.
    fn release(
        &self,
        taken: Taken,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// How a key stands; takes nothing.
    ///
    /// # Errors
    /// [`StoreError`] where there is no answer.
    fn peek(
        &self,
        charge: &Charge<'_>,
        now: Timestamp,
    ) -> impl Future<Output = Result<Standing, StoreError>> + Send;

    /// Forgets a key.
    ///
    /// # Errors
    /// [`StoreError`] where there is no answer.
    fn reset(
        &self,
        limit: LimitId,
        key: &[u8],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

//! Where the connections of a thread are while they wait for their clients. One that waits has no task, no timer and no
//! buffers, so that many of them cost little: it is served again when there is something to read, when its time is over, or
//! when the gateway stops.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tollgate_store::Clock;

use super::bells::{Bell, Bells, Key};
use super::guest::Guest;
use super::{Arrival, serve};
use crate::gateway::Gateway;

/// How many are served again before others have their turn.
const AT_ONCE: usize = 64;

/// The guests of one thread.
pub(crate) struct Lot {
    pub(super) gateway: Arc<Gateway>,
    /// The number of the thread.
    pub(super) worker: usize,
    pub(super) stop: watch::Receiver<bool>,
    bells: Arc<Bells>,
    // One thread has it, so the lock is never waited for.
    guests: Mutex<Guests>,
}

struct Guests {
    /// The first whose time is over comes first.
    waiting: BTreeMap<Key, Box<Guest>>,
    next: u64,
    /// What the timer is set to.
    armed: u64,
    /// The gateway stops, and nobody waits any more.
    closed: bool,
}

impl Lot {
    /// That of the thread called `worker`.
    pub(crate) fn new(gateway: Arc<Gateway>, worker: usize, stop: watch::Receiver<bool>) -> Lot {
        let guests = Guests { waiting: BTreeMap::new(), next: 0, armed: u64::MAX, closed: false };
        let (bells, guests) = (Arc::default(), Mutex::new(guests));
        Lot { gateway, worker, stop, bells, guests }
    }

    /// Serves `arrival` when its client says something.
    pub(crate) fn welcome(self: &Arc<Lot>, arrival: Arrival) {
        self.keep(Guest::new(&self.gateway, arrival));
    }

    /// Keeps `guest` until there is something to do for it.
    pub(super) fn keep(self: &Arc<Lot>, guest: Guest) {
        if let Some(guest) = self.lay_down(guest) {
            self.resume(guest);
        }
    }

    /// Gives `guest` back where there is something to do for it already.
    fn lay_down(&self, mut guest: Guest) -> Option<Guest> {
        let deadline = self.gateway.with_settings(|settings| guest.deadline(settings));
        let mut guests = self.guests.lock();
        if guests.closed {
            return Some(guest);
        }
        let key = Key { deadline: deadline.as_micros(), number: guests.next };
        guests.next += 1;
        let bell = Waker::from(Arc::new(Bell::new(key, Arc::clone(&self.bells))));
        if guest.poll_said(&mut Context::from_waker(&bell)).is_ready() {
            return Some(guest);
        }
        guests.waiting.insert(key, Box::new(guest));
        self.gateway.metrics().connections_at_rest.inc();
        if key.deadline < guests.armed {
            // The timer has to be set back.
            self.bells.call();
        }
        None
    }

    fn resume(self: &Arc<Lot>, guest: Guest) {
        tokio::spawn(serve(Arc::clone(self), guest));
    }

    /// Serves the guest called `key` again, if it still waits.
    fn wake(self: &Arc<Lot>, key: Key) {
        let found = self.guests.lock().waiting.remove(&key);
        if let Some(guest) = found {
            self.gateway.metrics().connections_at_rest.dec();
            self.resume(*guest);
        }
    }

    /// Looks after the guests until the gateway stops.
    pub(crate) async fn attend(self: Arc<Lot>) {
        let mut stop = self.stop.clone();
        let mut stopped = pin!(async move {
            if stop.wait_for(|stop| *stop).await.is_err() {
                // Nobody is left who could stop it.
                std::future::pending::<()>().await;
            }
        });
        let mut timer = pin!(tokio::time::sleep(Duration::MAX));
        loop {
            tokio::select! {
                biased;
                () = &mut stopped => break,
                () = self.bells.called() => self.answer().await,
                () = &mut timer => {
                    timer.set(tokio::time::sleep(Duration::MAX));
                    self.guests.lock().armed = u64::MAX;
                    self.resume_until(self.gateway.timer().now().as_micros()).await;
                }
            }
            if let Some(left) = self.rearm() {
                timer.set(tokio::time::sleep(left));
            }
        }
        self.guests.lock().closed = true;
        self.resume_until(u64::MAX).await;
    }

    /// Serves those again who have something to be read.
    async fn answer(self: &Arc<Lot>) {
        let mut served = 0;
        while let Some(key) = self.bells.answer() {
            self.wake(key);
            served += 1;
            if served % AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Serves those again whose time was over at `moment`: they are told what there is to tell.
    async fn resume_until(self: &Arc<Lot>, moment: u64) {
        let mut served = 0;
        while let Some(key) = self.first().filter(|first| first.deadline <= moment) {
            self.wake(key);
            served += 1;
            if served % AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    fn first(&self) -> Option<Key> {
        self.guests.lock().waiting.first_key_value().map(|(first, _)| *first)
    }

    /// How far the next deadline is, where it is nearer than what the timer is set to.
    fn rearm(&self) -> Option<Duration> {
        let mut guests = self.guests.lock();
        let next = guests.waiting.first_key_value()?.0.deadline;
        if next >= guests.armed {
            return None;
        }
        guests.armed = next;
        let now = self.gateway.timer().now().as_micros();
        Some(Duration::from_micros(next.saturating_sub(now)))
    }
}

//! The data path of a request: checked, decided, perhaps made to wait, passed on, answered.

mod admission;
mod caller;
mod checks;
mod client_gone;
mod correlation;
mod disguised;
mod forwarded;
mod forwarding;
mod framing;
mod hints;
mod hop_by_hop;
mod live;
mod moments;
mod outgoing;
mod own;
mod passing;
mod random;
mod reading_ahead;
mod sizes;
mod survey;
#[cfg(test)]
pub(crate) mod tests;
mod ticket;
mod tunnel;
mod waiter;

use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::{Request, Response};
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::runtime::Handle as Runtime;
use tokio::sync::watch;
use tollgate_core::Timestamp;
use tollgate_policy::settings::GatewaySettings;
use tollgate_store::{Clock, SystemClock};

use crate::GatewayStore;
use crate::arrivals::Arrivals;
use crate::body::{Inbound, ResponseBody};
use crate::connection::{Client, Crowd, Member, Places};
use crate::metrics::Metrics;
use crate::waiting::WaitingRoom;
use admission::Admission;
use moments::Moments;
use passing::Visit;
use survey::Survey;

pub(crate) use client_gone::ClientGone;
pub(crate) use live::Live;
pub(crate) use ticket::Ticket;

/// The engine that a gateway asks.
pub type Engine = tollgate_policy::Engine<GatewayStore>;

/// A gateway, shared by all of its threads.
pub(crate) struct Gateway {
    engine: Arc<Engine>,
    live: ArcSwap<Live>,
    /// Tells the time of decisions.
    clock: Arc<dyn Clock>,
    /// Tells how long peers are silent.
    timer: Arc<SystemClock>,
    room: Arc<WaitingRoom>,
    places: Arc<Places>,
    crowd: Arc<Crowd>,
    /// The runtimes of its threads, to ask whether they stand still.
    threads: Mutex<Vec<Runtime>>,
    /// One for each ended request of which a shared store is yet to be told.
    errands: Arc<Places>,
    arrivals: Arrivals,
    /// Nobody waits any more for what is left.
    broken_off: watch::Sender<bool>,
    metrics: Arc<Metrics>,
}

impl Gateway {
    pub(crate) fn new(
        engine: Arc<Engine>,
        live: Live,
        clock: Arc<dyn Clock>,
        timer: Arc<SystemClock>,
        metrics: Arc<Metrics>,
    ) -> Gateway {
        Gateway {
            engine,
            live: ArcSwap::from_pointee(live),
            clock,
            timer,
            room: Arc::default(),
            places: Arc::default(),
            crowd: Arc::default(),
            threads: Mutex::default(),
            errands: Arc::default(),
            arrivals: Arrivals::default(),
            broken_off: watch::Sender::new(false),
            metrics,
        }
    }

    /// Answers one request of `client`.
    ///
    /// The future is moved about, and so is each that it waits for: they hold what they need once, and whatever is rare is
    /// boxed.
    ///
    /// # Errors
    /// [`ClientGone`] where nobody is there to be answered.
    pub(crate) fn answer<'a>(
        self: &'a Arc<Gateway>,
        client: &'a Arc<Client>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<ResponseBody>, ClientGone>> + Send + use<'a> {
        let (mut parts, incoming) = request.into_parts();
        let visit = Visit {
            gateway: self,
            client,
            live: self.live.load_full(),
            survey: Survey::of(&parts.headers),
        };
        let mut body = Inbound::new(incoming);
        async move {
            // Over HTTP/2 a turn is of the task that it begins in: the one that writes the answer.
            let turn = visit.begin(&body);
            let id = visit.request_id(&parts.headers);
            let mut note = visit.note(&parts, id.as_ref());
            let mut response = match visit.admit(&parts, &mut body, &mut note).await? {
                Admission::Answered(answer) => visit.own(answer, &parts, body),
                Admission::Passes(ticket) => {
                    visit.identify(&mut parts.headers, id.as_ref());
                    visit.pass(&mut parts, body, ticket, &mut note).await
                }
            };
            visit.identify(response.headers_mut(), id.as_ref());
            note.with(|noted| noted.status(response.status()));
            Ok(response.map(|body| body.with_turn(turn).with_note(note)))
        }
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn live(&self) -> Arc<Live> {
        self.live.load_full()
    }

    /// Requests that come from now on are served by `live`.
    pub(crate) fn go_live(&self, live: Live) {
        self.live.store(Arc::new(live));
    }

    pub(crate) fn settings(&self) -> GatewaySettings {
        self.live.load().settings().clone()
    }

    pub(crate) fn with_settings<T>(&self, look: impl FnOnce(&GatewaySettings) -> T) -> T {
        look(self.live.load().settings())
    }

    pub(crate) fn max_connections(&self) -> usize {
        self.live.load().settings().max_connections
    }

    /// Counts one more connection of `peer`, where the policy bounds them.
    ///
    /// # Errors
    /// The bound, where it is reached.
    pub(crate) fn join(&self, peer: IpAddr) -> Result<Option<Member>, usize> {
        let live = self.live.load();
        let Some(most) = live.settings().max_connections_per_address else { return Ok(None) };
        let address = live.client_address().counted(peer);
        self.crowd.join(address, most).map(Some).ok_or(most)
    }

    /// The moment by the clock of decisions.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Does a piece of the sweep that forgets keys as fresh as new; `true` when a whole round is done.
    pub(crate) fn forget_idle_keys(&self) -> bool {
        self.engine.store().sweep(self.clock.now())
    }

    /// By whose clock the moments are of a decision that was heard of just now.
    fn moments(&self) -> Moments {
        if self.engine.store().is_shared() { Moments::Heard(self.now()) } else { Moments::Own }
    }

    /// One for each ended request of which a shared store is yet to be told.
    pub(crate) fn errands(&self) -> &Arc<Places> {
        &self.errands
    }

    pub(crate) fn timer(&self) -> &Arc<SystemClock> {
        &self.timer
    }

    pub(crate) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    pub(crate) fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// One more of its threads has begun.
    pub(crate) fn runs_on(&self, thread: Runtime) {
        self.threads.lock().push(thread);
    }

    /// Ends when each of its threads has done something since it was asked.
    pub(crate) async fn answers(&self) {
        let threads = self.threads.lock().clone();
        for thread in threads {
            // A thread that has ended stands not still.
            let _ = thread.spawn(std::future::ready(())).await;
        }
    }

    /// Where it stops, it does not wait for what is left.
    pub(crate) fn break_off(&self) {
        self.broken_off.send_replace(true);
    }

    /// Ends once it was told so.
    pub(crate) async fn is_broken_off(&self) {
        // The sender lives as long as the gateway.
        let _ = self.broken_off.subscribe().wait_for(|broken_off| *broken_off).await;
    }
}

//! A world of nodes, one store and a network between them, on virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tollgate_core::{Algorithm, Asked, Limit, Micros, Outcome, Period, State, Timestamp, step};

use super::super::exchange::{Answer, Request};
use super::super::pace::Pace;
use super::super::wallet::From;
use super::chance::Chance;
use super::model::{Fault, LeasedKey};
use super::node::{Act, BUDGET, Node, Waiter};

/// The world's first moment, in microseconds since the epoch: in the middle of nothing.
pub(crate) const START: u64 = 1_767_225_600_123_456;
/// How long a quota's period is here.
pub(crate) const PERIOD: u64 = 3_000_000;

/// What may go wrong, in percent, and how slow things may be, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) loss: u64,
    pub(crate) longest_delay: u64,
    pub(crate) deaths: u64,
    pub(crate) pauses: u64,
    pub(crate) drift: i64,
    pub(crate) other_refuses: u64,
    pub(crate) exact: u64,
    pub(crate) resets: u64,
}

#[derive(Debug)]
enum Event {
    Arrive { node: usize, cost: u64 },
    AtStore { node: usize, exchange: u64, request: Request },
    Answered { node: usize, exchange: u64, answer: Answer },
    TimeOut { node: usize, exchange: u64 },
    Sweep { node: usize },
    PutBack { node: usize, from: From, cost: u64 },
    Pause { node: usize },
    Die { node: usize },
    Exact { cost: u64 },
    Reset,
}

/// The whole of it.
pub(crate) struct World {
    pub(crate) limit: Limit,
    pub(crate) pace: Pace,
    pub(crate) key: LeasedKey,
    pub(crate) nodes: Vec<Node>,
    pub(crate) weather: Weather,
    /// Leases go on behind the end of their term: to see it noticed.
    pub(crate) overstay: bool,
    /// How many nodes the nodes believe that there are.
    pub(crate) believed: u64,
    chance: Chance,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64)>>,
    what: std::collections::HashMap<u64, Event>,
    numbers: u64,
    /// When how much was admitted; by exact charges too.
    pub(crate) admissions: Vec<(u64, u64)>,
    /// The last reset.
    counted_from: u64,
    too_many: bool,
    pub(crate) asked: u64,
    pub(crate) commands: u64,
}

impl World {
    pub(crate) fn new(
        limit: Limit,
        nodes: usize,
        generation: u64,
        fault: Fault,
        seed: u64,
    ) -> World {
        let pace = Pace::of(&limit).expect("a limit that can be leased");
        let key = LeasedKey::new(limit.clone(), Micros::new(generation), fault);
        let calm = Weather {
            loss: 0,
            longest_delay: 1_000,
            deaths: 0,
            pauses: 0,
            drift: 0,
            other_refuses: 0,
            exact: 0,
            resets: 0,
        };
        let mut world = World {
            limit,
            pace,
            key,
            nodes: Vec::new(),
            weather: calm,
            overstay: false,
            believed: nodes as u64,
            chance: Chance(seed),
            now: START,
            events: BinaryHeap::new(),
            what: std::collections::HashMap::new(),
            numbers: 0,
            admissions: Vec::new(),
            counted_from: START,
            too_many: false,
            asked: 0,
            commands: 0,
        };
        for node in 0..nodes {
            let offset = world.chance.below(1 << 40);
            world.nodes.push(Node::new(offset, 0));
            world.at(START + world.pace.horizon.get() / 2, Event::Sweep { node });
        }
        world
    }

    pub(crate) fn with_weather(mut self, weather: Weather) -> World {
        self.weather = weather;
        for node in 0..self.nodes.len() {
            let drift = self.chance.below(2 * weather.drift as u64 + 1) as i64 - weather.drift;
            self.nodes[node] = Node::new(self.chance.below(1 << 40), drift);
        }
        self
    }

    fn at(&mut self, when: u64, event: Event) {
        self.numbers += 1;
        self.what.insert(self.numbers, event);
        self.events.push(Reverse((when, self.numbers)));
    }

    /// `cost` is asked of `node` at `when` after the start.
    pub(crate) fn arrive(&mut self, node: usize, when: u64, cost: u64) {
        self.at(START + when, Event::Arrive { node, cost });
    }

    /// Trouble and traffic by chance, for `span` microseconds.
    pub(crate) fn arrive_by_chance(&mut self, span: u64, arrivals: u64, largest_cost: u64) {
        let nodes = self.nodes.len() as u64;
        for _ in 0..arrivals {
            let (node, cost) =
                (self.chance.below(nodes) as usize, 1 + self.chance.below(largest_cost));
            // In bursts: many a request comes right behind another.
            let (start, many) = (self.chance.below(span), 1 + self.chance.span(12));
            for _ in 0..many {
                let when = start + self.chance.span(30_000);
                self.arrive(node, when, cost);
            }
            if self.chance.is(self.weather.exact) {
                self.at(START + start, Event::Exact { cost });
            }
            if self.chance.is(self.weather.deaths) {
                self.at(START + start, Event::Die { node });
            }
            if self.chance.is(self.weather.pauses) {
                self.at(START + start, Event::Pause { node });
            }
            if self.chance.is(self.weather.resets) {
                self.at(START + start, Event::Reset);
            }
        }
    }

    /// Now and then every node is asked for much at once, `burst` requests on average, behind a time of little.
    pub(crate) fn arrive_in_flashes(&mut self, span: u64, gap: u64, burst: u64) {
        let mut when = self.chance.below(gap);
        while when < span {
            for node in 0..self.nodes.len() {
                for _ in 0..self.chance.below(2 * burst) {
                    let at = when + self.chance.span(4_000);
                    self.arrive(node, at, 1);
                }
            }
            when += gap / 2 + self.chance.below(gap);
        }
    }

    /// Every node is asked for one unit in each `gap`, more or less.
    pub(crate) fn arrive_steadily(&mut self, span: u64, gap: u64) {
        for node in 0..self.nodes.len() {
            for turn in 0..span / gap {
                let when = turn * gap + self.chance.below(gap);
                self.arrive(node, when, 1);
            }
        }
    }

    pub(crate) fn period(now: u64) -> Option<Period> {
        let start = now - now % PERIOD;
        let end = Timestamp::from_micros(start + PERIOD);
        Some(Period { start: Timestamp::from_micros(start), end })
    }

    /// Lets time pass until `span` after the start.
    pub(crate) fn run(&mut self, span: u64) {
        while let Some(Reverse((when, number))) = self.events.pop() {
            if when > START + span {
                self.events.push(Reverse((when, number)));
                break;
            }
            self.now = self.now.max(when);
            let Some(event) = self.what.remove(&number) else { continue };
            self.happen(event);
        }
        self.now = START + span;
    }

    /// The node does nothing now: it hears of it when it can.
    fn asleep(&mut self, node: usize) -> bool {
        self.nodes[node].paused_until > self.now
    }

    fn happen(&mut self, event: Event) {
        let of = match &event {
            Event::Arrive { node, .. }
            | Event::Answered { node, .. }
            | Event::TimeOut { node, .. }
            | Event::Sweep { node }
            | Event::PutBack { node, .. } => Some(*node),
            _ => None,
        };
        if let Some(node) = of.filter(|node| self.asleep(*node)) {
            return self.at(self.nodes[node].paused_until, event);
        }
        match event {
            Event::Arrive { node, cost } => {
                let at = self.nodes[node].at(self.now);
                self.asked += 1;
                self.nodes[node].wallet.note(cost, at, &self.pace);
                self.attempt(node, Waiter { cost, since: self.now });
            }
            Event::AtStore { node, exchange, request } => self.at_store(node, exchange, &request),
            Event::Answered { node, exchange, answer } => self.answered(node, exchange, answer),
            Event::TimeOut { node, exchange } if self.nodes[node].exchange == Some(exchange) => {
                let at = self.nodes[node].at(self.now);
                self.nodes[node].exchange = None;
                self.nodes[node].wallet.fail(at);
                self.nodes[node].waiting.clear();
            }
            Event::TimeOut { .. } => {}
            Event::Sweep { node } => self.sweep(node),
            Event::PutBack { node, from, cost } => {
                let at = self.nodes[node].at(self.now);
                self.nodes[node].wallet.put_back(from, cost, at);
            }
            Event::Pause { node } => {
                self.nodes[node].paused_until = self.now + self.chance.span(2_000_000);
            }
            Event::Die { node } => {
                let limit = self.limit.clone();
                self.nodes[node].restart(self.now, &limit);
            }
            Event::Exact { cost } => {
                let outcome = self.key.charge(cost, self.now, World::period(self.now));
                if !outcome.refused {
                    self.admissions.push((self.now, cost));
                }
            }
            Event::Reset => self.reset(),
        }
    }

    fn attempt(&mut self, node: usize, waiter: Waiter) {
        let nodes = self.believed;
        match self.nodes[node].attempt(waiter, self.now, nodes, &self.pace) {
            Act::Admit(From::Store(at)) => self.admissions.push((at.as_micros(), waiter.cost)),
            Act::Admit(from) if self.chance.is(self.weather.other_refuses) => {
                let when = self.now + self.chance.span(5_000);
                self.at(when, Event::PutBack { node, from, cost: waiter.cost });
            }
            Act::Admit(_) => self.admissions.push((self.now, waiter.cost)),
            Act::Refuse | Act::Wait(None) => {}
            Act::Wait(Some(request)) => self.send(node, request),
        }
        if let Some(request) = self.nodes[node].renew(self.now, nodes, &self.pace) {
            self.send(node, request);
        }
    }

    fn send(&mut self, node: usize, request: Request) {
        self.commands += 1;
        self.numbers += 1;
        let exchange = self.numbers;
        self.nodes[node].exchange = Some(exchange);
        self.at(self.now + BUDGET, Event::TimeOut { node, exchange });
        let when = self.now + self.chance.span(self.weather.longest_delay);
        if !self.chance.is(self.weather.loss) {
            self.at(when, Event::AtStore { node, exchange, request });
        }
    }

    fn at_store(&mut self, node: usize, exchange: u64, request: &Request) {
        let mut answer = self.key.exchange(request, self.now, World::period(self.now));
        if self.overstay {
            answer.lasts = Micros::new(answer.lasts.get() + 1_000_000);
        }
        if !self.chance.is(self.weather.loss) {
            let back = self.now + self.chance.span(self.weather.longest_delay);
            self.at(back, Event::Answered { node, exchange, answer });
        }
    }

    fn answered(&mut self, node: usize, exchange: u64, answer: Answer) {
        if self.nodes[node].exchange != Some(exchange) {
            return;
        }
        let at = self.nodes[node].at(self.now);
        let period = World::period(answer.now.as_micros());
        self.nodes[node].exchange = None;
        let (limit, pace) = (self.limit.clone(), self.pace);
        self.nodes[node].wallet.receive(answer, period, at, &limit, &pace);
        let woken = std::mem::take(&mut self.nodes[node].waiting);
        for waiter in woken {
            self.attempt(node, waiter);
        }
    }

    fn sweep(&mut self, node: usize) {
        let at = self.nodes[node].at(self.now);
        if let Some(request) = self.nodes[node].wallet.tidy(at, &self.pace) {
            self.send(node, request);
        }
        self.at(self.now + self.pace.horizon.get() / 2, Event::Sweep { node });
    }

    /// Somebody resets the key: from here on it counts anew, but for what is out on lease and spent later.
    fn reset(&mut self) {
        self.too_many = self.admits_too_much();
        self.key.reset(self.now, World::period(self.now));
        self.admissions.clear();
        self.counted_from = self.now;
    }

    /// Units admitted in all.
    pub(crate) fn admitted(&self) -> u64 {
        self.admissions.iter().map(|(_, cost)| cost).sum()
    }

    /// Whether the limit alone would have refused some of what was admitted, had it counted all of it itself.
    pub(crate) fn admits_too_much(&mut self) -> bool {
        let counted_from = self.counted_from;
        self.admissions.retain(|(at, _)| *at >= counted_from);
        self.admissions.sort_by_key(|(at, _)| *at);
        let mut state = State::Fresh;
        let mut outcomes = [Outcome::default()];
        let refuses = self.admissions.iter().any(|(at, cost)| {
            let period = World::period(*at);
            let asked = Asked { limit: &self.limit, state: &mut state, cost: *cost, period };
            step(&mut [asked], Timestamp::from_micros(*at), 0, None, &mut outcomes);
            outcomes[0].refused
        });
        self.too_many || refuses
    }

    /// What a bucket holds and what is out never exceed what it can hold.
    pub(crate) fn is_within_capacity(&mut self) -> bool {
        let capacity = match self.limit.algorithm() {
            Algorithm::TokenBucket(_) | Algorithm::LeakyBucket(_) => {
                self.limit.standing(&State::Fresh, None, Timestamp::MAX).remaining
            }
            _ => return true,
        };
        self.key.remaining(self.now, None) + self.key.units_out() <= capacity
    }
}

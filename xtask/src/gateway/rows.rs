//! The rows of the table.

use super::contest::{Question, Side};
use super::idle;
use super::load::Load;
use super::scene::{Entrance, Limits, Scene};
use super::server::Server;
use super::table::Line;
use super::{Plan, Programs};

/// A row whose measure is time on the processor.
pub(super) struct Row {
    pub(super) name: &'static str,
    ours: Scene,
    peer: Opponent,
    question: Question,
    /// Ours by the peer's, at most.
    target: Option<f64>,
    /// The same of the 99th percentile.
    tail: Option<f64>,
}

/// Whom the gateway is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opponent {
    /// nginx, in the same scene.
    Nginx,
    /// The gateway itself, without limits.
    Unlimited,
}

/// The rows of memory.
pub(super) const IDLE: [(&str, bool, Option<f64>); 2] = [
    ("10,000 idle connections that asked once", true, Some(2.0)),
    ("10,000 idle connections that never asked", false, Some(2.0)),
];

const SMALL: Question = Question { load: Load::Http, path: "/", refused: false };
const OPEN: Scene = Scene { entrance: Entrance::Http, limits: Limits::Open };

pub(super) const ROWS: [Row; 7] = [
    Row {
        name: "three layers, small bodies",
        ours: OPEN,
        peer: Opponent::Nginx,
        question: SMALL,
        target: Some(1.1),
        tail: Some(1.1),
    },
    Row {
        name: "refusing",
        ours: Scene { limits: Limits::Shut, ..OPEN },
        peer: Opponent::Nginx,
        question: Question { refused: true, ..SMALL },
        target: Some(1.03),
        tail: None,
    },
    Row {
        name: "64 KiB bodies",
        ours: OPEN,
        peer: Opponent::Nginx,
        question: Question { path: "/large", ..SMALL },
        target: Some(1.2),
        tail: None,
    },
    Row {
        name: "TLS in",
        ours: Scene { entrance: Entrance::Https, ..OPEN },
        peer: Opponent::Nginx,
        question: Question { load: Load::Https, ..SMALL },
        target: Some(1.2),
        tail: None,
    },
    Row {
        name: "HTTP/2 in",
        ours: Scene { entrance: Entrance::Http2, ..OPEN },
        peer: Opponent::Nginx,
        question: Question { load: Load::Http2, ..SMALL },
        target: Some(1.2),
        tail: None,
    },
    Row {
        name: "no limits, small bodies",
        ours: Scene { limits: Limits::None, ..OPEN },
        peer: Opponent::Nginx,
        question: SMALL,
        target: None,
        tail: None,
    },
    Row {
        name: "cost of the layers, small bodies",
        ours: OPEN,
        peer: Opponent::Unlimited,
        question: SMALL,
        target: Some(1.05),
        tail: None,
    },
];

impl Row {
    /// Runs both sides, and answers with the lines of the table.
    pub(super) fn measure(
        &self,
        programs: &Programs,
        service: &Server,
        plan: Plan,
    ) -> Result<Vec<Line>, String> {
        let ours = Server::proxy(&programs.ours, self.ours, service.address)?;
        let (program, scene) = match self.peer {
            Opponent::Nginx => (&programs.peer, self.ours),
            Opponent::Unlimited => (&programs.ours, Scene { limits: Limits::None, ..self.ours }),
        };
        let peer = Server::proxy(program, scene, service.address)?;
        let sides = self.question.put(&ours, &peer, plan)?;
        Ok(self.lines(sides))
    }

    fn lines(&self, sides: [Side; 2]) -> Vec<Line> {
        let note = note(sides);
        let cpu = Line {
            what: format!("{}: CPU a request", self.name),
            values: sides.map(|side| side.cpu),
            unit: "us",
            target: self.target,
            note,
        };
        let tail = |ours, peer| Line {
            what: format!("{}: p99", self.name),
            values: [ours, peer],
            unit: "us",
            target: self.tail,
            note: String::new(),
        };
        let tails = sides[0].p99.zip(sides[1].p99).map(|(ours, peer)| tail(ours, peer));
        [cpu].into_iter().chain(tails).collect()
    }
}

/// How the rounds went.
fn note(sides: [Side; 2]) -> String {
    let one = |side: Side| {
        format!(
            "{:.1} user + {:.1} system, {:.0} requests/s, {} of {} rounds calm",
            side.cpu * side.user_share,
            side.cpu * (1.0 - side.user_share),
            side.rate,
            side.counted.0,
            side.counted.1
        )
    };
    format!("{}; peer {}", one(sides[0]), one(sides[1]))
}

/// The memory of idle clients.
pub(super) fn idle(
    (name, asking, target): (&str, bool, Option<f64>),
    programs: &Programs,
    service: &Server,
) -> Result<Vec<Line>, String> {
    let of = |program| {
        let server = Server::proxy(program, OPEN, service.address)?;
        idle::measure(&server, asking)
    };
    let (ours, peer) = (of(&programs.ours)?, of(&programs.peer)?);
    let note = format!(
        "{:.1} MB before, {:.0} B a connection; peer {:.1} MB, {:.0} B",
        ours.before / 1e6,
        ours.each(),
        peer.before / 1e6,
        peer.each()
    );
    let values = [ours.with_all / 1e6, peer.with_all / 1e6];
    Ok(vec![Line { what: format!("{name}: memory"), values, unit: "MB", target, note }])
}

//! Lines, moment by moment; over real sockets they are tested in `tests/queueing.rs`.

use super::*;
use tollgate_store::{LimitId, ManualClock};

const SECOND: u64 = 1_000_000;

fn line(limit: u32) -> Line {
    Line { limit: LimitId(limit), key: 7 }
}

fn claim(limit: u32, due: u64, span: u64) -> Claim {
    Claim { line: line(limit), due, span }
}

fn seat(room: &Arc<WaitingRoom>, due: u64) -> Seat {
    room.enter(due, [claim(1, due, SECOND)], 100).expect("there is room")
}

fn due(seat: &Seat) -> u64 {
    seat.turn.due.load(Ordering::Relaxed)
}

#[test]
fn que_01_those_behind_a_cancelled_waiter_move_up() {
    let room = Arc::new(WaitingRoom::default());
    let b = seat(&room, SECOND);
    let c = seat(&room, 2 * SECOND);
    let left = b.leave(SECOND / 2);
    assert_eq!(left, [claim(1, SECOND, SECOND)], "the charge counts from when it would have left");
    assert_eq!(due(&c), SECOND);
    assert_eq!(room.waiting(), 1);
}

#[test]
fn one_that_leaves_late_frees_only_what_is_left_of_its_stretch() {
    let room = Arc::new(WaitingRoom::default());
    let b = room.enter(3 * SECOND, [claim(1, SECOND, SECOND), claim(2, 3 * SECOND, SECOND)], 9);
    let c = seat(&room, 2 * SECOND);
    b.expect("there is room").leave(SECOND + 300_000);
    assert_eq!(due(&c), SECOND + 300_000, "not before now");
}

#[test]
fn one_that_departs_at_its_turn_moves_nobody() {
    let room = Arc::new(WaitingRoom::default());
    let b = seat(&room, SECOND);
    let c = seat(&room, 2 * SECOND);
    drop(b);
    assert_eq!(due(&c), 2 * SECOND);
    drop(c);
    assert_eq!(room.waiting(), 0);
    assert!(room.lines.lock().depart(1).is_empty());
}

#[test]
fn those_before_it_and_in_other_lines_stay() {
    let room = Arc::new(WaitingRoom::default());
    let before = seat(&room, SECOND);
    let leaver = seat(&room, 2 * SECOND);
    let elsewhere =
        room.enter(3 * SECOND, [claim(2, 3 * SECOND, SECOND)], 9).expect("there is room");
    leaver.leave(0);
    assert_eq!((due(&before), due(&elsewhere)), (SECOND, 3 * SECOND));
}

#[test]
fn the_slowest_of_its_lines_holds_a_request() {
    let room = Arc::new(WaitingRoom::default());
    let leaver = seat(&room, SECOND);
    let both = room
        .enter(5 * SECOND, [claim(1, 2 * SECOND, SECOND), claim(2, 5 * SECOND, SECOND)], 9)
        .expect("there is room");
    leaver.leave(0);
    assert_eq!(due(&both), 5 * SECOND);
    let unexplained =
        room.enter(9 * SECOND, [claim(1, 3 * SECOND, SECOND)], 9).expect("there is room");
    both.leave(0);
    assert_eq!(due(&unexplained), 9 * SECOND, "something without a line holds it");
}

#[test]
fn equal_moments_keep_the_order_of_arrival() {
    let room = Arc::new(WaitingRoom::default());
    let first = room.enter(SECOND, [claim(1, SECOND, 0)], 9).expect("there is room");
    let second = room.enter(SECOND, [claim(1, SECOND, 10)], 9).expect("there is room");
    let third = seat(&room, SECOND + 10);
    second.leave(0);
    assert_eq!((due(&first), due(&third)), (SECOND, SECOND));
}

#[test]
fn the_room_is_bounded() {
    let room = Arc::new(WaitingRoom::default());
    let only = room.enter(SECOND, [], 1);
    assert!(only.is_some());
    assert!(room.enter(SECOND, [], 1).is_none());
    drop(only);
    assert!(room.enter(SECOND, [], 1).is_some());
    assert!(room.lines.lock().is_empty());
}

#[test]
fn what_has_left_cannot_be_taken_back() {
    let room = Arc::new(WaitingRoom::default());
    let gone = Departure::from(seat(&room, SECOND));
    let behind = seat(&room, 2 * SECOND);
    gone.leave();
    assert_eq!(room.waiting(), 1, "its seat is free");
    assert_eq!((gone.cancel(0), due(&behind)), (None, 2 * SECOND));
    let cancelled = Departure::from(seat(&room, 3 * SECOND));
    assert_eq!(cancelled.cancel(0), Some(vec![claim(1, 3 * SECOND, SECOND)]));
    assert_eq!(cancelled.cancel(0), None, "once");
    assert_eq!(Departure::default().cancel(0), Some(Vec::new()), "one that never waited");
}

#[tokio::test]
async fn one_who_waits_hears_of_moving_up() {
    let room = Arc::new(WaitingRoom::default());
    let clock = ManualClock::default();
    let b = seat(&room, SECOND);
    let c = seat(&room, 1_000_000 * SECOND);
    let turn = c.turn();
    let waiting = turn.wait(&clock);
    tokio::pin!(waiting);
    assert!(futures_pending(&mut waiting).await);
    c.turn.move_to(0);
    waiting.await;
    drop(b);
}

async fn futures_pending<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|cx| {
        std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending())
    })
    .await
}

//! Policies: one to four limits, one to three routes.

use super::Random;
use super::limits::{KINDS, Kind, algorithm};
use super::spans::Theme;
use crate::model::policy::{Class, Cost, DEFAULT_PLAN, Identity, Limit, Missing, Policy, Route};

/// A policy.
pub(crate) fn policy(random: &mut Random) -> Policy {
    let theme = Theme::any(random);
    let count = if random.chance(35) { 1 } else { random.within(2, 4) };
    let limits: Vec<Limit> = (0..count).map(|place| limit(place, theme, random)).collect();
    let mut routes = vec![Route {
        path: "/a".to_owned(),
        limits: (0..limits.len()).collect(),
        cost: cost(random),
    }];
    for path in ["/b/**", "/c"] {
        if random.chance(25) {
            routes.push(Route {
                path: path.to_owned(),
                limits: some_of(limits.len(), random),
                cost: cost(random),
            });
        }
    }
    if random.chance(30) {
        routes.reverse();
    }
    Policy { limits, routes }
}

/// Some of the limits, in any order.
fn some_of(count: usize, random: &mut Random) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).filter(|_| random.chance(60)).collect();
    if random.chance(50) {
        places.reverse();
    }
    places
}

fn cost(random: &mut Random) -> Cost {
    match random.within(0, 9) {
        0..=5 => Cost::Default,
        6..=7 => Cost::Fixed(random.within(0, 5)),
        _ => {
            let min = random.chance(60).then(|| random.within(0, 2));
            let default = random.within(min.unwrap_or(1), 5);
            Cost::Header { default, min, max: random.within(5, 50) }
        }
    }
}

fn limit(place: u64, theme: Theme, random: &mut Random) -> Limit {
    let kind = random.pick(&KINDS);
    let by_plan = random.chance(25);
    let classes =
        if by_plan { classes(kind, theme, random) } else { vec![class(None, kind, theme, random)] };
    let gives = kind != Kind::Concurrency;
    let overdraws =
        matches!(kind, Kind::TokenBucket | Kind::FixedWindow | Kind::SlidingWindow | Kind::Quota)
            && random.chance(25);
    Limit {
        name: format!("limit-{place}"),
        key: key(random),
        by_plan,
        classes,
        missing: random.pick(&[
            Missing::Default,
            Missing::Default,
            Missing::Ip,
            Missing::Share,
            Missing::Skip,
        ]),
        shadow: random.chance(15),
        count_refused: gives && random.chance(25),
        overdraw: overdraws,
        max_debt: (overdraws && random.chance(50)).then(|| random.within(0, 20)),
        charge_when: random
            .chance(30)
            .then(|| random.pick(&[vec![401], vec![401, 403], vec![200, 500]])),
    }
}

fn classes(kind: Kind, theme: Theme, random: &mut Random) -> Vec<Class> {
    let mut classes = vec![
        class(Some(DEFAULT_PLAN), kind, theme, random),
        class(Some("paid"), kind, theme, random),
    ];
    if random.chance(40) {
        classes.push(Class { name: Some("enterprise"), algorithm: None });
    }
    if random.chance(15) {
        // Who is nobody in particular is not limited; `paid` is.
        classes[0].algorithm = None;
    }
    classes
}

fn class(name: Option<&'static str>, kind: Kind, theme: Theme, random: &mut Random) -> Class {
    Class { name, algorithm: Some(algorithm(kind, theme, random)) }
}

fn key(random: &mut Random) -> Vec<Identity> {
    use Identity::{Ip, Plan, Tenant, User};
    random.pick(&[
        vec![],
        vec![],
        vec![User],
        vec![User],
        vec![Tenant],
        vec![Ip],
        vec![Plan],
        vec![User, Ip],
        vec![Tenant, User],
    ])
}

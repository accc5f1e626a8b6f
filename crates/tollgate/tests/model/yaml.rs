//! Writes a policy as the file that the command reads.

use std::fmt::Write;

use super::policy::{
    Algorithm, Burst, Class, Cost, Every, Identity, Limit, MaxWait, Missing, Policy, Route,
};

/// The policy file.
pub(crate) fn policy_file(policy: &Policy) -> String {
    let mut text = String::from(
        "identity:\n  user: { header: x-user, from: anyone }\n  tenant: { header: x-tenant, from: anyone }\n  \
         plan: { header: x-plan, from: anyone, default: free }\nlimits:\n",
    );
    for limit in &policy.limits {
        write_limit(&mut text, limit);
    }
    text.push_str("routes:\n");
    for route in &policy.routes {
        write_route(&mut text, route, &policy.limits);
    }
    text
}

fn write_limit(text: &mut String, limit: &Limit) {
    let key: Vec<&str> = limit.key.iter().map(identity).collect();
    line(text, 1, &format!("{}:", limit.name));
    line(text, 2, &format!("key: [{}]", key.join(", ")));
    if limit.by_plan {
        line(text, 2, "by: plan");
    }
    for (name, set) in [
        ("shadow", limit.shadow),
        ("count_refused", limit.count_refused),
        ("overdraw", limit.overdraw),
    ] {
        if set {
            line(text, 2, &format!("{name}: true"));
        }
    }
    if let Some(debt) = limit.max_debt {
        line(text, 2, &format!("max_debt: {debt}"));
    }
    if let Some(statuses) = &limit.charge_when {
        line(text, 2, &format!("charge_when: {{ status: {statuses:?} }}"));
    }
    match limit.missing {
        Missing::Default => {}
        Missing::Ip => line(text, 2, "missing: ip"),
        Missing::Share => line(text, 2, "missing: share"),
        Missing::Skip => line(text, 2, "missing: skip"),
    }
    write_classes(text, &limit.classes);
}

fn write_classes(text: &mut String, classes: &[Class]) {
    let first = classes
        .iter()
        .find_map(|class| class.algorithm.as_ref())
        .expect("one class at least has parameters");
    if let [Class { name: None, .. }] = classes {
        line(text, 2, &format!("{}: {}", algorithm_name(first), parameters(first)));
        return;
    }
    line(text, 2, &format!("{}:", algorithm_name(first)));
    for class in classes {
        let name = class.name.expect("classes have names");
        let value = class.algorithm.as_ref().map_or("unlimited".to_owned(), parameters);
        line(text, 3, &format!("{name}: {value}"));
    }
}

fn write_route(text: &mut String, route: &Route, limits: &[Limit]) {
    let names: Vec<&str> = route.limits.iter().map(|&at| limits[at].name.as_str()).collect();
    line(text, 1, &format!("- match: {{ path: \"{}\" }}", route.path));
    line(text, 2, &format!("limits: [{}]", names.join(", ")));
    match route.cost {
        Cost::Default => {}
        Cost::Fixed(units) => line(text, 2, &format!("cost: {units}")),
        Cost::Header { default, min, max } => {
            let min = min.map_or(String::new(), |min| format!(", min: {min}"));
            line(
                text,
                2,
                &format!(
                    "cost: {{ header: x-cost, from: anyone, default: {default}{min}, max: {max} }}"
                ),
            );
        }
    }
}

fn parameters(algorithm: &Algorithm) -> String {
    let fields = match algorithm {
        Algorithm::TokenBucket { rate, burst, starts_empty } => {
            let burst = match burst {
                Burst::Default => String::new(),
                Burst::Units(units) => format!(", burst: {units}"),
                Burst::Span(span) => format!(", burst: {}", span.text),
            };
            format!(
                "rate: {}{burst}{}",
                rate.text,
                if *starts_empty { ", initial: empty" } else { "" }
            )
        }
        Algorithm::LeakyBucket { rate, burst, nodelay, max_wait } => {
            let max_wait = match max_wait {
                MaxWait::None => String::new(),
                MaxWait::Unlimited => ", max_wait: unlimited".to_owned(),
                MaxWait::At(span) => format!(", max_wait: {}", span.text),
            };
            format!(
                "rate: {}, burst: {burst}{}{max_wait}",
                rate.text,
                if *nodelay { ", nodelay: true" } else { "" }
            )
        }
        Algorithm::FixedWindow { limit, window } | Algorithm::SlidingLog { limit, window } => {
            format!("limit: {limit}, window: {}", window.text)
        }
        Algorithm::SlidingWindow { limit, window, cells } => {
            let cells = if *cells == 1 { String::new() } else { format!(", cells: {cells}") };
            format!("limit: {limit}, window: {}{cells}", window.text)
        }
        Algorithm::Quota { limit, every, zone, starts } => {
            let zone = zone.map_or(String::new(), |zone| format!(", time_zone: {zone}"));
            let starts = starts.map_or(String::new(), |day| format!(", starts: {day}"));
            format!("limit: {limit}, every: {}{zone}{starts}", period(*every))
        }
        Algorithm::Concurrency { limit, ttl } => format!("limit: {limit}, ttl: {}", ttl.text),
    };
    format!("{{ {fields} }}")
}

fn algorithm_name(algorithm: &Algorithm) -> &'static str {
    match algorithm {
        Algorithm::TokenBucket { .. } => "token_bucket",
        Algorithm::LeakyBucket { .. } => "leaky_bucket",
        Algorithm::FixedWindow { .. } => "fixed_window",
        Algorithm::SlidingWindow { .. } => "sliding_window",
        Algorithm::SlidingLog { .. } => "sliding_log",
        Algorithm::Quota { .. } => "quota",
        Algorithm::Concurrency { .. } => "concurrency",
    }
}

fn period(every: Every) -> &'static str {
    match every {
        Every::Hour => "hour",
        Every::Day => "day",
        Every::Week => "week",
        Every::Month => "month",
    }
}

fn identity(identity: &Identity) -> &'static str {
    match identity {
        Identity::User => "user",
        Identity::Tenant => "tenant",
        Identity::Plan => "plan",
        Identity::Ip => "ip",
    }
}

fn line(text: &mut String, depth: usize, words: &str) {
    writeln!(text, "{:indent$}{words}", "", indent = depth * 2).expect("a String takes all");
}

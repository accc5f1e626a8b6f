//! Request lines of a trace, and decision lines as both sides give them.

use serde_json::{Map, Value, json};

/// One request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Microseconds since the epoch.
    pub(crate) time: i64,
    /// Written as RFC 3339 in place of a number.
    pub(crate) time_as_text: bool,
    pub(crate) path: String,
    pub(crate) ip: Option<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) cost: Option<u64>,
    pub(crate) status: Option<u16>,
    /// Microseconds.
    pub(crate) duration: Option<i64>,
}

impl Request {
    /// What the request says in a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The line of a requests file.
    pub(crate) fn line(&self) -> String {
        let mut fields = vec![format!("\"time\": {}", self.time_text())];
        if let Some(ip) = &self.ip {
            fields.push(format!("\"ip\": {}", Value::from(ip.as_str())));
        }
        fields.push(format!("\"path\": {}", Value::from(self.path.as_str())));
        if !self.headers.is_empty() {
            let headers: Map<String, Value> = self
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            fields.push(format!("\"headers\": {}", Value::Object(headers)));
        }
        if let Some(cost) = self.cost {
            fields.push(format!("\"cost\": {cost}"));
        }
        if let Some(status) = self.status {
            fields.push(format!("\"status\": {status}"));
        }
        if let Some(duration) = self.duration {
            fields.push(format!("\"duration\": {}", seconds(duration)));
        }
        format!("{{{}}}", fields.join(", "))
    }

    fn time_text(&self) -> String {
        if self.time_as_text {
            let time = jiff::Timestamp::from_microsecond(self.time)
                .expect("the generator stays within years 1 to 9999");
            format!("\"{time}\"")
        } else {
            seconds(self.time)
        }
    }
}

/// Microseconds as seconds with the decimals that they need.
fn seconds(micros: i64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A decision line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) verdict: Verdict,
    pub(crate) route: Option<usize>,
    pub(crate) limits: Vec<Report>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Admit,
    /// Leave after so many microseconds.
    Delay(i64),
    /// Come back after so many microseconds, or never.
    Refuse {
        by: Vec<String>,
        retry_after: Option<i64>,
    },
}

/// A limit, after the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) name: String,
    pub(crate) remaining: u64,
    pub(crate) reset: i64,
    /// `Some` for a shadow limit: whether it would have refused.
    pub(crate) would_refuse: Option<bool>,
}

impl Decision {
    /// The decision line with that number, as a replay writes it.
    pub(crate) fn json(&self, line: usize) -> Value {
        let (decision, delay, retry, by) = match &self.verdict {
            Verdict::Admit => ("admit", 0, Some(0), Vec::new()),
            Verdict::Delay(micros) => ("delay", *micros, Some(0), Vec::new()),
            Verdict::Refuse { by, retry_after } => ("refuse", 0, *retry_after, by.clone()),
        };
        json!({
            "line": line, "decision": decision, "delay_us": delay, "retry_after_us": retry, "refused_by": by,
            "route": self.route, "limits": self.limits.iter().map(Report::json).collect::<Vec<_>>(),
        })
    }
}

impl Report {
    fn json(&self) -> Value {
        let mut entry =
            json!({"name": self.name, "remaining": self.remaining, "reset_us": self.reset});
        if let Some(would) = self.would_refuse {
            entry["shadow"] = json!(true);
            entry["would_refuse"] = json!(would);
        }
        entry
    }
}

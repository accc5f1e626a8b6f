//! A limit in the file: who it is, its parameters, and how its keys are spread.

use std::sync::Arc;

use tollgate_core::{Limit, Period, Rules, Timestamp};

use super::fields::{In, Out};
use super::parameters;
use crate::memory::counter::{Counter, MOST_SHARDS};
use crate::{Definition, Shape};

/// What is told of a limit before its keys.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) class: Option<String>,
    pub(super) shape: String,
    /// Its parameters as they were: those of today go on with the counts as after a reload.
    pub(super) limit: Limit,
    /// In how many shards its keys are.
    pub(super) shards: usize,
    /// The latest period that was seen.
    pub(super) period: Option<Period>,
}

impl Section {
    pub(super) fn write(counter: &Counter, out: &mut Out) {
        out.text(&counter.room.name);
        out.flag(counter.class.is_some());
        out.text(counter.class.as_deref().unwrap_or_default());
        out.text(&counter.shape.0);
        parameters::write(counter.limit.algorithm(), out);
        let Rules { count_refused, overdraw, max_debt, shadow } = counter.limit.rules();
        out.flag(*count_refused);
        out.flag(*overdraw);
        out.perhaps(*max_debt);
        out.flag(*shadow);
        out.short(u32::try_from(counter.shards()).unwrap_or(u32::MAX));
        let period = counter.period.seen();
        out.perhaps(period.map(|period| period.start.as_micros()));
        out.perhaps(period.map(|period| period.end.as_micros()));
    }

    /// `None` where no limit is written like that.
    pub(super) fn read(content: &[u8]) -> Option<Section> {
        let mut content = In(content);
        let name = content.text()?.to_owned();
        let classed = content.flag()?;
        let class = content.text()?.to_owned();
        let shape = content.text()?.to_owned();
        let algorithm = parameters::read(&mut content)?;
        let rules = Rules {
            count_refused: content.flag()?,
            overdraw: content.flag()?,
            max_debt: content.perhaps()?,
            shadow: content.flag()?,
        };
        let limit = Limit::new(algorithm, rules).ok()?;
        let shards = content.short()? as usize;
        let (start, end) = (content.perhaps()?, content.perhaps()?);
        content.end()?;
        let moment = Timestamp::from_micros;
        let period =
            start.zip(end).map(|(from, to)| Period { start: moment(from), end: moment(to) });
        let sensible = shards.is_power_of_two() && shards <= MOST_SHARDS;
        let class = classed.then_some(class);
        sensible.then_some(Section { name, class, shape, limit, shards, period })
    }

    /// Whether `definition` goes on with it.
    pub(super) fn continues_as(&self, definition: &Definition) -> bool {
        *self.name == *definition.name
            && self.class.as_deref() == definition.class.as_deref()
            && self.shape == definition.shape.0
    }

    /// Whether it is the limit that `counter` counts.
    pub(super) fn is(&self, counter: &Arc<Counter>) -> bool {
        *self.name == *counter.room.name
            && self.class.as_deref() == counter.class.as_deref()
            && counter.shape == Shape(self.shape.clone())
    }
}

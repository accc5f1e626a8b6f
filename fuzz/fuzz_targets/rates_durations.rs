//! Any text as a duration, a rate, a burst or a moment: refused, or read so that what is written back reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_policy::file::duration::{format_duration, parse_duration, parse_unit};
use tollgate_policy::file::rate::{format_rate, parse_burst, parse_rate};
use tollgate_sim::format::{moment, rfc3339, seconds, time_local, to_rfc3339};

fuzz_target!(|text: &str| {
    if let Ok(span) = parse_duration(text) {
        assert_eq!(parse_duration(&format_duration(span)), Ok(span));
    }
    if let Ok(rate) = parse_rate(text) {
        assert!(rate.per.get() > 0, "a rate is over some time");
        let again = parse_rate(&format_rate(rate));
        let same = again.as_ref().is_ok_and(|again| {
            u128::from(again.count) * u128::from(rate.per.get())
                == u128::from(rate.count) * u128::from(again.per.get())
        });
        assert!(same, "{rate:?} became {again:?}");
    }
    drop((parse_burst(text), parse_unit(text), seconds(text), time_local(text), moment(text)));
    if let Ok(time) = rfc3339(text) {
        assert_eq!(rfc3339(&to_rfc3339(time)), Ok(time));
    }
});

//! Hosts: `example.com`, or `*.example.com` for any depth below it.

/// A compiled host pattern.
#[derive(Debug)]
pub(crate) enum Host {
    /// This name.
    Name(Box<str>),
    /// Names that end in this, which begins with a dot.
    Below(Box<str>),
}

impl Host {
    /// Compiles `pattern`: case, port and trailing dot do not count.
    pub(crate) fn new(pattern: &str) -> Host {
        match pattern.strip_prefix('*').filter(|rest| rest.starts_with('.')) {
            Some(rest) => Host::Below(bare(rest).to_ascii_lowercase().into()),
            None => Host::Name(bare(pattern).to_ascii_lowercase().into()),
        }
    }

    /// Whether `host`, already [`bare`], matches.
    pub(crate) fn matches(&self, host: &str) -> bool {
        match self {
            Host::Name(name) => host.eq_ignore_ascii_case(name),
            Host::Below(end) => {
                let (host, end) = (host.as_bytes(), end.as_bytes());
                host.len() > end.len() && host[host.len() - end.len()..].eq_ignore_ascii_case(end)
            }
        }
    }
}

/// An authority without user, port and trailing dot.
pub(crate) fn bare(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        // In an IPv6 literal, a colon counts only after the bracket.
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    host.strip_suffix('.').unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::{Host, bare};

    #[test]
    fn hosts() {
        let matches = |pattern: &str, host: &str| Host::new(pattern).matches(bare(host));
        assert!(matches("example.com", "Example.COM:8080"));
        assert!(matches("example.com", "example.com."));
        assert!(matches("example.com", "example.com.:443"));
        assert!(matches("*.example.com", "a.b.example.com"));
        assert!(matches("[::1]", "[::1]:80"));
        assert!(matches("[::1]", "[::1]"));
        assert!(!matches("*.example.com", "example.com"));
        assert!(!matches("*.example.com", "badexample.com"));
        assert!(!matches("example.com", "example.com.evil.org"));
        assert!(!matches("example.com", "example.com@evil.org"));
    }
}

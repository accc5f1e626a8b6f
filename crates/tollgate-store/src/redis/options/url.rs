//! The options that a URL says.

use std::path::{Path, PathBuf};

use super::{Credentials, Endpoint, RedisOptions, RedisOptionsError, Topology};
use crate::tls::{Identity, TlsOptions, Trust};

/// What a scheme stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    Unix,
    Sentinel,
    Cluster,
}

/// A URL, cut into its parts.
struct Parts<'a> {
    kind: Kind,
    tls: bool,
    credentials: Credentials,
    hosts: &'a str,
    path: &'a str,
    query: &'a str,
}

pub(super) fn parse(url: &str) -> Result<RedisOptions, RedisOptionsError> {
    let parts = Parts::of(url.trim())?;
    let mut options = RedisOptions::new(parts.topology()?);
    options.credentials = parts.credentials.clone();
    options.database = parts.database()?;
    options.tls = parts.tls.then(TlsOptions::default);
    for parameter in parts.query.split('&').filter(|text| !text.is_empty()) {
        apply(parameter, &mut options)?;
    }
    options.check_servers()?;
    Ok(options)
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Result<Parts<'a>, RedisOptionsError> {
        let unknown = || RedisOptionsError::Scheme {
            // Without a scheme there is no telling what is a password.
            found: url.split_once("://").map_or("no scheme", |(scheme, _)| scheme).to_owned(),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(unknown)?;
        let (kind, tls) = match scheme.to_ascii_lowercase().as_str() {
            "unix" | "redis+unix" | "valkey+unix" => (Kind::Unix, false),
            "redis" | "valkey" => (Kind::Single, false),
            "rediss" | "valkeys" => (Kind::Single, true),
            "redis+sentinel" | "valkey+sentinel" => (Kind::Sentinel, false),
            "rediss+sentinel" | "valkeys+sentinel" => (Kind::Sentinel, true),
            "redis+cluster" | "valkey+cluster" => (Kind::Cluster, false),
            "rediss+cluster" | "valkeys+cluster" => (Kind::Cluster, true),
            _ => return Err(unknown()),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        Ok(Parts { kind, tls, credentials: credentials(login)?, hosts, path, query })
    }

    fn topology(&self) -> Result<Topology, RedisOptionsError> {
        Ok(match self.kind {
            Kind::Single => Topology::Single(address(self.hosts, 6379)?),
            Kind::Unix => Topology::Single(Endpoint::Unix(Path::new(&self.socket()?).into())),
            Kind::Sentinel => Topology::Sentinel {
                sentinels: addresses(self.hosts, 26_379)?,
                primary: self.primary()?,
                credentials: Credentials::default(),
            },
            Kind::Cluster => Topology::Cluster { seeds: addresses(self.hosts, 6379)? },
        })
    }

    fn socket(&self) -> Result<String, RedisOptionsError> {
        let wrong = |found: &str| RedisOptionsError::Part {
            part: "socket's path",
            found: found.to_owned(),
            expected: "an absolute path after three slashes, like unix:///run/redis/redis.sock",
        };
        if !self.hosts.is_empty() {
            return Err(wrong(self.hosts));
        }
        decode("socket's path", self.path)
            .and_then(|path| if path.len() > 1 { Ok(path) } else { Err(wrong("")) })
    }

    fn primary(&self) -> Result<String, RedisOptionsError> {
        let name = self.path.split('/').nth(1).unwrap_or_default();
        if name.is_empty() {
            return Err(RedisOptionsError::Part {
                part: "primary's name",
                found: String::new(),
                expected: "what the sentinels call it, after the addresses: redis+sentinel://host:26379/mymaster",
            });
        }
        decode("primary's name", name)
    }

    fn database(&self) -> Result<u32, RedisOptionsError> {
        let text = match self.kind {
            Kind::Unix => "",
            Kind::Single | Kind::Cluster => self.path.strip_prefix('/').unwrap_or_default(),
            Kind::Sentinel => self.path.splitn(3, '/').nth(2).unwrap_or_default(),
        };
        if text.is_empty() { Ok(0) } else { number(text) }
    }
}

fn apply(parameter: &str, options: &mut RedisOptions) -> Result<(), RedisOptionsError> {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let unknown = || RedisOptionsError::Parameter { name: name.to_owned() };
    match (name, &mut options.topology, &mut options.tls) {
        ("database", Topology::Single(Endpoint::Unix(_)), _) => options.database = number(value)?,
        ("sentinel_user", Topology::Sentinel { credentials, .. }, _) => {
            credentials.user = Some(decode("sentinel_user", value)?);
        }
        ("sentinel_password", Topology::Sentinel { credentials, .. }, _) => {
            credentials.password = Some(decode("sentinel_password", value)?);
        }
        (name, _, Some(tls)) => apply_tls(name, value, tls)?.ok_or_else(unknown)?,
        _ => return Err(unknown()),
    }
    Ok(())
}

/// `None` where TLS has no such parameter.
fn apply_tls(
    name: &str,
    value: &str,
    tls: &mut TlsOptions,
) -> Result<Option<()>, RedisOptionsError> {
    let identity = || Identity { certificate: PathBuf::new(), key: PathBuf::new() };
    match name {
        "tls_ca" => tls.trust = Trust::Authorities(decode("tls_ca", value)?.into()),
        "tls_cert" => {
            tls.identity.get_or_insert_with(identity).certificate =
                decode("tls_cert", value)?.into();
        }
        "tls_key" => {
            tls.identity.get_or_insert_with(identity).key = decode("tls_key", value)?.into()
        }
        "tls_insecure" if value == "true" => tls.trust = Trust::Anyone,
        "tls_insecure" => {
            return Err(RedisOptionsError::Part {
                part: "tls_insecure",
                found: value.to_owned(),
                expected: "true, or left out",
            });
        }
        _ => return Ok(None),
    }
    Ok(Some(()))
}

fn credentials(login: &str) -> Result<Credentials, RedisOptionsError> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let present = |text: String| (!text.is_empty()).then_some(text);
    Ok(Credentials {
        user: present(decode("user", user)?),
        password: present(decode("password", password)?),
    })
}

fn addresses(hosts: &str, port: u16) -> Result<Vec<Endpoint>, RedisOptionsError> {
    hosts.split(',').map(|host| address(host, port)).collect()
}

fn address(text: &str, default_port: u16) -> Result<Endpoint, RedisOptionsError> {
    let wrong = || RedisOptionsError::Part {
        part: "address",
        found: text.to_owned(),
        expected: "a name or an address, and a port where it is not the usual one, like store.internal:6379 or [::1]:6379",
    };
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, Some(rest.strip_prefix(':').ok_or_else(wrong)?)),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => default_port,
        Some(port) => port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?,
    };
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '/') {
        return Err(wrong());
    }
    Ok(Endpoint::Tcp { host: host.into(), port })
}

fn number(text: &str) -> Result<u32, RedisOptionsError> {
    text.parse().map_err(|_| RedisOptionsError::Part {
        part: "database",
        found: text.to_owned(),
        expected: "a number from 0, like redis://host:6379/2",
    })
}

/// Undoes percent-encoding. The text may be a secret, so no error repeats it.
fn decode(part: &'static str, text: &str) -> Result<String, RedisOptionsError> {
    let wrong = || RedisOptionsError::Part {
        part,
        found: "..".to_owned(),
        expected: "text whose special characters are written as % and two hexadecimal digits (% itself as %25)",
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
            let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
            u8::try_from(high * 16 + low).map_err(|_| wrong())?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

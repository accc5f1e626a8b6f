//! Where a server is: `host:port`, or `unix:/path`.

use std::net::Ipv6Addr;
use std::path::PathBuf;

use super::is_host;
use crate::settings::UpstreamAddress;

/// What `text` names, or what would be right.
pub(super) fn address(text: &str) -> Result<UpstreamAddress, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        return unix(path);
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        return Err(without_scheme(scheme, rest.trim_end_matches('/')));
    }
    let form = || {
        "write `host:port`, such as `127.0.0.1:9001` or `[::1]:9001`, or `unix:/path`".to_owned()
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(form)?;
    let port = match port.parse::<u16>() {
        Ok(number) if number > 0 && !port.starts_with('+') => number,
        _ => return Err("the port is a number from 1 to 65535".to_owned()),
    };
    if let Some(host) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address = host.parse::<Ipv6Addr>().map_err(|_| form())?;
        return Ok(UpstreamAddress::Socket((address, port).into()));
    }
    match host.parse::<std::net::Ipv4Addr>() {
        Ok(address) => Ok(UpstreamAddress::Socket((address, port).into())),
        Err(_) if is_host(host) => Ok(UpstreamAddress::Name { host: host.to_owned(), port }),
        Err(_) => Err(form()),
    }
}

fn without_scheme(scheme: &str, rest: &str) -> String {
    match scheme {
        "http" => format!("write host and port alone, such as `{rest}`"),
        "https" => format!("write host and port alone, such as `{rest}`, and `tls: true` beside"),
        _ => "HTTP is spoken to upstreams; write `host:port`".to_owned(),
    }
}

/// Longest path of a Unix socket, in bytes.
const LONGEST_PATH: usize = 107;

fn unix(path: &str) -> Result<UpstreamAddress, String> {
    let path = path.strip_prefix("//").unwrap_or(path);
    if !path.starts_with('/') || path.ends_with('/') || path.contains('\0') {
        return Err("write the socket's whole path, such as `unix:/run/app.sock`".to_owned());
    }
    if path.len() > LONGEST_PATH {
        return Err(format!("the path of a socket has at most {LONGEST_PATH} bytes"));
    }
    Ok(UpstreamAddress::Unix(PathBuf::from(path)))
}

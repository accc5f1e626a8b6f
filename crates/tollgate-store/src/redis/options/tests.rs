//! Tests of the options' URLs.

use super::*;
use crate::tls::{Identity, Trust};

fn tcp(host: &str, port: u16) -> Endpoint {
    Endpoint::Tcp { host: host.into(), port }
}

#[test]
fn urls_say_where_and_who() {
    let options = RedisOptions::from_url("redis://store.internal").expect("a URL");
    assert_eq!(options.topology, Topology::Single(tcp("store.internal", 6379)));
    assert_eq!((options.credentials, options.database), (Credentials::default(), 0));

    let options = RedisOptions::from_url("valkey://ann:p%40ss%3A@[::1]:7000/3").expect("a URL");
    assert_eq!(options.topology, Topology::Single(tcp("::1", 7000)));
    assert_eq!(options.credentials.user.as_deref(), Some("ann"));
    assert_eq!(options.credentials.password.as_deref(), Some("p@ss:"));
    assert_eq!(options.database, 3);

    let options = RedisOptions::from_url("redis://:word@h").expect("a URL");
    assert_eq!(options.credentials.user, None);
    assert_eq!(options.credentials.password.as_deref(), Some("word"));

    let options = RedisOptions::from_url("unix:///run/redis/a%20b.sock?database=4").expect("a URL");
    assert_eq!(
        options.topology,
        Topology::Single(Endpoint::Unix(Path::new("/run/redis/a b.sock").into()))
    );
    assert_eq!(options.database, 4);
}

#[test]
fn urls_name_sentinels_and_clusters() {
    let url = "redis+sentinel://u:p@a,b:7/main/2?sentinel_user=s&sentinel_password=t";
    let options = RedisOptions::from_url(url).expect("a URL");
    let Topology::Sentinel { sentinels, primary, credentials } = options.topology else {
        panic!("sentinels");
    };
    assert_eq!(sentinels, [tcp("a", 26_379), tcp("b", 7)]);
    assert_eq!((primary.as_str(), options.database), ("main", 2));
    assert_eq!(
        (credentials.user.as_deref(), credentials.password.as_deref()),
        (Some("s"), Some("t"))
    );

    let options = RedisOptions::from_url("redis+cluster://a:1,b").expect("a URL");
    assert_eq!(options.topology, Topology::Cluster { seeds: vec![tcp("a", 1), tcp("b", 6379)] });
}

#[test]
fn urls_say_whom_to_trust() {
    let tls = |url| RedisOptions::from_url(url).expect("a URL").tls;
    assert_eq!(tls("redis://h"), None);
    assert_eq!(tls("rediss://h"), Some(TlsOptions::default()));
    let trust = Trust::Authorities("/etc/ca.pem".into());
    let identity = Some(Identity { certificate: "/c".into(), key: "/k".into() });
    assert_eq!(
        tls("valkeys+cluster://h?tls_ca=/etc/ca.pem&tls_cert=/c&tls_key=/k"),
        Some(TlsOptions { trust, identity })
    );
    let anyone = TlsOptions { trust: Trust::Anyone, identity: None };
    assert_eq!(tls("rediss+sentinel://h/main?tls_insecure=true"), Some(anyone));
}

#[test]
fn errors_say_what_would_be_right() {
    for (url, says) in [
        ("localhost:6379", "`no scheme`"),
        ("http://h", "`http`"),
        ("redis://", "the address of the store's URL is missing"),
        ("redis://h:port", "`h:port`"),
        ("redis://h:0", "`h:0`"),
        ("redis://h:6379/x", "the database `x`"),
        ("redis://h?db=1", "unknown parameter `db`"),
        ("redis+cluster://h/1", "no database 1, only 0"),
        ("redis+sentinel://h", "the primary's name of the store's URL is missing"),
        ("unix://run/redis.sock", "three slashes"),
        ("redis://u:%zz@h", "%25"),
        ("redis://u@h", "the store's user `u` has no password"),
        ("redis+sentinel://h/m?sentinel_user=s", "the store's user `s` has no password"),
        ("redis://h?tls_ca=/a", "unknown parameter `tls_ca`"),
        ("rediss://h?tls_insecure=yes", "true, or left out"),
    ] {
        let options = RedisOptions::from_url(url).and_then(|options| options.check());
        let error = options.expect_err(url).to_string();
        assert!(error.contains(says), "{url}: {error}");
    }
}

#[test]
fn no_output_shows_a_secret() {
    let mut options = RedisOptions::from_url("redis://u:hunter2@h").expect("a URL");
    options.secret = Secret(b"hunter2".to_vec());
    assert!(!format!("{options:?}").contains("hunter2"));
    for url in ["redis://u:hunter2%@h", "u:hunter2@h"] {
        let error = RedisOptions::from_url(url).expect_err("a wrong URL");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

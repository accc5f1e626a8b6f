//! What both sides are set up to do, each in its own words.

use std::net::SocketAddr;
use std::path::Path;

/// How clients come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// HTTP/1.1 in the clear.
    Http,
    /// HTTP/1.1 over TLS 1.3.
    Https,
    /// HTTP/2 in the clear, by prior knowledge.
    Http2,
}

/// What limits requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limits {
    /// Nothing.
    None,
    /// Three layers (user, tenant, everybody), none of which binds. nginx has one `limit_req`, by user: its cheapest.
    Open,
    /// The same, of which the first refuses every request.
    Shut,
}

/// What a side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scene {
    pub(super) entrance: Entrance,
    pub(super) limits: Limits,
}

impl Scene {
    /// The gateway's policy: listening at `address`, before `upstream`; `folder` has the certificate.
    pub(super) fn policy(self, address: SocketAddr, upstream: SocketAddr, folder: &Path) -> String {
        let listener = match self.entrance {
            Entrance::Http => format!("listen: {address}"),
            Entrance::Https => format!(
                "listeners:\n  main:\n    listen: {address}\n    tls: {{ certificates: [{{ certificate: {0}/cert.pem, key: {0}/key.pem }}] }}",
                folder.display()
            ),
            Entrance::Http2 => {
                format!("listeners: {{ main: {{ listen: {address}, http2: true }} }}")
            }
        };
        let layers = match self.limits {
            Limits::None => "",
            Limits::Open | Limits::Shut => "user, tenant, everybody",
        };
        let user = match self.limits {
            Limits::Shut => "{ limit: 1, window: 365d }",
            Limits::None | Limits::Open => "{ limit: 1000000000, window: 1m }",
        };
        format!(
            "{listener}\n\
             admin: off\n\
             request_id: false\n\
             trace_context: leave\n\
             gateway: {{ max_connections: 12000 }}\n\
             upstreams: {{ service: {{ servers: [\"{upstream}\"] }} }}\n\
             identity:\n  \
               user: {{ header: x-user, from: anyone }}\n  \
               tenant: {{ header: x-tenant, from: anyone }}\n\
             limits:\n  \
               user: {{ key: [user], sliding_window: {user} }}\n  \
               tenant: {{ key: [tenant], token_bucket: {{ rate: 10000000/s, burst: 10000000 }} }}\n  \
               everybody: {{ key: [], leaky_bucket: {{ rate: 10000000/s, burst: 10000000, nodelay: true }} }}\n\
             routes:\n  - {{ match: {{ path: /** }}, limits: [{layers}], upstream: service }}\n"
        )
    }

    /// nginx's configuration for the same.
    pub(super) fn nginx(self, address: SocketAddr, upstream: SocketAddr, folder: &Path) -> String {
        let (listen, certificate) = match self.entrance {
            Entrance::Http => ("", String::new()),
            Entrance::Http2 => ("http2", String::new()),
            Entrance::Https => (
                "ssl",
                format!(
                    "ssl_certificate {0}/cert.pem; ssl_certificate_key {0}/key.pem; ssl_protocols TLSv1.3;",
                    folder.display()
                ),
            ),
        };
        let rate = if self.limits == Limits::Shut { "1r/m" } else { "1000000r/s" };
        let limit = match self.limits {
            Limits::None => "",
            Limits::Open => "limit_req zone=user burst=1000000 nodelay;",
            Limits::Shut => "limit_req zone=user;",
        };
        let http = format!(
            "limit_req_zone $http_x_user zone=user:10m rate={rate};\n\
             limit_req_status 429;\n\
             upstream service {{ server {upstream}; keepalive 64; keepalive_requests 1000000000; }}\n\
             server {{\n\
               listen {address} {listen} reuseport;\n{certificate}\n\
               location / {{\n\
                 {limit}\n\
                 proxy_pass http://service;\n\
                 proxy_http_version 1.1;\n\
                 proxy_set_header Connection \"\";\n\
                 proxy_set_header Host $http_host;\n\
                 proxy_set_header X-Forwarded-For $remote_addr;\n\
                 proxy_set_header X-Forwarded-Proto $scheme;\n\
                 proxy_set_header X-Forwarded-Host $http_host;\n\
               }}\n\
             }}"
        );
        nginx_with(&http)
    }
}

/// The configuration of the service behind both: two bytes at `/`, and the file that stands at `/large`.
pub(super) fn service(address: SocketAddr) -> String {
    nginx_with(&format!(
        "open_file_cache max=10;\n\
         server {{\n\
           listen {address} reuseport;\n\
           location = / {{ return 200 \"ok\"; }}\n\
           location = /large {{ root .; }}\n\
         }}"
    ))
}

/// A whole nginx of one process, kept connections without end, and no log.
fn nginx_with(http: &str) -> String {
    format!(
        "daemon off;\nmaster_process off;\nworker_rlimit_nofile 20000;\npid nginx.pid;\nerror_log stderr crit;\n\
         events {{ worker_connections 12000; }}\n\
         http {{\n\
         access_log off;\n\
         sendfile on; tcp_nopush on;\n\
         keepalive_requests 1000000000; keepalive_timeout 600s;\n\
         client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; \
         scgi_temp_path scgi;\n\
         {http}\n}}\n"
    )
}

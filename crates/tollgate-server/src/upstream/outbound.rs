//! A request on its way out: here until a connection takes it, and what it is made anew from where it may go again.

use http::{Method, Request, Uri, Version};

use super::fields::Fields;
use crate::body::Upload;

/// A request on its way out.
#[derive(Debug)]
pub(crate) struct Outbound {
    request: Option<Request<Upload>>,
    spare: Option<Spare>,
}

/// What a request without a body is made anew from.
#[derive(Debug)]
struct Spare {
    method: Method,
    uri: Uri,
    version: Version,
    fields: Fields,
}

impl Outbound {
    pub(crate) fn new(request: Request<Upload>) -> Outbound {
        Outbound { request: Some(request), spare: None }
    }

    /// The request, where it has not left.
    pub(super) fn request(&self) -> Option<&Request<Upload>> {
        self.request.as_ref()
    }

    /// The request leaves, and nothing stays behind.
    pub(super) fn leave(&mut self) -> Option<Request<Upload>> {
        self.spare = None;
        self.request.take()
    }

    /// The request leaves; without a body it can be [made anew](Outbound::renew).
    pub(super) fn leave_spare(&mut self) -> Option<Request<Upload>> {
        let request = self.request.take();
        self.spare = match &request {
            Some(request) if matches!(request.body(), Upload::Empty) => Some(Spare::of(request)),
            _ => None,
        };
        request
    }

    /// The request did not leave after all.
    pub(super) fn stay(&mut self, request: Request<Upload>) {
        self.request = Some(request);
        self.spare = None;
    }

    /// It is not to be sent again.
    pub(super) fn give_up(&mut self) {
        self.spare = None;
    }

    /// Whether it could be sent again though a server may have acted on it (RFC 9110, 9.2.2).
    pub(super) fn may_go_twice(&self) -> bool {
        self.spare.as_ref().is_some_and(|spare| spare.method.is_idempotent())
    }

    /// Makes the request anew; `false` where nothing of it is left.
    pub(super) fn renew(&mut self) -> bool {
        let Some(request) = self.spare.take().and_then(Spare::request) else { return false };
        self.request = Some(request);
        true
    }
}

impl Spare {
    fn of(request: &Request<Upload>) -> Spare {
        Spare {
            method: request.method().clone(),
            uri: request.uri().clone(),
            version: request.version(),
            fields: Fields::of(request.headers()),
        }
    }

    fn request(self) -> Option<Request<Upload>> {
        let mut request = Request::new(Upload::Empty);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.version_mut() = self.version;
        *request.headers_mut() = self.fields.map()?;
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request<Upload> {
        let builder = Request::get("/a?b").header("host", "a.example").header("x-a", "1");
        builder.header("x-a", "2").body(Upload::Empty).expect("a request")
    }

    #[test]
    fn what_is_made_anew_is_the_same() {
        let mut outbound = Outbound::new(request());
        let left = outbound.leave_spare().expect("it is there");
        assert!(outbound.request().is_none() && outbound.may_go_twice());
        assert!(outbound.renew() && !outbound.renew());
        let again = outbound.leave().expect("it is there");
        assert_eq!(format!("{left:?}"), format!("{again:?}"));
        assert!(!outbound.renew(), "it left without a spare");
    }

    #[test]
    fn what_came_back_needs_no_spare() {
        let mut outbound = Outbound::new(request());
        let left = outbound.leave_spare().expect("it is there");
        outbound.stay(left);
        assert!(outbound.request().is_some() && !outbound.renew());
    }

    #[test]
    fn what_is_given_up_stays_away() {
        let mut outbound = Outbound::new(request());
        outbound.leave_spare();
        outbound.give_up();
        assert!(!outbound.may_go_twice() && !outbound.renew());
        let mut post = request();
        *post.method_mut() = Method::POST;
        let mut outbound = Outbound::new(post);
        outbound.leave_spare();
        assert!(!outbound.may_go_twice() && outbound.renew(), "a server may not have looked at it");
    }
}

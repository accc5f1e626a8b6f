//! The forms of an identity's sources, as they are written.

use super::collections::{Presence, Short};
use super::secrets::SecretForm;
use super::shape::{At, choice, record};
use crate::settings::{CertificateField, Fold, From};

record! {
    /// Where an identity's value comes from: exactly one source, or a list of `sources`.
    SourceForm, "an identity" {
        /// A header field. Counts from `trusted_proxies` only, or with `from: anyone`.
        optional header: String,
        /// A parameter of the query.
        optional query: String,
        /// A cookie. Counts from `trusted_proxies` only, or with `from: anyone`.
        optional cookie: String,
        /// A segment of the normalised path, counted from 0: in `/v1/acme/x`, 1 is `acme`.
        optional path: Short<u64, PathSource>,
        /// A claim of a JWT whose signature is checked here.
        optional jwt: JwtSource,
        /// A column of the row of an API key, which is checked here.
        optional api_key: ApiKeySource,
        /// The user of HTTP basic authentication: a name only, not checked.
        optional basic: BasicWord,
        /// A string or whole number in a JSON body, by its JSON pointer (RFC 6901), such as `/user/name`: a name only, not
        /// checked.
        optional json: String,
        /// A field of a form in the body (`application/x-www-form-urlencoded`): a name only, not checked.
        optional form: String,
        /// A part of the certificate that the client showed to a listener with `client_certificates`: `common_name`, `subject` (the
        /// whole name, as RFC 4514 writes it), or a `dns`, `uri` or `email` name.
        optional client_certificate: CertificateField,
        /// The client address.
        optional ip: Presence,
        /// A column of the row that another identity's value names.
        optional table: TableSourceForm,
        /// Several sources: the first that is present wins, each its own namespace; `json` and `form` are one.
        optional sources: Vec<At<SourceItem>>,
        /// Whose word a header or cookie is.
        optional from: From,
        /// The value where no source has one.
        optional default: String,
        /// How spellings of one name become one.
        optional fold: Fold,
    }
}

impl SourceForm {
    /// Whether it has a `default`, and nothing else, right or wrong.
    pub(crate) fn says_only_default(&self) -> bool {
        self.default.is_some() && self.written.count() == 1 && !self.written.strangers()
    }
}

/// A source in a list: written out, or `ip`.
pub(crate) type SourceItem = Short<IpWord, SourceForm>;

/// The word `ip`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpWord;

/// The word `user`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasicWord;

choice! { IpWord, "identity source that is written as one word" { "ip" => IpWord, } }

choice! { BasicWord, "part of basic authentication" { "user" => BasicWord, } }

choice! { CertificateField, "part of a certificate" {
    "common_name" => CertificateField::CommonName,
    "subject" => CertificateField::Subject,
    "dns" => CertificateField::Dns,
    "uri" => CertificateField::Uri,
    "email" => CertificateField::Email,
} }

choice! { From, "sender" {
    "anyone" => From::Anyone,
    "trusted_proxies" => From::TrustedProxies,
} }

choice! { Fold, "way to fold names" {
    "case" => Fold { case: true },
    "none" => Fold { case: false },
} }

record! {
    /// A segment of the path.
    PathSource, "a `path` source" {
        /// Which, counted from 0.
        required segment: u64,
    }
}

record! {
    /// A claim of a verified JWT. Checked with exactly one of `secret`, `public_key` and `jwks`.
    JwtSource, "a `jwt` source" {
        /// The claim's name.
        required claim: String,
        /// The header that carries the token, bare or after `Bearer`; `authorization` unless said otherwise.
        optional header: String,
        /// `HS256` (default with a secret), `RS256`, `ES256`, `EdDSA`, ...: the policy's word, never the token's.
        optional algorithm: String,
        /// The HMAC secret.
        optional secret: SecretForm,
        /// A file with a public key in PEM.
        optional public_key: Short<String, FileForm>,
        /// A JWKS file; re-read when it changes.
        optional jwks: Short<String, FileForm>,
        /// The token's `iss` must be this.
        optional issuer: String,
        /// The token's `aud` must contain this.
        optional audience: String,
    }
}

record! {
    /// A file.
    FileForm, "a file" {
        /// Beside the policy unless absolute.
        required file: String,
    }
}

record! {
    /// A column of the row whose `key_sha256` is the SHA-256, in hex, of the presented API key.
    ApiKeySource, "an `api_key` source" {
        /// The header that carries the key, bare or after `Bearer`.
        optional header: String,
        /// The query parameter that carries the key.
        optional query: String,
        /// The table's name.
        required table: String,
        /// The column that is the value.
        required column: String,
    }
}

record! {
    /// A column of the row in which `key_column` equals the value of another identity.
    TableSourceForm, "a `table` source" {
        /// The table's name.
        required name: String,
        /// The column that is compared; the name in `value_of` unless said otherwise.
        optional key_column: String,
        /// The identity that is looked up.
        required value_of: String,
        /// The column that is the value.
        required column: String,
    }
}

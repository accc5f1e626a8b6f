//! JSON Web Tokens (RFC 7519): verified here, with the policy's algorithm and never the token's word for it.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Validation};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tollgate_core::Timestamp;

use super::rows::read_bounded;
use super::verified::Verified;
use crate::settings::JwtKeys;

/// The largest key file that is read: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;

/// How tokens are verified, and for which identities.
#[derive(Debug)]
pub(crate) struct TokenUse {
    /// The header that carries the token.
    pub(crate) header: http::HeaderName,
    keys: JwtKeys,
    issuer: Option<String>,
    audience: Option<String>,
    identities: Vec<usize>,
}

/// Keys, each with its name and the one algorithm that it is for.
#[derive(Default)]
pub(crate) struct TokenKeys {
    keys: Vec<TokenKey>,
    verified: Verified,
}

struct TokenKey {
    kid: Option<String>,
    key: DecodingKey,
    validation: Validation,
}

impl std::fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenKeys({})", self.keys.len())
    }
}

/// The claims of a verified token.
#[derive(Debug)]
pub(crate) struct Claims(Map<String, Value>);

impl Claims {
    /// Runs `read` on the text of `claim`: a string, a whole number or a truth value. Others are missing.
    pub(crate) fn text<T>(&self, claim: &str, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        match self.0.get(claim)? {
            Value::String(text) => Some(read(text.as_bytes())),
            Value::Number(number) if !number.is_f64() => Some(read(number.to_string().as_bytes())),
            Value::Bool(truth) => Some(read(truth.to_string().as_bytes())),
            _ => None,
        }
    }

    /// Whether `now` is within `nbf` and `exp`, in seconds; a bound that is no number holds for no moment.
    fn holds_at(&self, now: Timestamp) -> bool {
        let bound = |claim: &str| self.0.get(claim).map(micros);
        let begun = bound("nbf").is_none_or(|nbf| nbf.is_some_and(|nbf| nbf <= now.as_micros()));
        let open = bound("exp").is_none_or(|exp| exp.is_some_and(|exp| now.as_micros() < exp));
        begun && open
    }
}

/// A NumericDate in microseconds; beyond what there is, the last.
fn micros(value: &Value) -> Option<u64> {
    let whole = value.as_u64().map(|seconds| seconds.saturating_mul(1_000_000));
    // A fraction is allowed; converting saturates, and below zero is zero.
    whole.or_else(|| value.as_f64().map(|seconds| (seconds * 1e6) as u64))
}

impl TokenUse {
    /// Tokens that `header` carries, for the identity at `identity`.
    pub(crate) fn new(
        header: http::HeaderName,
        keys: &JwtKeys,
        issuer: &Option<String>,
        audience: &Option<String>,
        identity: usize,
    ) -> TokenUse {
        let (issuer, audience) = (issuer.clone(), audience.clone());
        TokenUse { header, keys: keys.clone(), issuer, audience, identities: vec![identity] }
    }

    /// Takes over the identities of `other` where both verify alike, so that a token is verified once a request.
    pub(crate) fn absorb(&mut self, other: &TokenUse) -> bool {
        let alike = self.header == other.header
            && self.issuer == other.issuer
            && self.audience == other.audience
            && self.keys == other.keys;
        if alike {
            self.identities.extend(&other.identities);
        }
        alike
    }

    /// The places of the identities that it serves.
    pub(crate) fn identities(&self) -> &[usize] {
        &self.identities
    }

    /// The file that its keys are in.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match &self.keys {
            JwtKeys::Hmac { .. } => None,
            JwtKeys::Pem { file, .. } | JwtKeys::Jwks { file } => Some(file.clone()),
        }
    }

    /// Reads the keys.
    ///
    /// # Errors
    /// Text that names the file and says what is wrong; never a secret.
    pub(crate) fn read(&self) -> Result<TokenKeys, String> {
        let keys = match &self.keys {
            JwtKeys::Hmac { algorithm, secret } => {
                let algorithm = algorithm_of(algorithm, |family| family == AlgorithmFamily::Hmac)?;
                let key = DecodingKey::from_secret(&secret.0).map_err(|error| error.to_string())?;
                vec![(None, algorithm, key)]
            }
            JwtKeys::Pem { algorithm, file } => {
                let path = file;
                let algorithm = algorithm_of(algorithm, |family| family != AlgorithmFamily::Hmac)?;
                let pem = read_bounded(path, MAX_BYTES)?;
                let key = pem_key(&pem, algorithm.family()).map_err(|error| {
                    format!("{}: it holds no public key for {algorithm:?}: {error}", path.display())
                })?;
                vec![(None, algorithm, key)]
            }
            JwtKeys::Jwks { file } => {
                let path = file;
                let json = read_bounded(path, MAX_BYTES)?;
                jwks(&json).map_err(|text| format!("{}: {text}", path.display()))?
            }
        };
        let with_rules =
            |(kid, algorithm, key)| TokenKey { kid, key, validation: self.rules(algorithm) };
        let keys = keys.into_iter().map(with_rules).collect();
        Ok(TokenKeys { keys, verified: Verified::default() })
    }

    /// What is checked with the signature. Times are not: they are compared with the decision's moment, not the system's.
    fn rules(&self, algorithm: Algorithm) -> Validation {
        let mut rules = Validation::new(algorithm);
        rules.required_spec_claims.clear();
        rules.validate_exp = false;
        rules.validate_nbf = false;
        rules.validate_aud = self.audience.is_some();
        if let Some(audience) = &self.audience {
            rules.set_audience(&[audience]);
            rules.required_spec_claims.insert("aud".into());
        }
        if let Some(issuer) = &self.issuer {
            rules.set_issuer(&[issuer]);
            rules.required_spec_claims.insert("iss".into());
        }
        rules
    }
}

fn algorithm_of(name: &str, fits: impl Fn(AlgorithmFamily) -> bool) -> Result<Algorithm, String> {
    let algorithm = Algorithm::from_str(name).ok().filter(|algorithm| fits(algorithm.family()));
    algorithm.ok_or_else(|| {
        format!("{name:?} is no algorithm for such a key; HS256, HS384 and HS512 take a secret, RS256 to RS512, PS256 to PS512, ES256, ES384 and EdDSA a public key")
    })
}

fn pem_key(pem: &[u8], family: AlgorithmFamily) -> jsonwebtoken::errors::Result<DecodingKey> {
    match family {
        AlgorithmFamily::Rsa => DecodingKey::from_rsa_pem(pem),
        AlgorithmFamily::Ec => DecodingKey::from_ec_pem(pem),
        AlgorithmFamily::Ed => DecodingKey::from_ed_pem(pem),
        AlgorithmFamily::Hmac => DecodingKey::from_secret(pem),
    }
}

type NamedKey = (Option<String>, Algorithm, DecodingKey);

/// The keys of a set that signatures can be checked with; others are none of ours (RFC 7517, 5).
fn jwks(json: &[u8]) -> Result<Vec<NamedKey>, String> {
    let set: JwkSet = serde_json::from_slice(json)
        .map_err(|error| format!("it is no JSON Web Key Set: {error}"))?;
    let mut keys = Vec::new();
    for jwk in &set.keys {
        let Some(algorithm) = algorithm_of_jwk(jwk) else { continue };
        let kid = jwk.common.key_id.clone();
        let key = DecodingKey::from_jwk(jwk).map_err(|error| {
            format!("the key {}: {error}", kid.as_deref().unwrap_or("without a kid"))
        })?;
        keys.push((kid, algorithm, key));
    }
    if keys.is_empty() { Err("it holds no key for signatures".into()) } else { Ok(keys) }
}

/// The one algorithm that a key is for: its `alg`, or what its type leaves no choice of (RSA: RS256).
fn algorithm_of_jwk(jwk: &Jwk) -> Option<Algorithm> {
    let natural = match &jwk.algorithm {
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => Some(Algorithm::ES256),
            EllipticCurve::P384 => Some(Algorithm::ES384),
            _ => None,
        },
        AlgorithmParameters::RSA(_) => Some(Algorithm::RS256),
        AlgorithmParameters::OctetKeyPair(_) => Some(Algorithm::EdDSA),
        _ => None,
    };
    if jwk.common.public_key_use == Some(PublicKeyUse::Encryption) {
        return None;
    }
    let Some(said) = jwk.common.key_algorithm else { return natural };
    let said = Algorithm::try_from(said).ok()?;
    let family = match &jwk.algorithm {
        AlgorithmParameters::OctetKey(_) => Some(AlgorithmFamily::Hmac),
        _ => natural.map(Algorithm::family),
    };
    (family == Some(said.family())).then_some(said)
}

impl TokenKeys {
    /// The claims of `token`, where one of the keys signed it and it holds at `now`. A token names its key by `kid`; one
    /// without fits only a key that is alone.
    pub(crate) fn verify(&self, token: &[u8], now: Timestamp) -> Option<Arc<Claims>> {
        let digest = <[u8; 32]>::from(Sha256::digest(token));
        let claims = self.verified.get(&digest).or_else(|| {
            let claims = Arc::new(self.check(token)?);
            self.verified.put(digest, &claims);
            Some(claims)
        });
        claims.filter(|claims| claims.holds_at(now))
    }

    /// The claims of `token`, whenever they hold.
    fn check(&self, token: &[u8]) -> Option<Claims> {
        let named = jsonwebtoken::decode_header(token).ok()?.kid;
        let fits = |key: &&TokenKey| match (&key.kid, &named) {
            (Some(kid), Some(named)) => kid == named,
            _ => self.keys.len() == 1,
        };
        let claims = self.keys.iter().filter(fits).find_map(|key| {
            jsonwebtoken::decode::<Map<String, Value>>(token, &key.key, &key.validation).ok()
        });
        claims.map(|data| Claims(data.claims))
    }
}

#[cfg(test)]
pub(crate) mod tests;

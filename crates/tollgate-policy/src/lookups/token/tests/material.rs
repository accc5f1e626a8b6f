//! Tokens, all signed beforehand by keys that were then thrown away, with `nbf` the tests' start and `exp` an hour later.
//! Only the public keys are kept.

/// The secret of the HS256 tokens.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// RS256, kid rsa.
pub(crate) const RSA: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InJzYSJ9.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp\
    0cnVlLCJyb2xlcyI6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5\
    iZiI6MTc2NzIyNTYwMCwiZXhwIjoxNzY3MjI5MjAwfQ.KYB9SnFnMD5JoGznKSuicUMIK3K11Pl8ANbMshTznEpvbY-3eAJVcgSs\
    a5TT5tbKSuXPw457A0PETfsMOgKLzYfSDW0GhNbLOmt0YIX1HN5LhXTjNtNk_AZoBV23gVij9foJqrqsA-3MO_My8ShAkEDtjkU_\
    nebMG9UK5BevNt0J7MIih3mY2HZDefgFrSTUipY-jy0ld6_F0TjU9WxImFuwy9HQfO4OSXCNnTyN5tdMGAFdk_gRIhaYs3Hw85-E\
    V3lSrdQqG7Dr5MIP0y1uU07ZwyuSGvhAXpFK5ff5sy4Svdqj34TS2IPRlBQBaX4ThtsCC7V3gGYF_CR0lGzdlw";

/// PS256.
pub(crate) const PSS: &str = "\
    eyJhbGciOiJQUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0cnVlLCJyb2xlcyI\
    6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5iZiI6MTc2NzIyNTY\
    wMCwiZXhwIjoxNzY3MjI5MjAwfQ.C82rmKNOk5i9w3gZKIcfD6XhazhZ_BsA3v1fjmVGFcr49IZq0nmEU1rBCLZLHdUvwd8Xd5VS\
    _SgXsR3cB8o_CGZvXOFfrlK1Mx5R9XHzoMWHCrNL_9vQSuNEmTS9sWMNCq_0mg9S0A_ihRKBxMkvEifqZhFQtT6zzRoBFQu8qKRJ\
    DT54Ay988w2ZQhqgVV2Cl8n8fpUJ6YtnPyyarkznMwSg4WRr8ITZuJgBo1yQDD4y1BtyGmWIvA66fLUcOkDn2Gq22HB8xRmqn3Nd\
    Iv54djhYTKc_eQZSAwTDaUiBQNO79D3TXbEUX-1munGQ99dPQ4eGtQVwt18PGS5QlzJFaQ";

/// ES256, kid ec.
pub(crate) const EC: &str = "\
    eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImVjIn0.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0\
    cnVlLCJyb2xlcyI6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5i\
    ZiI6MTc2NzIyNTYwMCwiZXhwIjoxNzY3MjI5MjAwfQ.6IP6bVrwKvoe8JGK5onhX9BPgQBJxcd_Z16Fz4Pk1Jh99J8mfQ9zidjyU\
    QOGT7j3NpwWC8G3NAv5FHIbsDqIbA";

/// ES384.
pub(crate) const EC_384: &str = "\
    eyJhbGciOiJFUzM4NCIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0cnVlLCJyb2xlcyI\
    6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5iZiI6MTc2NzIyNTY\
    wMCwiZXhwIjoxNzY3MjI5MjAwfQ.c1RwoMNl69NVAWYBT44nLElKtazUOMO3MHkSY4n9Cauz5I8Lw3FVfd2-DK2LBUGxlPIuhUlM\
    StO9zh-3QI-R_KVWDtHuawSg8BdtbXl_l99dMJqQTSxD_A-9D9WEiulC";

/// EdDSA, kid ed.
pub(crate) const ED: &str = "\
    eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6ImVkIn0.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0\
    cnVlLCJyb2xlcyI6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5i\
    ZiI6MTc2NzIyNTYwMCwiZXhwIjoxNzY3MjI5MjAwfQ.LkdLsKbf8DdZ5-hk2Tn3o0xsywsKpLVZ1i4iNsFeIkxu7iSoyFgqTlub9\
    W2BV_cZAGsaWpR9J1pR6AztdBrxBQ";

/// HS256 by [`SECRET`].
pub(crate) const HMAC: &str = "\
    eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0cnVlLCJyb2xlcyI\
    6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5iZiI6MTc2NzIyNTY\
    wMCwiZXhwIjoxNzY3MjI5MjAwfQ.w-gmEo9oqFn8BdTlrajX5UaLhrnaw6caoiEmhPxrQeE";

/// HS256 with the text of [`RSA_PEM`] as its secret.
pub(crate) const CONFUSED: &str = "\
    eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0cnVlLCJyb2xlcyI\
    6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5iZiI6MTc2NzIyNTY\
    wMCwiZXhwIjoxNzY3MjI5MjAwfQ.H4huWMKzv101PKf4acccn0x9GrMb2829qw8fgU9SnI8";

/// `alg: none`.
pub(crate) const UNSIGNED: &str = "\
    eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0cnVlLCJyb2xlcyI6\
    WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5iZiI6MTc2NzIyNTYw\
    MCwiZXhwIjoxNzY3MjI5MjAwfQ.";

/// RS256 without a kid.
pub(crate) const RSA_WITHOUT_KID: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsInRlbmFudCI6NDIsImFkbWluIjp0cnVlLCJyb2xlcyI\
    6WyJhIl0sImlzcyI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJhdWQiOlsic2hvcCIsIm90aGVyIl0sIm5iZiI6MTc2NzIyNTY\
    wMCwiZXhwIjoxNzY3MjI5MjAwfQ.SEBxl4LrQ79wBhgS0dVpHgmVeYK_kEdS7pC3niugL7Pt4d8knwwQVrKbBp3BQ0sKgf3f-3os\
    y_KL_63SPnl2WMlK8xR98cP3PLGj-KCUIe3oZlT7J2UI9rz763s5xHGO4ODOQiuJHC-V-P66YCqvMMlIBuDTQfIn7fcTWsus_8sY\
    rZ-TpuvaCXTYi983HnoAcHpCK7YDH5InFYuRCgU2K9n_033hFAabzZWSrqkOTuKkStm97dsDIJ5cnfPy1nXKGJLzQx-6Wuj1tHeO\
    efqvkEJawH9Jx5VMG2P2l6zPffTiyZH3xwfSSRYzL0FddxhNDu4mI269mhgFGONL5wf9Rg";

/// HS256, whose `exp` is the word soon.
pub(crate) const EXPIRES_SOON: &str = "\
    eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsImV4cCI6InNvb24ifQ.VGnANdSqovD5mgskJjBBKmIo\
    LN-uEous5VYd1YyHgBY";

/// HS256 without times.
pub(crate) const FOREVER: &str = "\
    eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSJ9.B3ZVCeqD-r-YgqIh8P8pzsDWV-k3-_krdhAyEOyABB\
    c";

/// HS256, whose `exp` is half a second after the start.
pub(crate) const HALF_A_SECOND: &str = "\
    eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsImV4cCI6MTc2NzIyNTYwMC41fQ.DFJTcde0u_c6WNbo\
    nAjeYMfiG4P1JYcfZlNwM7YhzJg";

/// The public key of [`RSA`] and [`PSS`].
pub(crate) const RSA_PEM: &str = "\
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArpnGuLxJTZm/R8LkrmQW
qBjG/BqdSc4c8dHIziHAhZHztSdRzoETjsLifdXP/GJc76fW0sgLMIJn9C8YErkl
GX1puVoVEBq5sywqinPrU3GBA8EXRRDf9FgxvSN0Yvdv7tOZelYJeVa+fCtWA5Ue
swHuWhTEN3wMK0MPO5l6RSRyzuHgYXKsC3Ws12oB8PQVHG14ncaGPd1/SEr01TKL
v2PXhwctbk4hrJCDZOw6YUVai6KVBFvA78sD6OjgDKr8lX945xl+imI/0ZA8ouRH
o132H2vHA8s6b//Ty5PVFD4KO8x62wd8j24fY8IG2G88lCLr4xtVw/2RU1ZsWDOB
nQIDAQAB
-----END PUBLIC KEY-----
";

/// The public key of [`EC`].
pub(crate) const EC_PEM: &str = "\
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWpyC2mDK8HUqLKxlqtUc6Nga2Du/
tt1XFO3pgXxQSWVSLhwB6jPKCTk8VovoLQnpDLt6QG0DywmsbaCnF7zLBA==
-----END PUBLIC KEY-----
";

/// The public key of [`EC_384`].
pub(crate) const EC_384_PEM: &str = "\
-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEFWNdHicDzlDzE4N+03IdLSnpBW0P3Euh
hVy+Z0kG02BYWaFHZN6I8IVBVioMGandNaSEBLXudxR6dHRvkv0YLFH44ZKY2bO9
o5ptoFEhNrPtodNAV5dYPRqbqwEO72YD
-----END PUBLIC KEY-----
";

/// The public key of [`ED`].
pub(crate) const ED_PEM: &str = "\
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA9ew0ZzZuZVcZZ/R2V6pGzxUuWoerwnUSkYmxu4ND+GE=
-----END PUBLIC KEY-----
";

/// The three keys with a kid.
pub(crate) const JWKS: &str = r#"{"keys":[
{"kty":"RSA","kid":"rsa","use":"sig","n":"rpnGuLxJTZm_R8LkrmQWqBjG_BqdSc4c8dHIziHAhZHztSdRzoETjsLifdXP_GJc76fW0sgLMIJn9C8YErklGX1puVoVEBq5sywqinPrU3GBA8EXRRDf9FgxvSN0Yvdv7tOZelYJeVa-fCtWA5UeswHuWhTEN3wMK0MPO5l6RSRyzuHgYXKsC3Ws12oB8PQVHG14ncaGPd1_SEr01TKLv2PXhwctbk4hrJCDZOw6YUVai6KVBFvA78sD6OjgDKr8lX945xl-imI_0ZA8ouRHo132H2vHA8s6b__Ty5PVFD4KO8x62wd8j24fY8IG2G88lCLr4xtVw_2RU1ZsWDOBnQ","e":"AQAB"},
{"kty":"EC","kid":"ec","crv":"P-256","alg":"ES256","x":"WpyC2mDK8HUqLKxlqtUc6Nga2Du_tt1XFO3pgXxQSWU","y":"Ui4cAeozygk5PFaL6C0J6Qy7ekBtA8sJrG2gpxe8ywQ"},
{"kty":"OKP","kid":"ed","crv":"Ed25519","x":"9ew0ZzZuZVcZZ_R2V6pGzxUuWoerwnUSkYmxu4ND-GE"}
]}"#;

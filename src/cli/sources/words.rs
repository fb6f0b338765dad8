//! A signature scheme in words.

use verify::scheme::{Algorithm, Encoding, Hmac, Parse, Scheme, TokenForm};

/// How a scheme proves where a request comes from, in one line.
pub(crate) fn scheme(scheme: &Scheme) -> String {
    match scheme {
        Scheme::Hmac(hmac) => digest(hmac),
        Scheme::Token(token) => match token.form {
            TokenForm::Plain => format!("{} is the secret", token.header),
            TokenForm::Bearer => format!("{}: Bearer and the secret", token.header),
            TokenForm::Basic => format!("{}: Basic and the secret in base64", token.header),
        },
        Scheme::Open => "nothing is proved".to_owned(),
    }
}

fn digest(hmac: &Hmac) -> String {
    let algorithm = match hmac.algorithm {
        Algorithm::Md5 => "MD5",
        Algorithm::Sha1 => "SHA-1",
        Algorithm::Sha256 => "SHA-256",
        Algorithm::Sha384 => "SHA-384",
        Algorithm::Sha512 => "SHA-512",
    };
    let encoding = match hmac.encoding {
        Encoding::Hex => "hex",
        Encoding::Base64 => "base64",
        Encoding::Base64Url => "base64url",
    };
    let form = match &hmac.parse {
        Parse::Raw => String::new(),
        Parse::Prefix(prefix) => format!(" after `{prefix}`"),
        Parse::OptionalPrefix(prefix) => format!(" after `{prefix}` or alone"),
        Parse::List { separator, prefix } => format!(" after `{prefix}` in a list with `{separator}` between"),
        Parse::KeyValue { signature, equals, .. } => format!(" after `{signature}{equals}`"),
        Parse::StandardWebhooks => " after `v1,`".to_owned(),
    };
    format!("HMAC-{algorithm} of `{}` in {}, {encoding}{form}", hmac.signed, hmac.header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_read_like_the_provider_s_own_page() {
        let words = |name| scheme(&verify::source(name).expect("is built in").scheme);
        assert_eq!(words("github"), "HMAC-SHA-256 of `{body}` in x-hub-signature-256, hex after `sha256=`");
        assert_eq!(words("bearer"), "authorization: Bearer and the secret");
        assert_eq!(words("none"), "nothing is proved");
        assert!(words("standard-webhooks").ends_with("in webhook-signature, base64 after `v1,`"));
    }
}

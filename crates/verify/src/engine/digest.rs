//! Digests: computed, written, read and compared.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use subtle::{Choice, ConstantTimeEq};

use crate::scheme::{Algorithm, Encoding};

/// Senders disagree about padding here; the bits it would hide must be zero all the same.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Algorithm {
    /// The length of a digest in bytes.
    pub(crate) fn length(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 => 32,
            Algorithm::Sha384 => 48,
            Algorithm::Sha512 => 64,
        }
    }

    /// The HMAC over all parts, one after the other.
    pub(crate) fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Algorithm::Md5 => mac::<Hmac<Md5>>(key, parts),
            Algorithm::Sha1 => mac::<Hmac<Sha1>>(key, parts),
            Algorithm::Sha256 => mac::<Hmac<Sha256>>(key, parts),
            Algorithm::Sha384 => mac::<Hmac<Sha384>>(key, parts),
            Algorithm::Sha512 => mac::<Hmac<Sha512>>(key, parts),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Md5 => "MD5",
            Algorithm::Sha1 => "SHA-1",
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Sha384 => "SHA-384",
            Algorithm::Sha512 => "SHA-512",
        }
    }
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

impl Encoding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Hex => "hex",
            Encoding::Base64 => "base64",
            Encoding::Base64Url => "base64url",
        }
    }

    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Encoding::Hex => bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect(),
            Encoding::Base64 => STANDARD.encode(bytes),
            Encoding::Base64Url => URL_SAFE.encode(bytes),
        }
    }

    /// The bytes that `text` stands for, when it is written exactly as the encoding wants it.
    pub(crate) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Encoding::Hex => decode_hex(text.as_bytes()),
            Encoding::Base64 => STANDARD.decode(text).ok(),
            Encoding::Base64Url => URL_SAFE.decode(text).ok(),
        }
    }
}

fn hex_digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).expect("four bits")
}

fn decode_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = text.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

/// The SHA-256 of `bytes`: what tokens are compared by, so that not even their length shows in the time it takes.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The SHA-256 of `bytes` in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Encoding::Hex.encode(&sha256(bytes))
}

/// Whether any of `ours` equals any of `theirs`. Looks at all pairs, so that time tells nothing about which one did.
pub(super) fn any_equal<A: AsRef<[u8]>, B: AsRef<[u8]>>(ours: &[A], theirs: &[B]) -> bool {
    let mut found = Choice::from(0);
    for our in ours {
        for their in theirs {
            found |= our.as_ref().ct_eq(their.as_ref());
        }
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_in_either_case_and_in_whole_bytes() {
        assert_eq!(Encoding::Hex.decode("00fFAb"), Some(vec![0, 255, 171]));
        assert_eq!(Encoding::Hex.encode(&[0, 255, 171]), "00ffab");
        for text in ["0", "0g", "+f", " 0", "００"] {
            assert_eq!(Encoding::Hex.decode(text), None, "{text}");
        }
    }

    #[test]
    fn base64_is_read_only_as_it_is_written() {
        assert_eq!(Encoding::Base64.decode("/+8="), Some(vec![255, 239]));
        for text in ["/+8", "/+9=", "/+8=\n", "_-8=", "/+8==", "/ +8="] {
            assert_eq!(Encoding::Base64.decode(text), None, "{text}");
        }
        assert_eq!(Encoding::Base64Url.decode("_-8"), Some(vec![255, 239]));
        assert_eq!(Encoding::Base64Url.decode("_-8="), Some(vec![255, 239]));
        for text in ["_-9", "/+8", "_-8=="] {
            assert_eq!(Encoding::Base64Url.decode(text), None, "{text}");
        }
    }

    #[test]
    fn digests_are_as_long_as_their_algorithm_says() {
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512] {
            assert_eq!(algorithm.hmac(b"key", &[b"a", b"b"]).len(), algorithm.length(), "{}", algorithm.name());
            assert_eq!(algorithm.hmac(b"key", &[b"a", b"b"]), algorithm.hmac(b"key", &[b"ab"]), "{}", algorithm.name());
        }
    }

    #[test]
    fn equality_needs_one_pair_of_the_same_length() {
        assert!(any_equal(&["a", "b"], &["c", "b"]));
        assert!(!any_equal(&["a", "b"], &["", "ab"]));
        assert!(!any_equal::<&str, &str>(&["a"], &[]));
    }
}

use std::borrow::Cow;
use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::{InflateError, inflate};

const ENCODINGS: [&str; 5] = ["gzip", "deflate", "raw deflate", "br", "zstd"];

fn pack(encoding: &str, data: &[u8]) -> Vec<u8> {
    let level = Compression::new(6);
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "raw deflate" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "br" => stored_brotli(data),
        _ => zstd::encode_all(data, 3).unwrap(),
    }
}

/// A Brotli stream (RFC 7932) of one uncompressed block of 1 to 65,536 bytes.
fn stored_brotli(data: &[u8]) -> Vec<u8> {
    let Some(last) = data.len().checked_sub(1) else { return vec![0x06] };
    // Window 16 (one bit 0), not the last block (0), length in four nibbles (00), the length, uncompressed (1).
    let header = u32::try_from(last).unwrap() << 4 | 1 << 20;
    let mut packed = header.to_le_bytes()[..3].to_vec();
    packed.extend(data);
    packed.push(0x03);
    packed
}

fn header(encoding: &str) -> &str {
    encoding.rsplit(' ').next().unwrap()
}

#[test]
fn bodies_without_an_encoding_are_borrowed() {
    for encoding in [None, Some(""), Some("identity"), Some(" Identity , ,")] {
        assert!(matches!(inflate(b"abc", encoding, 3), Ok(Cow::Borrowed(b"abc"))));
    }
    assert_eq!(inflate(b"abcd", None, 3), Err(InflateError::TooLarge));
    assert!(matches!(inflate(b"", Some("gzip"), 0), Ok(Cow::Borrowed(b""))));
}

#[test]
fn recorded_bodies_inflate() {
    let brotli = [0x0b, 0x06, 0x80, 0x7b, 0x22, 0x6b, 0x69, 0x6e, 0x64, 0x22, 0x3a, 0x22, 0x62, 0x72, 0x22, 0x7d, 0x03];
    assert_eq!(inflate(&brotli, Some("br"), 100).unwrap().as_ref(), br#"{"kind":"br"}"#);
    let zstd = [
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x79, 0x00, 0x00, 0x7b, 0x22, 0x6b, 0x69, 0x6e, 0x64, 0x22, 0x3a, 0x22,
        0x7a, 0x73, 0x74, 0x64, 0x22, 0x7d, 0x82, 0x11, 0x7a, 0x6f,
    ];
    assert_eq!(inflate(&zstd, Some("zstd"), 100).unwrap().as_ref(), br#"{"kind":"zstd"}"#);
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 50_000_000];
    for encoding in ["gzip", "deflate", "raw deflate", "zstd"] {
        let bomb = pack(encoding, &zeros);
        assert_eq!(inflate(&bomb, Some(header(encoding)), 100_000), Err(InflateError::TooLarge), "{encoding}");
    }
    // 300,002 bytes from 31.
    let brotli = [
        0x5b, 0xe7, 0x93, 0x84, 0xdf, 0x48, 0x2d, 0xd6, 0x9c, 0xe1, 0x4e, 0x2d, 0x42, 0x87, 0xb7, 0xb7, 0x74, 0xfa,
        0x4a, 0x92, 0xdb, 0x02, 0x81, 0x33, 0x17, 0x09, 0x2e, 0x8c,
    ];
    assert_eq!(inflate(&brotli, Some("br"), 100_000), Err(InflateError::TooLarge));
}

#[test]
fn several_encodings_are_undone_from_the_last() {
    let twice = pack("zstd", &pack("gzip", b"data"));
    assert_eq!(inflate(&twice, Some("GZIP, Zstd"), 100).unwrap().as_ref(), b"data");
    assert_eq!(inflate(&twice, Some("zstd, gzip"), 100), Err(InflateError::Broken));
    assert_eq!(inflate(&twice, Some("gzip, identity, zstd"), 4).unwrap().as_ref(), b"data");
    let thrice = pack("deflate", &twice);
    assert_eq!(inflate(&thrice, Some("x-gzip,zstd,deflate"), 4).unwrap().as_ref(), b"data");
    assert_eq!(inflate(&pack("gzip", &thrice), Some("gzip,zstd,deflate,gzip"), 100), Err(InflateError::Broken));
    let bomb = pack("gzip", &pack("gzip", &vec![0; 20_000_000]));
    assert_eq!(inflate(&bomb, Some("gzip, gzip"), 10_000), Err(InflateError::TooLarge));
}

#[test]
fn unknown_encodings_are_named() {
    assert_eq!(inflate(b"x", Some("LZMA"), 9), Err(InflateError::Unsupported("lzma".into())));
    assert_eq!(inflate(b"", Some("gzip, compress"), 9), Err(InflateError::Unsupported("compress".into())));
    let hostile = format!("\u{1b}[31m{}", "x".repeat(1000));
    assert!(matches!(inflate(b"x", Some(&hostile), 9), Err(InflateError::Unsupported(name)) if name.len() == 40));
}

#[test]
fn members_and_frames_follow_one_another() {
    for encoding in ["gzip", "zstd"] {
        let both = [pack(encoding, b"one "), pack(encoding, b""), pack(encoding, b"two")].concat();
        assert_eq!(inflate(&both, Some(encoding), 7).unwrap().as_ref(), b"one two");
        assert_eq!(inflate(&both, Some(encoding), 6), Err(InflateError::TooLarge));
    }
}

#[test]
fn cut_and_continued_streams_are_broken() {
    let data: Vec<u8> = (0..2000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    for encoding in ENCODINGS {
        let packed = pack(encoding, &data);
        let ends = (1..40).chain(packed.len() - 40..packed.len());
        for end in ends {
            assert_eq!(
                inflate(&packed[..end], Some(header(encoding)), 10_000),
                Err(InflateError::Broken),
                "{encoding} {end}"
            );
        }
        for more in [&b"\0"[..], b"x", b"trailing garbage", b"\x1f\x8b"] {
            let longer = [&packed, more].concat();
            assert_eq!(inflate(&longer, Some(header(encoding)), 10_000), Err(InflateError::Broken), "{encoding}");
        }
    }
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        assert_eq!(inflate(b"not compressed", Some(encoding), 10_000), Err(InflateError::Broken), "{encoding}");
    }
}

#[test]
fn checksums_are_checked() {
    for encoding in ["gzip", "deflate"] {
        let mut packed = pack(encoding, b"some data that is checked");
        let place = packed.len() - 6;
        packed[place + 2] ^= 1;
        assert_eq!(inflate(&packed, Some(encoding), 1000), Err(InflateError::Broken), "{encoding}");
    }
}

#[test]
fn windows_beyond_the_formats_limits_are_refused() {
    // A zstd frame header that asks for a window of 2 GiB, then an empty last block.
    assert_eq!(inflate(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0], Some("zstd"), 1000), Err(InflateError::Broken));
    // The same with the largest window that is allowed.
    assert_eq!(inflate(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 1, 0, 0], Some("zstd"), 1000).unwrap().as_ref(), b"");
    // A Brotli stream with the marker of a large window, of 30 bits.
    assert_eq!(inflate(&[0x11, 0x1e, 0x03], Some("br"), 1000), Err(InflateError::Broken));
}

fn any_data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..3000),
        (any::<u8>(), 0_usize..60_000).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

proptest! {
    #[test]
    fn what_was_packed_comes_back_up_to_the_limit(data in any_data(), encoding in prop::sample::select(&ENCODINGS[..])) {
        let packed = pack(encoding, &data);
        let (name, size) = (header(encoding), data.len());
        prop_assert_eq!(inflate(&packed, Some(name), size).unwrap().into_owned(), data);
        if size > 0 {
            prop_assert_eq!(inflate(&packed, Some(name), size - 1), Err(InflateError::TooLarge));
        }
    }

    #[test]
    fn layers_come_back_at_exactly_the_limit(data in any_data()) {
        let packed = pack("br", &pack("gzip", &pack("zstd", &data)));
        let unpacked = inflate(&packed, Some("zstd, gzip, br"), data.len()).unwrap();
        prop_assert_eq!(unpacked.as_ref(), &data[..]);
    }

    #[test]
    fn any_bytes_are_inflated_or_refused(
        mut packed in (any_data(), prop::sample::select(&ENCODINGS[..])).prop_map(|(data, encoding)| pack(encoding, &data)),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        name in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "gzip, br"]),
    ) {
        for (place, byte) in changes {
            let place = place.index(packed.len());
            packed[place] = byte;
        }
        if let Ok(data) = inflate(&packed, Some(name), 1000) {
            prop_assert!(data.len() <= 1000);
        }
    }
}

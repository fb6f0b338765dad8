use serde_json::{Value, json};

fn read(body: &[u8]) -> Result<Value, String> {
    crate::parse(body, Some("multipart/form-data; boundary=xYz")).map_err(|error| error.to_string())
}

/// A body from (disposition, content type, content).
fn body(parts: &[(&str, Option<&str>, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, content_type, content) in parts {
        body.extend(format!("--xYz\r\nContent-Disposition: form-data; {disposition}\r\n").bytes());
        body.extend(content_type.map(|kind| format!("Content-Type: {kind}\r\n")).unwrap_or_default().bytes());
        body.extend([b"\r\n", *content, b"\r\n"].concat());
    }
    body.extend(b"--xYz--\r\n");
    body
}

#[test]
fn fields_are_strings_and_files_are_described() {
    let mail = body(&[
        ("name=\"subject\"", None, b"Hello {token}"),
        ("name=\"f\"; filename=\"a.png\"", Some("image/png"), b"\x89PNG\x00\xff"),
        ("name=\"note\"", Some("text/plain; charset=utf-8"), "zwei\r\nZeilen – ü".as_bytes()),
        ("name=\"empty\"", None, b""),
        ("name=\"raw\"; filename=\"\"", None, b""),
    ]);
    let want = json!({
        "subject": "Hello {token}",
        "f": {"filename": "a.png", "content_type": "image/png", "size": 6},
        "note": "zwei\r\nZeilen – ü",
        "empty": "",
        "raw": {"filename": "", "content_type": "application/octet-stream", "size": 0},
    });
    assert_eq!(read(&mail), Ok(want));
}

#[test]
fn repeated_names_are_lists() {
    let parts =
        body(&[("name=a", None, b"1"), ("name=a; filename=x", Some("text/plain"), b"22"), ("name=\"a\"", None, b"3")]);
    let file = json!({"filename": "x", "content_type": "text/plain", "size": 2});
    assert_eq!(read(&parts), Ok(json!({"a": ["1", file, "3"]})));
}

#[test]
fn a_payload_field_with_json_is_the_payload() {
    assert_eq!(read(&body(&[("name=\"payload\"", None, b"{\"n\":1}")])), Ok(json!({"n": 1})));
    let with_file = body(&[("name=file; filename=a", None, b"x"), ("name=payload", Some("application/json"), b" [1]")]);
    assert_eq!(read(&with_file), Ok(json!([1])));
    assert_eq!(read(&body(&[("name=\"payload\"", None, b"hello")])), Ok(json!({"payload": "hello"})));
}

#[test]
fn file_names_are_decoded() {
    let name = |disposition: &str| {
        read(&body(&[(&format!("name=f; {disposition}"), None, b"")])).map(|payload| payload["f"]["filename"].clone())
    };
    assert_eq!(name(r#"filename="a \"b\"; c\\d.txt""#), Ok(json!(r#"a "b"; c\d.txt"#)));
    assert_eq!(name(r#"filename="C:\new\x.txt""#), Ok(json!(r"C:\new\x.txt")));
    assert_eq!(name("filename=\"grün.txt\""), Ok(json!("grün.txt")));
    assert_eq!(name("filename=plain.txt"), Ok(json!("plain.txt")));
    assert_eq!(name("filename=old; filename*=UTF-8''%e2%82%ac%20rates"), Ok(json!("€ rates")));
    for wrong in
        ["filename*=UTF-8''%e2", "filename*=latin1''x", "filename*=x", "filename*=utf-8''%zz", "filename*=utf-8''%4"]
    {
        assert!(name(wrong).unwrap_err().contains("filename*"), "{wrong}");
    }
}

#[test]
fn preamble_padding_folding_and_epilogue_are_allowed() {
    let loose = b"preamble\r\n--xYz \t\r\ncontent-DISPOSITION: form-data;\r\n name=\"a\"\r\n\r\n--xYzq\r\n--xY\r\n--xYz--epilogue";
    assert_eq!(read(loose), Ok(json!({"a": "--xYzq\r\n--xY"})));
    let quoted =
        crate::parse(&body(&[("name=a", None, b"1")]), Some("Multipart/Form-Data; charset=x; Boundary=\"xYz\""));
    assert_eq!(quoted.unwrap(), json!({"a": "1"}));
    assert_eq!(read(b"--xYz--\r\n"), Ok(json!({})));
    assert_eq!(read(b""), Ok(json!({})));
}

#[test]
fn a_boundary_is_needed() {
    for kind in ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\""] {
        let error = crate::parse(b"no boundary here", Some(kind)).unwrap_err().to_string();
        assert!(error.contains("boundary"), "{error}");
    }
    let long = format!("multipart/form-data; boundary={}", "x".repeat(71));
    assert!(crate::parse(b"x", Some(&long)).is_err());
}

#[test]
fn broken_bodies_are_refused() {
    let whole = body(&[("name=a", None, b"1"), ("name=b; filename=c", None, b"2")]);
    for end in 1..whole.len() - 3 {
        assert!(read(&whole[..end]).is_err(), "cut at {end}");
    }
    let refused: [&[u8]; 8] = [
        b"no boundary here",
        b"--xYz\r\n\r\nno headers\r\n--xYz--",
        b"--xYz\r\nContent-Type: text/plain\r\n\r\nno name\r\n--xYz--",
        b"--xYz\r\nContent-Disposition: form-data\r\n\r\nno name\r\n--xYz--",
        b"--xYz\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--xYz--",
        b"--xYz\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--xYz--",
        b"--xYz\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\nx\r\n--xYz--",
        b"--xYz\nContent-Disposition: form-data; name=a\n\nx\n--xYz--",
    ];
    for wrong in refused {
        assert!(read(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
    }
    assert_eq!(
        read(&body(&[("name=a", None, b"\xff")])),
        Err("multipart: part whose field is not UTF-8 at byte 7".into())
    );
}

#[test]
fn parts_and_headers_are_capped() {
    let many = |count: usize| body(&vec![("name=a", None, b"1".as_slice()); count]);
    assert_eq!(read(&many(1000)).unwrap()["a"].as_array().unwrap().len(), 1000);
    assert!(read(&many(1001)).unwrap_err().contains("more than 1000 parts"));
    assert!(read(&body(&[(&format!("name={}", "n".repeat(16 * 1024)), None, b"1")])).unwrap_err().contains("16 KiB"));
}

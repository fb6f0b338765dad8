//! t
#[test]
fn speed() {
    let item = r#"{"id":1152921506151679042,"name":"octo/cat \n x","url":"https://api.github.com/repos/octocat/Hello-World/issues/comments{/number}","ok":true,"n":null,"l":[1,2.5,-3e7],"s":"long text long text long text long text long text long text"}"#;
    let body = format!("[{}]", vec![item; 20_000].join(","));
    for _ in 0..3 {
        let t = std::time::Instant::now();
        let a = doorbell_payload::parse_json(body.as_bytes()).unwrap();
        let ours = t.elapsed();
        let t = std::time::Instant::now();
        let b: serde_json::Value = serde_json::from_str(&body).unwrap();
        let theirs = t.elapsed();
        assert_eq!(a.as_array().unwrap().len(), b.as_array().unwrap().len());
        println!("{} MB ours {ours:?} serde {theirs:?}", body.len() / 1_000_000);
    }
    let xml = format!("<r>{}</r>", "<item id='1' b='two'>text &amp; more<c/></item>".repeat(50_000));
    let t = std::time::Instant::now();
    doorbell_payload::parse(xml.as_bytes(), Some("text/xml")).unwrap();
    println!("xml {} kB {:?}", xml.len() / 1000, t.elapsed());
    let nasty = "\r\n--b".repeat(500_000);
    let t = std::time::Instant::now();
    let _ = doorbell_payload::parse(nasty.as_bytes(), Some("multipart/form-data; boundary=bbbbbbbbbbbbbbb"));
    println!("multipart {} kB {:?}", nasty.len() / 1000, t.elapsed());
    for x in [
        "<a ",
        "<",
        "<a>",
        "<!--",
        "&",
        "<![CDATA[",
        "<a b='",
        "<!DOCTYPE a [",
        "<?",
        "<a/>",
        "</a>",
        "<!DOCTYPE a [<!ENTITY ",
    ] {
        let nasty = format!("<r>{}", x.repeat(2_000_000 / x.len()));
        let t = std::time::Instant::now();
        let _ = doorbell_payload::parse(nasty.as_bytes(), Some("text/xml"));
        println!("xml nasty {x} {:?}", t.elapsed());
        let t = std::time::Instant::now();
        let _ = doorbell_payload::parse(&nasty.as_bytes()[3..], Some("text/xml"));
        println!("xml nasty {x} {:?}", t.elapsed());
    }
    println!("value {}", std::mem::size_of::<serde_json::Value>());
}

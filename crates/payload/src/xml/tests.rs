use serde_json::{Value, json};

use crate::MAX_DEPTH;

fn xml(body: &str) -> Result<Value, String> {
    crate::parse(body.as_bytes(), Some("application/xml; charset=utf-8")).map_err(|error| error.to_string())
}

#[test]
fn elements_attributes_and_text() {
    let order = r#"<?xml version="1.0"?><order id="7"><item>a</item><item>b</item><note lang="en">hi</note></order>"#;
    assert_eq!(
        xml(order),
        Ok(json!({"order": {"@id": "7", "item": ["a", "b"], "note": {"@lang": "en", "#text": "hi"}}}))
    );
    assert_eq!(xml("<a/>"), Ok(json!({"a": ""})));
    assert_eq!(xml("<a></a>"), Ok(json!({"a": ""})));
    assert_eq!(xml("<a>x</a >"), Ok(json!({"a": "x"})));
    assert_eq!(xml("<a b=''/>"), Ok(json!({"a": {"@b": ""}})));
    assert_eq!(xml("<a>1<b>2</b>3</a>"), Ok(json!({"a": {"b": "2", "#text": "13"}})));
    assert_eq!(xml("<a><b/><c/><b><d>1</d></b></a>"), Ok(json!({"a": {"b": ["", {"d": "1"}], "c": ""}})));
}

#[test]
fn blanks_around_text_are_layout() {
    assert_eq!(xml("\n<a>\n  <b> x y </b>\n  <c/>\n</a>\n"), Ok(json!({"a": {"b": "x y", "c": ""}})));
    assert_eq!(xml("<a><![CDATA[ x ]]></a>"), Ok(json!({"a": " x "})));
    assert_eq!(xml("<a> &#32;x&#32; </a>"), Ok(json!({"a": " x "})));
    assert_eq!(xml("<a>x\r\ny</a>"), Ok(json!({"a": "x\ny"})));
}

#[test]
fn prefixes_stay_as_written() {
    assert_eq!(
        xml(r#"<s:Envelope xmlns:s="urn:x"><s:Body/></s:Envelope>"#),
        Ok(json!({"s:Envelope": {"@xmlns:s": "urn:x", "s:Body": ""}}))
    );
}

#[test]
fn references_and_cdata_are_text() {
    assert_eq!(xml("<a>&lt;&amp;&gt;&apos;&quot;&#65;&#x1F600;</a>"), Ok(json!({"a": "<&>'\"A😀"})));
    assert_eq!(xml("<a b=\"&lt;&#10;x\ty\"/>"), Ok(json!({"a": {"@b": "<\nx y"}})));
    assert_eq!(xml("<a>x<![CDATA[<b>&amp;]]>y</a>"), Ok(json!({"a": "x<b>&amp;y"})));
}

#[test]
fn comments_and_instructions_are_dropped() {
    assert_eq!(xml("<!-- c --><?pi x?><a>x<!-- c -->y<?pi?></a><!-- c -->"), Ok(json!({"a": "xy"})));
}

#[test]
fn entities_of_a_document_type_are_not_expanded() {
    let laughs = "<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;\">]><a>&y;</a>";
    assert!(xml(laughs).unwrap_err().contains("entity that is not predefined"));
    assert!(xml("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a b='&x;'/>").is_err());
    assert_eq!(xml("<!DOCTYPE a SYSTEM \"http://x.test/a.dtd\"><a>1</a>"), Ok(json!({"a": "1"})));
}

#[test]
fn documents_that_are_not_well_formed_are_refused() {
    let refused = [
        "<a><b></a>",
        "<a>",
        "<a",
        "</a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>x",
        "x<a/>",
        "<a/>&lt;",
        "<a/><![CDATA[x]]>",
        "plain",
        "<a b=1/>",
        "<a b/>",
        "<a b='1' b='2'/>",
        "<a b='<'/>",
        "<a>&nbsp;</a>",
        "<a>& b</a>",
        "<a>&#0;</a>",
        "<a>&#x1;</a>",
        "<a b='&#x1;'/>",
        "<a b='&nbsp;'/>",
        "<a>&#xD800;</a>",
        "<a>\u{1}</a>",
        "<a>\u{0}</a>",
        "<a><!-- a -- b --></a>",
        "<1a/>",
        "< a/>",
        "<>",
        "<a>&x</a>",
        "<?xml version=\"1.0\"?>",
        "<!DOCTYPE a>",
        "<a><?xml version=\"1.0\"?></a>",
        "<a><!DOCTYPE a></a>",
        "<a><![CDATA[x</a>",
        "<a><!-- </a>",
        "<a b='1/>",
    ];
    for body in refused {
        assert!(xml(body).is_err(), "{body}");
    }
}

#[test]
fn errors_tell_the_place_and_not_the_body() {
    assert_eq!(
        xml("<order>\n  <hunter2></order>"),
        Err("XML: end tag that does not match its start tag at line 2, column 12".into())
    );
    assert_eq!(xml("<a>\n&hunter2;</a>"), Err("XML: entity that is not predefined at line 2, column 1".into()));
    assert_eq!(xml("<a>"), Err("XML: ends inside an element at line 1, column 4".into()));
}

#[test]
fn nesting_is_bounded() {
    let chain = |depth: usize| "<a>".repeat(depth) + "x" + &"</a>".repeat(depth);
    assert!(xml(&chain(MAX_DEPTH)).is_ok());
    for deep in [chain(MAX_DEPTH + 1), "<a>".repeat(100_000), chain(100_000)] {
        assert!(xml(&deep).unwrap_err().contains("nested deeper than 128"));
    }
    assert!(xml(&format!("<r>{}</r>", "<a/>".repeat(10_000))).is_ok());
}

#[test]
fn lists_count_as_brackets_too() {
    // Each level has two elements of one name, so it costs an object and a list.
    let pairs = |depth: usize| "<a><a/>".repeat(depth) + &"</a>".repeat(depth);
    let payload = xml(&pairs(64)).unwrap();
    assert!(crate::parse_json(payload.to_string().as_bytes()).is_ok());
    assert!(xml(&pairs(65)).unwrap_err().contains("nested deeper than 128"));
}

#[test]
fn the_bytes_decide_and_not_the_declared_encoding() {
    let declared = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>é</a>";
    assert_eq!(xml(declared), Ok(json!({"a": "é"})));
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>";
    assert!(crate::parse(latin, Some("text/xml")).unwrap_err().to_string().contains("not UTF-8 at byte 46"));
    assert_eq!(xml("\u{feff}<?xml version=\"1.0\"?><a/>"), Ok(json!({"a": ""})));
}

#[test]
fn many_attributes_take_linear_time() {
    let attributes: Vec<String> = (0..50_000).map(|n| format!("a{n}=''")).collect();
    assert_eq!(xml(&format!("<r {}/>", attributes.join(" "))).unwrap()["r"].as_object().unwrap().len(), 50_000);
}

//! From the text of a signature header to the signatures in it.

use crate::scheme::Parse;

/// What a signature header holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed<'a> {
    /// Signatures as written; at least one.
    pub(super) signatures: Vec<&'a str>,
    /// Named values beside them, in order.
    pub(super) fields: Vec<(&'a str, &'a str)>,
}

impl Parse {
    /// Reads a header.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence that begins with its name.
    pub(super) fn read<'a>(&self, text: &'a str) -> Result<Parsed<'a>, String> {
        let mut fields = Vec::new();
        let signatures = match self {
            Parse::Raw => vec![text],
            Parse::Prefix(prefix) => text.strip_prefix(&**prefix).into_iter().collect(),
            Parse::OptionalPrefix(prefix) => vec![text.strip_prefix(&**prefix).unwrap_or(text)],
            Parse::List { separator, prefix } => {
                text.split(&**separator).filter_map(|item| item.trim().strip_prefix(&**prefix)).collect()
            }
            Parse::KeyValue { separator, equals, signature } => {
                let named = text.split(&**separator).filter_map(|item| item.trim().split_once(&**equals));
                let (signatures, others): (Vec<_>, Vec<_>) = named.partition(|(name, _)| name == signature);
                fields = others;
                signatures.into_iter().map(|(_, value)| value).collect()
            }
            Parse::StandardWebhooks => text.split_whitespace().filter_map(|item| item.strip_prefix("v1,")).collect(),
        };
        if signatures.is_empty() { Err(self.complaint()) } else { Ok(Parsed { signatures, fields }) }
    }

    fn complaint(&self) -> String {
        match self {
            Parse::Raw | Parse::OptionalPrefix(_) => "holds no signature".to_owned(),
            Parse::Prefix(prefix) => format!("does not begin with `{prefix}`"),
            Parse::List { prefix, .. } => format!("has no item that begins with `{prefix}`"),
            Parse::KeyValue { signature, .. } => format!("has no item named `{signature}`"),
            Parse::StandardWebhooks => "has no signature of version `v1`".to_owned(),
        }
    }
}

impl<'a> Parsed<'a> {
    /// The value of a field, which must not stand twice.
    pub(super) fn field(&self, name: &str) -> Result<Option<&'a str>, String> {
        let mut values = self.fields.iter().filter(|(key, _)| *key == name).map(|(_, value)| *value);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(format!("has more than one `{name}`")),
            (value, None) => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signatures<'a>(parse: &Parse, text: &'a str) -> Vec<&'a str> {
        parse.read(text).map(|parsed| parsed.signatures).unwrap_or_default()
    }

    fn pairs(separator: &'static str, equals: &'static str) -> Parse {
        Parse::KeyValue { separator: separator.into(), equals: equals.into(), signature: "v1".into() }
    }

    #[test]
    fn a_prefix_is_wanted_or_may_be_left_out() {
        assert_eq!(signatures(&Parse::Prefix("sha256=".into()), "sha256=ab"), ["ab"]);
        assert_eq!(signatures(&Parse::Prefix("sha256=".into()), "ab"), [""; 0]);
        assert_eq!(signatures(&Parse::Prefix("sha256=".into()), "sha1=ab"), [""; 0]);
        assert_eq!(signatures(&Parse::OptionalPrefix("sha1=".into()), "sha1=ab"), ["ab"]);
        assert_eq!(signatures(&Parse::OptionalPrefix("sha1=".into()), "ab"), ["ab"]);
        assert_eq!(signatures(&Parse::Raw, "sha1=ab"), ["sha1=ab"]);
    }

    #[test]
    fn a_list_gives_the_items_with_its_prefix() {
        let list = Parse::List { separator: ",".into(), prefix: "v1=".into() };
        assert_eq!(signatures(&list, "v1=ab, v1=cd,v0=ef,"), ["ab", "cd"]);
        assert_eq!(list.read("v0=ef"), Err("has no item that begins with `v1=`".to_owned()));
    }

    #[test]
    fn named_values_are_signatures_and_fields() {
        let parsed = pairs(",", "=").read("t=12, v1=ab==,v1=cd,v0=ef,junk").expect("two v1");
        assert_eq!(parsed.signatures, ["ab==", "cd"]);
        assert_eq!(parsed.field("t"), Ok(Some("12")));
        assert_eq!(parsed.field("nope"), Ok(None));
        assert_eq!(signatures(&pairs(" ", ":"), "t:1 v1:ab"), ["ab"]);
        assert_eq!(pairs(",", "=").read("t=1,v0=ef"), Err("has no item named `v1`".to_owned()));
        assert!(pairs(",", "=").read("t=1,t=2,v1=ab").expect("one v1").field("t").is_err());
    }

    #[test]
    fn standard_webhooks_takes_version_one_only() {
        assert_eq!(signatures(&Parse::StandardWebhooks, "v1,AAAA v1a,Zm9v  v1,BBBB v2,xx"), ["AAAA", "BBBB"]);
        assert_eq!(signatures(&Parse::StandardWebhooks, "v1,"), [""]);
        assert_eq!(signatures(&Parse::StandardWebhooks, "v1a,Zm9v"), [""; 0]);
    }
}

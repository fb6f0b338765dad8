//! A request as it was received, and the strict way to read a header that decides about trust.

use crate::verdict::Refused;

/// What is verified: the request as it came over the wire.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Names in lower case, in wire order; a header that was sent twice stands here twice.
    pub headers: &'a [(String, String)],
    /// The bytes as received: not inflated, not decoded, not parsed.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// Every value of header `name`, in wire order.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The value of header `name`, which may be missing but must not stand twice.
    pub(crate) fn at_most_one(&self, name: &str) -> Result<Option<&'a str>, Refused> {
        let mut values = self.values(name);
        let first = values.next();
        match values.count() {
            0 => Ok(first),
            more => Err(Refused::new(format!(
                "header {name} stands {} times; proxies differ in which one they keep, so none is believed",
                more + 1
            ))),
        }
    }

    /// The value of header `name`, which must be there once and hold something.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str, Refused> {
        match self.at_most_one(name)? {
            Some("") => Err(Refused::new(format!("header {name} is empty"))),
            Some(value) => Ok(value),
            None => Err(Refused::new(format!("header {name} is missing"))),
        }
    }
}

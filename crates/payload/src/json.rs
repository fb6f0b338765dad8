//! JSON, strict RFC 8259, read by our own parser because `serde_json` with `arbitrary_precision` loses events here:
//! it writes `1e400` as `1e+400`, takes an object with its private key for a number, refuses surrogate escapes that
//! were cut apart, and stops one level before the depth that is promised.

use serde_json::{Map, Number, Value};

use crate::MAX_DEPTH;
use crate::error::ParseError;

/// Reads one JSON text: numbers keep their text, objects their order, of duplicate keys the last value wins.
///
/// # Errors
/// Line and column of the first thing that is not JSON, or nesting beyond [`MAX_DEPTH`].
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.document().map_err(|wrong| match wrong {
        Wrong::TooDeep => ParseError::too_deep("JSON", text, parser.at),
        Wrong::Syntax(what) => ParseError::at_text("JSON", text, parser.at, what),
    })
}

/// What stopped the parser; it stands at the place.
enum Wrong {
    TooDeep,
    Syntax(&'static str),
}

type Read<T> = Result<T, Wrong>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn document(&mut self) -> Read<Value> {
        let value = self.value()?;
        self.skip_blanks();
        if self.at < self.text.len() {
            return Err(Wrong::Syntax("expected the end after the value"));
        }
        Ok(value)
    }

    fn value(&mut self) -> Read<Value> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(_) => Err(Wrong::Syntax("expected a value")),
            None => Err(Wrong::Syntax("ends where a value is expected")),
        }
    }

    /// Reads an object or a list (the parser stands at its bracket) one level down.
    fn nested(&mut self, read: fn(&mut Self) -> Read<Value>) -> Read<Value> {
        if self.depth == MAX_DEPTH {
            return Err(Wrong::TooDeep);
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Read<Value> {
        let mut members = Map::new();
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(Wrong::Syntax("expected a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_blanks();
            if !self.take(b':') {
                return Err(Wrong::Syntax("expected `:`"));
            }
            let value = self.value()?;
            members.insert(key, value);
            self.skip_blanks();
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.take(b',') {
                return Err(Wrong::Syntax("expected `,` or `}`"));
            }
        }
    }

    fn array(&mut self) -> Read<Value> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_blanks();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return Err(Wrong::Syntax("expected `,` or `]`"));
            }
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Read<Value> {
        if !self.text[self.at..].starts_with(word) {
            return Err(Wrong::Syntax("expected a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Read<Number> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        } else if matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(Wrong::Syntax("a number does not begin with 0"));
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        // The one way into a Number that leaves the exponent as written. It checks nothing; the grammar above does.
        Ok(Number::from_string_unchecked(self.text[start..self.at].to_owned()))
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(Wrong::Syntax("expected a digit")) } else { Ok(()) }
    }

    /// Reads a string; the parser stands at its opening quote.
    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut value = String::new();
        let mut copied = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    value.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => {
                    value.push_str(&self.text[copied..self.at]);
                    value.push(self.escape()?);
                    copied = self.at;
                }
                Some(0..=0x1f) => return Err(Wrong::Syntax("control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(Wrong::Syntax("ends inside a string")),
            }
        }
    }

    /// Reads an escape; the parser stands at its backslash.
    fn escape(&mut self) -> Read<char> {
        let plain = match self.text.as_bytes().get(self.at + 1) {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return self.unicode_escape(),
        };
        self.at += 2;
        Ok(plain)
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair.
    ///
    /// Senders that cut text at 16-bit units leave halves of pairs behind. Half a pair is U+FFFD: the event matters
    /// more than the character.
    fn unicode_escape(&mut self) -> Read<char> {
        let first = self.code_unit(self.at).ok_or(Wrong::Syntax("invalid escape in a string"))?;
        self.at += 6;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        match self.code_unit(self.at) {
            Some(second @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
                self.at += 6;
                let pair = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    /// The value of the `\uXXXX` at a place.
    fn code_unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;

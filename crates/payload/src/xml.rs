//! XML as an object. Well-formedness is checked; document types are skipped, so no entity is ever expanded or fetched.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesEnd, BytesRef, BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};
use serde_json::{Map, Value};

use crate::MAX_DEPTH;
use crate::error::ParseError;
use crate::repeat;

/// Reads an XML document as `{root: …}`.
///
/// An element that has only text is a string, any other an object: attributes `@name`, children by name (repeated ones
/// a list), text beside them `#text`. Blanks at both ends of a text are dropped unless they stand in CDATA or are
/// written as references. Names keep their prefixes; comments and processing instructions are dropped.
///
/// # Errors
/// The document is not well-formed, uses an entity that is not predefined, or its elements, or the brackets of the
/// resulting value, nest deeper than [`MAX_DEPTH`].
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    if let Some((at, _)) = text.char_indices().find(|(_, c)| !is_legal(*c)) {
        return Err(ParseError::at_text("XML", text, at, "character that XML does not allow"));
    }
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    config.check_comments = true;
    let mut document = Document::default();
    loop {
        let start = reader.buffer_position();
        let step = match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => document.take(event, start == 0),
            Err(why) => return Err(ParseError::at_text("XML", text, place(reader.error_position()), explain(&why))),
        };
        step.map_err(|wrong| match wrong {
            Wrong::TooDeep => ParseError::too_deep("XML", text, place(start)),
            Wrong::Syntax(what) => ParseError::at_text("XML", text, place(start), what),
        })?;
    }
    let ended = |what| ParseError::at_text("XML", text, text.len(), what);
    if !document.open.is_empty() {
        return Err(ended("ends inside an element"));
    }
    let (name, root) = document.root.ok_or_else(|| ended("no element"))?;
    let payload = Value::Object(Map::from_iter([(name, root)]));
    if brackets(&payload) > MAX_DEPTH {
        return Err(ParseError::too_deep("XML", text, text.len()));
    }
    Ok(payload)
}

/// What stopped the reading of an event.
enum Wrong {
    TooDeep,
    Syntax(&'static str),
}

type Read<T> = Result<T, Wrong>;

/// The elements that are open, from the root inwards, or the finished root.
#[derive(Default)]
struct Document {
    open: Vec<Element>,
    root: Option<(String, Value)>,
}

#[derive(Default)]
struct Element {
    name: String,
    members: Map<String, Value>,
    text: String,
    /// Up to here the text was written so that its blanks count.
    kept: usize,
}

impl Document {
    fn take(&mut self, event: Event<'_>, first: bool) -> Read<()> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(&tag),
            Event::Text(piece) => self.text(&piece.xml10_content().map_err(|_| Wrong::Syntax("malformed text"))?),
            Event::CData(piece) => {
                let text = piece.xml10_content().map_err(|_| Wrong::Syntax("malformed CDATA"))?;
                self.inside()?.keep(&text);
                Ok(())
            }
            Event::GeneralRef(name) => {
                let element = self.inside()?;
                let mut buffer = [0; 4];
                element.keep(resolve(&name)?.encode_utf8(&mut buffer));
                Ok(())
            }
            Event::Decl(_) if !first => Err(Wrong::Syntax("XML declaration that is not at the start")),
            Event::DocType(_) if self.root.is_some() || !self.open.is_empty() => {
                Err(Wrong::Syntax("document type behind the root element's start"))
            }
            Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) | Event::Empty(_) | Event::Eof => {
                Ok(())
            }
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Read<()> {
        if self.root.is_some() {
            return Err(Wrong::Syntax("second root element"));
        }
        if self.open.len() == MAX_DEPTH {
            return Err(Wrong::TooDeep);
        }
        let mut element = Element { name: name(tag.name().as_ref())?, ..Element::default() };
        // Their own check for duplicates compares each name with each other one.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|_| Wrong::Syntax("malformed attribute"))?;
            if attribute.value.contains(&b'<') {
                return Err(Wrong::Syntax("`<` in an attribute's value"));
            }
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|_| Wrong::Syntax("reference in an attribute that is not predefined or not valid"))?;
            if !value.chars().all(is_legal) {
                return Err(Wrong::Syntax("reference to a character that XML does not allow"));
            }
            let name = format!("@{}", name(attribute.key.as_ref())?);
            if element.members.insert(name, Value::String(value.into_owned())).is_some() {
                return Err(Wrong::Syntax("attribute given twice"));
            }
        }
        self.open.push(element);
        Ok(())
    }

    /// Closes the innermost element; that the names match was checked by the reader.
    fn end(&mut self, _tag: &BytesEnd<'_>) -> Read<()> {
        let (name, value) = self.open.pop().ok_or(Wrong::Syntax("end tag without a start tag"))?.finish();
        match self.open.last_mut() {
            Some(parent) => repeat::add(&mut parent.members, name, value),
            None => self.root = Some((name, value)),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Read<()> {
        match self.open.last_mut() {
            Some(element) => {
                let text = if element.text.is_empty() { text.trim_start_matches(BLANKS) } else { text };
                element.text.push_str(text);
                Ok(())
            }
            None if text.trim_matches(BLANKS).is_empty() => Ok(()),
            None => Err(OUTSIDE),
        }
    }

    fn inside(&mut self) -> Read<&mut Element> {
        self.open.last_mut().ok_or(OUTSIDE)
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
const OUTSIDE: Wrong = Wrong::Syntax("text outside the root element");

impl Element {
    /// Adds text whose blanks count.
    fn keep(&mut self, text: &str) {
        self.text.push_str(text);
        self.kept = self.text.len();
    }

    fn finish(mut self) -> (String, Value) {
        let end = self.text.trim_end_matches(BLANKS).len().max(self.kept);
        self.text.truncate(end);
        if self.members.is_empty() {
            return (self.name, Value::String(self.text));
        }
        if !self.text.is_empty() {
            self.members.insert("#text".to_owned(), Value::String(self.text));
        }
        (self.name, Value::Object(self.members))
    }
}

/// The character that a reference stands for: a predefined entity or a number.
fn resolve(reference: &BytesRef<'_>) -> Read<char> {
    let not_valid = Wrong::Syntax("reference to a character that XML does not allow");
    if let Some(c) = reference.resolve_char_ref().map_err(|_| Wrong::Syntax("malformed character reference"))? {
        return if is_legal(c) { Ok(c) } else { Err(not_valid) };
    }
    let name = reference.decode().unwrap_or_default();
    let entity = resolve_predefined_entity(&name).and_then(|text| text.chars().next());
    entity.ok_or(Wrong::Syntax("entity that is not predefined"))
}

/// The name of an element or attribute (the ASCII part of the rule in XML 1.0, section 2.3).
fn name(written: &[u8]) -> Read<String> {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':' || !c.is_ascii();
    let goes_on = |c: char| begins(c) || c.is_ascii_digit() || c == '-' || c == '.';
    let name = std::str::from_utf8(written).unwrap_or_default();
    if name.starts_with(begins) && name.chars().all(goes_on) {
        Ok(name.to_owned())
    } else {
        Err(Wrong::Syntax("name that XML does not allow"))
    }
}

/// XML 1.0, section 2.2.
fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// How many brackets stand inside one another. A repeated element adds two, so at most twice the elements.
fn brackets(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(brackets).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(brackets).max().unwrap_or(0),
        _ => 0,
    }
}

/// The reader's own words repeat names from the document.
fn explain(why: &Error) -> &'static str {
    use quick_xml::errors::IllFormedError as Form;
    match why {
        Error::IllFormed(Form::MismatchedEndTag { .. }) => "end tag that does not match its start tag",
        Error::IllFormed(Form::UnmatchedEndTag(_)) => "end tag without a start tag",
        Error::IllFormed(Form::UnclosedReference) => "`&` that begins no reference",
        Error::IllFormed(Form::DoubleHyphenInComment) => "`--` in a comment",
        Error::Syntax(_) => "markup that is not closed",
        _ => "malformed markup",
    }
}

fn place(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;

//! From YAML to the tree.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::{Entry, Item, Mark, Node, Value, typed};
use crate::path::{Path, Step};
use crate::problem::Fault;

/// Deeper than any configuration, shallow enough for every stack that walks the tree.
const MAX_DEPTH: usize = 64;

/// What the tree may weigh once aliases are put in: bytes of text, and [`NODE_WEIGHT`] a node. A page of aliases to
/// aliases would otherwise fill the memory.
const MAX_WEIGHT: usize = 16 << 20;
const NODE_WEIGHT: usize = 64;

/// Reads one YAML document. Keys that stand twice, and tags, are noted in `faults` and left out; what makes the rest
/// unreadable is the error. A file without anything in it is a `null`.
pub(crate) fn parse(text: &str, faults: &mut Vec<Fault>) -> Result<Node, Fault> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder { faults, stack: Vec::new(), anchors: HashMap::new(), weight: 0, kept: 0, root: None };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| syntax(&error, text))?;
        builder.take(event, mark(span.start))?;
    }
    Ok(builder.root.unwrap_or_else(|| Node::new(Mark { line: 1, column: 1 }, Value::Null)))
}

fn mark(marker: granit_parser::Marker) -> Mark {
    Mark { line: marker.line().max(1), column: marker.col() + 1 }
}

fn syntax(error: &ScanError, text: &str) -> Fault {
    let at = mark(*error.marker());
    let fault = Fault::new(Path::default(), Some(at), format!("not valid YAML: {}", error.info()));
    // `{secret: ${NAME}}`: the braces end the scalar early, and the parser's words do not say so.
    let near = text.lines().nth(at.line - 1).is_some_and(|line| line.contains("${"));
    if near { fault.help("inside { } and [ ] a ${NAME} needs quotes: \"${NAME}\"") } else { fault }
}

struct Builder<'f> {
    faults: &'f mut Vec<Fault>,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    /// Of the tree so far.
    weight: usize,
    /// Of the copies that aliases are made from.
    kept: usize,
    root: Option<Node>,
}

/// A node that aliases may name, what it weighs and how deep it is.
struct Anchored {
    node: Node,
    weight: usize,
    height: usize,
}

/// A container that is still open.
struct Frame {
    at: Mark,
    anchor: usize,
    weight_before: usize,
    height: usize,
    members: Members,
}

enum Members {
    List(Vec<Item>),
    Map { entries: Vec<Entry>, key: Option<(String, Mark)>, seen: HashMap<String, Mark> },
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, at: Mark) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document begins here: the file holds one document";
                return Err(Fault::new(Path::default(), Some(at), message));
            }
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag.as_deref(), at)?,
            Event::SequenceStart(_, anchor, tag) => self.open(Members::List(Vec::new()), anchor, tag.as_deref(), at)?,
            Event::MappingStart(_, anchor, tag) => {
                let members = Members::Map { entries: Vec::new(), key: None, seen: HashMap::new() };
                self.open(members, anchor, tag.as_deref(), at)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close()?,
            Event::Alias(id) => self.alias(id, at)?,
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        at: Mark,
    ) -> Result<(), Fault> {
        if let Some(Members::Map { key: key @ None, .. }) = self.stack.last_mut().map(|frame| &mut frame.members) {
            *key = Some((text.to_owned(), at));
            return self.grow(NODE_WEIGHT + text.len(), at);
        }
        self.note_tag(tag, at);
        let plain = match tag.and_then(Tag::core_suffix) {
            Some("str") => false,
            Some(_) => true,
            None => style == ScalarStyle::Plain,
        };
        let value = if plain { typed(text) } else { Value::Text(text.to_owned()) };
        let weight = NODE_WEIGHT + text.len();
        self.grow(weight, at)?;
        self.finish(Node { at, value, plain, put_in: None }, anchor, weight, 1)
    }

    fn open(&mut self, members: Members, anchor: usize, tag: Option<&Tag>, at: Mark) -> Result<(), Fault> {
        self.no_container_as_key(at)?;
        self.note_tag(tag, at);
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.too_deep(at));
        }
        let weight_before = self.weight;
        self.grow(NODE_WEIGHT, at)?;
        self.stack.push(Frame { at, anchor, weight_before, height: 1, members });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let value = match frame.members {
            Members::List(items) => Value::List(items),
            Members::Map { entries, .. } => Value::Map(entries),
        };
        let weight = self.weight - frame.weight_before;
        self.finish(Node::new(frame.at, value), frame.anchor, weight, frame.height)
    }

    fn alias(&mut self, id: usize, at: Mark) -> Result<(), Fault> {
        self.no_container_as_key(at)?;
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(Fault::new(self.path(), Some(at), "an alias cannot stand inside what it names"));
        };
        let (node, weight, height) = (anchored.node.clone(), anchored.weight, anchored.height);
        if self.stack.len() + height > MAX_DEPTH {
            return Err(self.too_deep(at));
        }
        self.grow(weight, at)?;
        self.finish(node, 0, weight, height)
    }

    /// Puts a complete node where it belongs.
    fn finish(&mut self, node: Node, anchor: usize, weight: usize, height: usize) -> Result<(), Fault> {
        if anchor > 0 {
            self.kept += weight;
            self.grow(0, node.at)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), weight, height });
        }
        let path = self.path();
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.height = frame.height.max(height + 1);
        match &mut frame.members {
            Members::List(items) => items.push(Item { index: items.len(), node }),
            Members::Map { entries, key, seen } => {
                let Some((key, key_at)) = key.take() else { return Ok(()) };
                if let Some(first) = seen.get(&key) {
                    let fault = Fault::new(path, Some(key_at), format!("written twice, first at {first}"));
                    self.faults.push(fault.help("keep one of the two"));
                } else {
                    seen.insert(key.clone(), key_at);
                    entries.push(Entry { key, key_at, node });
                }
            }
        }
        Ok(())
    }

    fn grow(&mut self, weight: usize, at: Mark) -> Result<(), Fault> {
        self.weight += weight;
        if self.weight + self.kept > MAX_WEIGHT {
            return Err(Fault::new(self.path(), Some(at), "the file is too large once its aliases are put in"));
        }
        Ok(())
    }

    fn no_container_as_key(&self, at: Mark) -> Result<(), Fault> {
        match self.stack.last().map(|frame| &frame.members) {
            Some(Members::Map { key: None, .. }) => {
                Err(Fault::new(self.path(), Some(at), "a key must be a plain text"))
            }
            _ => Ok(()),
        }
    }

    fn note_tag(&mut self, tag: Option<&Tag>, at: Mark) {
        if tag.is_some_and(|tag| tag.core_suffix().is_none()) {
            let fault = Fault::new(self.path(), Some(at), "YAML tags (`!name`) mean nothing here");
            self.faults.push(fault.help("take the tag away; for a value from the environment write ${NAME}"));
        }
    }

    fn too_deep(&self, at: Mark) -> Fault {
        Fault::new(self.path(), Some(at), format!("nested deeper than {MAX_DEPTH} levels"))
    }

    /// The way to the value that is being read.
    fn path(&self) -> Path {
        let steps = self.stack.iter().filter_map(|frame| match &frame.members {
            Members::List(items) => Some(Step::Index(items.len())),
            Members::Map { key, .. } => key.as_ref().map(|(key, _)| Step::Key(key.clone())),
        });
        steps.fold(Path::default(), |path, step| path.step(step))
    }
}

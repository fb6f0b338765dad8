//! `file`: one JSON line per answer.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Kind, Resend, Tell};
use crate::key::{IDEMPOTENT, Key, Shape};
use crate::literal::{check_file, check_route, pick};
use crate::message::Message;
use crate::options::{Options, TargetError};
use crate::step::{Append, Invalid, Step, Surroundings};

pub(crate) const KIND: Kind = Kind {
    name: "file",
    about: "a file that gets one JSON line per answer",
    told: "one write of `{id, event_id, run_id, route, event, delivery_id, content, created_at}` and a line end",
    limit: "none",
    resend: Resend::IfIdempotent,
    keys: &[
        Key::new(
            "path",
            Shape::Text,
            "The file; a relative path is under Doorbell's home. A literal, here or in `deliver_extra`.",
        )
        .also_in_route(),
        IDEMPOTENT,
    ],
    read,
};

#[derive(Debug)]
struct File {
    path: Option<String>,
}

fn read(options: &mut Options) -> Arc<dyn Tell> {
    let path = options.text("path");
    if let Some(why) = path.as_deref().and_then(|path| check_file(path).err()) {
        options.error("path", why);
    }
    Arc::new(File { path })
}

impl Tell for File {
    fn plan(&self, message: &Message, around: &Surroundings) -> Result<Step, Invalid> {
        let path = pick("path", &message.extra, self.path.as_deref(), check_file)?;
        let path = Path::new(around.home).join(path).to_string_lossy().into_owned();
        let line = format!("{}\n", Value::Object(message.record()));
        Ok(Step::Append(Append { path, line }))
    }

    fn check_route(&self, extra: &Map<String, Value>) -> Vec<TargetError> {
        check_route("path", extra, self.path.is_some(), check_file).into_iter().collect()
    }
}

//! An HTTP server that notes what it gets and answers as the test says.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

use super::until_some;

/// One request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

/// How a request is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// With this status, these headers and this body.
    With(u16, Vec<(&'static str, String)>, &'static str),
    /// Not at all: the connection is closed once the request is read.
    HangUp,
    /// With 200, once the gate is open.
    When(Gate),
}

impl Reply {
    pub(crate) fn status(status: u16) -> Reply {
        Reply::With(status, Vec::new(), "{}")
    }
}

/// Something that many can wait for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn open(&self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let closed = self.0.1.wait_while(lock(&self.0.0), |open| !*open);
        drop(closed.unwrap_or_else(PoisonError::into_inner));
    }
}

type Script = dyn Fn(usize, &Seen) -> Reply + Send + Sync;

struct Inner {
    seen: Mutex<Vec<Seen>>,
    script: Box<Script>,
    over: AtomicBool,
}

/// The server.
pub(crate) struct Receiver {
    address: SocketAddr,
    inner: Arc<Inner>,
}

impl Receiver {
    /// One that answers 200 to everything.
    pub(crate) fn new() -> Receiver {
        Receiver::scripted(|_, _| Reply::status(200))
    }

    /// One that answers by these, the last one for ever.
    pub(crate) fn answering(replies: Vec<Reply>) -> Receiver {
        Receiver::scripted(move |number, _| replies[number.min(replies.len() - 1)].clone())
    }

    /// One that answers by the request's number, from 0, and by the request.
    pub(crate) fn scripted(script: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let inner = Arc::new(Inner { seen: Mutex::default(), script: Box::new(script), over: AtomicBool::new(false) });
        let accepting = Arc::clone(&inner);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.over.load(Ordering::SeqCst) {
                    return;
                }
                let inner = Arc::clone(&accepting);
                // A sender that goes away in the middle is part of the stories.
                thread::spawn(move || drop(inner.serve(&stream)));
            }
        });
        Receiver { address, inner }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that came, in their order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        lock(&self.inner.seen).clone()
    }

    /// Waits until so many requests came; answers them.
    pub(crate) fn wait(&self, count: usize) -> Vec<Seen> {
        until_some(&format!("{count} requests came"), || Some(self.seen()).filter(|seen| seen.len() >= count))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.inner.over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Inner {
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        while let Some(seen) = read(&mut reader)? {
            let number = {
                let mut all = lock(&self.seen);
                all.push(seen.clone());
                all.len() - 1
            };
            let (status, headers, body) = match (self.script)(number, &seen) {
                Reply::HangUp => return Ok(()),
                Reply::With(status, headers, body) => (status, headers, body),
                Reply::When(gate) => {
                    gate.wait();
                    (200, Vec::new(), "{}")
                }
            };
            let mut lines = vec![format!("HTTP/1.1 {status} As told"), format!("Content-Length: {}", body.len())];
            lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
            (&mut &*stream).write_all(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())?;
        }
        Ok(())
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_ascii_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut seen = Seen { method, path, headers, body: Vec::new() };
    let length = seen.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    seen.body.resize(length, 0);
    reader.read_exact(&mut seen.body)?;
    Ok(Some(seen))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! A way to a PostgreSQL that the test can block, cut, or let time out.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// They go through.
    Open,
    /// They are reset at once, as by a machine where nobody listens.
    Refused,
    /// They are taken, and nothing comes through in either direction.
    Silent,
    /// A transaction that writes is committed, and then its connection is reset before the answer comes through. Not where they are
    /// encrypted.
    Forgetful,
}

const COMMIT: &[u8] = b"COMMIT\0";

/// Whether a client's words commit what it has written; `reads` is kept from one call to the next. The end of a read is waited for
/// by nobody: the answer that is lost would be that of whoever comes next on the connection.
fn commits(words: &[u8], reads: &mut bool) -> bool {
    let mut found = false;
    for at in 0..words.len() {
        let rest = &words[at..];
        if rest.starts_with(b"BEGIN ") {
            *reads = false;
        } else if rest.starts_with(b"READ ONLY") {
            *reads = true;
        } else if rest.starts_with(COMMIT) {
            found |= !*reads;
        }
    }
    found
}

struct Shared {
    way: Mutex<Way>,
    changed: Condvar,
    tries: AtomicUsize,
    passed: AtomicUsize,
    streams: Mutex<Vec<TcpStream>>,
}

/// A proxy in front of one address. Its threads end with the test's process.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// In front of a port of this machine.
    pub(crate) fn before(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            way: Mutex::new(Way::Open),
            changed: Condvar::new(),
            tries: AtomicUsize::new(0),
            passed: AtomicUsize::new(0),
            streams: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                own.tries.fetch_add(1, Ordering::Relaxed);
                own.take(stream, port);
            }
        });
        Proxy { address, shared }
    }

    /// The URL of a database, by way of this proxy.
    pub(crate) fn url(&self, direct: &str) -> String {
        let (head, tail) = direct.split_once('@').expect("a user");
        let (_, path) = tail.split_once('/').expect("a database");
        format!("{head}@{}/{path}", self.address)
    }

    /// Lets everything through again.
    pub(crate) fn opens(&self) {
        self.turn(Way::Open);
    }

    /// Resets what is connected, and whoever comes.
    pub(crate) fn refuses(&self) {
        self.turn(Way::Refused);
        self.cuts();
    }

    /// Lets nothing through any more: nobody is told.
    pub(crate) fn falls_silent(&self) {
        self.turn(Way::Silent);
    }

    /// Lets every COMMIT through, and no answer to it.
    pub(crate) fn forgets_answers(&self) {
        self.turn(Way::Forgetful);
    }

    /// Resets what is connected now.
    pub(crate) fn cuts(&self) {
        for stream in self.shared.streams().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// How many connections have been tried so far.
    pub(crate) fn tries(&self) -> usize {
        self.shared.tries.load(Ordering::Relaxed)
    }

    /// How many bytes have passed so far, in both directions.
    pub(crate) fn passed(&self) -> usize {
        self.shared.passed.load(Ordering::Relaxed)
    }

    fn turn(&self, way: Way) {
        *self.shared.way.lock().unwrap_or_else(PoisonError::into_inner) = way;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn take(self: &Arc<Self>, from: TcpStream, port: u16) {
        if self.way() == Way::Refused {
            return;
        }
        let Ok(to) = TcpStream::connect(("127.0.0.1", port)) else { return };
        let committed = Arc::new(AtomicBool::new(false));
        for (reader, writer, down) in [(&from, &to, false), (&to, &from, true)] {
            let (mut reader, mut writer) =
                (reader.try_clone().expect("a handle"), writer.try_clone().expect("a handle"));
            let (own, committed) = (Arc::clone(self), Arc::clone(&committed));
            thread::spawn(move || {
                let mut buffer = [0; 16 * 1024];
                let mut reads = false;
                while let Ok(length) = reader.read(&mut buffer) {
                    own.wait_until_not_silent();
                    own.passed.fetch_add(length, Ordering::Relaxed);
                    if down && committed.load(Ordering::Relaxed) && length > 0 {
                        if buffer[..length].windows(COMMIT.len()).any(|bytes| bytes == COMMIT) {
                            break;
                        }
                        continue;
                    }
                    if !down && commits(&buffer[..length], &mut reads) && own.way() == Way::Forgetful {
                        committed.store(true, Ordering::Relaxed);
                    }
                    if length == 0 || writer.write_all(&buffer[..length]).is_err() {
                        break;
                    }
                }
                let _ = writer.shutdown(Shutdown::Both);
                let _ = reader.shutdown(Shutdown::Both);
            });
        }
        self.streams().extend([from, to]);
    }

    fn way(&self) -> Way {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_not_silent(&self) {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(way, |way| *way == Way::Silent).unwrap_or_else(PoisonError::into_inner));
    }

    fn streams(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! How nodes wake each other: a notification at most every 50 milliseconds, sent apart from the steps themselves, since
//! the commits of transactions that notify wait for each other in the database.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::link::{CONNECT, Kind, Link};

/// Notifications of one node keep this distance.
const DISTANCE: Duration = Duration::from_millis(50);
/// How often a node that hears nothing looks for itself.
const POLL: Duration = Duration::from_secs(2);
/// How often a quiet connection is asked whether it is still there.
const QUIET: Duration = Duration::from_secs(30);
/// When to try again to hear something.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What this node tells and hears.
pub(super) struct Wake {
    process: String,
    tell: Notify,
    /// How often there was something to tell, and how much of that has been told.
    asked: AtomicU64,
    told: AtomicU64,
    heard: Notify,
    listening: AtomicBool,
}

impl Wake {
    pub(super) fn new(process: String) -> Arc<Wake> {
        let [asked, told] = [0, 0].map(AtomicU64::new);
        let listening = AtomicBool::new(false);
        Arc::new(Wake { process, tell: Notify::new(), asked, told, heard: Notify::new(), listening })
    }

    pub(super) fn process(&self) -> &str {
        &self.process
    }

    /// Tells the other nodes, soon, that there may be work.
    pub(super) fn tell(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.tell.notify_one();
    }

    /// Tells what has not been told yet. `false`: it still has not.
    async fn tell_now(&self, link: &Link) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        if self.told.load(Ordering::Relaxed) >= asked {
            return true;
        }
        let done = notify(link, &self.process).await.is_ok();
        if done {
            self.told.fetch_max(asked, Ordering::Relaxed);
        }
        done
    }

    /// The same for a node that ends: what it has handed back does not wait until others look for themselves.
    pub(super) async fn tell_the_last(&self, link: &Link) {
        let _ = timeout(POLL, self.tell_now(link)).await;
    }

    /// Waits until another node has told, or for a while when it could not be heard.
    pub(super) async fn changed(&self) {
        let mut listened = self.listening.load(Ordering::Relaxed);
        loop {
            let heard = timeout(POLL, self.heard.notified()).await;
            // A connection that broke meanwhile may have missed something.
            let listens = self.listening.load(Ordering::Relaxed);
            if heard.is_ok() || !listens || !listened {
                return;
            }
            listened = listens;
        }
    }

    /// The tasks that tell and hear; they end with the set.
    pub(super) fn start(self: &Arc<Self>, link: &Link, config: Config, tls: MakeRustlsConnect) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(self).speak(link.clone()));
        tasks.spawn(Arc::clone(self).listen(link.clone(), config, tls));
        tasks
    }

    async fn speak(self: Arc<Self>, link: Link) {
        loop {
            self.tell.notified().await;
            if self.tell_now(&link).await {
                sleep(DISTANCE).await;
            } else {
                // The database is away, perhaps.
                sleep(POLL).await;
                self.tell.notify_one();
            }
        }
    }

    async fn listen(self: Arc<Self>, link: Link, config: Config, tls: MakeRustlsConnect) {
        let mut wait = FIRST_WAIT;
        loop {
            if let Some((client, mut messages)) = connect(&config, tls.clone()).await
                && self.is_heard(&link, &mut messages).await
            {
                self.listening.store(true, Ordering::Relaxed);
                self.heard.notify_one();
                self.hear(&client, &mut messages).await;
                self.listening.store(false, Ordering::Relaxed);
                self.heard.notify_one();
                wait = FIRST_WAIT;
            } else {
                tracing::debug!("notifications of the database do not come through; looking every 2 s");
            }
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// A pooler takes LISTEN and forgets it: whether something comes through is seen only when something does.
    async fn is_heard(&self, link: &Link, messages: &mut mpsc::Receiver<String>) -> bool {
        let test = format!("test {}", self.process);
        if notify(link, &test).await.is_err() {
            return false;
        }
        let comes = async {
            while let Some(message) = messages.recv().await {
                if message == test {
                    return true;
                }
            }
            false
        };
        timeout(POLL, comes).await.unwrap_or(false)
    }

    async fn hear(&self, client: &Client, messages: &mut mpsc::Receiver<String>) {
        loop {
            match timeout(QUIET, messages.recv()).await {
                Ok(Some(process)) if process != self.process && !process.starts_with("test ") => {
                    self.heard.notify_one();
                }
                Ok(Some(_)) => {}
                Err(_) if timeout(CONNECT, client.batch_execute("")).await.is_ok_and(|answer| answer.is_ok()) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }
}

async fn notify(link: &Link, message: &str) -> Result<(), super::Failure> {
    let tx = link.begin(Kind::Relaxed).await?;
    let told = tx.query("SELECT pg_notify('doorbell', $1)", &[message.into()]).await;
    tx.end(told.map(drop)).await
}

/// A connection that listens, and what comes over it.
async fn connect(config: &Config, tls: MakeRustlsConnect) -> Option<(Client, mpsc::Receiver<String>)> {
    let (client, mut connection) = timeout(CONNECT, config.connect(tls)).await.ok()?.ok()?;
    let (sender, messages) = mpsc::channel(64);
    // Ends when the client is dropped.
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message {
                // Full: then there is enough to hear.
                let _ = sender.try_send(notification.payload().to_owned());
            }
        }
    });
    timeout(CONNECT, client.batch_execute("LISTEN doorbell")).await.ok()?.ok()?;
    Some((client, messages))
}

-- Events are the queue: `seq` is the order of arrival. `ready` is 1 only for a queued event that is due, whose line is
-- free and whose route is not paused, so that a claim reads the head of a small index and never skips a row.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    route TEXT NOT NULL,
    source TEXT NOT NULL,
    event_type TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    -- The key that it came with, whether it still holds it or not; NULL: nothing can be a duplicate of it.
    key TEXT,
    state TEXT NOT NULL,
    reason TEXT,
    ready INTEGER NOT NULL DEFAULT 0,
    line TEXT,
    priority INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    retries_spent INTEGER NOT NULL DEFAULT 0,
    interruptions INTEGER NOT NULL DEFAULT 0,
    later_since INTEGER,
    hop INTEGER NOT NULL DEFAULT 0,
    superseded_by TEXT,
    received_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE INDEX events_ready ON events (route, priority DESC, seq) WHERE ready = 1;
CREATE INDEX events_due ON events (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX events_line ON events (route, line, seq)
    WHERE line IS NOT NULL AND state IN ('held', 'queued', 'running', 'failed');
CREATE INDEX events_line_ready ON events (route, line) WHERE line IS NOT NULL AND ready = 1;
CREATE INDEX events_finished ON events (state, finished_at, seq) WHERE finished_at IS NOT NULL;
CREATE INDEX events_by_route ON events (route, state, seq);
-- `due_at` so that the oldest event that could run is found without a look at those that wait for a time.
CREATE INDEX events_by_state ON events (state, seq, due_at);
CREATE INDEX events_by_delivery_id ON events (delivery_id, seq);

-- The requests, in a table of their own so that the pages of the queue stay small. `codec`: 0 plain, 1 zstd.
CREATE TABLE requests (
    event_seq INTEGER PRIMARY KEY,
    headers TEXT NOT NULL,
    codec INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- What must not come twice: the event that holds each (route, key), the newest or an older one that was retried since.
CREATE TABLE keys (
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    event_seq INTEGER NOT NULL,
    PRIMARY KEY (route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_event ON keys (event_seq);

CREATE TABLE runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    event_seq INTEGER NOT NULL,
    route TEXT NOT NULL,
    agent TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    boot INTEGER NOT NULL,
    state TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    exit_code INTEGER,
    error TEXT,
    session_id TEXT,
    cost_usd TEXT,
    usage TEXT
) STRICT;
CREATE INDEX runs_by_event ON runs (event_seq, seq);
CREATE INDEX runs_in_flight ON runs (seq) WHERE state = 'running';
CREATE INDEX runs_by_route ON runs (route, state, seq);
CREATE INDEX runs_by_state ON runs (state, seq);

-- What a run was asked and what it said. Each blob begins with its codec, see `blob.rs`.
CREATE TABLE run_texts (
    run_seq INTEGER PRIMARY KEY,
    prompt BLOB,
    answer BLOB,
    stderr BLOB
) STRICT;

-- `due_at` is set only while a delivery waits to be sent. Its text is the answer of its run.
CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    event_seq INTEGER NOT NULL,
    run_seq INTEGER,
    target TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    spent INTEGER NOT NULL DEFAULT 0,
    boot INTEGER,
    error TEXT,
    extra TEXT NOT NULL,
    due_at INTEGER,
    created_at INTEGER NOT NULL,
    delivered_at INTEGER
) STRICT;
CREATE INDEX deliveries_due ON deliveries (target, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_next ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_under_way ON deliveries (seq) WHERE state = 'sending';
CREATE INDEX deliveries_by_event ON deliveries (event_seq, seq);
CREATE INDEX deliveries_by_state ON deliveries (state, seq);

-- The routes that the gateway has now; in force once `meta` holds `routes_told`.
CREATE TABLE routes (route TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE pauses (route TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- One minute of admissions a route.
CREATE TABLE rates (route TEXT PRIMARY KEY, began INTEGER NOT NULL, admitted INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Gauges. Triggers keep them in the transaction that changes what they count, so that they cannot drift.
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER events_counted AFTER INSERT ON events BEGIN
    INSERT INTO counters VALUES ('event.' || new.state, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER events_moved AFTER UPDATE OF state ON events WHEN old.state <> new.state BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'event.' || old.state;
    INSERT INTO counters VALUES ('event.' || new.state, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER events_gone AFTER DELETE ON events BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'event.' || old.state;
END;
CREATE TRIGGER deliveries_counted AFTER INSERT ON deliveries BEGIN
    INSERT INTO counters VALUES ('delivery.' || new.state, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER deliveries_moved AFTER UPDATE OF state ON deliveries WHEN old.state <> new.state BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'delivery.' || old.state;
    INSERT INTO counters VALUES ('delivery.' || new.state, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER deliveries_gone AFTER DELETE ON deliveries BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'delivery.' || old.state;
END;
CREATE TRIGGER ignored_counted AFTER INSERT ON events WHEN new.state = 'ignored' BEGIN
    INSERT INTO counters VALUES ('ignored.' || new.route, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER ignored_gone AFTER DELETE ON events WHEN old.state = 'ignored' BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'ignored.' || old.route;
END;

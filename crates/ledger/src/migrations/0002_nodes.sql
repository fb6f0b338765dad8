-- Lives of gateways. One file has one owner, so only the last of them may live; it has `ended` when it said goodbye.
CREATE TABLE nodes (
    boot INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0
) STRICT;

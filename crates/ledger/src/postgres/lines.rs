//! Who may run: the rules behind `ready`. The rule of a line itself is `refresh_line` in the schema.

use rules::states::EventState;

use super::{Failure, Tx, Value};

/// Waits for the line: until the end of the transaction nobody else changes what concerns it.
pub(super) async fn lock(tx: &Tx, route: &str, line: Option<&str>) -> Result<(), Failure> {
    let Some(line) = line else { return Ok(()) };
    tx.query("SELECT pg_advisory_xact_lock(lock_of('line', $1, $2))", &[route.into(), line.into()]).await?;
    Ok(())
}

/// Makes the heads of lines ready, which are locked.
pub(super) async fn refresh(tx: &Tx, lines: &[(&str, &str)]) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    let (routes, lines): (Vec<&str>, Vec<&str>) = lines.iter().copied().unzip();
    let values = [Value::texts(routes), Value::texts(lines)];
    tx.query("SELECT refresh_line(r, l) FROM (SELECT DISTINCT r, l FROM unnest($1, $2) AS t (r, l)) AS lines", &values)
        .await?;
    Ok(())
}

/// Lets an event that is queued and waits for no time take its place: at once when it has no line, else by its line's rule.
pub(super) async fn enter(tx: &Tx, seq: i64, route: &str, line: Option<&str>) -> Result<(), Failure> {
    if let Some(line) = line {
        return refresh(tx, &[(route, line)]).await;
    }
    tx.execute("UPDATE events SET ready = true WHERE seq = $1 AND NOT ready", &[seq.into()]).await?;
    Ok(())
}

/// What stands between a route and its runs: the reason that its waiting events are `held` with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    Missing,
    Paused,
}

impl Obstacle {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Obstacle::Missing => "route_missing",
            Obstacle::Paused => "paused",
        }
    }
}

/// The obstacle of each route. A route that has gone is missing, paused or not.
pub(super) async fn obstacles(tx: &Tx, routes: &[&str]) -> Result<Vec<Option<Obstacle>>, Failure> {
    let rows = tx.query("SELECT missing, paused FROM obstacles($1)", &[Value::texts(routes.iter().copied())]).await?;
    let of = |row: &tokio_postgres::Row| match (row.get(0), row.get(1)) {
        (true, _) => Some(Obstacle::Missing),
        (false, true) => Some(Obstacle::Paused),
        (false, false) => None,
    };
    Ok(rows.iter().map(of).collect())
}

/// The obstacle of a route.
pub(super) async fn obstacle(tx: &Tx, route: &str) -> Result<Option<Obstacle>, Failure> {
    Ok(obstacles(tx, &[route]).await?.into_iter().next().flatten())
}

/// The state and the reason of an event that would be queued.
pub(super) fn waiting(obstacle: Option<Obstacle>) -> (EventState, Option<&'static str>) {
    match obstacle {
        Some(obstacle) => (EventState::Held, Some(obstacle.reason())),
        None => (EventState::Queued, None),
    }
}

//! A connection for copying a ledger: one that is used for nothing else, with settings of its session.

use tokio_postgres::Client;

use super::link::{Link, explain, told};
use super::store::ConnectError;
use super::{address, schema, tls};
use crate::Error;

/// Connects. The connection works while its runtime does.
pub(crate) async fn connect_for_copy(url: &str) -> Result<Client, ConnectError> {
    let address = address::read(url)?;
    let tls = tls::connector(&address.trust)?;
    let failed = |error| ConnectError::Database(unavailable(&error));
    let (client, connection) = address.config.connect(tls).await.map_err(failed)?;
    // Its end shows at the client.
    tokio::spawn(connection);
    client.batch_execute("SET search_path = doorbell").await.map_err(failed)?;
    Ok(client)
}

/// Brings the schema of a database up to date, making it when it is not there.
pub(crate) async fn bring_up(url: &str) -> Result<(), ConnectError> {
    let address = address::read(url)?;
    let tls = tls::connector(&address.trust)?;
    let link = Link::new(address.config, tls, 1).map_err(ConnectError::Database)?;
    schema::migrate(&link).await.map_err(ConnectError::Database)?;
    link.close();
    Ok(())
}

/// An error of the driver, as callers know it.
pub(crate) fn unavailable(error: &tokio_postgres::Error) -> Error {
    told(error, explain(error))
}

//! A connection for copying a ledger: one that is used for nothing else, with settings of its session.

use tokio_postgres::Client;

use super::link::{Link, explain, told};
use super::store::ConnectError;
use super::{address, schema, tls};
use crate::Error;

/// Brings the schema of the database up to date and connects. The connection works while its runtime does.
pub(crate) async fn connect_for_copy(url: &str) -> Result<Client, ConnectError> {
    let address = address::read(url)?;
    let tls = tls::connector(&address.trust)?;
    let link = Link::new(address.config.clone(), tls.clone(), 1).map_err(ConnectError::Database)?;
    schema::migrate(&link).await.map_err(ConnectError::Database)?;
    link.close();
    let failed = |error| ConnectError::Database(unavailable(&error));
    let (client, connection) = address.config.connect(tls).await.map_err(failed)?;
    // Its end shows at the client.
    tokio::spawn(connection);
    client.batch_execute("SET search_path = doorbell").await.map_err(failed)?;
    Ok(client)
}

/// An error of the driver, as callers know it.
pub(crate) fn unavailable(error: &tokio_postgres::Error) -> Error {
    told(error, explain(error))
}

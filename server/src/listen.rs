//! Opening listeners.

use std::io;
use std::net::SocketAddr;

use anyhow::{Context, bail};
use tokio::net::{TcpListener, lookup_host};

use crate::config::Listen;

/// Opens the listener of the public surfaces. One that other machines reach is refused unless they may: because they are
/// asked who they are, or it was allowed in so many words.
pub async fn open_public(address: &str, may_be_reached: bool) -> anyhow::Result<TcpListener> {
    let candidates = resolve(address).await?;
    if let Some(open) = candidates.iter().find(|candidate| !candidate.ip().is_loopback())
        && !may_be_reached
    {
        bail!(
            "{open} can be reached from other machines, and authentication is off: anybody could change the \
             catalog. Listen on 127.0.0.1, set up [auth], or say --allow-unauthenticated if the network is trusted"
        );
    }
    bind(&candidates).await.with_context(|| format!("cannot listen on {address}"))
}

/// Opens a listener beside the public one. An address that nobody chose gives way to a free port when it is taken.
pub async fn open_side(listen: &Listen, what: &str) -> anyhow::Result<TcpListener> {
    let candidates = resolve(&listen.address).await?;
    match bind(&candidates).await {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && !listen.is_chosen => {
            let free = TcpListener::bind("127.0.0.1:0").await.context("cannot listen on any port")?;
            let instead = free.local_addr().context("the listener has no address")?;
            tracing::warn!(taken = listen.address, %instead, "the default address of {what} is taken; using a free port");
            Ok(free)
        }
        bound => bound.with_context(|| format!("cannot listen on {} for {what}", listen.address)),
    }
}

async fn resolve(address: &str) -> anyhow::Result<Vec<SocketAddr>> {
    let found: Vec<SocketAddr> = lookup_host(address)
        .await
        .with_context(|| format!("cannot look up the host of '{address}'"))?
        .collect();
    if found.is_empty() {
        bail!("'{address}' names no address");
    }
    Ok(found)
}

async fn bind(candidates: &[SocketAddr]) -> io::Result<TcpListener> {
    TcpListener::bind(candidates).await
}

/// The root URL of a listener as seen from this machine, without a slash at the end.
pub fn local_url(address: SocketAddr) -> String {
    let ip = address.ip();
    match ip {
        ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn other_machines_are_refused_unless_allowed() {
        let refused = open_public("0.0.0.0:0", false).await.unwrap_err().to_string();
        assert!(refused.contains("--allow-unauthenticated"), "{refused}");
        assert!(open_public("0.0.0.0:0", true).await.is_ok());
        assert!(open_public("127.0.0.1:0", false).await.is_ok());
        assert!(open_public("nonsense", false).await.is_err());
    }

    #[tokio::test]
    async fn a_taken_default_gives_way_and_a_taken_choice_fails() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let given = Listen { address: address.clone(), is_chosen: false };
        let other = open_side(&given, "tests").await.unwrap();
        assert_ne!(other.local_addr().unwrap(), taken.local_addr().unwrap());
        assert!(open_side(&Listen { address, is_chosen: true }, "tests").await.is_err());
    }

    #[test]
    fn urls_name_this_machine() {
        assert_eq!(local_url("0.0.0.0:5".parse().unwrap()), "http://127.0.0.1:5");
        assert_eq!(local_url("127.0.0.2:5".parse().unwrap()), "http://127.0.0.2:5");
        assert_eq!(local_url("[::1]:5".parse().unwrap()), "http://[::1]:5");
    }
}

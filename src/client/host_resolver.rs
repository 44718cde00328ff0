//! Resolves the names of hosts.

use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
    vec,
};

use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use super::named_address::is_local_address;

/// Resolves the names of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostResolver {
    /// Any address of a name is used.
    AnyAddress,
    /// Addresses of this machine and of its link are left out: a public name may have such an address.
    PublicAddress,
}

impl HostResolver {
    async fn resolve(self, name: &str) -> io::Result<vec::IntoIter<SocketAddr>> {
        let is_used = |address: &SocketAddr| self == Self::AnyAddress || !is_local_address(address.ip());
        let addresses = tokio::net::lookup_host((name, 0)).await?;
        let used: Vec<_> = addresses.filter(is_used).collect();

        if used.is_empty() {
            let reason = format!("`{name}` has only addresses of this machine or its link");
            return Err(io::Error::other(reason));
        }

        Ok(used.into_iter())
    }
}

impl Service<Name> for HostResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolver = *self;
        Box::pin(async move { resolver.resolve(name.as_str()).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_with_local_addresses_only_has_no_public_address() {
        assert!(HostResolver::PublicAddress.resolve("localhost").await.is_err());
        assert!(HostResolver::AnyAddress.resolve("localhost").await.is_ok_and(|found| found.len() > 0));
    }
}

//! Opens TCP connections.

use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;

use super::host_resolver::HostResolver;

/// Time without traffic after which the operating system checks whether a connection is still alive, and the interval of
/// these checks. Devices on the way forget connections without traffic, although a response is still expected.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Number of failed checks after which a connection counts as lost.
const KEEPALIVE_CHECKS: u32 = 3;

/// Opens TCP connections to hosts and proxies.
pub(super) type TcpConnector = HttpConnector<HostResolver>;

/// Returns a connector to the addresses that `resolver` finds.
pub(super) fn tcp_connector(resolver: HostResolver) -> TcpConnector {
    let mut connector = HttpConnector::new_with_resolver(resolver);
    // The connector is used for `https` addresses too.
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_keepalive(Some(KEEPALIVE));
    connector.set_keepalive_interval(Some(KEEPALIVE));
    connector.set_keepalive_retries(Some(KEEPALIVE_CHECKS));

    connector
}

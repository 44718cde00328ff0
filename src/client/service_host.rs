//! The hosts of the service.

use crate::service::operation::UrlBase;

/// A host of the service that receives the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceHost {
    /// The main API.
    Main,
    /// The host of knowledge files and run artifacts.
    Knowledge,
}

impl ServiceHost {
    /// Returns the host that serves the paths below `url_base`.
    pub fn for_url_base(url_base: UrlBase) -> Self {
        if url_base == UrlBase::Knowledge { Self::Knowledge } else { Self::Main }
    }

    /// Returns the name of the setting that holds the address of the host.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Main => "TAS_BASE_URL",
            Self::Knowledge => "TAS_KNOWLEDGE_URL",
        }
    }
}

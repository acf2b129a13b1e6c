//! What an endpoint is: one declaration, mounted by the server, called by the CLI, listed in OpenAPI.

use std::fmt;

use crate::syntax::query::QueryParams;

/// Which API an endpoint belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// `/api/v1`
    NessieV1,
    /// `/api/v2`
    NessieV2,
    /// `/iceberg`
    Iceberg,
    /// `/ext/v1`
    Ext,
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads. Every GET path also answers HEAD.
    Get,
    /// Asks whether something exists.
    Head,
    /// Creates or acts.
    Post,
    /// Replaces.
    Put,
    /// Removes.
    Delete,
}

impl Method {
    /// The method's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who may call an endpoint once authentication is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Auth {
    /// Callers with a valid token.
    Bearer,
    /// Anyone, such as those who come for a token.
    Anonymous,
}

/// An endpoint as plain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointInfo {
    /// The API.
    pub surface: Surface,
    /// The method.
    pub method: Method,
    /// The path template from the server's root: `/api/v2/trees/{ref}`.
    pub path: &'static str,
    /// The operation's name, unique within the surface but for a HEAD beside its GET.
    ///
    /// On the Nessie surfaces it is also the `<method>` of `<method>.<argument>: <message>` violations, which
    /// kits compare.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Whether a call changes state.
    pub mutates: bool,
    /// Who may call.
    pub auth: Auth,
}

impl EndpointInfo {
    /// An endpoint that only reads, for callers with a token.
    pub const fn reads(
        surface: Surface,
        method: Method,
        path: &'static str,
        name: &'static str,
        summary: &'static str,
    ) -> Self {
        Self { surface, method, path, name, summary, mutates: false, auth: Auth::Bearer }
    }

    /// An endpoint that changes state, for callers with a token.
    pub const fn changes(
        surface: Surface,
        method: Method,
        path: &'static str,
        name: &'static str,
        summary: &'static str,
    ) -> Self {
        Self { surface, method, path, name, summary, mutates: true, auth: Auth::Bearer }
    }

    /// The same endpoint, open to anyone.
    #[must_use]
    pub const fn anonymous(mut self) -> Self {
        self.auth = Auth::Anonymous;
        self
    }
}

/// One endpoint. Its path parameters are the arguments of an inherent `path` function, which encodes them.
pub trait Endpoint {
    /// Everything about the endpoint but its types.
    const INFO: EndpointInfo;
    /// Query parameters; `()` for none.
    type Query: QueryParams;
    /// The request's body; `()` for none.
    type Request;
    /// The body of a success; `()` for none (204).
    type Response;

    /// The method.
    const METHOD: Method = Self::INFO.method;
    /// The path template.
    const PATH: &'static str = Self::INFO.path;
    /// The operation's name.
    const NAME: &'static str = Self::INFO.name;
    /// The API.
    const SURFACE: Surface = Self::INFO.surface;
    /// Whether a call changes state.
    const MUTATES: bool = Self::INFO.mutates;
    /// Who may call.
    const AUTH: Auth = Self::INFO.auth;
}

/// Lists the endpoints of a surface, once: as plain data in `ALL`, and one by one with their types, which is what the
/// OpenAPI document is built from.
macro_rules! endpoints {
    ($(#[$doc:meta])* $($endpoint:path),+ $(,)?) => {
        $(#[$doc])*
        pub const ALL: &[$crate::endpoint::EndpointInfo] =
            &[$(<$endpoint as $crate::endpoint::Endpoint>::INFO),+];

        /// Shows every endpoint, with its types, to a visitor.
        #[cfg(feature = "openapi")]
        pub(crate) fn visit(visitor: &mut impl $crate::openapi::Visitor) {
            $(visitor.endpoint::<$endpoint>();)+
        }
    };
}

pub(crate) use endpoints;

/// The path parameters' names of a template, in order: `ref` and `key` of `/trees/{ref}/contents/{key}`.
pub fn parameters(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;

//! Every operation served, as data: surface, method, path template, effect.

use http::Method;

/// The wire contract an operation belongs to; it decides how errors look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// `/api/v1`.
    NessieV1,
    /// `/api/v2`.
    NessieV2,
    /// `/iceberg`.
    Iceberg,
    /// `/ext/v1` and everything that belongs to nobody else.
    Ext,
}

impl Surface {
    /// Name for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Surface::NessieV1 => "nessie-v1",
            Surface::NessieV2 => "nessie-v2",
            Surface::Iceberg => "iceberg",
            Surface::Ext => "ext",
        }
    }

    /// Whether errors are Nessie's.
    pub fn is_nessie(self) -> bool {
        matches!(self, Surface::NessieV1 | Surface::NessieV2)
    }
}

/// What an operation does to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may be cut short at any time.
    Reads,
    /// It may commit: it runs to its end whatever its connection does.
    Writes,
}

macro_rules! operations {
    ($($name:ident: $surface:ident $method:ident $template:literal $effect:ident;)+) => {
        /// An operation of one of the surfaces.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", stringify!($method), " ", $template, "`")] $name,)+
        }

        impl Op {
            /// Every operation, in the order of its number.
            pub const ALL: &'static [Op] = &[$(Op::$name,)+];

            /// Name for logs and metrics.
            pub fn name(self) -> &'static str {
                match self { $(Op::$name => stringify!($name),)+ }
            }

            /// The contract it belongs to.
            pub fn surface(self) -> Surface {
                match self { $(Op::$name => Surface::$surface,)+ }
            }

            /// Its method. An operation of `GET` also answers `HEAD` unless the path has one for `HEAD`.
            pub fn method(self) -> Method {
                match self { $(Op::$name => Method::$method,)+ }
            }

            /// Its path with parameters in braces, from the root of the server.
            pub fn template(self) -> &'static str {
                match self { $(Op::$name => $template,)+ }
            }

            /// What it does to the store.
            pub fn effect(self) -> Effect {
                match self { $(Op::$name => Effect::$effect,)+ }
            }
        }
    };
}

operations! {
    V2GetConfig: NessieV2 GET "/api/v2/config" Reads;
    V2GetRepositoryConfig: NessieV2 GET "/api/v2/config/repository" Reads;
    V2UpdateRepositoryConfig: NessieV2 POST "/api/v2/config/repository" Writes;
    V2ListReferences: NessieV2 GET "/api/v2/trees" Reads;
    V2CreateReference: NessieV2 POST "/api/v2/trees" Writes;
    V2GetReference: NessieV2 GET "/api/v2/trees/{ref}" Reads;
    V2AssignReference: NessieV2 PUT "/api/v2/trees/{ref}" Writes;
    V2DeleteReference: NessieV2 DELETE "/api/v2/trees/{ref}" Writes;
    V2GetRecentChanges: NessieV2 GET "/api/v2/trees/{ref}/recent-changes" Reads;
    V2ListEntries: NessieV2 GET "/api/v2/trees/{ref}/entries" Reads;
    V2GetCommitLog: NessieV2 GET "/api/v2/trees/{ref}/history" Reads;
    V2Commit: NessieV2 POST "/api/v2/trees/{ref}/history/commit" Writes;
    V2Merge: NessieV2 POST "/api/v2/trees/{ref}/history/merge" Writes;
    V2Transplant: NessieV2 POST "/api/v2/trees/{ref}/history/transplant" Writes;
    V2GetDiff: NessieV2 GET "/api/v2/trees/{ref}/diff/{to}" Reads;
    V2GetContents: NessieV2 GET "/api/v2/trees/{ref}/contents" Reads;
    V2QueryContents: NessieV2 POST "/api/v2/trees/{ref}/contents" Reads;
    V2GetContent: NessieV2 GET "/api/v2/trees/{ref}/contents/{key}" Reads;

    V1GetConfig: NessieV1 GET "/api/v1/config" Reads;
    V1ListReferences: NessieV1 GET "/api/v1/trees" Reads;
    V1GetDefaultBranch: NessieV1 GET "/api/v1/trees/tree" Reads;
    V1CreateReference: NessieV1 POST "/api/v1/trees/tree" Writes;
    V1GetReference: NessieV1 GET "/api/v1/trees/tree/{ref}" Reads;
    V1ListEntries: NessieV1 GET "/api/v1/trees/tree/{ref}/entries" Reads;
    V1GetCommitLog: NessieV1 GET "/api/v1/trees/tree/{ref}/log" Reads;
    V1AssignReference: NessieV1 PUT "/api/v1/trees/{type}/{ref}" Writes;
    V1DeleteReference: NessieV1 DELETE "/api/v1/trees/{type}/{ref}" Writes;
    V1Commit: NessieV1 POST "/api/v1/trees/branch/{ref}/commit" Writes;
    V1Merge: NessieV1 POST "/api/v1/trees/branch/{ref}/merge" Writes;
    V1Transplant: NessieV1 POST "/api/v1/trees/branch/{ref}/transplant" Writes;
    V1GetContent: NessieV1 GET "/api/v1/contents/{key}" Reads;
    V1QueryContents: NessieV1 POST "/api/v1/contents" Reads;
    V1GetDiff: NessieV1 GET "/api/v1/diffs/{ref}...{to}" Reads;
    V1ListNamespaces: NessieV1 GET "/api/v1/namespaces/{ref}" Reads;
    V1GetNamespace: NessieV1 GET "/api/v1/namespaces/namespace/{ref}/{key}" Reads;
    V1CreateNamespace: NessieV1 PUT "/api/v1/namespaces/namespace/{ref}/{key}" Writes;
    V1UpdateNamespace: NessieV1 POST "/api/v1/namespaces/namespace/{ref}/{key}" Writes;
    V1DeleteNamespace: NessieV1 DELETE "/api/v1/namespaces/namespace/{ref}/{key}" Writes;

    IcebergGetConfig: Iceberg GET "/iceberg/v1/config" Reads;
    IcebergGetToken: Iceberg POST "/iceberg/v1/oauth/tokens" Reads;
    IcebergListNamespaces: Iceberg GET "/iceberg/v1/{prefix}/namespaces" Reads;
    IcebergCreateNamespace: Iceberg POST "/iceberg/v1/{prefix}/namespaces" Writes;
    IcebergGetNamespace: Iceberg GET "/iceberg/v1/{prefix}/namespaces/{namespace}" Reads;
    IcebergHasNamespace: Iceberg HEAD "/iceberg/v1/{prefix}/namespaces/{namespace}" Reads;
    IcebergDropNamespace: Iceberg DELETE "/iceberg/v1/{prefix}/namespaces/{namespace}" Writes;
    IcebergUpdateNamespace: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/properties" Writes;
    IcebergListTables: Iceberg GET "/iceberg/v1/{prefix}/namespaces/{namespace}/tables" Reads;
    IcebergCreateTable: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/tables" Writes;
    IcebergRegisterTable: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/register" Writes;
    IcebergLoadTable: Iceberg GET "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}" Reads;
    IcebergHasTable: Iceberg HEAD "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}" Reads;
    IcebergCommitTable: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}" Writes;
    IcebergDropTable: Iceberg DELETE "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}" Writes;
    IcebergUnregisterTable: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister" Writes;
    IcebergGetCredentials: Iceberg GET "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials" Reads;
    IcebergReportMetrics: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics" Reads;
    IcebergRenameTable: Iceberg POST "/iceberg/v1/{prefix}/tables/rename" Writes;
    IcebergCommitTransaction: Iceberg POST "/iceberg/v1/{prefix}/transactions/commit" Writes;
    IcebergListViews: Iceberg GET "/iceberg/v1/{prefix}/namespaces/{namespace}/views" Reads;
    IcebergCreateView: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/views" Writes;
    IcebergRegisterView: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/register-view" Writes;
    IcebergLoadView: Iceberg GET "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}" Reads;
    IcebergHasView: Iceberg HEAD "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}" Reads;
    IcebergReplaceView: Iceberg POST "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}" Writes;
    IcebergDropView: Iceberg DELETE "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}" Writes;
    IcebergRenameView: Iceberg POST "/iceberg/v1/{prefix}/views/rename" Writes;

    ExtGetInfo: Ext GET "/ext/v1/info" Reads;
}

//! Every operation served. What there is to know about one is declared once, in `api-spec`; here it gets a number.

use lochan_api_spec::endpoint::{Auth, Endpoint, EndpointInfo, Method as Verb, Surface as Declared};
use lochan_api_spec::{ext, iceberg, nessie};

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

/// What the router and this crate need of a declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration {
    pub(super) surface: Surface,
    pub(super) method: Verb,
    pub(super) template: &'static str,
    pub(super) effect: Effect,
    pub(super) auth: Auth,
}

impl Declaration {
    const fn of(info: EndpointInfo) -> Self {
        let surface = match info.surface {
            Declared::NessieV1 => Surface::NessieV1,
            Declared::NessieV2 => Surface::NessieV2,
            Declared::Iceberg => Surface::Iceberg,
            Declared::Ext => Surface::Ext,
        };
        let effect = if info.mutates { Effect::Writes } else { Effect::Reads };
        Declaration { surface, method: info.method, template: info.path, effect, auth: info.auth }
    }
}

macro_rules! operations {
    ($($name:ident = $declaration:expr;)+) => {
        /// An operation of one of the surfaces, named like its endpoint.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the declaration of the same name in api-spec says it all")]
        pub enum Op {
            $($name,)+
        }

        impl Op {
            /// Every operation, in the order of its number.
            pub const ALL: &'static [Op] = &[$(Op::$name,)+];

            fn declaration(self) -> &'static Declaration {
                match self { $(Op::$name => const { &$declaration },)+ }
            }

            /// Name for logs and metrics.
            pub fn name(self) -> &'static str {
                match self { $(Op::$name => stringify!($name),)+ }
            }
        }
    };
}

macro_rules! spec {
    ($($path:ident)::+) => { Declaration::of(<$($path)::+ as Endpoint>::INFO) };
}

operations! {
    V2GetConfig = spec!(nessie::v2::config::GetConfig);
    V2GetRepositoryConfig = spec!(nessie::v2::config::GetRepositoryConfig);
    V2UpdateRepositoryConfig = spec!(nessie::v2::config::UpdateRepositoryConfig);
    V2GetAllReferences = spec!(nessie::v2::trees::GetAllReferences);
    V2CreateReference = spec!(nessie::v2::trees::CreateReference);
    V2GetReferenceByName = spec!(nessie::v2::trees::GetReferenceByName);
    V2GetReferenceHistory = spec!(nessie::v2::trees::GetReferenceHistory);
    V2AssignReference = spec!(nessie::v2::trees::AssignReference);
    V2DeleteReference = spec!(nessie::v2::trees::DeleteReference);
    V2GetEntries = spec!(nessie::v2::trees::GetEntries);
    V2GetCommitLog = spec!(nessie::v2::trees::GetCommitLog);
    V2GetDiff = spec!(nessie::v2::trees::GetDiff);
    V2GetContent = spec!(nessie::v2::trees::GetContent);
    V2GetSeveralContents = spec!(nessie::v2::trees::GetSeveralContents);
    V2GetMultipleContents = spec!(nessie::v2::trees::GetMultipleContents);
    V2CommitMultipleOperations = spec!(nessie::v2::trees::CommitMultipleOperations);
    V2MergeRefIntoBranch = spec!(nessie::v2::trees::MergeRefIntoBranch);
    V2TransplantCommitsIntoBranch = spec!(nessie::v2::trees::TransplantCommitsIntoBranch);

    V1GetConfig = spec!(nessie::v1::config::GetConfig);
    V1GetAllReferences = spec!(nessie::v1::trees::GetAllReferences);
    V1GetDefaultBranch = spec!(nessie::v1::trees::GetDefaultBranch);
    V1CreateReference = spec!(nessie::v1::trees::CreateReference);
    V1GetReferenceByName = spec!(nessie::v1::trees::GetReferenceByName);
    V1GetEntries = spec!(nessie::v1::trees::GetEntries);
    V1GetCommitLog = spec!(nessie::v1::trees::GetCommitLog);
    V1AssignReference = spec!(nessie::v1::trees::AssignReference);
    V1DeleteReference = spec!(nessie::v1::trees::DeleteReference);
    V1CommitMultipleOperations = spec!(nessie::v1::trees::CommitMultipleOperations);
    V1MergeRefIntoBranch = spec!(nessie::v1::trees::MergeRefIntoBranch);
    V1TransplantCommitsIntoBranch = spec!(nessie::v1::trees::TransplantCommitsIntoBranch);
    V1GetContent = spec!(nessie::v1::contents::GetContent);
    V1GetMultipleContents = spec!(nessie::v1::contents::GetMultipleContents);
    V1GetDiff = spec!(nessie::v1::diffs::GetDiff);
    V1GetNamespaces = spec!(nessie::v1::namespaces::GetNamespaces);
    V1GetNamespace = spec!(nessie::v1::namespaces::GetNamespace);
    V1CreateNamespace = spec!(nessie::v1::namespaces::CreateNamespace);
    V1UpdateProperties = spec!(nessie::v1::namespaces::UpdateProperties);
    V1DeleteNamespace = spec!(nessie::v1::namespaces::DeleteNamespace);

    IcebergGetConfig = spec!(iceberg::config::GetConfig);
    IcebergGetConfigOfReference = spec!(iceberg::config::GetConfigOfReference);
    IcebergGetToken = spec!(iceberg::oauth::GetToken);
    IcebergGetTokenOfReference = spec!(iceberg::oauth::GetTokenOfReference);
    IcebergListNamespaces = spec!(iceberg::namespaces::ListNamespaces);
    IcebergCreateNamespace = spec!(iceberg::namespaces::CreateNamespace);
    IcebergLoadNamespace = spec!(iceberg::namespaces::LoadNamespace);
    IcebergNamespaceExists = spec!(iceberg::namespaces::NamespaceExists);
    IcebergDropNamespace = spec!(iceberg::namespaces::DropNamespace);
    IcebergUpdateProperties = spec!(iceberg::namespaces::UpdateProperties);
    IcebergListTables = spec!(iceberg::tables::ListTables);
    IcebergCreateTable = spec!(iceberg::tables::CreateTable);
    IcebergLoadTable = spec!(iceberg::tables::LoadTable);
    IcebergTableExists = spec!(iceberg::tables::TableExists);
    IcebergCommitTable = spec!(iceberg::tables::CommitTable);
    IcebergDropTable = spec!(iceberg::tables::DropTable);
    IcebergRegisterTable = spec!(iceberg::tables::RegisterTable);
    IcebergRenameTable = spec!(iceberg::tables::RenameTable);
    IcebergLoadCredentials = spec!(iceberg::tables::LoadCredentials);
    IcebergReportMetrics = spec!(iceberg::tables::ReportMetrics);
    IcebergCommitTransaction = spec!(iceberg::transactions::CommitTransaction);
    IcebergListViews = spec!(iceberg::views::ListViews);
    IcebergCreateView = spec!(iceberg::views::CreateView);
    IcebergLoadView = spec!(iceberg::views::LoadView);
    IcebergViewExists = spec!(iceberg::views::ViewExists);
    IcebergCommitView = spec!(iceberg::views::CommitView);
    IcebergDropView = spec!(iceberg::views::DropView);
    IcebergRenameView = spec!(iceberg::views::RenameView);
    IcebergRegisterView = spec!(iceberg::views::RegisterView);

    ExtGetInfo = spec!(ext::GetInfo);
    ExtGetReflog = spec!(ext::GetReflog);
    ExtRestoreReference = spec!(ext::RestoreReference);
    ExtRebaseBranch = spec!(ext::RebaseBranch);
    ExtExportRepository = spec!(ext::ExportRepository);
    ExtImportRepository = spec!(ext::ImportRepository);
    ExtListImports = spec!(ext::ListImports);
    ExtGetImport = spec!(ext::GetImport);
    ExtDropImport = spec!(ext::DropImport);
    ExtListImportedCommits = spec!(ext::ListImportedCommits);
}

impl Op {
    /// The contract it belongs to.
    pub fn surface(self) -> Surface {
        self.declaration().surface
    }

    /// Its method, as on the wire. An operation of `GET` also answers `HEAD` unless the path has one for `HEAD`.
    pub fn method(self) -> &'static str {
        self.declaration().method.as_str()
    }

    /// Its path with parameters in braces, from the root of the server.
    pub fn template(self) -> &'static str {
        self.declaration().template
    }

    /// What it does to the store.
    pub fn effect(self) -> Effect {
        self.declaration().effect
    }

    /// Who may call it while authentication is on.
    pub fn auth(self) -> Auth {
        self.declaration().auth
    }

    /// Whether clients of Iceberg ask, when it fails with a 5xx, whether it was applied.
    pub(crate) fn is_iceberg_commit(self) -> bool {
        matches!(self, Op::IcebergCommitTable | Op::IcebergCommitView | Op::IcebergCommitTransaction)
    }

    /// Whether its body is a stream of lines, which the handler reads as it comes.
    pub(crate) fn takes_lines(self) -> bool {
        matches!(self, Op::ExtImportRepository)
    }

    /// Whether it is a token request, which is a form and is refused in the words of OAuth.
    pub(crate) fn is_token(self) -> bool {
        matches!(self, Op::IcebergGetToken | Op::IcebergGetTokenOfReference)
    }
}

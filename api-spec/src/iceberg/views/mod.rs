//! Views.

pub mod commit_view;
pub mod create_view;
pub mod drop_view;
pub mod list_views;
pub mod load_view;
pub mod register_view;
pub mod rename_view;
pub mod view_exists;

pub use commit_view::{CommitView, CommitViewRequest};
pub use create_view::{CreateView, CreateViewRequest};
pub use drop_view::DropView;
pub use list_views::ListViews;
pub use load_view::{LoadView, LoadViewResult};
pub use register_view::{RegisterView, RegisterViewRequest};
pub use rename_view::RenameView;
pub use view_exists::ViewExists;

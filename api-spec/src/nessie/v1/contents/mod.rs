//! Reading contents.

pub mod get_content;
pub mod get_multiple_contents;

pub use get_content::GetContent;
pub use get_multiple_contents::GetMultipleContents;

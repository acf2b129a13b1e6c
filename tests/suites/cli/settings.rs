//! The settings file: what it takes, and how one that holds what nobody can use is mended.

use crate::world::*;

#[tokio::test]
async fn what_cannot_be_used_is_refused_and_what_stands_there_can_be_mended() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/settings.toml");
    let config = async |words: &[&str]| {
        let named = ["--config", file.to_str().unwrap()];
        world.run_with(&[&named, words].concat(), "").await
    };
    let wrong = [
        ("default_branch", "bad name"),
        ("default_branch", ""),
        ("token", "a\nb"),
        ("endpoint", "ftp://x"),
        ("timeout_s", "0"),
    ];
    for (key, value) in wrong {
        assert_eq!(config(&["config", "--set", key, value]).await.code, 2, "{key}");
        assert!(!file.exists(), "{key}");
    }
    assert_eq!(config(&["branch"]).await.code, 2, "a file that is named must be there");
    // One that is to be written is made.
    assert_eq!(config(&["config", "--set", "default_branch", "main"]).await.code, 0);
    assert_eq!(config(&["branch"]).await.code, 0);

    std::fs::write(&file, "default_branch = \"bad name\"\ntoken = \"a\\nb\"\ntimeout_s = 0\n").unwrap();
    assert_eq!(config(&["branch"]).await.code, 2);
    let shown = config(&["config"]).await;
    assert_eq!((shown.code, shown.out.matches("Not usable:").count()), (0, 3), "{shown:?}");
    assert_eq!(config(&["remote", "show"]).await.code, 2);
    for key in ["default_branch", "token", "timeout_s"] {
        let ran = config(&["config", "--unset", key]).await;
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(config(&["branch"]).await.code, 0);
    world.stop().await;
}

//! Being told to stop, as a supervisor does it.

use super::process::Process;

#[tokio::test]
async fn who_is_answered_may_say_stop() {
    let mut server = Process::start().await;
    for _ in 0..5 {
        let ended = server.stop_at_first_answer().await;
        assert!(ended.success(), "{ended}");
    }
}

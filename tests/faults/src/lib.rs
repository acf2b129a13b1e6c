//! Kills a running server at random moments and checks that nothing acknowledged is lost.

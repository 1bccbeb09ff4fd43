use std::process::Command;

/// Sends a signal (INT, TERM …) to a process. The shell does so itself: small systems have no command for it.
///
/// # Panics
/// If it cannot be sent.
pub fn signal(process: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {name} {process}")]).status();
    assert!(sent.is_ok_and(|status| status.success()), "no signal {name} to {process}");
}

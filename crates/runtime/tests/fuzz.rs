//! The fuzz target for queues and packets, without libFuzzer.

#[path = "../../../fuzz/targets/packets.rs"]
mod packets;

use std::path::Path;

#[test]
fn any_packets() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/packets");
    wavemill_testing::fuzz::drive("packets", &[corpus], Path::new(env!("CARGO_TARGET_TMPDIR")), packets::run);
}

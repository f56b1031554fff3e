//! Disks that do not answer any more.

use qemu::{Disk, Ending, Value};
use serde_json::json;

use crate::image::Image;
use crate::session::Session;

/// The host is on a disk that answers until it is told to stop.
const CONFIG: &str = "\
[host]
command = [\"/data/host\"]
stop-grace = \"1s\"

[shutdown]
unmount = \"1s\"
sync = \"1s\"

[[mount]]
source = \"/dev/nvme0n1\"
target = \"/data\"
type = \"ext4\"
wait = \"30s\"
";

/// So many bytes a second; 0 for as many as can be.
fn speed(bytes: u32) -> Value {
    json!({
        "device": "disk0", "bps": bytes, "bps_rd": 0, "bps_wr": 0,
        "iops": 0, "iops_rd": 0, "iops_wr": 0,
    })
}

#[test]
fn a_host_whose_exec_hangs_on_a_dead_disk_hangs_alone() {
    let disk = Disk::ext4(32).unwrap();
    let boot = Image::new(CONFIG).boot().append("host_init.rescue");
    let mut machine = Session::start(boot.disk(&disk));
    // The program is put there, and then mounted anew, so that none of it is in
    // the kernel's memory.
    machine.prompt("# ");
    machine.tell(
        "D='-t ext4 /dev/nvme0n1 /data'; mkdir /data; mount $D; cp /bin/busybox /data/host; \
         cp /bin/busybox /data/other; umount /data; mount $D; ls /data; echo ready $((40+2))",
    );
    machine.line("ready 42");

    // A byte a second is as good as none. The first read is free, though.
    machine.monitor("block_set_io_throttle", speed(1)).unwrap();
    machine.tell("cat /data/other >/dev/null & exit");
    machine.line("host-init: host: started, pid ");
    machine.press_ctrl_alt_delete().unwrap();

    machine.line("host-init: rebooting");
    machine.line("host-init: unmount: took too long, given up");
    machine.line("host-init: sync: took too long, given up");
    // QEMU itself hangs when the guest switches a disk off that it keeps waiting.
    machine.monitor("block_set_io_throttle", speed(0)).unwrap();
    machine.ends(&Ending::Restarted);
    // It had not become a program, which would have said that it knows no `host`.
    assert!(!machine.console().contains("host-init: host: exit"));
}

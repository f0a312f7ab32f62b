"""A container of the least kind: a root directory with the C library and what a CDI spec or an answer to Allocate adds."""

import glob
import os
import shutil
import subprocess

CHROOT = shutil.which("chroot")
LIBRARIES = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1"]


def root(directory, program):
    """A root directory with a C library, a shell and the program, and nothing of the driver."""
    lib = os.path.join(directory, "usr/lib/x86_64-linux-gnu")
    for part in ("usr/lib64", "usr/bin", "proc", "dev", "tmp", "etc"):
        os.makedirs(os.path.join(directory, part), exist_ok=True)
    os.makedirs(lib, exist_ok=True)
    for link, target in (("lib", "usr/lib"), ("lib64", "usr/lib64"), ("bin", "usr/bin")):
        os.symlink(target, os.path.join(directory, link))
    for name in LIBRARIES:
        found = [f for d in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu") for f in glob.glob(f"{d}/{name}")]
        if found:
            shutil.copy(os.path.realpath(found[0]), os.path.join(lib, name))
    shutil.copy(os.path.realpath("/lib64/ld-linux-x86-64.so.2"), os.path.join(directory, "usr/lib64"))
    shutil.copy(os.path.realpath("/bin/sh"), os.path.join(directory, "usr/bin/sh"))
    shutil.copy(program, os.path.join(directory, "usr/bin/faults"))
    return directory


def of_spec(spec, names):
    """Mounts, devices and variables of the named devices (kind=name) of a CDI spec."""
    wanted = {name.split("=", 1)[1] for name in names}
    edits = [spec.get("containerEdits", {})]
    edits += [device["containerEdits"] for device in spec["devices"] if device["name"] in wanted]
    mounts = [(m["containerPath"], m["hostPath"]) for e in edits for m in e.get("mounts", [])]
    devices = [(d["path"], d.get("hostPath", d["path"])) for e in edits for d in e.get("deviceNodes", [])]
    variables = dict(v.split("=", 1) for e in edits for v in e.get("env", []))
    return mounts, devices, variables


def run(directory, mounts, devices, variables, command):
    """Runs a command in the root directory, in a mount namespace of its own; its exit status and output."""
    lines = ["set -e", f"mount -t tmpfs none {directory}/dev", f"mount -t proc proc {directory}/proc"]
    for inside, outside in mounts + devices:
        target = directory + inside
        lines.append(f"mkdir -p '{os.path.dirname(target)}'")
        lines.append(f"mkdir -p '{target}'" if os.path.isdir(outside) else f"touch '{target}'")
        lines.append(f"mount --rbind '{outside}' '{target}'")
    variables = {"PATH": "/usr/bin:/usr/local/nvidia/bin", **variables}
    values = " ".join(f"{name}='{value}'" for name, value in variables.items())
    lines.append(f"exec env -i {values} {CHROOT} {directory} {command}")
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "bash", "-c", "\n".join(lines)],
        capture_output=True, text=True, timeout=120,
    )
    return done.returncode, (done.stdout + done.stderr).strip()

#!/usr/bin/env python3
"""power.py - cuts the power of a disk with a real file system while a program writes to a store

usage: power.py STORE_WRITER RECORDER [--cuts N] [--seed S]

qemu-storage-daemon writes down every block that reaches the disk, and every flush (blklogwrites).  A
loop device and ext4 are above it, and store_writer above them.  A disk after a power cut has all
blocks up to the last flush before the cut, and any of those after it.  Each such disk is mounted,
which replays the journal of ext4, and the store is opened and compared with what was acknowledged
before the cut.  With syncs switched off (recorder.c), losses must be found.
"""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import time

from common import Acknowledged, Folder, check, preload, sized, skip

THREADS = 3
DISK_BYTES = 48 << 20
SECTOR = 512
FLUSH, DISCARD = 1, 4
NEEDED = ("qemu-storage-daemon", "mkfs.ext4", "losetup", "mount", "umount")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


def wait_until(holds, what):
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.01)
    raise OSError(what)


class LoggedDisk:
    """A loop device on a disk whose writes are logged, with ext4, mounted."""

    def __init__(self, folder, options="noatime"):
        self.options = options
        self.folder, self.daemon, self.device, self.is_mounted = folder, None, None, False
        self.disk, self.log = os.path.join(folder, "disk"), os.path.join(folder, "disk.log")
        self.export, self.root = os.path.join(folder, "export"), os.path.join(folder, "root")

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        with open(self.disk, "wb") as file:
            file.truncate(DISK_BYTES)
        run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.disk)
        shutil.copy(self.disk, self.disk + ".first")
        for path in (self.log, self.export):
            open(path, "wb").close()
        os.mkdir(self.root)
        self.daemon = subprocess.Popen(
            [
                "qemu-storage-daemon",
                "--blockdev", f"driver=file,node-name=disk,filename={self.disk}",
                "--blockdev", f"driver=file,node-name=log,filename={self.log}",
                "--blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log",
                "--export", f"type=fuse,id=e,node-name=logged,mountpoint={self.export},writable=on",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        wait_until(self.is_exported, "qemu-storage-daemon exports nothing")
        self.device = run("losetup", "--find", "--show", self.export)
        run("mount", "-t", "ext4", "-o", self.options, self.device, self.root)
        self.is_mounted = True

    def is_exported(self):
        if self.daemon.poll() is not None:
            raise OSError(f"qemu-storage-daemon: {self.daemon.stderr.read().decode().strip()}")
        return os.path.getsize(self.export) == DISK_BYTES

    def logged_bytes(self):
        return os.path.getsize(self.log)

    def __exit__(self, *_):
        if self.is_mounted:
            run("umount", self.root)
        if self.device:
            run("losetup", "--detach", self.device)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()


def read_entries(log):
    """(offset in the log at which it ends, flags, sector, bytes) of each entry.  The format is that
    of Linux's dm-log-writes."""
    with open(log, "rb") as file:
        data = file.read()
    magic, _, count, sector_bytes = struct.unpack_from("<QQQI", data, 0)
    assert magic == 0x6A736677736872, "this is no log of writes"
    at, entries = sector_bytes, []
    for _ in range(count):
        sector, n, flags, _ = struct.unpack_from("<QQQQ", data, at)
        at += sector_bytes
        n_bytes = 0 if flags & DISCARD else n * sector_bytes
        entries.append((at + n_bytes, flags, sector * sector_bytes, data[at : at + n_bytes]))
        at += n_bytes
    return entries


def write_and_log(program, library, disk, seed, steps, with_syncs):
    """Let store_writer run; returns [(bytes of the log, acknowledged)], and its first moment."""
    environment = dict(os.environ)
    if not with_syncs:
        environment = preload(library, root=disk.root, no_sync=1)
    environment["STORE_WRITER_STEPS"] = str(steps)
    command = [program, "write", os.path.join(disk.root, "store"), str(seed), *["0"] * THREADS]
    first, said, acknowledged = disk.logged_bytes(), [], Acknowledged([0] * THREADS)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as writer:
        for line in writer.stdout:
            acknowledged.add(line.decode())
            # All that was flushed for it is in the log by now.
            said.append((disk.logged_bytes(), list(acknowledged.steps)))
    assert writer.returncode == 0, f"seed {seed}: status {writer.returncode}"
    return said, first


def write_sectors(image, entry, rng, torn):
    """Some of its sectors: all, none, the first ones, or any."""
    _, _, offset, data = entry
    how = rng.choice(("all", "none", "first", "any") if torn else ("all", "none"))
    n = len(data) // SECTOR
    stop = rng.randrange(n + 1)
    for i in range(n):
        if how == "all" or (how == "first" and i < stop) or (how == "any" and rng.random() < 0.5):
            image[offset + i * SECTOR : offset + (i + 1) * SECTOR] = data[i * SECTOR :][:SECTOR]


def write_all(image, entry):
    image[entry[2] : entry[2] + len(entry[3])] = entry[3]


def cut_at(image, entries, flushed, moment, rng, torn):
    """The disk if the power fails before entry `moment`: image has all before entry `flushed`."""
    cut = bytearray(image)
    how = rng.choice(("all", "none", "any", "any"))
    for entry in entries[flushed:moment]:
        if how == "all":
            write_all(cut, entry)
        elif how == "any":
            write_sectors(cut, entry, rng, torn)
    return cut


class NotMounted(Exception):
    """A block of ext4 itself was torn, of which it has no copy in its journal."""


def check_cut(program, folder, cut, seed, acknowledged):
    path, root = os.path.join(folder, "cut"), os.path.join(folder, "cut-root")
    with open(path, "wb") as file:
        file.write(cut)
    os.makedirs(root, exist_ok=True)
    try:
        run("mount", "-t", "ext4", "-o", "loop,noatime", path, root)
    except OSError as error:
        raise NotMounted(error) from error
    try:
        return check(program, os.path.join(root, "store"), seed, acknowledged)[1]
    finally:
        run("umount", root)


def explore(program, folder, disk, said, first, seed, n):
    """Cut at n moments; returns what was wrong."""
    rng = random.Random(seed)
    entries = read_entries(disk.log)
    begin = sum(end <= first for end, *_ in entries)
    moments = sorted(rng.randrange(begin, len(entries) + 1) for _ in range(n))
    with open(disk.disk + ".first", "rb") as file:
        image = bytearray(file.read())
    flushed, wrong = 0, []
    for moment in moments:
        last = max((i + 1 for i in range(flushed, moment) if entries[i][1] & FLUSH), default=flushed)
        for entry in entries[flushed:last]:
            write_all(image, entry)
        flushed = last
        # Acknowledged for sure before the cut: the log was not longer then.
        at = entries[moment - 1][0] if moment else 0
        before = [steps for end, steps in said if end <= at]
        acknowledged = before[-1] if before else [0] * THREADS
        try:
            cut = cut_at(image, entries, flushed, moment, rng, True)
            found = check_cut(program, folder, cut, seed, acknowledged)
        except NotMounted:
            cut = cut_at(image, entries, flushed, moment, rng, False)
            found = check_cut(program, folder, cut, seed, acknowledged)
        if found:
            wrong.append(f"seed {seed}, write {moment}, acknowledged {acknowledged}: {found}")
    return wrong


def one_disk(program, library, seed, n, with_syncs, steps):
    # If nothing is synced, the file system shall not do it by itself, every five seconds.
    options = "noatime" if with_syncs else "noatime,commit=1000"
    with Folder() as folder:
        with LoggedDisk(folder, options) as disk:
            said, first = write_and_log(program, library, disk, seed, steps, with_syncs)
        return explore(program, folder, disk, said, first, seed, n)


def check_machine():
    missing = [name for name in NEEDED if not shutil.which(name, path="/usr/sbin:/sbin:" + os.environ["PATH"])]
    if missing:
        skip(f"there is no {', '.join(missing)} (tools/bootstrap.sh faults)")
    if os.geteuid() != 0:
        skip("only root can mount disks")
    os.environ["PATH"] = "/usr/sbin:/sbin:" + os.environ["PATH"]
    try:
        with Folder() as folder, LoggedDisk(folder):
            pass
    except OSError as error:
        skip(f"no disk can be made here: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("recorder")
    parser.add_argument("--cuts", type=int, default=sized(6, 200))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=150, help="of each thread")
    args = parser.parse_args()
    check_machine()
    of_a_disk, wrong, lost, n_without = sized(6, 25), [], [], 0
    for seed in range(args.seed, args.seed + -(-args.cuts // of_a_disk)):
        wrong += one_disk(args.program, args.recorder, seed, of_a_disk, True, args.steps)
        n = sized(20, 5)
        lost += one_disk(args.program, args.recorder, seed, n, False, args.steps)
        n_without += n
    n_cuts = -(-args.cuts // of_a_disk) * of_a_disk
    print(f"{n_cuts} cuts, {len(wrong)} wrong; without syncs {n_without} cuts, {len(lost)} wrong")
    for line in wrong:
        print(line)
    if wrong:
        sys.exit("something that was acknowledged is lost, or half there")
    if not lost:
        sys.exit("without syncs nothing is lost: this test finds nothing")


main()

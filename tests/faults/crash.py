"""crash.py - what a disk may have after a crash, by what a program did to its files (recorder.c)

A model of a file system that keeps only what it must: a file has the bytes that were written before
its last sync; of what was written since, any sectors of 512 bytes; and a name is there if its folder
was synced since it was given.  No file system is as bad as this, and a store that survives it
survives on all.
"""

import os
import struct

CREATE, WRITE, TRUNCATE, SYNC, SYNC_LAST, RENAME, UNLINK = range(1, 8)
MAKE_FOLDER, REMOVE_FOLDER, SAID, TROUBLE = range(8, 12)
ENTRY = struct.Struct("<IIIIQIIII")
SECTOR = 512


class Event:
    __slots__ = ("kind", "id", "folder", "to", "offset", "name", "other", "data")

    def __init__(self, kind, id, folder, to, offset, name, other, data):
        self.kind, self.id, self.folder, self.to = kind, id, folder, to
        self.offset, self.name, self.other, self.data = offset, name, other, data


def read_log(path):
    with open(path, "rb") as file:
        log = file.read()
    events, at = [], 0
    while at + ENTRY.size <= len(log):
        kind, id, folder, to, offset, n_name, n_other, n_data, _ = ENTRY.unpack_from(log, at)
        at += ENTRY.size
        name = log[at : at + n_name].decode()
        other = log[at + n_name : at + n_name + n_other].decode()
        at += n_name + n_other
        events.append(Event(kind, id, folder, to, offset, name, other, log[at : at + n_data]))
        at += n_data
    assert at == len(log), "the log ends within an entry"
    trouble = [e.name for e in events if e.kind == TROUBLE]
    assert not trouble, trouble
    return events


def put(content, offset, data):
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def sectors_of(op):
    """A write, cut where sectors begin: (offset, data) of each."""
    at, end = op.offset, op.offset + len(op.data)
    while at < end:
        some = min(SECTOR - at % SECTOR, end - at)
        yield at, op.data[at - op.offset : at - op.offset + some]
        at += some


class File:
    def __init__(self):
        self.durable = bytearray()
        self.pending = []  # [event, whether it must be there]

    def sync(self):
        for op, _ in self.pending:
            apply(self.durable, op)
        self.pending = []

    def image(self, rng):
        """One of the contents that it may have after a crash."""
        content = bytearray(self.durable)
        how = rng.choice(("none", "all", "first", "first", "any", "any"))
        stop = rng.randrange(len(self.pending) + 1)
        for i, (op, must) in enumerate(self.pending):
            if must or how == "all" or (how == "first" and i < stop):
                apply(content, op)
            elif how == "first" and i == stop:
                torn(content, op, rng)
            elif how == "any":
                some_sectors(content, op, rng)
        return content


def apply(content, op):
    if op.kind == WRITE:
        put(content, op.offset, op.data)
    elif len(content) > op.offset:
        del content[op.offset :]
    else:
        content.extend(bytes(op.offset - len(content)))


def torn(content, op, rng):
    """The first sectors of a write.  A length is set, or it is not."""
    if op.kind == WRITE:
        sectors = list(sectors_of(op))
        for at, data in sectors[: rng.randrange(len(sectors) + 1)]:
            put(content, at, data)


def some_sectors(content, op, rng):
    if op.kind == WRITE:
        for at, data in sectors_of(op):
            if rng.random() < 0.5:
                put(content, at, data)
    elif rng.random() < 0.5:
        apply(content, op)


class Disk:
    """The bytes that are on the disk for sure, and those that may be; fed with events in their order."""

    def __init__(self):
        self.files = {}
        self.names = {}  # (folder, name): id, of which the folder was synced
        self.changes = []  # of names, since
        self.folders = set()

    def feed(self, e):
        if e.kind in (WRITE, TRUNCATE):
            self.file(e.id).pending.append([e, False])
        elif e.kind == SYNC:
            self.sync(e.id)
        elif e.kind == SYNC_LAST:
            self.file(e.id).pending[-1][1] = True
        elif e.kind in (CREATE, RENAME, UNLINK, MAKE_FOLDER, REMOVE_FOLDER):
            if e.kind == MAKE_FOLDER:
                self.folders.add(e.id)
            self.changes.append(e)

    def file(self, id):
        return self.files.setdefault(id, File())

    def sync(self, id):
        """A file's bytes; or a folder's names: a rename is one step, so both its names are."""
        if id in self.files:
            self.files[id].sync()
        kept = []
        for e in self.changes:
            if id in (e.folder, e.to):
                change(self.names, e)
            else:
                kept.append(e)
        self.changes = kept

    def everything(self, root):
        """All that was written, as {path: bytes}: what the program itself sees."""
        names, found = dict(self.names), {}
        for e in self.changes:
            change(names, e)

        def walk(folder, path):
            for (inside, name), id in names.items():
                if inside != folder:
                    continue
                if id in self.folders:
                    walk(id, f"{path}{name}/")
                    continue
                content = bytearray(self.file(id).durable)
                for op, _ in self.file(id).pending:
                    apply(content, op)
                found[path + name] = bytes(content)

        walk(root, "")
        return found

    def image_names(self, rng):
        names = dict(self.names)
        how = rng.choice(("none", "all", "first", "any"))
        stop = rng.randrange(len(self.changes) + 1)
        for i, e in enumerate(self.changes):
            if how == "all" or (how == "first" and i < stop) or (how == "any" and rng.random() < 0.5):
                change(names, e)
        return names

    def write_image(self, rng, root, path):
        """One of the disks that may be after a crash here, as a folder.  `root`: its number."""
        inside = {}
        for (folder, name), id in self.image_names(rng).items():
            inside.setdefault(folder, []).append((name, id))
        self.write_folder(rng, inside, root, path)

    def write_folder(self, rng, inside, folder, path):
        os.mkdir(path)
        for name, id in sorted(inside.get(folder, [])):
            place = os.path.join(path, name)
            if id in self.folders:
                if not os.path.exists(place):
                    self.write_folder(rng, inside, id, place)
                continue
            with open(place, "wb") as file:
                file.write(self.file(id).image(rng))


def change(names, e):
    if e.kind in (CREATE, MAKE_FOLDER):
        names[e.folder, e.name] = e.id
    elif e.kind == RENAME:
        if names.get((e.folder, e.name)) == e.id:
            del names[e.folder, e.name]
        names[e.to, e.other] = e.id
    elif names.get((e.folder, e.name)) == e.id:
        del names[e.folder, e.name]

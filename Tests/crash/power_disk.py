"""A model of a disk: what a loss of power may leave of the writes of a trace.

A write is durable when a sync of its file that began after it has ended. Until then any of its blocks may be
on the disk or not, whatever became of earlier and later writes. Names are durable after a sync of their
directory; of the later changes to a directory the first few survive, in their order. What is in a directory
whose own name was lost is lost as well.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from power_trace import Event

#: How a disk may lose the unsynced writes of a file. Prefix: the first ones survive, the last of them in
#: part. The last four choose for each block.
MODES = [
    "none",
    "all",
    "prefix",
    "prefix",
    "half of the blocks",
    "half of the blocks",
    "most blocks",
    "few blocks",
]
SHARES = {"half of the blocks": 0.5, "most blocks": 0.9, "few blocks": 0.1}
BLOCK_SIZES = [512, 4096]


@dataclass
class Change:
    """A write of ``data`` at ``offset``; or, without data, a truncation or extension to ``offset``."""

    offset: int
    data: bytes | None

    def apply(self, content: bytearray) -> None:
        if len(content) < self.offset:
            content.extend(bytes(self.offset - len(content)))
        if self.data is None:
            del content[self.offset :]
        else:
            content[self.offset : self.offset + len(self.data)] = self.data

    def blocks(self, block: int, size: int) -> range:
        """The blocks that it changes in a file of ``size`` bytes."""
        end = max(size, self.offset) if self.data is None else self.offset + len(self.data) - 1
        return range(self.offset // block, end // block + 1)

    def apply_block(self, content: bytearray, number: int, block: int) -> None:
        """Applies its part of one block, without changing the size of the file."""
        first, last = number * block, min((number + 1) * block, len(content))
        start = max(self.offset, first)
        if self.data is None:
            content[start:last] = bytes(max(0, last - start))
        elif start < (end := min(self.offset + len(self.data), last)):
            content[start:end] = self.data[start - self.offset : end - self.offset]


@dataclass
class File:
    durable: bytearray = field(default_factory=bytearray)
    unsynced: list[Change] = field(default_factory=list)
    #: For each thread that syncs the file, how many of the changes were made before it began.
    syncs: dict[int, int] = field(default_factory=dict)

    def begin_sync(self, thread: int) -> None:
        self.syncs[thread] = len(self.unsynced)

    def end_sync(self, thread: int) -> None:
        count = self.syncs.pop(thread)
        for change in self.unsynced[:count]:
            change.apply(self.durable)
        del self.unsynced[:count]
        self.syncs = {other: max(begun - count, 0) for other, begun in self.syncs.items()}

    def content(self) -> bytes:
        """Returns the files as processes read them while the power is on."""
        content = bytearray(self.durable)
        for change in self.unsynced:
            change.apply(content)
        return bytes(content)

    def survivor(self, dice: random.Random, mode: str, block: int) -> bytes:
        """One of the contents that a loss of power may leave."""
        if mode == "none" or not self.unsynced:
            return bytes(self.durable)
        if mode == "all":
            return self.content()
        return self._prefix(dice, block) if mode == "prefix" else self._blocks(dice, SHARES[mode], block)

    def _prefix(self, dice: random.Random, block: int) -> bytes:
        content = bytearray(self.durable)
        count = dice.randrange(len(self.unsynced) + 1)
        for change in self.unsynced[:count]:
            change.apply(content)
        torn = self.unsynced[count] if count < len(self.unsynced) else None
        if torn and torn.data is not None and dice.random() < 0.5:
            blocks = dice.randrange(1 + len(torn.data) // block)
            Change(torn.offset, torn.data[: blocks * block]).apply(content)
        return bytes(content)

    def _blocks(self, dice: random.Random, share: float, block: int) -> bytes:
        sizes = [len(self.durable)]
        changes_of: dict[int, list[int]] = defaultdict(list)
        for index, change in enumerate(self.unsynced):
            for number in change.blocks(block, sizes[-1]):
                changes_of[number].append(index)
            written = change.offset + len(change.data or b"")
            sizes.append(written if change.data is None else max(sizes[-1], written))
        # Each block is as it was after one of the changes to it, or before all of them.
        last_of = {number: self._last(dice, indices, share) for number, indices in changes_of.items()}
        size = sizes[-1] if dice.random() < 0.7 else dice.choice(sizes)
        content = bytearray(self.durable)
        content.extend(bytes(max(0, max(sizes) - len(content))))
        for number, indices in changes_of.items():
            for index in indices:
                if index <= last_of[number]:
                    self.unsynced[index].apply_block(content, number, block)
        return bytes(content[:size])

    def _last(self, dice: random.Random, indices: list[int], share: float) -> int:
        if dice.random() < share:
            return indices[-1]
        return dice.choice(indices) if dice.random() < 0.3 else -1


#: The file that a name in a directory denotes; None for a directory.
Names = dict[Path, "File | None"]


@dataclass(frozen=True)
class Naming:
    """A change of one directory: a name is given to a file or a directory, or removed."""

    path: Path
    file: File | None = None
    is_removal: bool = False

    def apply(self, names: Names) -> None:
        if self.is_removal:
            names.pop(self.path, None)
        else:
            names[self.path] = self.file


@dataclass(frozen=True)
class State:
    """The disk when the power returns: contents by name, and how each was chosen."""

    files: dict[str, bytes]
    description: list[str]


class Disk:
    """The traced directory, to which the events of a trace are applied one by one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        #: By inode. The number of a removed file may be given to a new one; names refer to the file itself.
        self.files: dict[int, File] = {}
        #: As processes see them while the power is on.
        self.names: Names = {}
        self.durable_names: Names = {}
        #: The changes of each directory that were not synced.
        self.unsynced_names: defaultdict[Path, list[Naming]] = defaultdict(list)
        #: For each thread the directory that it syncs, and how many changes were made before it began.
        self.directory_syncs: dict[int, tuple[Path, int]] = {}

    def apply(self, event: Event) -> None:
        match event.type:
            case "C":
                self.files[event.inode] = File()
                self._name(Naming(event.path, self.files[event.inode]))
            case "M":
                self._name(Naming(event.path))
            case "U" | "X":
                self._name(Naming(event.path, is_removal=True))
            case "R" | "L":
                source, target = event.paths
                # The source is missing where an earlier program's file was left out of the trace.
                if source in self.names:
                    self._name(Naming(target, self.names[source]))
                    if event.type == "R":
                        self._name(Naming(source, is_removal=True))
            case "W":
                self.files[event.inode].unsynced.append(Change(event.offset, event.data))
            case "T":
                self.files[event.inode].unsynced.append(Change(event.offset, None))
            case "s":
                self.files[event.inode].begin_sync(event.thread)
            case "S":
                self.files[event.inode].end_sync(event.thread)
            case "d":
                self.directory_syncs[event.thread] = event.path, len(self.unsynced_names[event.path])
            case "D":
                self._end_directory_sync(event.thread)

    def _name(self, naming: Naming) -> None:
        naming.apply(self.names)
        self.unsynced_names[naming.path.parent].append(naming)

    def _end_directory_sync(self, thread: int) -> None:
        path, count = self.directory_syncs.pop(thread)
        for naming in self.unsynced_names[path][:count]:
            naming.apply(self.durable_names)
        del self.unsynced_names[path][:count]
        self.directory_syncs = {
            other: (begun_path, max(begun - count, 0) if begun_path == path else begun)
            for other, (begun_path, begun) in self.directory_syncs.items()
        }

    def _reachable(self, names: Names) -> dict[str, File]:
        """The files whose directories have names as well."""
        return {
            str(path.relative_to(self.root)): file
            for path, file in names.items()
            if file is not None
            and all(each in names for each in path.parents if each != self.root and self.root in each.parents)
        }

    def contents(self) -> dict[str, bytes]:
        """All files as processes see them while the power is on."""
        return {name: file.content() for name, file in self._reachable(self.names).items()}

    def lose_power(self, dice: random.Random) -> State:
        """One of the states that a loss of power may leave at this moment."""
        names = dict(self.durable_names)
        description = []
        for path, namings in self.unsynced_names.items():
            count = dice.randrange(len(namings) + 1)
            description.append(
                f"{count} of {len(namings)} unsynced changes of ./{path.relative_to(self.root)}"
            )
            for naming in namings[:count]:
                naming.apply(names)
        common = dice.choice(MODES) if dice.random() < 0.5 else None
        block = dice.choice(BLOCK_SIZES)
        files = {}
        for name, file in self._reachable(names).items():
            mode = common or dice.choice(MODES)
            files[name] = file.survivor(dice, mode, block)
            description.append(f"{name}: {mode} of {len(file.unsynced)} unsynced changes, blocks of {block}")
        return State(files, description)

"""One slice of the fuzzer of the C interface: threads of one process that call the library by a seed.

What a slice writes to its folder: ``calls``, a line before and after each call; ``counts``, how often each
function was called and how often it succeeded; ``fault``, how the library broke its contract.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import shutil
import threading
import time
import traceback
from collections import Counter
from ctypes import POINTER, c_void_p
from pathlib import Path
from typing import Any

from api_arguments import Arguments, new_handles
from api_documents import ROOT, mutated
from api_host import Host
from api_roles import DAMAGED, ENDERS, KINDS, MAKERS, PATHS, ROLES
from satchel import _abi
from satchel._abi import FUNCTIONS, Buffer
from satchel._library import free_buffer, library

#: How long a call may take, in seconds. Nothing here is large, and stores wait for each other 0.1 s, or 5 s.
PATIENCE = 60
INVALID, CLOSED, INTERNAL, LAST = 1, 10, 13, 18

#: How often functions are called, where that differs from 1: often for writes, seldom for long calls.
WEIGHTS = dict.fromkeys(ENDERS, 0.3) | {
    "satchel_store_close": 0.25,
    "satchel_store_open": 2,
    "satchel_records_open": 3,
    "satchel_records_put": 6,
    "satchel_records_put_many": 3,
    "satchel_records_put_valid": 3,
    "satchel_records_list": 2,
    "satchel_catalogue_deliver": 2,
    "satchel_photos_upsert": 3,
    "satchel_store_begin": 0.6,
    "satchel_store_commit": 1.5,
    "satchel_store_leave": 0.5,
    "satchel_store_batch": 3,
    "satchel_store_enter": 2,
    "satchel_store_sync": 6,
    "satchel_store_drop_collection": 0.3,
    "satchel_records_clear": 0.3,
    "satchel_records_resolve": 4,
    "satchel_photos_sync": 4,
    "satchel_photos_backup_queue": 2,
    "satchel_photos_backup_claim": 3,
    "satchel_photos_backup_done": 2,
    "satchel_photos_backup_failed": 2,
    "satchel_photos_resolve": 2,
    "satchel_remote_s3": 0.1,
    "satchel_store_recover": 0.5,
    "satchel_store_restore": 0.5,
}

#: Functions whose buffers hold no JSON.
NO_JSON = {"satchel_json_get_text", "satchel_story_check", "satchel_story_graph", "satchel_story_path_count",
           "satchel_story_report", "satchel_story_text", "satchel_stories_story",
           "satchel_photos_export_shard", "satchel_remote_get", "satchel_remote_put",
           "satchel_catalogue_has_cached", "satchel_assets_read", "satchel_assets_read_remote",
           "satchel_asset_reader_path"}  # fmt: skip
#: Functions that a callback may call: none that waits for a callback to return, as the header says.
IN_CHANGE = sorted(
    name for name in FUNCTIONS
    if name not in ENDERS and name not in MAKERS
    and not any(word in name for word in ("sync", "verify", "store_detach", "sign_out", "delete_account"))
)  # fmt: skip
IN_PROGRESS = ["satchel_store_info", "satchel_records_count", "satchel_photos_status", "satchel_state_get",
               "satchel_catalogue_plan", "satchel_version"]  # fmt: skip


class Slice:
    """The threads of one slice, and the handles that they share."""

    def __init__(self, seed: int, calls: int, seconds: float):
        self.seed, self.calls = seed, calls
        self.deadline = time.monotonic() + seconds
        self.handles, self.seen = new_handles(), new_handles()
        self.called: Counter[str] = Counter()
        self.succeeded: Counter[str] = Counter()
        self.log = os.open("calls", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.running: dict[int, tuple[float, str]] = {}
        self.local = threading.local()
        self.host = Host(library, seed, self.call_back, self.fault)
        self.names = sorted(FUNCTIONS)
        self.weights = [WEIGHTS.get(name, 1) for name in self.names]

    def fault(self, text: str) -> None:
        """Ends the slice: the library did what it must not."""
        Path("fault").write_text(text, encoding="utf-8")
        os._exit(3)

    def prepare(self) -> None:
        """Stories, photos, a sound store, and damaged copies of it."""
        dice = random.Random(self.seed)
        for role in PATHS:
            Path(role).mkdir()
        for path in (ROOT / "Examples/Stories").glob("*.json"):
            shutil.copy(path, "story_folder")
        Path("story_folder/well.twee").write_bytes(b":: Start\nHome.\n")
        Path("tales/well.twee").write_bytes(b":: Start\nA well. [[Look in->Water]]\n")
        Path("tales/water.tw").write_bytes(b":: Water\nCold.\n")
        tale = Path("story_folder/urashima-taro.json").read_bytes()
        Path("tales/story.json").write_bytes(mutated(dice, tale))
        for path in (ROOT / "Tests/Fixtures/photos").glob("*.*g"):
            shutil.copy(path, "photo_folder")
        store = c_void_p()
        library.satchel_store_open(b"stores/a", None, ctypes.byref(store))
        records = c_void_p()
        library.satchel_records_open(store, _bytes(b'{"name":"courses"}'), None, ctypes.byref(records))
        for number in range(20):
            library.satchel_records_put(records, _bytes(b"r%d" % number), _bytes(b'{"level":1}'), -1, None)
        library.satchel_store_close(store)
        whole = Path("stores/a").read_bytes()
        Path("damaged/cut").write_bytes(whole[: dice.randrange(len(whole))])
        flipped = bytearray(whole)
        for _ in range(dice.randrange(1, 200)):
            flipped[dice.randrange(100, len(whole))] = dice.randrange(256)
        Path("damaged/flipped").write_bytes(flipped)
        if self.seed % 4 == 0:
            PATHS["stores"] += DAMAGED
            Path("unsound").touch()
        Path("damaged/text").write_bytes(mutated(dice, b"no store"))

    def run(self, threads: int) -> None:
        # A mistake of the fuzzer would otherwise end its thread, and no call of it would follow.
        threading.excepthook = lambda end: self.fault("".join(traceback.format_exception(end.exc_value)))
        threading.Thread(target=self._watch, daemon=True).start()
        crew = [threading.Thread(target=self._work, args=(number,)) for number in range(threads)]
        for each in crew:
            each.start()
        for each in crew:
            each.join()
        # Half of the slices end as a process that exits without closing anything, batches included.
        if random.Random(self.seed).random() < 0.5:
            self._close_all()
        Path("counts").write_text(json.dumps([self.called, self.succeeded]), encoding="utf-8")

    def _watch(self) -> None:
        """Aborts when a call does not return; the last line of ``calls`` of that thread says which."""
        while True:
            time.sleep(1)
            for began, line in list(self.running.values()):
                if time.monotonic() - began > PATIENCE:
                    text = f"a call did not return within {PATIENCE} s: {line}"
                    Path("fault").write_text(text, encoding="utf-8")
                    os.abort()

    def _work(self, number: int) -> None:
        dice = random.Random(f"{self.seed}-{number}")
        self.local.dice, self.local.depth, self.local.number = dice, 0, number
        for _ in range(self.calls):
            if time.monotonic() > self.deadline:
                return
            self.call(self._next(dice), dice)

    def _next(self, dice: random.Random) -> str:
        """A function: one that makes a handle where none is open, or ends one where many are."""
        for name, kind in MAKERS.items():
            if not self.handles[kind] and dice.random() < 0.3:
                return name
        name = dice.choices(self.names, self.weights)[0]
        kind = MAKERS.get(name)
        if kind and len(self.handles[kind]) >= KINDS[kind]:
            role = ROLES["satchel_store_close"] if kind == "store" else kind
            return next(each for each in sorted(ENDERS) if ROLES[each] == role)
        return name

    def call_back(self, where: str, context: int) -> None:
        """A call from within a callback, and none from within a callback of that call."""
        if not hasattr(self.local, "dice"):  # a thread of the library
            self.local.dice, self.local.depth = random.Random(f"{self.seed}-{context}"), 0
            self.local.number = 100 + context
        if self.local.depth > 1:
            return
        names = IN_CHANGE if where == "change" else IN_PROGRESS
        self.call(self.local.dice.choice(names), self.local.dice)

    def call(self, name: str, dice: random.Random) -> None:
        arguments = Arguments(dice, self.host, self.handles, self.seen)
        arguments.fill(name)
        if name in ENDERS:
            self._forget(arguments)
        thread = threading.get_ident()
        label = f"{self.local.number}{'+' * self.local.depth}"
        line = f"{label} {name}({', '.join(map(_shown, arguments.values))})"
        outer = self.running.get(thread)
        os.write(self.log, f"{line}\n".encode())
        self.running[thread] = (time.monotonic(), line)
        self.local.depth += 1
        status = getattr(library, name)(*arguments.values)
        self.local.depth -= 1
        took = time.monotonic() - self.running[thread][0]
        if outer:
            self.running[thread] = (time.monotonic(), outer[1])
        else:
            del self.running[thread]
        os.write(self.log, f"{label}   {_shown(status)} after {took:.3f} {_outs(arguments)}\n".encode())
        self.called[name] += 1
        if FUNCTIONS[name][0] is ctypes.c_int and name != "satchel_status_name":
            self._examine(name, line, status, arguments)
        else:
            self.succeeded[name] += 1

    def _forget(self, arguments: Arguments) -> None:
        for kind, handle in arguments.used:
            with contextlib.suppress(ValueError):  # another thread may be faster
                self.handles[kind].remove(handle)

    def _retire(self, arguments: Arguments) -> None:
        """Puts the handles of a call on a closed store aside, so that later calls find open ones."""
        for kind, handle in arguments.used[:1]:
            if kind not in KINDS:
                continue
            with contextlib.suppress(ValueError):
                self.handles[kind].remove(handle)
                self.handles[f"stale {kind}"].append(handle)

    def _examine(self, name: str, line: str, status: int, arguments: Arguments) -> None:
        """Compares what a call gave back with the contract of the header."""
        message = library.satchel_error_message()
        if not 0 <= status <= LAST or status == INTERNAL:
            self.fault(f"{line} gave the status {status}: {message!r}")
        if status and not message:
            self.fault(f"{line} failed with {status} and left no message")
        if arguments.has_bad_handle and status not in (INVALID, CLOSED):
            self.fault(f"{line} accepted an invalid handle: status {status}: {message!r}")
        if status == 0:
            self.succeeded[name] += 1
        for kind, out in arguments.outs:
            if kind is POINTER(Buffer):
                self._take(name, line, status, out)
            elif name == "satchel_store_batch" and out.value:
                self.host.batches = [*self.host.batches[-3:], out.value]
            elif kind is POINTER(c_void_p):
                if status and out.value:
                    self.fault(f"{line} failed with {status} and left a handle")
                if out.value and name == "satchel_remote_s3":
                    library.satchel_remote_free(out)
                elif out.value:
                    self.handles[MAKERS[name]].append(out.value)
        if status == CLOSED and name not in ENDERS:
            self._retire(arguments)
        if name in ENDERS:
            closed = status in (0, CLOSED)
            self.handles["closed"] += [handle for _, handle in arguments.used if handle and closed]

    def _take(self, name: str, line: str, status: int, out: Buffer) -> None:
        address = c_void_p.from_buffer(out).value
        if status:
            if address or out.size:
                self.fault(f"{line} failed with {status} and did not empty its buffer")
            return
        if not address:
            return
        data = ctypes.string_at(address, out.size + 1)
        if data[-1]:
            self.fault(f"{line} returned a buffer without a NUL after it")
        if name.startswith(("satchel_assets_put", "satchel_assets_variant")):
            self.seen["asset"] = [*self.seen["asset"][-7:], data[:-1]]
        if name == "satchel_photos_export_shard" and len(self.seen["shard_file"]) < 8:
            self.seen["shard_file"].append(data[:-1])
        if name not in NO_JSON and not name.startswith("satchel_place") and out.size < 2_000_000:
            try:
                json.loads(data[:-1])
            except (ValueError, RecursionError) as error:
                self.fault(f"{line} gave what is no JSON: {error}: {data[:500]!r}")
        free_buffer(out)
        if out.size or c_void_p.from_buffer(out).value:
            self.fault("satchel_buffer_free() did not empty the buffer")
        free_buffer(out)

    def _close_all(self) -> None:
        for name in sorted(ENDERS):
            role = ROLES[name]
            for handle in self.handles[role] + self.handles[f"stale {role}"]:
                self.running[0] = (time.monotonic(), f"at the end: {name}({handle})")
                getattr(library, name)(handle)
        self.running.pop(0, None)


def _bytes(data: bytes) -> _abi.Bytes:
    return _abi.Bytes(data, len(data))


def _outs(arguments: Arguments) -> str:
    """Returns a call's numeric results."""
    return " ".join(str(out.value) for kind, out in arguments.outs if kind and kind is not POINTER(Buffer))


def _shown(argument: Any) -> str:
    """An argument as the log of calls has it."""
    if isinstance(argument, _abi.Bytes):
        address = c_void_p.from_buffer(argument).value
        size = argument.size
        data = ctypes.string_at(address, min(size, 400)) if address and size < 2**62 else None
        return f"{data!r}:{size}"
    inner = getattr(argument, "_obj", None)
    if isinstance(inner, Buffer):
        return "&buffer"
    if isinstance(inner, ctypes.Structure):
        fields = [f"{name}={_shown(getattr(inner, name))}" for name, *_ in inner._fields_]
        return f"{{{', '.join(fields)}}}"
    if isinstance(argument, ctypes._CFuncPtr):
        return "callback" if argument else "NULL"
    return "&out" if inner is not None else "NULL" if argument is None else repr(argument)

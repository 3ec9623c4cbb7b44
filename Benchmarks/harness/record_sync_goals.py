"""The rows of W7, its table and how to read it: figures in, text out. Pure."""

from .goals import NAMES, Row
from .record_data import RecordSet
from .record_sync import CHANGED, COUCH, PEERS, STEPS, job
from .report import figure, table
from .runner import Figures

FIRST_UPLOAD, FIRST_DOWNLOAD, NOTHING, CHANGED_UP, CHANGED_DOWN = STEPS
QUIET_REQUESTS, CHANGED_REQUESTS, FIRST_REQUESTS = 1, 2, 200
OF_LIVE = 1.5
"""Bytes of a first synchronization, of those that are live."""
READING = """\
- W7 is a device that sends {records} records, and a second one that receives them; then {changed} change.
  Each request takes 30 ms longer than the store on the loopback does, so that round trips count as over a
  network. Requests and bytes are the proxy's, heads included; Satchel's report has to say the same requests.
  A step is a process of its own; Satchel's time is that of the call. rclone syncs a file a record, with
  --checksum --fast-list and 16 transfers at once: an object a record, as apps write them that keep no log;
  it reads the head of each that it wrote, and its time is its process. The {largest} are Satchel's alone,
  once. "Of live" are the bytes of a first synchronization beside those that the head counts as live:
  envelopes, of which each has some 300 bytes besides its document. The probe of the store, {probe} requests
  of the first write in 30 days, is in the first upload. "CouchDB's protocol, by hand" is a small server and
  device of ours that replicate both ways as CouchDB's manual describes it, 500 documents a batch, because
  neither Debian nor PyPI has CouchDB: its requests and bytes can be read, its time cannot.
- Correctness of W7: every document of the second device, byte for byte, before and after the change."""
PROBE = 10


def record_sync_rows(figures: Figures, sets: tuple[RecordSet, ...]) -> list[Row]:
    small, large = sets[0], sets[-1]

    def row(step: str, what: str, unit: str, key: str, record_set: RecordSet = small, **more) -> Row:
        # The server of CouchDB's protocol is ours: its time says nothing.
        peers = [peer for peer in PEERS if unit != "s" or peer != COUCH]
        values = {NAMES[peer]: figures.median(job(peer, step, record_set), key) for peer in peers}
        others = {name: value for name, value in values.items() if value is not None}
        best = min(others.items(), key=lambda item: item[1], default=None)
        satchel = figures.median(job("satchel", step, record_set), key)
        workload = f"W7 {record_set.name} records, {step}: {what}"
        is_traffic = unit != "s"
        return Row(
            workload, unit, satchel, peer=best, others=others, is_traffic=is_traffic,
            against_peers=best is not None, **more,
        )  # fmt: skip

    def requests(step: str, record_set: RecordSet = small, bound: int | None = None) -> Row:
        goal = {"goal": f"≤ {bound}", "bound": bound} if bound else {}
        return row(step, "requests", "", "requests", record_set, **goal)

    def of_live(step: str) -> Row:
        return row(step, "bytes of live", "×", "of_live", large, goal=f"≤ {OF_LIVE} ×", bound=OF_LIVE)

    return [
        requests(NOTHING, bound=QUIET_REQUESTS),
        requests(CHANGED_UP, bound=CHANGED_REQUESTS),
        requests(CHANGED_DOWN),
        requests(FIRST_UPLOAD),
        requests(FIRST_DOWNLOAD),
        *(row(step, "time", "s", "seconds") for step in STEPS),
        requests(NOTHING, large, QUIET_REQUESTS),
        requests(CHANGED_UP, large, CHANGED_REQUESTS),
        requests(FIRST_UPLOAD, large, FIRST_REQUESTS),
        requests(FIRST_DOWNLOAD, large, FIRST_REQUESTS),
        of_live(FIRST_UPLOAD),
        of_live(FIRST_DOWNLOAD),
    ]


def reading(sets: tuple[RecordSet, ...]) -> str:
    return READING.format(records=sets[0].name, changed=CHANGED, largest=sets[-1].name, probe=PROBE)


def record_sync_table(figures: Figures, sets: tuple[RecordSet, ...]) -> str:
    lines = []
    for record_set in sorted(sets, key=lambda each: each.records):
        for step in STEPS:
            for name in ("satchel", *PEERS):
                done = job(name, step, record_set)
                if figures.median(done, "requests") is None:
                    continue
                up, down = (figures.median(done, key) / 1e3 for key in ("up", "down"))
                live = figures.median(done, "of_live")
                # Only a first synchronization moves all that is live.
                share = f"{live:.2f} ×" if live and step in STEPS[:2] else "–"
                what = f"{record_set.name}: {step}"
                shown = "" if any(line[0] == what for line in lines) else what
                requests = figure(figures.median(done, "requests"), "")
                seconds = "–" if name == COUCH else figure(figures.median(done, "seconds"), "s")
                cells = [requests, figure(up, "kB"), figure(down, "kB"), share, seconds]
                lines.append([shown, NAMES[name], *cells])
    return table(["", "", "requests", "up", "down", "of live", "time"], lines)

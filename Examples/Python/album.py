"""The photos of a holiday, on a phone and on a tablet.

Both keep a catalogue of them, and agree on it through a remote copy in an object store. Here both devices are
in one program, and the store is a directory, or S3 when SATCHEL_S3_BUCKET names a bucket (SATCHEL_S3_ENDPOINT
where it is not with AWS, and AWS_ACCESS_KEY_ID and so on). Usage: album.py folder, which is made
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import satchel
from satchel.remote import S3, Directory, Remote

EVENING = "3c90d1f2e3a4b5c63c90d1f2e3a4b5c6"


class Device:
    """A device has a store of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        """Opens a store in the folder, and the catalogue of a directory, which need not exist."""
        self.name = name
        self.store = satchel.open(folder / f"{name}.satchel")
        self.photos = self.store.photos(folder / name)

    def sync(self, remote: Remote) -> None:
        """Prints which shards moved: a catalogue has sixteen, by the first digit of the MD5."""
        report = self.photos.sync(remote, "lena")
        lists = {"downloaded": report.downloaded, "uploaded": report.uploaded, "conflicts": report.conflicts}
        moved = [
            f"{word} {' '.join(f'{each:x}' for each in shards)}" for word, shards in lists.items() if shards
        ]
        idle = f"nothing to do, {report.requests} request{'s' * (report.requests != 1)}"
        print(f"  {self.name + ':':<7} {', '.join(moved) or idle}")


def photo(md5: str, filename: str, taken: int) -> dict[str, Any]:
    """A row; ``photos.scan()`` makes them from files."""
    fixed = {"size": 2_400_000, "modified": taken, "width": 4032, "height": 3024}
    return {"md5": md5, "filename": filename, "photodate": taken, **fixed}


def open_remote(folder: Path) -> Remote:
    """Where the remote copy is."""
    bucket = os.environ.get("SATCHEL_S3_BUCKET")
    if bucket is None:
        return Directory(folder / "remote")
    endpoint = os.environ.get("SATCHEL_S3_ENDPOINT")
    return S3(bucket=bucket, prefix=f"album-{int(time.time())}", endpoint=endpoint)


def take_photos(phone: Device) -> None:
    print("The phone took 4 photos of the holiday.")
    phone.photos.upsert(
        [
            photo("3a1e5c0d9b7f48263a1e5c0d9b7f4826", "Tram 28.jpg", 1719822000),
            photo(EVENING, "IMG_0042.jpg", 1719954840),
            photo("a4d27e8f10293b4ca4d27e8f10293b4c", "Belem.jpg", 1720010700),
            photo("f0178a6b5c4d3e2ff0178a6b5c4d3e2f", "Cake.jpg", 1720013400),
        ]
    )


def change_both(phone: Device, tablet: Device) -> None:
    print("\nWithout a network, each names the same photo, and the tablet adds one.")
    phone.photos.upsert(photo(EVENING, "Sunset.jpg", 1719954840))
    tablet.photos.upsert(photo(EVENING, "Bridge at night.jpg", 1719954840))
    tablet.photos.upsert(photo("f8b63c2d1e0f9a8bf8b63c2d1e0f9a8b", "Fado.jpg", 1720040400))


def show_conflicts(device: Device) -> None:
    """Overridden changes are kept: the device can reapply them."""
    for conflict in device.photos.conflicts():
        if conflict.local and conflict.remote:
            print(f'  "{conflict.local.filename}" lost to "{conflict.remote.filename}", and is kept.')


def reapply_all(device: Device) -> None:
    print(f"\nThe {device.name} applies it again.")
    for conflict in device.photos.conflicts():
        device.photos.resolve(conflict, "local")


def show_agreement(one: Device, other: Device) -> None:
    names = ", ".join(each.filename for each in one.photos.iterate(order="photodate"))
    same = sum(one.photos.export_shard(shard) == other.photos.export_shard(shard) for shard in range(16))
    print(f"\nBoth have {names}.")
    print(f"Their files are the same, byte for byte: {same} of 16.")


def main() -> None:
    if len(sys.argv) != 2 or os.path.exists(sys.argv[1]):
        sys.exit("Usage: album.py folder, which must not exist")
    folder = Path(sys.argv[1])
    folder.mkdir()
    phone, tablet = Device("phone", folder), Device("tablet", folder)
    with phone.store, tablet.store, open_remote(folder) as remote:
        take_photos(phone)
        phone.sync(remote)
        tablet.sync(remote)
        change_both(phone, tablet)
        phone.sync(remote)
        tablet.sync(remote)
        show_conflicts(tablet)
        reapply_all(tablet)
        tablet.sync(remote)
        phone.sync(remote)
        phone.sync(remote)
        show_agreement(phone, tablet)


if __name__ == "__main__":
    main()

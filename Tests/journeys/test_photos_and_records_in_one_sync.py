"""Photos and records of one account in one synchronization.

Ada photographs a trip and writes about the pictures. Her phone, her laptop and a new tablet synchronize the
whole store with one call each; a picture is deleted with its text on one device while its text is edited on
another.
"""

import hashlib
import struct
import zlib

from journey import Clock, documents, settled


def picture(number: int) -> bytes:
    """A PNG of one pixel, of each number another one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(bytes([0, number, number, number]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def test_a_trip_with_pictures_reaches_three_devices(device, bucket, tmp_path):
    clock = Clock()
    phone, laptop = device("phone", clock), device("laptop", clock)
    folder = tmp_path / "phone" / "DCIM"
    folder.mkdir()
    for number in range(12):
        (folder / f"IMG_{number}.png").write_bytes(picture(number))
    names = {hashlib.md5(picture(number)).hexdigest(): number for number in range(12)}

    # The phone scans, and writes one text for each picture, which refers to it by its MD5.
    album, texts = phone.photos(folder), phone.records("texts")
    assert album.scan().added == 12
    texts.put_many({md5: {"text": f"picture {number}"} for md5, number in names.items()})
    album.sync(bucket, "ada")
    report = phone.sync(bucket, "ada")
    assert report.ok
    assert report.photos is not None

    # The laptop has no pictures, and the same catalogue.
    (tmp_path / "laptop" / "Pictures").mkdir()
    catalogue, on_laptop = laptop.photos(tmp_path / "laptop" / "Pictures"), laptop.records("texts")
    catalogue.sync(bucket, "ada")
    laptop.sync(bucket, "ada")
    assert {photo.md5 for photo in catalogue.iterate()} == set(names) == set(documents(on_laptop))

    # One picture is deleted with its text on the laptop, whose text is edited on the phone; another one is
    # starred there.
    gone, kept, *_ = names
    clock.wait(1000)
    catalogue.delete(gone)
    on_laptop.delete(gone)
    album.star(kept)
    clock.wait(1000)
    texts.put(gone, {"text": "edited on the phone"})
    settled("ada", bucket, phone, laptop)
    assert documents(texts) == documents(on_laptop)
    assert album.get(gone) is None
    assert catalogue.get(gone) is None
    # The text was edited later than it was deleted, and is not lost.
    assert texts.get(gone) == {"text": "edited on the phone"}
    # A star is the device's own.
    assert album.get(kept).starred
    assert not catalogue.get(kept).starred

    # A new tablet gets everything without a call for photos.
    tablet = device("tablet", clock)
    (tmp_path / "tablet" / "Pictures").mkdir()
    new, on_tablet = tablet.photos(tmp_path / "tablet" / "Pictures"), tablet.records("texts")
    new.sync(bucket, "ada")
    settled("ada", bucket, tablet, phone, laptop)
    assert {photo.md5 for photo in new.iterate()} == set(names) - {gone}
    assert documents(on_tablet) == documents(texts)

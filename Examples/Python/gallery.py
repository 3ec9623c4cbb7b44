"""The thumbnails of an album: each is made once, and kept in the store among its assets.

The library scales JPEG and PNG. The thumbnails of other formats are made by a function of the app, here that of
HEIC, which stands for the decoder of the system. Usage: gallery.py folder, of photos
"""

import sys
from pathlib import Path

import satchel
from satchel.assets import Variant

#: The longer edge of a thumbnail, in pixels.
EDGE = 64
#: The time of day in milliseconds, so that hours can pass.
now = 1_790_000_000_000
#: The photos that the app's function was asked for.
converted: list[str] = []


def convert(path: str) -> Variant:
    """Stands for a decoder: the first bytes of the file are its thumbnail."""
    converted.append(path)
    with Path(path).open("rb") as file:
        return Variant(file.read(12), "image/heic")


def show(photos: satchel.PhotoCatalogue) -> None:
    for photo in photos.iterate(order="filename"):
        thumbnail = photos.thumbnail(photo.md5, EDGE, make=convert)
        smaller = "smaller" if len(thumbnail.bytes()) < photo.size else "as large"
        print(f"  {photo.filename:<20}  {thumbnail.type}, {smaller}")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("Usage: gallery.py folder, of photos")
    with satchel.open(":memory:", clock=lambda: now) as store, store.photos(sys.argv[1]) as photos:
        print(f"Found {photos.scan().added} photos. Their thumbnails:")
        show(photos)
        print(f"The app made {len(converted)} of them.")
        show_again(store, photos)


def show_again(store: satchel.Store, photos: satchel.PhotoCatalogue) -> None:
    global now
    for photo in photos.iterate():
        photos.thumbnail(photo.md5, EDGE, make=convert)
    print(f"Shown again, none is made: the app has still made {len(converted)}.")

    now += 2 * 3600 * 1000
    # A budget of no bytes: what can be made again goes first, and goes after an hour at the earliest.
    report = store.assets.prune(max_bytes=0)
    print(
        f"\nThe disk is nearly full: {report.removed} thumbnails are removed, {report.bytes} bytes are left."
    )
    for photo in photos.iterate():
        photos.thumbnail(photo.md5, EDGE, make=convert)
    print(f"When they are needed they are made again: the app has made {len(converted)}.")


if __name__ == "__main__":
    main()

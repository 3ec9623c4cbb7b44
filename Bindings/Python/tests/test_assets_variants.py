"""Variants of assets, and thumbnails of photos: by the library, and by functions of the host."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Iterator, List

import pytest
from helpers import FIXTURES, HOUR, Clock

import satchel
import satchel.aio
from satchel import InvalidArgument
from satchel.assets import AssetFile, Assets, Variant

HEIC = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"


@pytest.fixture
def photos(store: satchel.Store, tmp_path: Path) -> Iterator[satchel.PhotoCatalogue]:
    """A JPEG, and a photo that only a decoder of the host could read."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/a.jpg").write_bytes(Path(FIXTURES / "photos/baseline.jpg").read_bytes())
    (tmp_path / "photos/b.heic").write_bytes(HEIC)
    with store.photos(tmp_path / "photos") as photos:
        photos.scan()
        yield photos


def named(photos: satchel.PhotoCatalogue, name: str) -> str:
    [md5] = [each.md5 for each in photos.iterate() if each.filename == name]
    return md5


def test_pictures_are_scaled(assets: Assets) -> None:
    photo = Path(FIXTURES / "photos/baseline.jpg").read_bytes()
    picture = assets.put(photo, type="image/jpeg")
    small = assets.scaled(picture, 8)
    assert (small.type, assets.info(small).variant) == ("image/jpeg", True)
    assert small.bytes()[:2] == b"\xff\xd8"
    assert assets.scaled(picture, 8) == small != assets.scaled(picture, 16)
    with pytest.raises(InvalidArgument):
        assets.scaled(assets.put(b"no picture"), 8)
    for edge in (0, -1, 2**31, 1.5):
        with pytest.raises(InvalidArgument, match="longest_edge"):
            assets.scaled(picture, edge)  # type: ignore[arg-type]


def test_a_variant_is_made_once(store: satchel.Store, assets: Assets, clock: Clock) -> None:
    made: List[str] = []

    def small(file: AssetFile) -> Variant:
        made.append(str(file.path))
        return Variant(io.BytesIO(file.read()[::1000]), "image/x-small")

    picture = assets.put(b"0123456789" * 30_000)
    store.records("notes").put("n1", {"picture": picture})
    thumbs = [assets.variant(picture.json, "small", small) for _ in range(3)]
    assert len(set(thumbs)) == len(made) == 1
    assert (thumbs[0].bytes(), thumbs[0].type) == (b"0" * 300, "image/x-small")
    info = assets.info(thumbs[0])
    assert (info.variant, info.references) == (True, 0)
    assert assets.variant(picture, "first", lambda file: file.read(1)).bytes() == b"0"
    # It is kept with its picture, and goes first.
    clock.advance(2 * HOUR)
    assert assets.prune().removed == 0
    assert assets.prune(max_bytes=300_000).removed == 2
    assert (thumbs[0].state, picture.state) == ("missing", "here")
    assert assets.variant(picture, "small", small) == thumbs[0]
    assert len(made) == 2


def test_a_variant_that_cannot_be_made(store: satchel.Store, assets: Assets) -> None:
    picture = assets.put(b"no picture")

    def broken(_: AssetFile) -> bytes:
        with pytest.raises(satchel.Busy):
            store.close()
        raise ZeroDivisionError("oh")

    kept: List[AssetFile] = []

    def keeping(file: AssetFile) -> bytes:
        kept.append(file)
        return b"kept"

    with pytest.raises(ZeroDivisionError, match="oh"):
        assets.variant(picture, "a", broken)
    for result in (None, "text", 7):
        with pytest.raises(InvalidArgument, match="make"):
            assets.variant(picture, "a", lambda _, result=result: result)  # type: ignore[misc]
    with pytest.raises(InvalidArgument, match="type"):
        assets.variant(picture, "a", lambda _: Variant(b"", "a\nb"))
    with pytest.raises(satchel.NotFound):
        assets.variant("0" * 64, "a", lambda _: b"")
    assert len(assets.list()) == 1
    assert assets.variant(picture, "a", keeping).bytes() == b"kept"
    assert kept[0].closed
    with pytest.raises((satchel.Closed, ValueError)):
        kept[0].read()


# Thumbnails.


def unexpected(_path: str) -> bytes:
    raise AssertionError("the function was called")


def test_thumbnails_are_scaled(photos: satchel.PhotoCatalogue, assets: Assets, tmp_path: Path) -> None:
    md5 = named(photos, "a.jpg")
    thumbnail = photos.thumbnail(md5, 8, make=unexpected)
    picture = assets.put(tmp_path / "photos/a.jpg")
    assert thumbnail.bytes() == assets.scaled(picture, 8).bytes()
    (tmp_path / "photos/a.jpg").unlink()
    assert photos.thumbnail(md5, 8) == thumbnail
    with pytest.raises(satchel.NotFound):
        photos.thumbnail(md5, 9)
    with pytest.raises(satchel.NotFound):
        photos.thumbnail("0" * 32, make=unexpected)
    garbage: Any
    for garbage in (0, -1, 2**31, 1.5):
        with pytest.raises(InvalidArgument, match="longest_edge"):
            photos.thumbnail(md5, garbage)


def test_a_thumbnail_in_another_format_is_made_by_a_function_once(
    store: satchel.Store, photos: satchel.PhotoCatalogue, assets: Assets, tmp_path: Path, clock: Clock
) -> None:
    md5 = named(photos, "b.heic")
    with pytest.raises(InvalidArgument, match=r"b\.heic"):
        photos.thumbnail(md5)
    made: List[str] = []

    def convert(path: str) -> Variant:
        made.append(path)
        with pytest.raises(satchel.Busy):
            store.close()
        store.state.set("seen", True)
        return Variant(io.BytesIO(Path(path).read_bytes()[:8]), "image/x-small")

    thumbnail = photos.thumbnail(md5, make=convert)
    assert (thumbnail.bytes(), thumbnail.type) == (HEIC[:8], "image/x-small")
    assert photos.thumbnail(md5, make=unexpected) == photos.thumbnail(md5) == thumbnail
    assert made == [str(tmp_path / "photos/b.heic")]
    # Another size is another thumbnail.
    assert photos.thumbnail(md5, 8, make=lambda path: path.encode()).bytes().endswith(b"b.heic")
    clock.advance(2 * HOUR)
    assert assets.prune().removed == 0
    assert assets.prune(max_bytes=0).removed == 2
    assert photos.thumbnail(md5, make=convert) == thumbnail
    assert len(made) == 2


def test_a_thumbnail_that_cannot_be_made(photos: satchel.PhotoCatalogue, assets: Assets) -> None:
    md5 = named(photos, "b.heic")

    def broken(_path: str) -> bytes:
        raise ZeroDivisionError("oh")

    with pytest.raises(ZeroDivisionError, match="oh"):
        photos.thumbnail(md5, make=broken)
    result: Any
    for result in (None, "text", 7):
        with pytest.raises(InvalidArgument, match="make"):
            photos.thumbnail(md5, make=lambda _, result=result: result)  # type: ignore[misc]
    with pytest.raises(InvalidArgument, match="type"):
        photos.thumbnail(md5, make=lambda _: Variant(b"", "a\nb"))
    with pytest.raises(InvalidArgument, match="make"):
        photos.thumbnail(md5, make=7)  # type: ignore[arg-type]
    assert assets.list() == []

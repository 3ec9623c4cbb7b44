"""The interface of every peer of W3: it keeps sixteen files of photos, and exports them byte for byte."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path

DIGITS = "0123456789abcdef"
COLUMNS = ("md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id")
SCHEMA = (
    "CREATE TABLE photo(md5 TEXT PRIMARY KEY, filename TEXT, size INTEGER, photodate INTEGER,"
    " modified INTEGER, width INTEGER, height INTEGER, apple_photo_id TEXT)"
)
OF_SHARD = "SELECT * FROM photo WHERE md5 >= ? AND md5 < ? ORDER BY md5"
PAGE = "SELECT md5 FROM photo WHERE photodate BETWEEN ? AND ? ORDER BY photodate, md5 LIMIT ?"


class PhotoPeer(ABC):
    @abstractmethod
    def open(self, directory: Path) -> None: ...

    @abstractmethod
    def take(self, path: Path, shard: int, again: bool) -> None:
        """Imports a shard's file; when it returns, that is as durable as the peer can.

        `again`: the shard is there already, and some of its photos have changed.
        """

    def take_all(self, directory: Path) -> None:
        for shard in range(len(DIGITS)):
            self.take(shard_file(directory, shard), shard, again=False)

    @abstractmethod
    def write(self, shard: int, path: Path) -> None:
        """Writes a shard's file, in the order of MD5s."""

    @abstractmethod
    def count(self) -> int: ...

    @abstractmethod
    def get(self, md5: str) -> Sequence[object]:
        """The columns of one photo."""

    @abstractmethod
    def page(self, first: int, last: int, limit: int) -> list[str]:
        """The MD5s of the photos between two dates, by date and MD5."""

    @abstractmethod
    def close(self) -> None: ...

    def export(self, shard: int, path: Path) -> str:
        """Writes a shard's file; returns its checksum."""
        self.write(shard, path)
        return checksum(path)

    def export_all(self, directory: Path) -> list[str]:
        return [self.export(shard, shard_file(directory, shard)) for shard in range(len(DIGITS))]


def shard_file(directory: Path, shard: int) -> Path:
    return directory / f"{DIGITS[shard]}.csv"


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def without_last_newline(path: Path) -> None:
    """The format has none; writers of CSV end with one."""
    with path.open("rb+") as file:
        file.truncate(file.seek(0, 2) - 1)


def bounds(shard: int) -> tuple[str, str]:
    """The first MD5 of a shard, and the first of the next one."""
    return DIGITS[shard], (DIGITS + "g")[shard + 1]


class Library(PhotoPeer):
    """Keeps what only this device knows of photos as well, and has the indexes of an app that shows them."""

    @abstractmethod
    def put_local(self, path: Path) -> None:
        """Stores lines of MD5, camera, latitude and longitude."""

    @abstractmethod
    def edit(self, path: Path) -> None:
        """Replaces photos by those of a file of lines."""

    @abstractmethod
    def months(self) -> dict[str, int]:
        """The number of photos of each month."""

    @abstractmethod
    def of_camera(self, camera: str, first: int, last: int, limit: int) -> list[str]:
        """As `page`, of a camera's photos."""

    @abstractmethod
    def in_box(self, south: float, west: float, north: float, east: float, limit: int) -> list[str]:
        """As `page`, of the photos that were taken there."""

"""The life of one device of a turn: it edits and synchronizes at the same time until it is killed."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import satchel
from journal import History, Journal


class Life(ABC):
    """A device with its journal and the object store that all share."""

    def __init__(self, options: dict[str, Any], journal: str = "") -> None:
        """Goes on where the last life ended.

        :param journal: what the journal is called besides the device's number
        """
        self.number: int = options["number"]
        self.policy: str = options["policy"]
        self.user: str = options["user"]
        self.folder = Path(options["folder"])
        self.path = self.folder / f"{self.number}.satchel"
        path = self.folder / f"{self.number}{journal}.journal"
        self.history = History.read(path)
        self.next = self.history.next_number
        #: The last edit whose call has returned.
        self.made = self.next - 1
        self.journal = Journal(path)
        self.dice = random.Random(f"{options['seed']}-{self.number}-{self.next}-{len(self.history.syncs)}")
        told = json.loads(os.environ["SATCHEL_TEST_S3"])["store"]
        told["endpoint"] = options.get("endpoint", told["endpoint"])
        self.remote = satchel.remote.S3(**told, prefix=options["prefix"])

    @abstractmethod
    def edit(self) -> None:
        """One random edit."""

    @abstractmethod
    def sync(self) -> object:
        """One synchronization."""

    def live(self) -> None:
        def edit_for_ever() -> None:
            try:
                while True:
                    self.edit()
                    time.sleep(dice.choice([0, 0.02, 0.1]) * dice.random())
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)

        dice = random.Random(self.dice.random())
        threading.Thread(target=edit_for_ever, daemon=True).start()
        self.sync_for_ever(dice)

    def sync_for_ever(self, dice: random.Random) -> None:
        while True:
            self.sync()
            time.sleep(0.1 * dice.random() ** 3)

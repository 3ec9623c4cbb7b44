"""The asynchronous twins of State, StateList, StateMembers, Scores; written by generate_aio.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.aio._calls import Twin, twin_of
from satchel.state import Scores as BlockingScores
from satchel.state import State as BlockingState
from satchel.state import StateList as BlockingStateList
from satchel.state import StateMembers as BlockingStateMembers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any, Dict, List, Optional, Union

    from satchel._encoding import Duration
    from satchel.records._declarations import MigrationStep
    from satchel.state._lists import StateItem

__all__ = ["Scores", "State", "StateList", "StateMembers"]


@twin_of(BlockingState)
class State(Twin):
    """The asynchronous twin of :class:`satchel.State`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingState

    async def configure(
        self,
        *,
        save_delay: Optional[Duration] = None,
        max_pending: Optional[int] = None,
        max_delay: Optional[Duration] = None,
    ) -> None:
        """As :meth:`satchel.State.configure`."""
        await self._calls.write(
            lambda: self._blocking.configure(
                save_delay=save_delay,
                max_pending=max_pending,
                max_delay=max_delay,
            )
        )

    async def declare(
        self,
        defaults: Optional[Mapping[str, Any]] = None,
        *,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
    ) -> None:
        """As :meth:`satchel.State.declare`."""
        await self._calls.write(
            lambda: self._blocking.declare(defaults, version=version, migrations=migrations)
        )

    async def set(self, key: str, value: Any, sensitive: bool = False, synced: Optional[bool] = None) -> None:
        """As :meth:`satchel.State.set`."""
        await self._calls.write(lambda: self._blocking.set(key, value, sensitive, synced))

    async def get(self, key: str, default: Any = None, *, of: Any = None) -> Any:
        """As :meth:`satchel.State.get`."""
        return await self._calls.read(lambda: self._blocking.get(key, default, of=of))

    async def remove(self, key: str) -> None:
        """As :meth:`satchel.State.remove`."""
        await self._calls.write(lambda: self._blocking.remove(key))

    async def keys(self, prefix: str = "") -> List[str]:
        """As :meth:`satchel.State.keys`."""
        return await self._calls.read(lambda: self._blocking.keys(prefix))

    async def flush(self) -> bool:
        """As :meth:`satchel.State.flush`."""
        return await self._calls.write(lambda: self._blocking.flush())

    async def set_key(self, key: bytes) -> None:
        """As :meth:`satchel.State.set_key`."""
        await self._calls.write(lambda: self._blocking.set_key(key))

    async def rotate_key(self, key: bytes) -> None:
        """As :meth:`satchel.State.rotate_key`."""
        await self._calls.write(lambda: self._blocking.rotate_key(key))

    async def list(
        self,
        name: str,
        limit: Optional[int] = None,
        max_age: Optional[Duration] = None,
        unique: bool = False,
        synced: Optional[bool] = None,
        sensitive: Optional[bool] = None,
    ) -> StateList:
        """As :meth:`satchel.State.list`."""
        return StateList(self._calls, await self._calls.write(
            lambda: self._blocking.list(name, limit, max_age, unique, synced, sensitive)
        ))

    async def members(
        self,
        name: str,
        synced: Optional[bool] = None,
        sensitive: Optional[bool] = None,
    ) -> StateMembers:
        """As :meth:`satchel.State.members`."""
        return StateMembers(self._calls, await self._calls.write(
            lambda: self._blocking.members(name, synced, sensitive)
        ))

    async def scores(
        self,
        name: str,
        minimum: float = -1.0,
        maximum: float = 1.0,
        synced: Optional[bool] = None,
        sensitive: Optional[bool] = None,
    ) -> Scores:
        """As :meth:`satchel.State.scores`."""
        return Scores(self._calls, await self._calls.write(
            lambda: self._blocking.scores(name, minimum, maximum, synced, sensitive)
        ))


@twin_of(BlockingStateList)
class StateList(Twin):
    """The asynchronous twin of :class:`satchel.StateList`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingStateList

    @property
    def name(self) -> str:
        """As :attr:`satchel.StateList.name`."""
        return self._blocking.name

    async def push(self, value: Any, time: Optional[Union[datetime, int]] = None) -> None:
        """As :meth:`satchel.StateList.push`."""
        await self._calls.write(lambda: self._blocking.push(value, time))

    async def items(self) -> List[StateItem]:
        """As :meth:`satchel.StateList.items`."""
        return await self._calls.read(lambda: self._blocking.items())

    async def values(self) -> List[Any]:
        """As :meth:`satchel.StateList.values`."""
        return await self._calls.read(lambda: self._blocking.values())

    async def remove(self, value: Any) -> None:
        """As :meth:`satchel.StateList.remove`."""
        await self._calls.write(lambda: self._blocking.remove(value))

    async def clear(self) -> None:
        """As :meth:`satchel.StateList.clear`."""
        await self._calls.write(lambda: self._blocking.clear())


@twin_of(BlockingStateMembers)
class StateMembers(Twin):
    """The asynchronous twin of :class:`satchel.StateMembers`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingStateMembers

    @property
    def name(self) -> str:
        """As :attr:`satchel.StateMembers.name`."""
        return self._blocking.name

    async def add(self, value: Any) -> bool:
        """As :meth:`satchel.StateMembers.add`."""
        return await self._calls.write(lambda: self._blocking.add(value))

    async def remove(self, value: Any) -> bool:
        """As :meth:`satchel.StateMembers.remove`."""
        return await self._calls.write(lambda: self._blocking.remove(value))

    async def clear(self) -> None:
        """As :meth:`satchel.StateMembers.clear`."""
        await self._calls.write(lambda: self._blocking.clear())

    async def values(self) -> List[Any]:
        """As :meth:`satchel.StateMembers.values`."""
        return await self._calls.read(lambda: self._blocking.values())

    async def has(self, value: Any) -> bool:
        """As :meth:`satchel.StateMembers.has`."""
        return await self._calls.read(lambda: self._blocking.has(value))


@twin_of(BlockingScores)
class Scores(Twin):
    """The asynchronous twin of :class:`satchel.Scores`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingScores

    @property
    def name(self) -> str:
        """As :attr:`satchel.Scores.name`."""
        return self._blocking.name

    async def add(self, key: str, delta: float) -> float:
        """As :meth:`satchel.Scores.add`."""
        return await self._calls.write(lambda: self._blocking.add(key, delta))

    async def value(self, key: str) -> float:
        """As :meth:`satchel.Scores.value`."""
        return await self._calls.read(lambda: self._blocking.value(key))

    async def all(self) -> Dict[str, float]:
        """As :meth:`satchel.Scores.all`."""
        return await self._calls.read(lambda: self._blocking.all())

    async def clear(self) -> None:
        """As :meth:`satchel.Scores.clear`."""
        await self._calls.write(lambda: self._blocking.clear())

    async def remove(self, key: str) -> None:
        """As :meth:`satchel.Scores.remove`."""
        await self._calls.write(lambda: self._blocking.remove(key))

"""Runs a workload on a disk, under the tracer of power.py.

Usage: power_record.py WORKLOAD SEED FOLDER INPUTS. Each of several actors is a process of its own. They act
at the same time, one operation each, and wait for each other.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from power_host import Host
from power_trace import Mark
from power_workloads import WORKLOADS, Workload


def act(workload: Workload, seed: int, host: Host, turn: int) -> bool:
    """Does the operation of one turn: turn 0 opens the store, and one after the last operation closes it.

    :returns: whether there is another turn
    """
    operations = workload.operations(seed, host.actor)
    if turn > len(operations):
        host.close()
        return False
    name = operations[turn - 1].name if turn else "open"
    Mark(True, host.actor, turn, name).write()
    if turn:
        operations[turn - 1].act(host)
    else:
        host.open()
    Mark(False, host.actor, turn, name).write()
    host.time += 1000
    return True


class Actor:
    """A process that acts when its parent asks. It ends after its last turn, or when its parent does."""

    def __init__(self, workload: Workload, seed: int, host: Host, before: list[Actor]) -> None:
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        self.child = os.fork()
        if self.child:
            os.close(orders)
            os.close(answers)
            return
        # Held here, too, these ends would keep a pipe open after the parent has ended.
        for actor in [*before, self]:
            os.close(actor._orders)
            os.close(actor._answers)
        try:
            turn = 0
            goes_on = True
            while goes_on and os.read(orders, 1):
                goes_on = act(workload, seed, host, turn)
                os.write(answers, b"+" if goes_on else b".")
                turn += 1
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def begin(self) -> None:
        os.write(self._orders, b"!")

    def goes_on(self) -> bool:
        """Waits for the end of the turn."""
        answer = os.read(self._answers, 1)
        if not answer:
            sys.exit("an actor ended early (see above)")
        return answer == b"+"


def run_together(workload: Workload, seed: int, hosts: list[Host]) -> None:
    actors: list[Actor] = []
    for host in hosts:
        actors.append(Actor(workload, seed, host, actors))
    while actors:
        for actor in actors:
            actor.begin()
        ended = [actor for actor in actors if not actor.goes_on()]
        actors = [actor for actor in actors if actor not in ended]


def main(name: str, seed: int, folder: Path, inputs: Path) -> None:
    workload = next(each for each in WORKLOADS if each.name == name)
    hosts = [Host(folder, inputs, actor, workload.durability) for actor in range(workload.actors)]
    if len(hosts) > 1:
        run_together(workload, seed, hosts)
        return
    turn = 0
    while act(workload, seed, hosts[0], turn):
        turn += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))

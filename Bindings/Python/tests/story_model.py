"""The findings of a story, worked out independently with networkx: no code, and no idea, of the library's."""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, List, Optional, Set, Tuple

import networkx

END = "the end"
#: The codes that the model knows, with whether it knows their pointers too.
CODES = {
    "broken-choice": True,
    "self-choice": True,
    "missing-field": True,
    "duplicate-segment": True,
    "unreachable": True,
    "trap": True,
    "unmarked-ending": True,
    "ending-with-choices": True,
    "no-ending": False,
    "no-authentic-path": False,
    "authentic-path-broken": False,
}


class Model:
    """A story's graph: a node a segment, by its place in the file; and one for the end."""

    def __init__(self, story: Dict[str, Any]) -> None:
        self.segments: List[Dict[str, Any]] = story["segments"]
        self.first: Dict[str, int] = {}
        for place, each in enumerate(self.segments):
            self.first.setdefault(each["id"], place)
        self.graph = networkx.MultiDiGraph()
        self.graph.add_nodes_from(range(len(self.segments)))
        self.graph.add_node(END)
        self.endings = {
            place for place, each in enumerate(self.segments) if each.get("isEnding") or not each["choices"]
        }
        for place, each in enumerate(self.segments):
            targets = (choice.get("nextSegmentId") for choice in each["choices"])
            self.graph.add_edges_from((place, self.first[to]) for to in targets if to in self.first)
        self.graph.add_edges_from((place, END) for place in self.endings)
        self.reachable: Set[int] = ({0} | networkx.descendants(self.graph, 0)) - {END}
        self.can_end: Set[int] = networkx.ancestors(self.graph, END)
        # A choice to a missing segment is the cause of what follows from it.
        self.broken = {
            place
            for place, each in enumerate(self.segments)
            if any(choice.get("nextSegmentId") not in (None, *self.first) for choice in each["choices"])
        }
        mended = networkx.MultiDiGraph(self.graph)
        mended.add_edges_from((place, END) for place in self.broken)
        self.could_end: Set[int] = networkx.ancestors(mended, END)

    def findings(self) -> Counter[Tuple[str, Optional[str]]]:
        """Codes with pointers."""
        found: Counter[Tuple[str, Optional[str]]] = Counter()
        unreached = {place for place in self.first.values() if place not in self.reachable}
        trapped = self.reachable - self.could_end if 0 in self.could_end else set()
        causes = {"unreachable": self._causes(unreached), "trap": self._causes(trapped)}
        for place, each in enumerate(self.segments):
            here = f"/segments/{place}"
            is_first = self.first[each["id"]] == place
            for code, places in causes.items():
                found[code, here] += place in places
            found["duplicate-segment", f"{here}/id"] += not is_first
            found["unmarked-ending", here] += not each["choices"] and not each.get("isEnding")
            found["ending-with-choices", here] += (
                bool(each["choices"]) and bool(each.get("isEnding")) and not self._restarts(place)
            )
            for number, choice in enumerate(each["choices"]):
                there = f"{here}/choices/{number}"
                target = choice.get("nextSegmentId")
                found["missing-field", there] += target is None
                found["broken-choice", f"{there}/nextSegmentId"] += (
                    target is not None and target not in self.first
                )
                found["self-choice", f"{there}/nextSegmentId"] += target == each["id"]
        found["no-ending", None] += 0 not in self.could_end
        authentic = {place for place, each in enumerate(self.segments) if each["isAuthenticPath"]}
        found["no-authentic-path", None] += not authentic
        found["authentic-path-broken", None] += bool(authentic) and not self._connects(authentic)
        return +found

    def _connects(self, authentic: Set[int]) -> bool:
        if 0 not in authentic:
            return False
        if 0 not in self.could_end:
            return True
        part = self.graph.subgraph(authentic)
        return bool(({0} | networkx.descendants(part, 0)) & (self.endings | self.broken))

    def _restarts(self, place: int) -> bool:
        """An ending that leads only back to the start, where a path does not go on."""
        opening = self._opening()
        targets = {to for to in self.graph.successors(place) if to != END}
        earlier = opening[: opening.index(place)] if place in opening else opening
        return place > 0 and place in self.endings and 0 in targets and targets <= set(earlier)

    def _opening(self) -> List[int]:
        """The first segments of every path."""
        opening = [0]
        while len(opening) < 8 and opening[-1] not in self.broken:
            targets = {to for to in self.graph.successors(opening[-1]) if to != END}
            if len(targets) != 1 or targets & set(opening):
                break
            opening += targets
        return opening

    def _causes(self, members: Set[int]) -> Set[int]:
        """Of segments with a fault, those that no other one leads to."""
        part = networkx.DiGraph(self.graph.subgraph(members))
        causes: Set[int] = set()
        for group in networkx.strongly_connected_components(part):
            if any(other not in group for each in group for other in part.predecessors(each)):
                continue
            first = min(group)
            region = networkx.descendants(part, first) - {first}
            causes |= set(group) if len(region) == 1 else {first}
        return causes

    def path_count(self) -> int:
        """Ways from the first segment to the end, each edge of several counting; -1 with a cycle."""
        ways = self._ways()
        if not networkx.is_directed_acyclic_graph(ways):
            return -1
        count = {END: 1}
        for node in reversed(list(networkx.topological_sort(ways))):
            if node != END:
                count[node] = sum(count[target] for _, target in ways.out_edges(node))
        return count.get(0, 0)

    def shortest(self) -> Optional[int]:
        """Segments of a shortest way, both ends included."""
        if 0 not in self.can_end:
            return None
        return int(networkx.shortest_path_length(self.graph, 0, END))

    def longest(self) -> Optional[int]:
        """Segments of a longest way; None without an ending, or with a cycle."""
        ways = self._ways()
        if 0 not in self.can_end or not networkx.is_directed_acyclic_graph(ways):
            return None
        return int(networkx.dag_longest_path_length(networkx.DiGraph(ways)))

    def _ways(self) -> Any:
        live = self.reachable & self.can_end
        ways = networkx.MultiDiGraph(self.graph.subgraph({*live, END} if live else ()))
        ways.remove_edges_from(
            [edge for edge in ways.edges(keys=True) if edge[1] != END and self._restarts(edge[0])]
        )
        return ways

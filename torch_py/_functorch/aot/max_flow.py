"""The largest flow through a network, and the smallest cut: Dinic's algorithm."""

from __future__ import annotations

from collections import deque

UNLIMITED = 1 << 62


class Network:
    """A directed graph whose edges have capacities. Vertices are numbers from 0.

    Edges are kept in pairs: `e ^ 1` is edge `e` backwards; its capacity is the flow that can be taken back.
    """

    def __init__(self, vertices: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(vertices)]  # by the vertex where they start
        self._ends: list[int] = []
        self._free: list[int] = []  # what is left of the capacity

    def connect(self, start: int, end: int, capacity: int) -> None:
        self._edges[start].append(len(self._ends))
        self._edges[end].append(len(self._ends) + 1)
        self._ends += (end, start)
        self._free += (capacity, 0)

    def cut(self, source: int, sink: int) -> set[int]:
        """The vertices on the side of `source` after the cut between the two that has the least capacity. Of
        several such cuts, it is that next to `sink`.

        Raises ValueError if an unlimited path leads from `source` to `sink`.
        """
        total = 0
        while True:
            levels = self._levels(sink)
            if levels[source] < 0:
                return {vertex for vertex, level in enumerate(levels) if level < 0}
            total += self._fill(source, sink, levels)
            if total >= UNLIMITED:
                raise ValueError("max_flow: an unlimited path leads from the source to the sink")

    def _levels(self, sink: int) -> list[int]:
        """The distance of each vertex to `sink` by edges that are not full; -1 for those without a path."""
        levels = [-1] * len(self._edges)
        levels[sink] = 0
        waiting = deque([sink])
        while waiting:
            vertex = waiting.popleft()
            for edge in self._edges[vertex]:
                start = self._ends[edge]
                if levels[start] < 0 and self._free[edge ^ 1]:
                    levels[start] = levels[vertex] + 1
                    waiting.append(start)
        return levels

    def _fill(self, source: int, sink: int, levels: list[int]) -> int:
        """Sends flow along shortest paths until each has a full edge."""
        total = 0
        waiting = [edges.copy() for edges in self._edges]  # for each vertex, the edges that may lead on
        path: list[int] = []
        vertex = source
        while True:
            if vertex == sink:
                total += self._send(path)
                path, vertex = [], source
                continue

            if waiting[vertex]:
                edge = waiting[vertex][-1]
                if self._free[edge] and levels[self._ends[edge]] == levels[vertex] - 1:
                    path.append(edge)
                    vertex = self._ends[edge]
                else:
                    waiting[vertex].pop()
            elif path:
                vertex = self._ends[path.pop() ^ 1]
                waiting[vertex].pop()
            else:
                return total

    def _send(self, path: list[int]) -> int:
        amount = min(self._free[edge] for edge in path)
        for edge in path:
            self._free[edge] -= amount
            self._free[edge ^ 1] += amount
        return amount

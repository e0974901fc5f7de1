"""How deep the runs of a field are pooled: to one depth, or to another for some runs or topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples, positive, told
from pt_reuse._errors import Argument, InputError, arguments_as, warn
from pt_reuse.pooling.contributors import Contributors
from pt_reuse.runs.run_set import RunSet

_UNIT = "documents per run and topic"


@dataclass(frozen=True)
class Exceptions:
    """The runs, or the topics, that have a depth of their own.

    Attributes:
        places: which runs or topics of the field.
        depths: of each.
    """

    places: NDArray[np.int64]
    depths: NDArray[np.int64]

    def over(self, common: int, n: int) -> NDArray[np.int64]:
        """Return (n,): the depth of every run or topic, `common` where it has none of its own."""
        depths = np.full(n, common, dtype=np.int64)
        depths[self.places] = self.depths
        return depths

    def in_words(self, noun: str) -> str:
        """Return how many have a depth of their own, and which depths: ``2 runs: 10 to 50``."""
        low, high = int(self.depths.min()), int(self.depths.max())
        return f"{count(len(self.places), noun)}: {low:,}" + (f" to {high:,}" if high > low else "")


@dataclass(frozen=True)
class Depths:
    """To which depth each run is pooled on each topic.

    Attributes:
        common: the depth of what has none of its own.
        of_runs: runs with a depth of their own; None where there are none.
        of_topics: topics with a depth of their own; None where there are none.
    """

    common: int
    of_runs: Exceptions | None = None
    of_topics: Exceptions | None = None

    @classmethod
    def of(
        cls,
        runs: RunSet,
        common: int,
        *,
        by_run: Mapping[str, int] | None,
        by_topic: Mapping[str, int] | None,
        contributors: Contributors,
    ) -> Depths:
        """Return the depths that a user gives.

        Args:
            runs: the field.
            common: the depth of what is not named.
            by_run: run name -> depth; those of runs that do not contribute are told to be idle.
            by_topic: topic -> depth.
            contributors: the runs that contribute.

        Raises:
            InputError: a depth that is none, something else than a mapping, a run or topic that the field lacks.
        """
        of_runs = _exceptions("depth_by_run", by_run, runs.names, "run")
        of_topics = _exceptions("depth_by_topic", by_topic, runs.topics, "topic")
        if of_runs is not None:
            idle = of_runs.places[~contributors.runs[of_runs.places]]
            if len(idle):
                names = examples([runs.names[row] for row in idle.tolist()])
                warn(
                    Argument("depth_by_run"),
                    f" has depths of {count(len(idle), 'run')} not among the contributors, of which nothing is taken "
                    f"({names}). ",
                    Argument("contributors"),
                    " says who contributes.",
                )
        return cls(common, of_runs, of_topics)

    def on_topics(self, runs: RunSet) -> list[int | NDArray[np.int64]]:
        """Return for each topic of a field the depth of its runs: one for all, or (runs,) of each its own."""
        n_topics = runs.field.n_topics
        topics = [self.common] * n_topics
        if self.of_topics is not None:
            topics = self.of_topics.over(self.common, n_topics).tolist()
        if self.of_runs is None:
            return list(topics)
        own = self.of_runs.over(self.common, len(runs))
        if self.of_topics is None:
            return [own] * n_topics
        named = [np.zeros(n, dtype=bool) for n in (len(runs), n_topics)]
        for mask, given in zip(named, (self.of_runs, self.of_topics), strict=True):
            mask[given.places] = True
        # where neither is named, both are the common depth
        both = [np.where(named[0], np.minimum(own, topics[t]), topics[t]) for t in range(n_topics)]
        return [both[t] if named[1][t] else own for t in range(n_topics)]

    def in_words(self) -> dict[str, Any]:
        """Return what the settings of a pool say: ``depth``, and who has another."""
        given = {"depth_by_run": (self.of_runs, "run"), "depth_by_topic": (self.of_topics, "topic")}
        return {"depth": self.common} | {
            name: some.in_words(noun) for name, (some, noun) in given.items() if some is not None
        }


def _exceptions(argument: str, given: Any, known: Sequence[str], noun: str) -> Exceptions | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(
            Argument(argument), f" must map each {noun} to its depth, got {told(given)}.", argument=argument
        )
    place = {name: i for i, name in enumerate(known)}
    strangers = [name for name in given if name not in place]
    if strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise InputError(
            Argument(argument),
            f" names {examples(strangers)}, not among the {count(len(known), noun)}.{hint}",
            argument=argument,
        )
    depths = []
    for name, depth in given.items():
        with arguments_as(depth=f"{argument}[{name!r}]"):
            depths.append(positive("depth", depth, _UNIT))
    if not depths:
        return None
    places = np.array([place[name] for name in given], dtype=np.int64)
    return Exceptions(places, np.array(depths, dtype=np.int64))

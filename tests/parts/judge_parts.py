"""Studies of judges, as results that can be shown."""

from __future__ import annotations

import pt_reuse as ptr

MEASURES = ["AP", "P@10"]


def of_judges(field, odd_field, odd):
    """Return studies of a judge, by a name of their own.

    Args:
        field: a simulated field.
        odd_field: runs and judgments of names that are hard to show.
        odd: such a name.
    """
    found = {}
    for name, runs, people in (("", field.runs, field.qrels), (", odd", *odd_field)):
        noisy = ptr.judging.Noisy(people, ptr.judging.flips(0.3, range(4)), seed=1)
        judges = {odd: noisy, "other": people} if name else {"noisy": noisy}
        families = {next(iter(judges)): odd}
        found[f"SignificanceFidelity{name}"] = ptr.significance_fidelity(
            runs, people, judges, MEASURES, resamples=9, families=families
        )
        found[f"Circularity{name}"] = ptr.circularity(runs, people, judges, MEASURES, resamples=9)
    return found

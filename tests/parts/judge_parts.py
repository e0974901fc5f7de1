"""Results about judges, some of names that are hard to show."""

from __future__ import annotations

import pt_reuse as ptr

MEASURES = ["AP", "P@10"]


def of_judges(plain, odd, name):
    """Return what there is to say of labels by a model, by a name of their own."""
    found = {}
    for end, (runs, labels), by in (("", plain, "type"), (", odd", odd, "team")):
        people, odd_name = labels.sample(0.5, seed=1), name if end else ""
        judge = ptr.judging.Noisy(labels, ptr.judging.flips(0.2, [0, 1, 2]), seed=2, name=f"noisy{odd_name}")
        found[f"LabelAudit{end}"] = ptr.audit_labels(
            runs, labels, judge, MEASURES, people={f"ann{odd_name}": people}, by=by, resamples=5
        )
        judges = {judge.name: judge, "other": labels} if end else {judge.name: judge}
        found[f"SignificanceFidelity{end}"] = ptr.labels.significance_fidelity(
            runs, labels, judges, MEASURES, resamples=9, families={judge.name: name}
        )
        found[f"Circularity{end}"] = ptr.labels.circularity(runs, labels, judges, MEASURES, resamples=9)
    return found

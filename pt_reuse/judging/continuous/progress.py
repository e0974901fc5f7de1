"""Progress: how far the judging of one topic has come, which is all that a protocol decides by."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the judging of a topic has come.

    Attributes:
        asked: documents that the judge was asked for, each once.
        judged: those to which it gave a label.
        relevant: those of them that are relevant.
        batches: how many batches were chosen by the scorer; the initial pool is none of them.
        batch_judged: judged documents of the last such batch.
        batch_relevant: those of them that are relevant.
    """

    asked: int = 0
    judged: int = 0
    relevant: int = 0
    batches: int = 0
    batch_judged: int = 0
    batch_relevant: int = 0

    @property
    def density(self) -> float:
        """Return the relevant density, the share of the judged documents that is relevant; 0 where none is judged."""
        return self.relevant / max(self.judged, 1)

    @property
    def batch_share(self) -> float:
        """Return the share of the last batch's judged documents that is relevant; 0 where none is judged."""
        return self.batch_relevant / max(self.batch_judged, 1)

    def after_pool(self, asked: int, judged: int, relevant: int) -> Progress:
        """Return the progress after documents of the initial pool were judged.

        Args:
            asked: documents more that the judge was asked for.
            judged: those of them to which it gave a label.
            relevant: those of them that are relevant.
        """
        return replace(self, asked=self.asked + asked, judged=self.judged + judged, relevant=self.relevant + relevant)

    def after_batch(self, asked: int, judged: int, relevant: int) -> Progress:
        """Return the progress after one more batch was judged.

        Args:
            asked: documents more that the judge was asked for.
            judged: those of them to which it gave a label.
            relevant: those of them that are relevant.
        """
        more = self.after_pool(asked, judged, relevant)
        return replace(more, batches=self.batches + 1, batch_judged=judged, batch_relevant=relevant)


def short(share: float) -> str:
    """Write a share with three decimals at most: ``.62``, ``.503``, ``1``."""
    text = f"{share:.3f}".rstrip("0").rstrip(".")
    return text[1:] if text.startswith("0.") else text

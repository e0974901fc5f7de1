"""Options that say what is left out, in which pool, and what is relevant."""

from __future__ import annotations

from pt_reuse.cli.parser import Parser, add_rel


def add_removal(parser: Parser) -> None:
    """Add ``--by``, ``--depth``, ``--remove`` and ``--rel``, as leave-out-uniques takes them."""
    parser.add_argument(
        "--by", default="team", metavar="UNIT", help="what to leave out: team (default), run, type or family"
    )
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    parser.add_argument("--remove", metavar="WHAT", help="unique documents to remove: relevant (default) or judged")
    add_rel(parser)

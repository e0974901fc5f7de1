"""Change one place of the code at a time, and tell which changes the tests of its room do not notice.

    python scripts/mutants.py ROOM|FILE ... [--n 60] [--seed 0] [--budget 30]

ROOM is a folder of pt_reuse. Changes are made in a temporary copy. Tests named after the file run first, then those
that mention most of its names, then all of the room, until one fails or the budget, seconds of processor, is spent.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, STARTED = Path(__file__).resolve().parents[1], Path("started").resolve()
COMMAND = ["-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "mutants", "--hypothesis-seed=0"]
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "not in": "in"}
SWAPS |= {"is": "is not", "is not": "is", "and": "or", "or": "and", "+": "-", "-": "+", "*": "/", "/": "*"}
#: what has words, types and looks instead of results: nodes, calls, keywords
NO_CODE = (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)
WORDS = {"warn", "beware", "wrong", "InputError", "Message", "note", "count", "setdefault", "Annotated", "Literal"}
LOOKS = r"(line|font|marker|fig)?(size|width|style)|colou?r|alpha|zorder|[hv]a|s|lw|\w*pad|ncols?|cmap|area|dpi|face"


def mutants_of(file):
    """Return the changes of a file: its path, the line, where they start and end, the code before and after."""
    source, found = file.read_bytes(), []
    starts = [0, *(newline.end() for newline in re.finditer(b"\n", source))]

    def span(node):
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def add(begin, stop, after):
        found.append((file, source.count(b"\n", 0, begin) + 1, begin, stop, source[begin:stop].decode(), after))

    def swap(left, right):
        begin, between = span(left)[1], source[span(left)[1] : span(right)[0]]
        operator = re.sub(rb"#.*", b"", between).strip(b"() \n\\")
        text = any(isinstance(getattr(side, "value", side), str | ast.JoinedStr) for side in (left, right))
        if operator.decode() in SWAPS and not (text and operator in b"+-*/"):
            begin += between.index(operator)
            add(begin, begin + len(operator), SWAPS[operator.decode()])

    for node in code_of(ast.parse(source)):
        match node:
            case ast.Compare(left=left, comparators=others):
                list(map(swap, [left, *others], others))
            case ast.BoolOp(values=[left, right, *_]) | ast.BinOp(left=left, right=right):
                swap(left, right)
            case ast.UnaryOp(op=ast.Not() | ast.USub() as op):
                add(span(node)[0], span(node)[0] + (4 if isinstance(op, ast.Not) else 1), "")
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                add(*span(node), str(number + (1 if node.col_offset % 2 or not number else -1)))
            case ast.Slice(lower=lower, upper=upper):
                for begin, stop in map(span, filter(None, (lower, upper))):
                    add(begin, stop, f"({source[begin:stop].decode()}) + 1")
            case ast.Attribute(attr="argmax" | "argmin" as name):
                add(span(node)[1] - 6, span(node)[1], {"argmax": "argmin", "argmin": "argmax"}[name])
            case ast.keyword(arg="ascending", value=ast.Constant(value=bool(flag))):
                add(*span(node.value), str(not flag))
    return found


def code_of(node):
    """Yield the nodes whose change is one of results."""
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            called = getattr(child, "func", getattr(child, "value", None))
            looks = isinstance(child, ast.keyword) and re.fullmatch(LOOKS, child.arg or "")
            words = getattr(called, "id", getattr(called, "attr", "")) in WORDS or isinstance(child, NO_CODE)
            if isinstance(child, ast.AST) and not (looks or words or name in ("annotation", "returns")):
                yield from code_of(child)


def run(copy, tests, budget):
    """Return how pytest ended, above 128 where the budget was spent; the test that ran last; what was spent."""
    (copy / "started").write_text("")
    paths = os.pathsep.join(str(copy / part) for part in ("", "tests/parts", "scripts"))
    how = {"cwd": copy, "env": os.environ | {"PYTHONPATH": paths}, "stdout": subprocess.DEVNULL}
    limits, before = f"ulimit -t {budget}; exec timeout -s KILL {10 * budget}", os.times().children_user
    status = subprocess.run(["bash", "-c", f'{limits} "$0" "$@"', sys.executable, *COMMAND, *tests], **how).returncode
    return status, (copy / "started").read_text(), round(os.times().children_user - before + 0.5)


def pytest_runtest_logstart(nodeid, location):
    """Keep the name of the test that runs: to `run` this file is a plugin of pytest."""
    STARTED.write_text(nodeid)


def fate(copy, file, begin, stop, after, budget, odd):
    """Return what became of a change; `odd` leaves out the tests that fail without one."""
    folder, source, left = copy / "tests" / file.relative_to(ROOT / "pt_reuse").parts[0], file.read_bytes(), budget
    tests = [*(folder if folder.is_dir() else copy / "tests/project").rglob("test_*.py")]
    names = {getattr(node, "name", file.stem) for node in ast.parse(source).body}
    tests.sort(key=lambda test: (-len(names & {*re.findall(r"\w+", test.read_text(encoding="utf-8"))}), test))
    named = [str(test) for test in tests if re.search(rf"/(test_)?{file.stem}", str(test.relative_to(copy / "tests")))]
    others = [*(str(test) for test in tests if str(test) not in named), "tests/golden"]
    groups = [[*named, "tests/golden", "-k", file.stem], *filter(None, (others[:6], others[6:]))]

    def put(content):
        (place := copy / file.relative_to(ROOT)).write_bytes(content)
        os.utime(place, (0, random.randrange(10**9)))  # else what was compiled before is taken

    while groups and left > 0:
        put(source[:begin] + after.encode() + source[stop:])
        status, last, spent = run(copy, [*groups[0], *odd], left)
        endless = status > 128 and last and run(copy, [last], budget)[0] > 128
        put(source)
        left -= spent
        if status in (0, 5):  # all passed, or none was chosen
            del groups[0]
        elif status > 128 and not endless:
            break
        elif last and run(copy, [last], 10 * budget)[0]:
            odd.append(f"--deselect={last}")
        else:
            return f"killed by {last or 'an error outside of tests'}{', which does not end' if endless else ''}"
    return "timeout of budget: survived" if groups else "survived"


def main():
    """Draw changes, try each, and print what became of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rooms", nargs="+", metavar="ROOM|FILE")
    for option, usual in {"--n": 60, "--seed": 0, "--budget": 30}.items():
        parser.add_argument(option, type=int, default=usual)
    given, fates, odd = parser.parse_args(), [], []
    os.environ.setdefault("PT_REUSE_DATA", str(ROOT.parent / "shared" / "data"))
    rooms = (Path(room).resolve() if room.endswith(".py") else ROOT / "pt_reuse" / room for room in given.rooms)
    files = (file for room in rooms for file in ([room] if room.is_file() else sorted(room.rglob("*.py"))))
    places = [mutant for file in files for mutant in mutants_of(file)]
    drawn = sorted(random.Random(given.seed).sample(places, min(given.n, len(places))))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shutil.copytree(ROOT, copy := Path(folder, "copy"), ignore=shutil.ignore_patterns(".git", "*venv", "_build"))
        for file, line, begin, stop, before, after in drawn:
            fates.append(fate(copy, file, begin, stop, after, given.budget, odd))
            code = file.read_text(encoding="utf-8").splitlines()[line - 1].strip()
            print(f"{file.relative_to(ROOT)}:{line}: {before} -> {after}: {fates[-1]}\n    {code}", flush=True)
    ends = {end: sum(fate.startswith(end) for fate in fates) for end in ("killed", "survived", "timeout")}
    print(*given.rooms, f"of {len(drawn)} in {len(places):,} places", ends, "left out:", odd)


if __name__ == "__main__":
    main()

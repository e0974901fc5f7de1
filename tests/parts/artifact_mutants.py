"""Artifacts with a part changed at random: files, what JSON says, and both with digests that are made anew."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from pathlib import Path

#: what stands in the place of a value of JSON
ODD = [None, True, -1, 0, 7, 2**70, 1.5, float("nan"), "", "x", "../x", "\udcff", [], [1], ["x"], {}, {"list": []}]
ODD += [{"table": "frames.run_table", "rows": 1, "columns": []}, {"array": "values"}, {"float": "x"}, {"choice": "x"}]


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def mutate_bytes(path, chance):
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice([1, 2, 8, 64]))
    way = chance.choice(["flip", "cut", "end", "add", "twice", "empty"])
    if way == "flip" and at < len(data):
        data[at] ^= 1 << chance.randrange(8)
    elif way == "cut":
        del data[at:end]
    elif way == "end":
        del data[at:]
    elif way == "add":
        data[at:at] = bytes(chance.randrange(256) for _ in range(chance.choice([1, 3])))
    elif way == "twice":
        data[at:at] = data[at:end]
    else:
        data = bytearray()
    path.write_bytes(data)


def mutate_json(path, chance):
    """Change one value, key or item of a JSON file."""
    value = json.loads(path.read_bytes())
    holders, stack = [], [value]
    while stack:
        held = stack.pop()
        if isinstance(held, dict | list) and held:
            holders.append(held)
            stack += held.values() if isinstance(held, dict) else held
    held = chance.choice(holders)
    key = chance.choice(list(held) if isinstance(held, dict) else range(len(held)))
    way = chance.choice(["odd", "odd", "gone", "other"])
    if way == "odd":
        held[key] = chance.choice(ODD)
    elif way == "gone":
        del held[key]
    elif isinstance(held, dict):
        held[chance.choice(["x", *held])] = held.pop(key)
    else:
        held.insert(chance.randrange(len(held) + 1), held[key])
    path.write_text(json.dumps(value))


def forge(folder):
    """Make all digests anew, as far as the files still have a place for them."""
    for contents in sorted(folder.rglob("result.json"), key=lambda path: -len(path.parts)):
        try:
            said = json.loads(contents.read_bytes())
            for name in said["files"]:
                if (contents.parent / name).is_file():
                    said["files"][name] = sha256(contents.parent / name)
            for key, value in said["fields"].get("facts", {}).get("mapping", ()):
                if key == "digests":
                    for pair in value["mapping"]:
                        pair[1] = sha256(contents.parent / "runs" / pair[0])
            for pair in said["fields"].get("facts", {}).get("mapping", ()):
                if pair[0] == "unsampled":
                    pair[1] = sha256(contents.parent / "unsampled" / "result.json")
            contents.write_text(json.dumps(said))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OSError):
            pass
    try:
        meta = json.loads((folder / "pt_meta.json").read_bytes())
        meta["digest"] = sha256(folder / "result.json")
        (folder / "pt_meta.json").write_text(json.dumps(meta))
    except (ValueError, TypeError, OSError):
        pass


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def mutant(source, target, seed):
    """Make a copy of an artifact with a part changed; return what was done, and whether its digests were made anew."""
    chance = random.Random(seed)
    shutil.copytree(source, target)
    files = files_of(target)
    path = chance.choice(files)
    way = chance.choice(["bytes", "json", "json", "swap", "gone", "folder"])
    if way == "json":
        path = chance.choice([path for path in files if path.suffix == ".json" and path.name != "settings.json"])
        mutate_json(path, chance)
    elif way == "swap":
        other = chance.choice(files)
        one, two = path.read_bytes(), other.read_bytes()
        path.write_bytes(two)
        other.write_bytes(one)
    elif way == "gone":
        path.unlink()
    elif way == "folder":
        path.unlink()
        path.mkdir()
    else:
        mutate_bytes(path, chance)
    forged = chance.random() < 0.6
    if forged:
        forge(target)
    return f"{way} {path.relative_to(target)}", forged

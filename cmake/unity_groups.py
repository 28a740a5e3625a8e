#!/usr/bin/env python3
"""Prints CMake commands that group sources of a folder, to be compiled together where KILN_UNITY is on.

A source joins a group only if each source of it then means what it means alone: no source mentions a name that another
declares for itself (in an unnamed namespace, as a macro or an alias), and no header does that only one of the two includes.
It reads text, so it may miss a name; the compiler then refuses the group.
"""
import collections
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ["lang", "trace", "modules", "search", "validator", "backends", "api", "tools", "testing", "tests", "bench"]
SIZE = 8  # sources of a group: more save little, and keep fewer cores busy

NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
# A declaration begins its line. Its name is the last one before what ends it.
DECLARED = re.compile(r"^(?=\w)(?!namespace|template|using|[A-Z_]+\()[^\n(={;]*?\b(\w+)(?:\[[^\]\n]*\])*(?: : [^\n]*?)?\s*(?:[(={;]|$)", re.M)
ALIAS = re.compile(r"^(?:#define|using|namespace) (\w+)(?= =|\(| \d)", re.M)
MENTIONED = re.compile(r"(?<![\w.])(?<!->)(?<!::)(\w+)")  # not as a member, nor with a scope


def plain(text):
    """The text without comments and contents of strings."""
    return NOISE.sub('""', text).replace(" final ", " ")


class File:
    """A source or header: the names that it declares for itself, those that it mentions, and Kiln's headers that it includes."""

    def __init__(self, path):
        text = path.read_text()
        code = plain(text)
        self.path, self.mentions = path, set(MENTIONED.findall(code))
        self.own = {name for part in UNNAMED.findall(text) for name in DECLARED.findall(plain(part))} | set(ALIAS.findall(code))
        included = [ROOT / name for name in INCLUDE.findall(text) if (ROOT / name).exists()]
        self.headers = set(included).union(*(header(name).headers for name in included))


@functools.cache
def header(path):
    return File(path)


def agree(a, b):
    """Whether `b` mentions no own name of `a`, by itself or in a header that `a` does not include."""
    return not a.own & b.mentions and not any(a.own & header(path).mentions for path in b.headers - a.headers)


def main():
    folders = collections.defaultdict(list)
    for top in FOLDERS:
        for path in sorted((ROOT / top).rglob("*.cc")):
            groups, file = folders[path.parent], File(path)
            fits = (group for group in groups if len(group) < SIZE and all(agree(file, f) and agree(f, file) for f in group))
            group = next(fits, None)
            if group:
                group.append(file)
            else:
                groups.append([file])
    for folder, groups in folders.items():
        for number, group in enumerate(groups):
            if len(group) > 1:
                name = f"{folder.relative_to(ROOT)}/{number}".replace("/", "_")
                print("set_source_files_properties(", *(f'"{f.path}"' for f in group), f"PROPERTIES UNITY_GROUP {name})")


if __name__ == "__main__":
    main()

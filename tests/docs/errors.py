#!/usr/bin/env python3
"""docs/errors.md: every error of every room below src/, with its cure.

errors.py           compares the page with the sources; exits 1 naming what is missing or no longer so
errors.py --write   writes the page's tables anew

An error in the sources is `Error(ErrorKind::kind, message, what to do next[, exit code])`. What is put
in at run time shows as an ellipsis. An error whose message is no text in its place (a helper puts it
together) is left to the page's own words above the tables.
"""

import os
import re
import sys

ROOT = os.environ.get("TEENY_SOURCE_DIR",
                      os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAGE = os.path.join(ROOT, "docs", "errors.md")
MARK = "<!-- below: made by tests/docs/errors.py --write -->\n"
ROOMS = [("The tool", "tool"), ("Devices and launches", "runtime"), ("Compiled kernels", "cache"),
         ("The kernel language", "lang"), ("Kernels as text", "ir"), ("The compiler", "compiler"),
         ("Weights", "weights"), ("Targets and boards", "target"), ("Files and processes", "base")]
# What to do where the error itself says nothing more than its message.
CURES = {"usage": "change the command or the call as it says", "input": "mend the file that is named",
         "environment": "give this machine what is named", "board": "mend it on the board",
         "internal": "a bug in teeny: report it with the message"}
CODES = {"usage": "2"}
FINDINGS = {"capability": "10", "driver": "11", "c_library": "12", "dtype": "13", "space": "14",
            "incomplete": "15", "unreachable": "16"}
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'')
NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.|->|\(\)\.)\w+)*|\d+")
KIND = re.compile(r"\bError\(\s*ErrorKind::(\w+)\s*,")
ESCAPES = {"n": " ", "t": " ", '"': '"', "\\": "\\"}


def without_comments(text):
    """The same length, comments blanked; what looks like one in a literal stays."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if found[0].startswith("/") else found[0], text)


def arguments(text, start):
    """The top-level arguments from `start`, just behind an opening parenthesis, to its closing one."""
    depth, begin, parts, at = 1, start, [], start
    while depth:
        skipped = QUOTED.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        char = text[at]
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 or (depth == 1 and char == ","):
            parts.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return parts


def closing(text, start):
    """Just behind the parenthesis that closes the one before `start`."""
    depth, at = 1, start
    while depth:
        skipped = QUOTED.match(text, at)
        if not skipped:
            depth += (text[at] in "([{") - (text[at] in ")]}")
        at = skipped.end() if skipped else at + 1
    return at


def phrase(expression):
    """The text of an expression that puts literals and values together, values as an ellipsis; of a
    choice the first."""
    text = re.sub(r"\s+", " ", pieces(re.sub(r"std::string(_view)?\((?=\s*\")", "(", expression)))
    return re.sub(r"…( ?…)+", "…", text).strip()


def pieces(expression):
    words, at = [], 0
    while at < len(expression):
        literal = LITERAL.match(expression, at)
        name = NAME.match(expression, at)
        if literal:
            words.append(re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), literal[1]))
            at = literal.end()
        elif name:
            words.append("…")
            at = name.end()
            if expression[at:at + 1] in ("(", "{", "["):  # a call: its arguments are no words of the message
                at = closing(expression, at + 1)
        elif expression[at] in "([{":
            end = closing(expression, at + 1)
            words.append(pieces(expression[at + 1:end - 1]))
            at = end
        elif expression[at] == "?":
            words = []
            at += 1
        elif expression[at] == ":":
            break
        else:
            at += 1
    return "".join(words)


def errors_of(room):
    """(message, exit code, cure) of every error of a room, each once, in the order of the files."""
    found = {}
    for folder in (os.path.join(ROOT, "src", room), os.path.join(ROOT, "include", "teeny", room)):
        for top, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if not name.endswith((".cpp", ".hpp")):
                    continue
                with open(os.path.join(top, name), encoding="utf-8") as file:
                    text = without_comments(file.read())
                for match in KIND.finditer(text):
                    parts = arguments(text, match.end())
                    message = phrase(parts[0])
                    if not re.search(r"[a-z]{3}", message):
                        continue
                    cure = phrase(parts[1]) if len(parts) > 1 else ""
                    if not re.search(r"[a-z]{3}", cure):
                        cure = CURES[match[1]]
                    code = re.search(r"finding_code::(\w+)$", parts[-1])
                    code = FINDINGS[code[1]] if code else CODES.get(match[1], "1")
                    found.setdefault((message, code, cure), None)
    return list(found)


def cell(text):
    return re.sub(r"([|<>*_`\\\[\]])", r"\\\1", text)


def tables():
    lines = []
    for title, room in ROOMS:
        lines += [f"## {title}", "", "| message | code | what to do |", "|---|---|---|"]
        lines += [f"| {cell(message)} | {code} | {cell(cure)} |"
                  for message, code, cure in sorted(errors_of(room))]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        head, mark, there = file.read().partition(MARK)
    if not mark:
        sys.exit(f"{PAGE} has no line {MARK.strip()}")
    wanted = tables()
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(head + MARK + "\n" + wanted)
        return 0
    missing = sorted(set(wanted.splitlines()) - set(there.splitlines()))
    stale = sorted(set(there.splitlines()) - set(wanted.splitlines()))
    for line in missing:
        print("not in docs/errors.md: " + line)
    for line in stale:
        print("no longer an error: " + line)
    rooms = {entry.name for entry in os.scandir(os.path.join(ROOT, "src")) if entry.is_dir()}
    unlisted = sorted(rooms - {room for _, room in ROOMS})
    if unlisted:
        print("rooms that the page leaves out: " + ", ".join(unlisted))
    rows = sum(line.startswith("| ") for line in wanted.splitlines())
    print(f"{rows} rows; tests/docs/errors.py --write brings the page up to date")
    if rows < 200:
        print("the errors were not found in the sources")
    return 1 if missing or stale or unlisted or rows < 200 else 0


if __name__ == "__main__":
    sys.exit(main())

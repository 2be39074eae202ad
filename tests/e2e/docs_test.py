"""The documents' commands, typed as they stand, one document after the other on a path that is not easy.

In a document, a comment before a block says what the block is:

  <!-- file PATH -->   the block is that file, below the directory where the document begins
  <!-- run -->         its lines are typed into a shell, which goes on from the block before
  <!-- prints -->      each of its lines is in what the block before printed

Nothing in the documents is changed: `ssh` and `teeny` are this build's and know the board as
nvidia@orin, the emulated one. Documents that reach a board need it and are skipped without.
"""

import os
import re
import shutil
import unittest

import e2e_support as e2e

DOCS = os.path.join(e2e.SOURCE_DIR, "docs")
BLOCK = re.compile(r"^<!-- (run|prints|file ([^\n]+?)) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@ block "


class Document:
    """The blocks of a document that say what they are: (line, kind, path or None, text)."""

    def __init__(self, name):
        self.name = name
        with open(os.path.join(DOCS, name), encoding="utf-8") as file:
            text = file.read()
        self.blocks = [(text.count("\n", 0, found.start()) + 1, found[1].split()[0], found[2], found[3])
                       for found in BLOCK.finditer(text)]
        marks = len(re.findall(r"^<!-- (?:run|prints|file)\b", text, re.MULTILINE))
        if marks != len(self.blocks):
            raise ValueError(f"docs/{name}: {marks} comments, {len(self.blocks)} blocks behind them")

    def runs(self):
        return any(kind == "run" for _, kind, _, _ in self.blocks)

    def needs_board(self):
        return any(kind == "run" and "@orin" in text for _, kind, _, text in self.blocks)


def documents():
    return {name: Document(name) for name in sorted(os.listdir(DOCS)) if name.endswith(".md")}


def run(document, directory, files, env):
    """Runs a document's blocks there; the lines that its blocks ought to print and did not."""
    script = ["set -euo pipefail"]
    wanted = []
    for number, (line, kind, path, text) in enumerate(document.blocks):
        if kind == "file":
            kept = os.path.join(files, f"{document.name} {number}")
            with open(kept, "w", encoding="utf-8") as file:
                file.write(text)
            script.append(f"install -D -m 644 {quoted(kept)} {quoted(os.path.join(directory, path))}")
        elif kind == "run":
            script.append(f"echo; echo '{MARK}{line}'\n{text}")
            wanted.append((line, []))
        else:
            wanted[-1][1].extend(text.splitlines())
    result = e2e.run(["bash", "-c", "exec 2>&1\n" + "\n".join(script)], cwd=directory, env=env, timeout=900)
    parts = re.split(f"^{MARK}(\\d+)$", result.stdout, flags=re.MULTILINE)
    printed = {int(line): text for line, text in zip(parts[1::2], parts[2::2])}
    if result.returncode != 0:
        at = max(printed, default=0)
        raise AssertionError(f"docs/{document.name}: the block at line {at} ended with {result.returncode}:\n"
                             f"{printed.get(at, result.stdout)[-4000:]}")
    return [f"docs/{document.name}, block at line {line}, did not print {text!r} but\n{printed[line][-3000:]}"
            for line, texts in wanted for text in texts if text not in printed[line]]


def quoted(path):
    return "'" + path.replace("'", "'\\''") + "'"


class Docs(unittest.TestCase):
    # In this order, and each where the one before it ended: a document that says "the project of
    # first-kernel.md" has it.
    CHAIN = ["first-kernel.md", "orin-from-nothing.md", "ci-recipe.md"]
    OWN = ["own-project.md"]

    @classmethod
    def setUpClass(cls):
        cls.work = e2e.scratch("a reader's dócs")
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        tools = os.path.join(cls.work, "tools")
        os.makedirs(tools)
        cls.files = os.path.join(cls.work, "files")
        os.makedirs(cls.files)
        cls.config = os.path.join(cls.work, "ssh_config")
        ssh = os.path.join(tools, "ssh")
        with open(ssh, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {quoted(shutil.which('ssh') or 'ssh')} -F {quoted(cls.config)} \"$@\"\n")
        os.chmod(ssh, 0o755)
        prefix = e2e.installed_prefix()
        cls.env = e2e.environment(
            PATH=os.pathsep.join([tools, os.path.join(prefix, "bin"), os.environ["PATH"]]),
            CMAKE_PREFIX_PATH=prefix, TEENYC_CACHE_DIR=os.path.join(cls.work, "kernels"))
        cls.all = documents()

    def follow(self, names, home="home"):
        directory = os.path.join(self.work, home)
        os.makedirs(directory, exist_ok=True)
        for name in names:
            missing = run(self.all[name], directory, self.files, self.env)
            self.assertEqual(missing, [], "\n".join(missing))
            if os.path.isdir(os.path.join(directory, "demo")):
                directory = os.path.join(directory, "demo")

    def reach_the_board(self):
        class Board(e2e.BoardTest):
            pass
        Board.setUpClass()
        self.addCleanup(Board.doClassCleanups)
        with open(Board.config, encoding="utf-8") as file:
            text = file.read()
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^Host board\b", "Host board orin", text, flags=re.MULTILINE))

    def test_from_a_first_kernel_to_a_board(self):
        try:
            self.reach_the_board()
        except unittest.SkipTest:
            self.follow([name for name in self.CHAIN if not self.all[name].needs_board()])
            raise
        self.follow(self.CHAIN)

    def test_a_project_of_ones_own(self):
        self.reach_the_board()
        self.follow(self.OWN, home="home of another")

    def test_every_document_that_runs_is_run(self):
        runs = {name for name, document in self.all.items() if document.runs()}
        self.assertEqual(sorted(runs), sorted(self.CHAIN + self.OWN))

    def test_a_block_that_fails_or_prints_something_else_is_found(self):
        document = Document("first-kernel.md")
        document.blocks = [(3, "run", None, "x=1\necho one\n"), (9, "run", None, "echo $((x + 1))\n"),
                           (12, "prints", None, "2\n3\n")]
        missing = run(document, self.work, self.files, self.env)
        self.assertEqual(len(missing), 1, missing)
        self.assertIn("line 9, did not print '3'", missing[0])
        document.blocks[1] = (9, "run", None, "echo before; false; echo behind\n")
        with self.assertRaisesRegex(AssertionError, r"line 9 ended with 1:\n\nbefore\n$"):
            run(document, self.work, self.files, self.env)


class Links(unittest.TestCase):
    def test_every_link_between_the_documents_leads_somewhere(self):
        headings = {}
        pages = {os.path.join("docs", name) for name in os.listdir(DOCS)} | {"README.md"}
        for page in pages:
            with open(os.path.join(e2e.SOURCE_DIR, page), encoding="utf-8") as file:
                text = file.read()
            headings[page] = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
                              for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        broken = []
        for page in sorted(pages):
            with open(os.path.join(e2e.SOURCE_DIR, page), encoding="utf-8") as file:
                text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.MULTILINE | re.DOTALL)
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if link.startswith(("http://", "https://")):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                there = os.path.exists(os.path.join(e2e.SOURCE_DIR, target))
                if not there or (anchor and anchor not in headings.get(target, ())):
                    broken.append(f"{page}: {link}")
        self.assertEqual(broken, [])

    def test_the_index_names_every_document(self):
        with open(os.path.join(DOCS, "README.md"), encoding="utf-8") as file:
            index = file.read()
        unnamed = [name for name in os.listdir(DOCS) if name != "README.md" and f"({name}" not in index]
        self.assertEqual(unnamed, [])


if __name__ == "__main__":
    e2e.main()

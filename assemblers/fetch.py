#!/usr/bin/env python3
"""Fetches pinned assemblers (ptxas) from the Python index and unpacks them below a folder.

    fetch.py --into FOLDER [--cuda MAJOR ...]     all that pinned.txt names, or those majors

Each becomes FOLDER/ptxas-VERSION with bin/ptxas and its licence, in one rename; one that is there
is left alone, and nothing else is written. What cannot be had is named on stderr; exit 1.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.realpath(__file__))


class Problem(Exception):
    """Why one of them cannot be had."""


class Pin:
    def __init__(self, line):
        self.line = line
        self.wheel, self.version = line.split()[0].split("==")
        self.major = self.version.split(".")[0]

    def directory(self, folder):
        return os.path.join(folder, f"ptxas-{self.version}")


def pins():
    with open(os.path.join(HERE, "pinned.txt"), encoding="ascii") as file:
        lines = (line.strip() for line in file)
        return [Pin(line) for line in lines if line and not line.startswith("#")]


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False, **options)


def python_with_pip(work):
    """This Python where it has pip, else one of a virtual environment that is thrown away."""
    if run([sys.executable, "-m", "pip", "--version"]).returncode == 0:
        return sys.executable
    environment = os.path.join(work, "venv")
    made = run([sys.executable, "-m", "venv", environment])
    if made.returncode != 0:
        raise Problem("this Python has neither pip nor venv (Debian: apt-get install python3-pip)")
    return os.path.join(environment, "bin", "python")


def download(pin, python, work):
    """The wheel's path, of the digest that is pinned."""
    wanted = os.path.join(work, "wanted.txt")
    with open(wanted, "w", encoding="ascii") as file:
        file.write(pin.line + "\n")
    wheels = os.path.join(work, pin.wheel)
    command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
               "--require-hashes", "--disable-pip-version-check", "--dest", wheels, "-r", wanted]
    if "PIP_CACHE_DIR" not in os.environ:
        command.append("--no-cache-dir")  # nothing stays in a home
    result = run(command)
    if result.returncode != 0:
        raise Problem("\n".join((result.stdout + result.stderr).strip().splitlines()[-5:]))
    return os.path.join(wheels, os.listdir(wheels)[0])


def unpack(pin, wheel, work, folder):
    part = os.path.join(work, f"ptxas-{pin.version}")
    os.makedirs(os.path.join(part, "bin"))
    program = os.path.join(part, "bin", "ptxas")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            to = program if name.endswith("/bin/ptxas") else None
            if os.path.basename(name).lower().startswith("license"):
                to = os.path.join(part, os.path.basename(name))
            if to is not None:
                with archive.open(name) as source, open(to, "wb") as target:
                    shutil.copyfileobj(source, target)
    if not os.path.exists(program):
        raise Problem(f"the wheel {os.path.basename(wheel)} holds no ptxas")
    os.chmod(program, 0o755)
    said = run([program, "--version"])
    if said.returncode != 0 or f"V{pin.version}" not in said.stdout:
        raise Problem(f"its ptxas does not say that it is {pin.version}: "
                      f"{(said.stdout + said.stderr).strip()[-200:]}")
    os.rename(part, pin.directory(folder))


def main():
    parser = argparse.ArgumentParser(description="Fetches pinned assemblers (ptxas).")
    parser.add_argument("--into", required=True, metavar="FOLDER")
    parser.add_argument("--cuda", nargs="+", metavar="MAJOR")
    arguments = parser.parse_args()
    known = pins()
    unknown = set(arguments.cuda or []) - {pin.major for pin in known}
    if unknown:
        parser.error(f"there is no pinned assembler of CUDA {', '.join(sorted(unknown))}; there are: "
                     f"{', '.join(pin.major for pin in known)}")
    folder = os.path.realpath(arguments.into)  # it may be a link to a folder that is not there yet
    missing = [pin for pin in known if (arguments.cuda is None or pin.major in arguments.cuda) and
               not os.access(os.path.join(pin.directory(folder), "bin", "ptxas"), os.X_OK)]
    if not missing:
        return 0
    failed = 0
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as work:
            python = None
            for pin in missing:
                try:
                    python = python or python_with_pip(work)
                    unpack(pin, download(pin, python, work), work, folder)
                    print(f"fetched ptxas {pin.version} (wheel {pin.wheel})", flush=True)
                except Problem as problem:
                    failed += 1
                    print(f"could not fetch ptxas {pin.version} (wheel {pin.wheel}):\n{problem}",
                          file=sys.stderr, flush=True)
    except OSError as problem:
        print(f"cannot write to {folder}: {problem}", file=sys.stderr)
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

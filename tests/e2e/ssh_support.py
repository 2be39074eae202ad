"""What the tests of deploying share: made-up packages, and this machine's own ssh server on a port of
its own, as a board that is there at once."""

import getpass
import hashlib
import json
import os
import platform
import random
import shutil
import socket
import subprocess
import time

from e2e_support import SOURCE_DIR, tree

FAULTY_SSH = os.path.join(SOURCE_DIR, "tests", "board", "faulty_ssh")
MANIFEST = os.path.join("conf", "manifest.json")
PROGRAM = "#!/bin/sh\nif [ \"$1\" = --check ]; then echo \"checking hello: all there\"; exit; fi\n"


def write(path, data, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def program(text):
    """A script that passes its own --check, and otherwise is the text."""
    return (PROGRAM + text + "\n").encode()


def make_package(directory, files, triple=platform.machine() + "-linux-gnu"):
    """A package with the given files (path -> bytes) and a manifest that tells of them; its id."""
    shutil.rmtree(directory, ignore_errors=True)
    entries = []
    for path, data in sorted(files.items()):
        mode = 0o755 if path.startswith("bin/") else 0o644
        write(os.path.join(directory, path), data, mode)
        entries.append({"path": path, "mode": f"{mode:04o}", "size": len(data),
                        "sha256": hashlib.sha256(data).hexdigest()})
    names = [path[len("bin/"):] for path in sorted(files) if path.startswith("bin/")]
    manifest = {"schema": "teeny-package/1", "name": "demo", "board": "jetson-orin-nano@6.0",
                "triple": triple, "programs": names, "devices": [], "files": entries}
    text = json.dumps(manifest).encode()
    write(os.path.join(directory, MANIFEST), text)
    return hashlib.sha256(text).hexdigest()


def noise(size, seed):
    """Bytes that nothing compresses and no two seeds share."""
    return random.Random(seed).randbytes(size)


def contents(directory):
    """Path -> (whether it can be run, bytes) of every file; links and the like show as None."""
    return {path: (mode & 0o100, data) for path, (mode, data, _) in tree(directory).items()
            if not os.path.isdir(os.path.join(directory, path))}


class LocalBoard:
    """This machine through an ssh server of its own: `board` in the configuration it writes."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        for name in ("host_key", "other_host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True)
        shutil.copy(self.path("user_key.pub"), self.path("authorized_keys"))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.process = None
        for _ in range(5):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            if self.start():
                break
        else:
            with open(self.path("sshd.log"), encoding="utf-8", errors="replace") as log:
                raise RuntimeError("sshd does not start: " + log.read()[-500:])
        self.write_known_hosts("known_hosts", "host_key.pub")
        self.write_known_hosts("wrong_hosts", "other_host_key.pub")
        write(self.path("no_hosts"), b"")
        self.config = self.path("ssh_config")
        lines = [f'IdentityFile "{self.path("user_key")}"', "IdentitiesOnly yes", "IdentityAgent none",
                 "GlobalKnownHostsFile none", "StrictHostKeyChecking ask", f"User {getpass.getuser()}",
                 "HostName 127.0.0.1"]
        known = f' UserKnownHostsFile "{self.path("known_hosts")}"'
        write(self.config, "\n".join(["Host board second", f" Port {self.port}", known, "Host away",
                                      " Port 1", known, "Host *"] + [" " + line for line in lines] +
                                     [""]).encode())

    def path(self, name):
        return os.path.join(self.directory, name)

    def write_known_hosts(self, name, key):
        with open(self.path(key), encoding="utf-8") as file:
            kind, data = file.read().split()[:2]
        write(self.path(name), f"[127.0.0.1]:{self.port} {kind} {data}\n".encode())

    def start(self):
        lines = [f"Port {self.port}", "ListenAddress 127.0.0.1", f'HostKey "{self.path("host_key")}"',
                 f'AuthorizedKeysFile "{self.path("authorized_keys")}"', "PidFile none", "UsePAM no",
                 "StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
                 "PermitRootLogin prohibit-password", "UseDNS no", "MaxStartups 100", "PrintMotd no",
                 "PrintLastLog no"]
        write(self.path("sshd_config"), "\n".join(lines + [""]).encode())
        with open(self.path("sshd.log"), "wb") as log:
            self.process = subprocess.Popen([shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin"), "-D", "-e",
                                             "-f", self.path("sshd_config")],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(200):
            with open(self.path("sshd.log"), encoding="utf-8", errors="replace") as log:
                if "Server listening" in log.read():
                    return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.02)
        self.stop()
        return False

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def ssh(self, *faults):
        """The words for --ssh, with faults of faulty_ssh."""
        plain = f"ssh -F '{self.config}'"
        if not faults:
            return plain
        return " ".join([f"'{FAULTY_SSH}'"] + [f"'{word}'" for word in faults] + ["--", plain])


def busybox_tools(directory):
    """A directory with what BusyBox has and nothing else, rsync least of all; None without BusyBox."""
    busybox = shutil.which("busybox")
    if busybox is None:
        return None
    os.makedirs(directory)
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        os.symlink(busybox, os.path.join(directory, applet))
    return directory

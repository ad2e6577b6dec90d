"""The walls around a process: what it cannot do, tried, and what it still must be able to do.

The processes are started anew, not forked from the tests: the walls hold for good.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.commands.reduce import ask_to_stop
from fuzzer.oneshot.messages import STOP
from fuzzer.processes import sandbox
from fuzzer.processes.lines import line_of
from fuzzer.processes.sandbox import Interface, Walls, filter_for
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.protocol import Begin, Plan

NO_LANDLOCK = not sandbox.offered().files
NEEDS_LANDLOCK = pytest.mark.skipif(NO_LANDLOCK, reason="this kernel has no Landlock")
FORBIDDEN = 13
"""Exit status of a script below that was refused with PermissionError."""
HEAD = "import os, sys, subprocess, socket\nMARKER, SCRATCH, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"


def ended(tmp_path: Path, text: str, port: int = 0) -> int:
    """The exit status of a script with walls around it: FORBIDDEN where something was refused, 0 where all was done."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    script = tmp_path / "script.py"
    body = "\n".join(f"    {line}" for line in text.splitlines())
    script.write_text(f"{HEAD}try:\n{body}\nexcept PermissionError:\n    sys.exit({FORBIDDEN})\n")
    words = [sys.executable, str(script), str(tmp_path / "marker"), str(scratch), str(port)]
    return subprocess.run(sandbox.command(words, scratch), check=False).returncode


WRITES = {
    "a file": 'open(MARKER, "w")',
    "a folder": "os.mkdir(MARKER)",
    "a link": 'os.symlink("/etc/passwd", MARKER)',
    "a hard link": "os.link(__file__, MARKER)",
    "a pipe": "os.mkfifo(MARKER)",
    "a file by way of a link in the scratch folder": 'os.symlink(MARKER, SCRATCH + "/x")\nopen(SCRATCH + "/x", "w")',
    "a file by way of ..": 'open(SCRATCH + "/../marker", "w")',
    "a file by way of /proc": 'open("/proc/self/root" + MARKER, "w")',
    "a file out of the scratch folder": 'open(SCRATCH + "/x", "w")\nos.rename(SCRATCH + "/x", MARKER)',
    "an old file": 'open(__file__, "a")',
    "an old file, emptied": "os.truncate(__file__, 0)",
    "an old file, removed": "os.unlink(__file__)",
    "an old file, moved": 'os.rename(__file__, SCRATCH + "/x")',
    "the mode of an old file": "os.chmod(__file__, 0o777)",
    "the mode of an open file": "os.fchmod(open(__file__).fileno(), 0o777)",
    "the owner of an old file": "os.chown(__file__, os.getuid(), os.getgid())",
    "an attribute of an old file": 'os.setxattr(__file__, "user.x", b"x")',
}


@NEEDS_LANDLOCK
@pytest.mark.parametrize("text", WRITES.values(), ids=WRITES)
def test_nothing_is_written_outside_of_the_scratch_folder(text: str, tmp_path: Path) -> None:
    assert ended(tmp_path, text) == FORBIDDEN
    assert not (tmp_path / "marker").exists()
    assert (tmp_path / "script.py").read_text().startswith(HEAD)


@NEEDS_LANDLOCK
def test_what_it_starts_has_the_same_walls(tmp_path: Path) -> None:
    text = 'assert subprocess.call(["sh", "-c", "exec 2>&-; echo x > " + MARKER]) != 0\nraise PermissionError'
    assert ended(tmp_path, text) == FORBIDDEN
    assert not (tmp_path / "marker").exists()


@NEEDS_LANDLOCK
def test_a_worker_writes_nowhere_that_another_one_has_led_it_to(tmp_path: Path) -> None:
    """What a case runs may leave links in the scratch folder under the names of files of the worker that comes next."""
    theirs, scratch, corpus = tmp_path / "theirs", tmp_path / "scratch", tmp_path / "corpus"
    theirs.write_text("as it was")
    scratch.mkdir()
    corpus.mkdir()
    words = module_command("fuzzer.worker.main", str(os.getpid()))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=worker_environment()) as process:
        for name in ("stderr", "flight"):
            for pid in range(process.pid, process.pid + 50):
                (scratch / f"{name}-{pid}").symlink_to(theirs)
        process.communicate(line_of(Begin(Plan(1, scratch=str(scratch), corpus=str(corpus)))))
    assert theirs.read_text() == "as it was"


def test_a_reduction_is_stopped_in_its_scratch_folder_alone(tmp_path: Path) -> None:
    scratch, elsewhere = tmp_path / "scratch", tmp_path / "elsewhere"
    scratch.mkdir()
    (scratch / STOP).symlink_to(elsewhere)
    for _ in range(2):
        ask_to_stop(scratch)
    assert (scratch / STOP).is_file() and not elsewhere.exists()


SOCKETS = {
    "TCP": "socket.create_connection(('127.0.0.1', PORT))",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "a server": "socket.socket().bind(('127.0.0.1', 0))",
    "Unix": "socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "raw": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
}


@pytest.mark.skipif(not sandbox.offered().sockets, reason="this kernel has no filters")
@pytest.mark.parametrize("text", SOCKETS.values(), ids=SOCKETS)
def test_nothing_is_sent(text: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        assert ended(tmp_path, text, server.getsockname()[1]) == FORBIDDEN
        with pytest.raises(BlockingIOError):
            server.accept()


LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
CALL = LIBC + "if libc.{call} >= 0:\n    sys.exit(0)\nraise PermissionError"
OTHER = {
    "typing into a terminal": (
        "import fcntl, glob, termios\nterminals = glob.glob('/dev/pts/[0-9]*') or glob.glob('/dev/tty[0-9]*')\n"
        "if not terminals:\n    raise PermissionError\n"
        "fcntl.ioctl(os.open(terminals[0], os.O_RDONLY | os.O_NOCTTY), termios.TIOCGWINSZ, bytes(8))"
    ),
    "a signal": "import signal\nos.kill(os.getppid(), signal.SIGCONT)",
    "a namespace": CALL.format(call="unshare(0x10000000)"),
    "limits of another process": "import resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))",
    "the turn of another process": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 1)",
    "how another process is scheduled": "os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))",
    "the CPUs of another process": "os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0))",
    "a lock on a file": "import fcntl\nfcntl.flock(os.open(__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)",
    "a lock on a part of a file": "import fcntl\nfcntl.lockf(os.open(__file__, os.O_RDONLY), fcntl.LOCK_SH)",
    "a lease on a file": "import fcntl\nfcntl.fcntl(os.open(__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "a queue of others": CALL.format(call='mq_unlink(b"/of-others")'),
    "what happens to files": CALL.format(call="fanotify_init(0, 0)"),
    "when an old file was written": "os.utime(__file__, (5, 5))",
    "memory that processes share without a file": CALL.format(call="shmget(0, 4096, 0o1600)"),
    "messages without a file": CALL.format(call="msgget(0, 0o1600)"),
    "locks without a file": CALL.format(call="semget(0, 1, 0o1600)"),
    "the name of the machine": "socket.sethostname(socket.gethostname())",
    "a ring of calls": CALL.format(call="syscall(425, 1, bytes(120))"),
}


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_no_other_way_out(text: str, tmp_path: Path) -> None:
    if "ioctl" in text and sandbox.offered().files < 5:
        pytest.skip("calls of devices are kept in from Linux 6.10 on")
    if "getppid" in text and sandbox.offered().files < 6:
        pytest.skip("signals are kept in from Linux 6.12 on")
    assert ended(tmp_path, text) == FORBIDDEN


WORKS = {
    "files in the scratch folder": (
        "import tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    assert folder.startswith(SCRATCH)\n    open(folder + '/x', 'w').write('x')\n"
        "    os.rename(folder + '/x', SCRATCH + '/y')"
    ),
    "devices": "open('/dev/null', 'w').write('x')\nopen('/dev/urandom', 'rb').read(1)\nopen('/dev/zero', 'rb').read(1)",
    "reading": "assert open(__file__).read()\nassert os.listdir('/')",
    "pipes and children": (
        "one, other = socket.socketpair()\nother.send(b'x')\nassert one.recv(1) == b'x'\n"
        "child = subprocess.Popen(['sleep', '60'])\nchild.kill()\nassert child.wait() == -9"
    ),
    "a compiler": (
        "import shutil\nif shutil.which('g++'):\n"
        "    open(SCRATCH + '/a.cc', 'w').write('extern \"C\" int f() { return 1; }')\n"
        "    subprocess.run(['g++', '-shared', '-fPIC', '-o', SCRATCH + '/a.so', SCRATCH + '/a.cc'], check=True)\n"
        "    import ctypes\n    assert ctypes.CDLL(SCRATCH + '/a.so').f() == 1"
    ),
    "its own limits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0) == resource.prlimit(0, resource.RLIMIT_CORE)"
    ),
    "memory": "import mmap\nassert len(mmap.mmap(-1, 1 << 20)) == 1 << 20",
}


@pytest.mark.parametrize("text", WORKS.values(), ids=WORKS)
def test_what_a_check_needs_works(text: str, tmp_path: Path) -> None:
    assert ended(tmp_path, text) == 0


def test_the_exit_status_is_that_of_the_command(tmp_path: Path) -> None:
    assert ended(tmp_path, "sys.exit(7)") == 7


@pytest.mark.parametrize(
    ("walls", "lacking"),
    [
        (Walls(6, True), ""),
        (Walls(0, True), "write files and signal your other processes"),
        (Walls(1, True), "cut files short and signal your other processes"),
        (Walls(5, True), "signal your other processes"),
        (Walls(6, False), "reach the network"),
        (Walls(0, False), "write files, reach the network and signal your other processes"),
    ],
)
def test_what_is_lacking_is_said(walls: Walls, lacking: str) -> None:
    assert walls.lacking == lacking


def test_a_kernel_without_any_of_it_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "_landlock", lambda attributes: -38)
    monkeypatch.setattr(sandbox.platform, "machine", lambda: "riscv64")
    for name in ("TMPDIR", "CUDA_CACHE_PATH", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setattr(sandbox.tempfile, "tempdir", None)
    monkeypatch.setattr(sandbox.sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sandbox._LIBC, "prctl", lambda *given: 0)
    assert sandbox.enter(tmp_path) == Walls(0, False)
    assert sandbox.offered().lacking == "write files, reach the network and signal your other processes"


def test_a_filter_refuses_what_it_lists_and_other_machines() -> None:
    """Interpreted as the kernel does: (machine, number of the call) to what comes back."""
    program = filter_for(Interface(0xC000003E, (41, 90), 302, 16, 72))
    lines = [tuple(program[at : at + 8]) for at in range(0, len(program), 8)]

    def outcome(machine: int, number: int, first: int = 7, second: int = 0) -> int:
        import struct

        loaded, at = 0, 0
        while True:
            code, then, otherwise, value = struct.unpack("=HBBI", bytes(lines[at]))
            at += 1
            match code:
                case 0x20:
                    loaded = {0: number, 4: machine, 16: first, 24: second}[value]
                case 0x15:
                    at += then if loaded == value else otherwise
                case 0x35:
                    at += then if loaded >= value else otherwise
                case _:
                    return int(value)

    allowed, denied = 0x7FFF0000, 0x0005000D
    assert [outcome(0xC000003E, number) for number in (0, 41, 90, 91)] == [allowed, denied, denied, allowed]
    assert [outcome(0xC000003E, 302, process) for process in (0, 1, 7)] == [allowed, denied, denied]
    controls = (0x5401, 0x40086602, 0x401C5820, 0x80086601)  # of a terminal, flags set, attributes set, flags read
    expected = [allowed, denied, denied, allowed]
    assert [outcome(0xC000003E, 16, 0, control) for control in controls] == expected
    locks = (3, 5, 6, 7, 38, 1024, 1025)  # the flags, a lock looked at, locks, a lease, a lease looked at
    expected = [allowed, allowed, denied, denied, denied, denied, allowed]
    assert [outcome(0xC000003E, 72, 0, command) for command in locks] == expected
    assert outcome(0xC000003E, 16, 0, 1024) == outcome(0xC000003E, 72, 0, 0x40086602) == allowed
    assert outcome(0xC000003E, 0x40000000 + 41) == denied
    assert outcome(0x40000003, 0) == denied


@pytest.mark.skipif(not sandbox.offered().sockets, reason="this kernel takes no filter")
@pytest.mark.parametrize(
    "call",
    [
        "os.mknod(f'{SCRATCH}/null', 0o600 | stat.S_IFCHR, os.makedev(1, 3))",
        "os.mkfifo(f'{SCRATCH}/pipe')",
        "fcntl.ioctl(os.open(sys.argv[0], os.O_RDONLY), 0x40086602, struct.pack('l', 0x40))",
    ],
)
def test_no_device_is_made_and_no_flag_of_a_file_is_set(call: str, tmp_path: Path) -> None:
    """Neither needs a path that is writable: a node in the scratch, and a file that is open for reading."""
    assert ended(tmp_path, f"import fcntl, stat, struct\n{call}") == FORBIDDEN

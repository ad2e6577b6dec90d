"""A process that reaches no network and writes nowhere but into its scratch folder, where the kernel allows it.

Landlock (Linux 5.13, docs.kernel.org/userspace-api/landlock.html) takes away the file system: writing, creating,
removing; from Linux 6.12 also signals to other processes. A seccomp filter takes away sockets of every kind, and calls
that change whose a file is, its flags and when it was written, limits, priority, CPUs and memory of another process,
what processes share without a file, that lock a file, that make devices and pipes with names, and, of root, the
machine. Both need no privilege, and hold for all that the process starts. User namespaces would do neither better, and
are switched off on many machines.

What stays allowed: reading and running any file that the user may read, devices of GPUs, pipes that are open already,
and as much CPU and memory as there is. Run as a script, it becomes a command: `sandbox.py SCRATCH COMMAND...`. It
imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long


@dataclass(frozen=True, slots=True)
class Walls:
    """What a process is kept from. files: the version of Landlock's interface, 0 where there is none.

    sockets: whether it can open none.
    """

    files: int
    sockets: bool

    @property
    def lacking(self) -> str:
        """What it can do for all that, in one line; "" for nothing."""
        can = ["write files" if not self.files else "cut files short" if self.files < _TRUNCATES else ""]
        can.append("" if self.sockets else "reach the network")
        can.append("" if self.files >= HAS_SCOPES else "signal your other processes")
        *first, last = [one for one in can if one] or [""]
        return f"{', '.join(first)} and {last}" if first else last


def enter(scratch: str | os.PathLike[str]) -> Walls:
    """Walls this process in, for good, and makes `scratch` its folder for temporary files.

    To be called while it has one thread: others would stay outside. What the kernel does not offer is left out.
    """
    folder = os.path.abspath(scratch)
    os.environ.update(TMPDIR=folder, CUDA_CACHE_PATH=folder, PYTHONDONTWRITEBYTECODE="1")
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    if _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return Walls(0, False)
    return Walls(_restrict_files(folder), _restrict_calls())


def offered() -> Walls:
    """What the kernel offers, asked without entering."""
    return Walls(max(0, _landlock(None)), platform.machine() in _MACHINES and _has_filters())


def command(words: Sequence[str], scratch: str | os.PathLike[str]) -> list[str]:
    """The command that runs another one walled in."""
    return [sys.executable, "-I", __file__, str(scratch), *words]


# --- files: Landlock --------------------------------------------------------------------------------------

_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same numbers on every machine (linux/arch/*/kernel/syscalls)."""
_VERSION_ASKED = 1
_PATH_BENEATH = 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
_DEVICE_CALLS = 1 << 15
_REFERS, _TRUNCATES, _HAS_NET, _CALLS_DEVICES, HAS_SCOPES = 2, 3, 4, 5, 6
"""The versions of the interface that brought moves between folders, truncation, TCP, ioctl on devices (typing into
a terminal, say), and signals."""
_TCP = 0b11
_SCOPES = 0b11
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*", "/dev/kfd")


def _landlock(attributes: bytes | None) -> int:
    """The number of a new ruleset, or the version of the interface; negative where the kernel has none."""
    size, flags = (0, _VERSION_ASKED) if attributes is None else (len(attributes), 0)
    return int(_LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(flags)))


def _restrict_files(scratch: str) -> int:
    version = _landlock(None)
    if version <= 0:
        return 0
    on_files = _WRITE_FILE | (_TRUNCATE if version >= _TRUNCATES else 0)
    on_files |= _DEVICE_CALLS if version >= _CALLS_DEVICES else 0
    handled = on_files | _REMOVE_AND_MAKE | (_REFER if version >= _REFERS else 0)
    fields = [handled, _TCP if version >= _HAS_NET else None, _SCOPES if version >= HAS_SCOPES else None]
    known = [field for field in fields if field is not None]
    ruleset = _landlock(struct.pack(f"={len(known)}Q", *known))
    if ruleset < 0:
        return 0
    try:
        _allow(ruleset, scratch, handled)
        for device in _devices():
            _allow(ruleset, device, on_files)
        done = _LIBC.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0
    finally:
        os.close(ruleset)
    return version if done else 0


def _devices() -> Iterator[str]:
    for pattern in _DEVICES:
        folder, name = os.path.split(pattern)
        yield from (str(path) for path in Path(folder).glob(name) if not path.is_dir())


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Allows rights on a file, or on all that is beneath a folder. OSError where there is no such path."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, place)
        if _LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, ctypes.c_uint32(0)) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    finally:
        os.close(place)


# --- calls: seccomp ---------------------------------------------------------------------------------------

_PR_GET_SECCOMP, _PR_SET_SECCOMP, _FILTER = 21, 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of a filter: BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_RET|K."""
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
"""Where `struct seccomp_data` has them; of the arguments, the lower half."""
_FLAGS = (0x40086602, 0x401C5820)
"""FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR, which make a file immutable or append-only that is open for reading alone."""
_LOCKS = (6, 7, 37, 38, 1024)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW and F_SETLEASE, which keep others waiting for a file."""
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EACCES
_OTHER_INTERFACE = 0x40000000
"""x86-64 numbers its calls a second time from here on, for x32."""


@dataclass(frozen=True, slots=True)
class Interface:
    """audit: AUDIT_ARCH_*. refused: the numbers of the calls that are refused, common ones apart. limits: the number of
    prlimit64, which sets the limits of any process, and so ends it: refused for another one. control, commands: those
    of ioctl and fcntl, refused for flags of files, and for locks and leases."""

    audit: int
    refused: tuple[int, ...]
    limits: int
    control: int
    commands: int


_COMMON = (425, 426, 427, 438, 452, 463, 466, 469)
"""io_uring_* (which opens sockets past any filter), pidfd_getfd, fchmodat2, setxattrat, removexattrat, file_setattr."""
_MACHINES = {
    # socket; chmod, fchmod, chown, fchown, lchown, fchownat, fchmodat; *setxattr, *removexattr; truncate; ptrace,
    # process_vm_writev; mount, unshare, setns; bpf, perf_event_open, keyctl, add_key, request_key;
    # utime, utimes, futimesat, utimensat; shm*, sem*, msg* (System V); setpriority, sched_setparam, sched_setscheduler,
    # sched_setattr, ioprio_set; reboot, sethostname, setdomainname, settimeofday, clock_settime, clock_adjtime,
    # adjtimex, swapon, swapoff, acct, syslog, init_module, finit_module, delete_module, kexec_load, kexec_file_load,
    # quotactl, chroot, pivot_root, vhangup; mknod, mknodat; sched_setaffinity, flock; mq_unlink, fanotify_init
    "x86_64": Interface(
        0xC000003E,
        (41, 90, 91, 92, 93, 94, 260, 268, 188, 189, 190, 197, 198, 199, 76, 101, 311, 165, 272, 308)
        + (321, 298, 250, 248, 249)
        + (132, 235, 261, 280)
        + (29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71)
        + (141, 142, 144, 314, 251)
        + (169, 170, 171, 164, 227, 305, 159, 167, 168, 163, 103, 175, 313, 176, 246, 320, 179, 161, 155, 153)
        + (133, 259)
        + (203, 73, 241, 300),
        302,
        16,
        72,
    ),
    "aarch64": Interface(
        0xC00000B7,
        (198, 52, 53, 54, 55, 5, 6, 7, 14, 15, 16, 45, 117, 271, 40, 97, 268)
        + (280, 241, 219, 217, 218)
        + (88,)
        + (194, 195, 196, 197, 190, 191, 192, 193, 186, 187, 188, 189)
        + (140, 118, 119, 274, 30)
        + (142, 161, 162, 170, 112, 266, 171, 224, 225, 89, 116, 105, 273, 106, 104, 294, 60, 51, 41, 58)
        + (33,)
        + (122, 32, 181, 262),
        261,
        29,
        25,
    ),
}


class _Instructions(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("first", ctypes.c_char_p))


def _has_filters() -> bool:
    return int(_LIBC.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def _restrict_calls() -> bool:
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    program = filter_for(machine)
    instructions = _Instructions(len(program) // 8, program)
    return int(_LIBC.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(instructions), 0, 0)) == 0


def filter_for(machine: Interface) -> bytes:
    """The filter that refuses with EACCES: these calls and the common ones, `limits` where its first argument is not 0
    (the process itself), `control` and `commands` where the second one is one of _FLAGS and of _LOCKS, and all calls of
    another machine's interface."""
    lines: list[tuple[int, int | None, int | None, int]] = [  # Where to go on, from the next line on; None to refuse.
        *[(_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 0, None, machine.audit), (_LOAD, 0, 0, _NUMBER_AT)],
        *[(_AT_LEAST, None, 0, _OTHER_INTERFACE), *((_EQUAL, None, 0, n) for n in (*machine.refused, *_COMMON))],
    ]
    for call, values in ((machine.control, _FLAGS), (machine.commands, _LOCKS)):
        lines += [(_EQUAL, 0, len(values) + 2, call), (_LOAD, 0, 0, _SECOND_ARGUMENT_AT)]
        lines += [*((_EQUAL, None, 0, value) for value in values), (_RETURN, 0, 0, _ALLOW)]
    lines += [(_EQUAL, 0, 2, machine.limits), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT), (_EQUAL, 0, None, 0)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]

    def offset(at: int, target: int | None) -> int:
        return len(lines) - 2 - at if target is None else target

    return b"".join(
        struct.pack("=HBBI", kind, offset(at, yes), offset(at, no), value)
        for at, (kind, yes, no, value) in enumerate(lines)
    )


def main() -> None:
    """Becomes the command of the arguments, walled in."""
    scratch, *words = sys.argv[1:]
    enter(scratch)
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()

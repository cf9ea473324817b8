"""The resident worker as seen from outside: its folder, its name, the way to it, and its end.

Everything stands in one folder below /tmp that belongs to the user who runs Fossil and that nobody else
may enter; a folder that is not so is not used at all. Not $TMPDIR or $XDG_RUNTIME_DIR: Fossil empties the
environment of an extension, and the hook, the watcher and an administrator's shell must mean the same
folder. The shim loads this for every request: so only what is built into the interpreter is imported.
"""

import posix
import sys

#: Permission bits and kind of a folder that only its owner may enter (S_IFDIR | 0700).
_PRIVATE = 0o40700
#: Seconds after which a worker that touches nothing is taken for hung.
SILENT = 5.0


def _path(user):
    return "/tmp/vecsearch-%d" % user


def folder():
    """The path of the folder, made if need be; "" where there is none that is surely ours."""
    user = posix.geteuid()
    path = _path(user)
    try:
        posix.mkdir(path, 0o700)
    except OSError:  # it exists, or cannot be made: the next look tells
        pass
    try:
        found = posix.lstat(path)
    except OSError:
        return ""
    return path if found.st_mode & 0o177777 == _PRIVATE and found.st_uid == user else ""


def unusable():
    """Why there is no folder: what a person must look at."""
    return "%s cannot be made, or is not a folder that belongs to this user and that nobody else may enter" % _path(posix.geteuid())


def name(environment, library):
    """The name of the worker of one installation: Python's environment, and the folder that holds the package."""
    from hashlib import blake2b

    return blake2b(b"%s\0%s" % (posix.fspath(environment).encode("utf-8", "surrogateescape"),
                                posix.fspath(library).encode("utf-8", "surrogateescape")), digest_size=8).hexdigest()


def connect(worker, seconds):
    """A connected socket whose other end runs as the same user, or None. It waits for no more than
    `seconds` in any step; one that has its hands full refuses at once."""
    place = folder()
    if not place:
        return None
    import _socket

    way = None
    try:
        way = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | getattr(_socket, "SOCK_CLOEXEC", 0))
        way.settimeout(seconds)
        way.connect("%s/%s" % (place, worker))
        if hasattr(_socket, "SO_PEERCRED"):  # elsewhere the folder is the guard
            peer = way.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)  # struct ucred: pid, uid, gid
            if int.from_bytes(peer[4:8], sys.byteorder) != posix.geteuid():
                raise PermissionError
    except OSError:
        if way is not None:
            way.close()
        return None
    return way


def exchange(worker, method, body, seconds):
    """(headers, body) of the worker's reply; None if there is no whole one with status 200."""
    way = connect(worker, seconds)
    if way is None:
        return None
    try:
        way.sendall(b"%s / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % (method, len(body)) + body)
        reply = []
        while piece := way.recv(1 << 18):
            reply.append(piece)
    except TimeoutError:
        _abandon(worker)
        return None
    except OSError:
        return None
    finally:
        way.close()
    head, _, said = b"".join(reply).partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in lines if b": " in line)
    whole = headers.get(b"content-length") == b"%d" % len(said)
    return (headers, said) if first[9:12] == b"200" and whole else None


def _abandon(worker):
    """Take away the socket of a worker that hangs, so that only one visitor waits for it. One that only has
    much to do still touches its lock file each second."""
    from time import time

    path = "%s/%s" % (folder(), worker)
    try:
        if time() - posix.stat(path + ".lock").st_mtime > SILENT:
            posix.unlink(path)
    except OSError:
        pass


def state(worker):
    """What a running worker says of itself (pid, seconds, requests, megabytes), or None."""
    import json

    reply = exchange(worker, b"GET", b"", 5.0)
    return json.loads(reply[1]) if reply else None


def stop(worker):
    """End the worker; whether there was one."""
    return exchange(worker, b"DELETE", b"", 5.0) is not None

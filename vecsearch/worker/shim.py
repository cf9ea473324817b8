"""What Fossil starts for each request. It asks the worker; if that is absent, dead, busy, slow, foreign or of
another version, it answers in process: the same bytes, later.

A Python that imports nothing starts in a tenth of the time that the libraries take. So nothing stands
above but what is built in, and no annotation that would load typing.
"""

import posix
import sys

from .. import resident

#: A worker that has not answered by then is given up, and its socket taken away.
PATIENCE = 10.0
#: Longer bodies are not handed over; the app refuses them.
LONGEST = 1 << 20
#: One thread of BLAS: more make sixteen visitors wait for each other, and may round a sum differently.
ONE_THREAD = {b"OPENBLAS_NUM_THREADS": b"1", b"OMP_NUM_THREADS": b"1", b"MKL_NUM_THREADS": b"1",
              b"VECLIB_MAXIMUM_THREADS": b"1", b"BLIS_NUM_THREADS": b"1"}


def main(worker):
    """Answer the request of this process's environment on standard output. `worker` is its name, "" for
    none. Leaves with SystemExit before anything is written, or ends the process."""
    environ = dict(posix.environ)
    if environ.get(b"VECSEARCH_WORKER") == b"off":  # set by `install` and `doctor`; no visitor can
        worker = ""
    _make_absolute(environ)
    length = _length(environ)
    body = _read(length) if length <= LONGEST else None
    reply = _asked(worker, environ, body) if worker and body is not None else None
    if reply is None:
        reply = _in_process(environ, body)
    for where, text in zip((2, 1), reply):
        _write(where, text)
    if worker and len(reply) > 2:
        _start(worker)
    posix._exit(0)  # nothing is left to be done, and taking numpy down takes its time


def _make_absolute(environ):
    """Fossil may name the repository relative to the folder that it runs us in."""
    path = environ.get(b"FOSSIL_REPOSITORY", b"")
    if path and not path.startswith(b"/"):
        environ[b"FOSSIL_REPOSITORY"] = posix.getcwdb() + b"/" + path


def _length(environ):
    text = environ.get(b"CONTENT_LENGTH", b"")
    return int(text) if text.isdigit() and len(text) < 19 else 0


def _read(length):
    pieces = []
    while length > 0 and (piece := posix.read(0, length)):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _asked(worker, environ, body):
    """(standard error, standard output) of the worker, or None."""
    environ = dict(environ)
    try:
        # The worker may live in another jail or mount namespace, where this path is another file.
        found = posix.stat(environ.get(b"FOSSIL_REPOSITORY", b""))
        environ[b"VECSEARCH_FILE"] = b"%d.%d" % (found.st_dev, found.st_ino)
    except OSError:
        return None
    facts = b"".join(b"%s\0%s\0" % fact for fact in environ.items())
    reply = resident.exchange(worker, b"POST", b"%d\n" % len(facts) + facts + body, PATIENCE)
    if reply is None:
        return None
    cut = int(reply[0].get(b"x-errors", b"0"))
    return reply[1][:cut], reply[1][cut:]


def _in_process(environ, body):
    """(standard error, standard output, True): the third says that no worker answered."""
    try:
        for fact in ONE_THREAD.items():
            posix.putenv(*fact)
        posix.environ.update(ONE_THREAD)  # of which `os` makes its own
        import site

        site.main()  # what -S left out
        from io import BytesIO, StringIO

        from ..cgi import answer

        errors = StringIO()
        said = answer(environ, sys.stdin.buffer if body is None else BytesIO(body), errors)
        return errors.getvalue().encode("utf-8", "backslashreplace"), said, True
    except BaseException as error:  # whatever it is, the shell that started us must have a word for it and an exit code
        sys.exit("vecsearch: failed before it could answer: %s: %s" % (type(error).__name__, error))


def _write(where, text):
    text = memoryview(text)
    while text:
        text = text[posix.write(where, text):]


def _start(worker):
    try:
        posix.close(1)  # Fossil waits for the end of the answer, not for ours
        from .start import start

        start(worker, ONE_THREAD)
    except OSError:  # no process, no folder, a full disk: the next request tries again
        pass

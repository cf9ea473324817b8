"""Every error that vecsearch raises on purpose.

    VecsearchError          shown to the user as it is: one line that says what, where, what to do
    +-- UsageError          the request or command line is wrong (exit 2, HTTP 400)
    +-- RepositoryError     not a Fossil repository, missing, unreadable, locked
    |   +-- ArtifactError   one artifact is missing, damaged or not what its name says
    +-- StoreError          the fx_vec_* tables or the unversioned files are not as they must be
    |   +-- NoIndexError    there is no index yet
    |   +-- BlobError       one vec/HASH.bin is malformed
    +-- EmbedError          an embedding provider cannot be reached or answers nonsense

Each class has a `code` (stable, used in JSON errors) and an HTTP `status`.
"""


class VecsearchError(Exception):
    """Its text is shown to the user as it is; it never holds a traceback or a secret."""

    code = "failed"
    status = 500


class UsageError(VecsearchError):
    """The caller asked for something that does not exist or is out of range."""

    code = "bad_request"
    status = 400


class RepositoryError(VecsearchError):
    """The repository file cannot be used."""

    code = "repository"


class ArtifactError(RepositoryError):
    """One artifact cannot be read: phantom, damaged, or its bytes do not hash to its name."""

    code = "artifact"


class StoreError(VecsearchError):
    """The index inside the repository is not usable as it stands; `file` is the repository, for those who
    may know where it lies."""

    code = "index"

    def __init__(self, message: str, file: str = ""):
        super().__init__(message)
        self.file = file


class NoIndexError(StoreError):
    """There is no index in this repository yet."""

    code = "no_index"
    status = 404


class BlobError(StoreError):
    """A transfer blob is malformed; it was refused whole."""

    code = "blob"


class EmbedError(VecsearchError):
    """The embedding provider failed; `provider` names it."""

    code = "provider"
    status = 502

    def __init__(self, provider: str, message: str):
        super().__init__(f"{provider}: {message}")
        self.provider = provider

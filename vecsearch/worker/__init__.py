"""The resident worker: keeps the libraries, the app and the index in memory between requests.

    ask.pl  what Fossil starts first, where there is a perl: hands the request over
    shim    what Fossil starts else: hands the request over, or answers it in process
    start   the shim starts a worker and does not wait for it
    begin   the worker leaves its parent behind, takes its lock and loads
    code    whether what is loaded is still what is installed
    serve   requests from the socket, and when to leave

The shim sends one HTTP/1.0 request whose body is the CGI environment and the visitor's own body; the reply's
body is what the launcher prints. Nothing of a request outlives it but connections and arrays of the index,
which are the same for everybody; the visitor's rights are looked up for each request.
"""

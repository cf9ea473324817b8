"""The index as tools for language models (Model Context Protocol).

    tools     what the tools are called, what they say of themselves, what they do
    protocol  one JSON-RPC message in, one out; no session (pure)
    endpoint  POST /ext/search/mcp: the protocol for whoever visits the site
    server    the official SDK, over stdio and over HTTP on this machine

Only `server` needs the SDK. Loading it takes longer than a whole search, and an extension is a new
process for each request; so the endpoint speaks the few methods that a server of tools needs by itself.
"""

"""`python -m vecsearch`: what hooks and the watcher start, since it needs no PATH."""

from .cli import main

main(prog_name="vecsearch")

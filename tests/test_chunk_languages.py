"""Where definitions begin and end, per language: (name, first line, last line), counted by hand."""

import pytest

from vecsearch.chunk.definitions import find
from vecsearch.chunk.languages import LANGUAGES

SAMPLES = {
    "python": ('''import os

# retries with back-off
@retry(
    times=3,
)
async def send(url):
	"""
def not_this():
	"""
	return os.fetch(url)


class Queue(list):
    """Jobs."""
    size = 3

    def put(self, job):
        def inner():
            pass

    @property
    def top(self): return self[-1]


LIMIT = 3
''', [("send", 3, 11), ("Queue", 14, 23), ("Queue.put", 18, 20), ("Queue.put.inner", 19, 20), ("Queue.top", 22, 23)]),
    "c": ('''/* licence */

#include <stdio.h>
#define MAX(a,b) \\
  ((a)>(b)?(a):(b))

int prototype(int a, char *b);

/*
** Send the page.
*/
void doc_page(
  int a,          /* first { */
  const char *z   /* second */
){
#ifdef A
  if( a ){
#else
  if( z ){
#endif
    puts("}");
  }
label:
  return;
}

static const char *
gnu_style(int n)
{
  return 0;
}

int old(a, b)
  int a;
  char *b;
{
  return a;
}

typedef struct {
  int x;
} Point;

typedef struct Point Point;
struct Blob { int n; };
enum { A, B };
''', [("MAX", 4, 5), ("doc_page", 9, 25), ("gnu_style", 27, 31), ("old", 33, 38), ("Point", 40, 42), ("Point", 44, 44), ("Blob", 45, 45), ("", 46, 46)]),
    "cpp": ('''namespace n {

// Holds things.
template <typename T>
class Box : public Base {
 public:
  explicit Box(int n) : Base(n), n_(n) {
  }
  int size() const { return n_; }
};

template <class T>
std::vector<T> Box<T>::list(const std::map<int, T>& m) const {
  for (auto& x : m) {
    use(x);
  }
}

}
''', [("Box", 3, 10), ("Box.Box", 7, 8), ("Box.size", 9, 9), ("Box<T>::list", 12, 17)]),
    "tcl": ('''package require Tcl
# Say hello to
# everyone.
proc ::net::hello {name {times 1}} {
  if {$times} {
    puts "hi {"
  }
}
namespace eval util {
  proc helper {} { return 1 }
}
oo::class create Stack {
  constructor {} { my clear }
  method push {x} {
    lappend s $x
  }
}
test commit-1.1 {
  fossil commit
} {0}
''', [("::net::hello", 2, 8), ("util", 9, 11), ("util.helper", 10, 10), ("Stack", 12, 17), ("Stack.constructor", 13, 13),
      ("Stack.push", 14, 16), ("commit-1.1", 18, 20)]),
    "javascript": ('''import x from "x";
/** Adds. */
export async function add(a, {b, c} = {}) {
  return `${a} {`;
}
const twice = (n) => {
  return 2 * n;
};
export const one = () => 1;
class A extends B {
  static #n = 1;
  get size() { return 1; }
  async run(a = {}, b) {
    if (a) {
      go(() => { b(); });
    }
  }
}
module.exports.start = function (port) {
  listen(port);
};
Queue.prototype.push = function(x){
  this.a.push(x);
};
const api = {
  read: async (id) => {
    return id;
  },
  write(id) {
    return id;
  },
};
export default function () {
  return 1;
}
''', [("add", 2, 5), ("twice", 6, 8), ("one", 9, 9), ("A", 10, 18), ("A.size", 12, 12), ("A.run", 13, 17), ("start", 19, 21),
      ("Queue.push", 22, 24), ("read", 26, 28), ("write", 29, 31), ("default", 33, 35)]),
    "typescript": ('''export interface Options<T> {
  port: number;
}
export type Id = string | number;
export enum Color { Red }
export function open<T>({
  id,
}: { id: Id }): Promise<T> {
  return x as T;
}
@Component({ a: 1 })
export abstract class Page {
  constructor(private readonly id: Id) {}
  public async load(id: Id): Promise<void> {
    await x;
  }
}
export const useIt = (a: number): string => {
  return "";
};
''', [("Options", 1, 3), ("Id", 4, 4), ("Color", 5, 5), ("open", 6, 10), ("Page", 11, 17), ("Page.constructor", 13, 13),
      ("Page.load", 14, 16), ("useIt", 18, 20)]),
    "go": ('''package main

// Server serves.
type Server struct {
	addr string
}

// Start starts
// it.
func (s *Server) Start(ctx context.Context) error {
	for {
		return `}`
	}
}

func Map[T any](xs []T) []T { return xs }
''', [("Server", 3, 6), ("Server.Start", 8, 14), ("Map", 16, 16)]),
    "rust": ('''use std::fmt;

/// A point.
#[derive(Debug)]
pub struct Point<'a> {
    x: &'a str,
}

impl<'a> fmt::Display for Point<'a> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", '{')
    }
}

pub(crate) async fn run<T>(t: T) -> u8
where
    T: Send,
{
    1
}

macro_rules! add {
    () => {};
}
''', [("Point", 3, 7), ("Point", 9, 13), ("Point.fmt", 10, 12), ("run", 15, 20), ("add", 22, 24)]),
    "java": ('''package a.b;

/**
 * A class of things.
 */
@Entity
public final class Thing extends Base implements A, B {
    private int n = 1;

    public Thing(int n) {
        this.n = n;
    }

    @Override
    public Map<String, List<Integer>> all(@Nullable String a) throws IOException {
        if (a == null) {
            return list.map(x -> { return x; });
        }
        return new Thing(1) { };
    }

    interface Inner { void go(); }
}
''', [("Thing", 3, 23), ("Thing.Thing", 10, 12), ("Thing.all", 14, 20), ("Thing.Inner", 22, 22)]),
    "csharp": ('''using System;
namespace App
{
    /// <summary>Orders.</summary>
    [Serializable]
    public class Order : Base
    {
        public int Id { get; set; }

        public string Name => "x";

        [HttpGet]
        public async Task<int> SaveAsync<T>(T item, int n = 0) where T : class
        {
            using (var x = Open()) { }
            return 1;
        }

        private static int Twice(int n) => 2 * n;
    }
}
''', [("Order", 4, 20), ("Order.Id", 8, 8), ("Order.SaveAsync", 12, 17), ("Order.Twice", 19, 19)]),
    "kotlin": ('''package a

@Serializable
data class User(val name: String)

private suspend fun <T> List<T>.second(): T? =
    this[1]

object Main {
    override fun `does it`() {
        println("}")
    }
}
''', [("User", 3, 4), ("second", 6, 7), ("Main", 9, 13), ("Main.does it", 10, 12)]),
    "swift": ('''import UIKit
/// Doc.
public final class View: UIView {
    init(frame: CGRect) { super.init() }
    @objc private func tap(_ x: Int) -> Int {
        return x
    }
}
extension View { }
''', [("View", 2, 8), ("View.init", 4, 4), ("View.tap", 5, 7), ("View", 9, 9)]),
    "scala": ('''package a
trait Shape[F[_]] {
  def area: Double
  override def name(x: Int): String = {
    "}"
  }
}
case class Circle(r: Double) extends Shape
object Circle { implicit val x = 1 }
''', [("Shape", 2, 7), ("Shape.area", 3, 3), ("Shape.name", 4, 6), ("Circle", 8, 8), ("Circle", 9, 9)]),
    "php": ('''<?php
namespace A;

/**
 * Sends.
 */
#[Attribute]
final class Mailer extends Base
{
    public static function send(array $a = []): void
    {
        $f = function ($x) { return $x; };
    }
}

function helper() { return 1; }
''', [("Mailer", 4, 14), ("Mailer.send", 10, 13), ("helper", 16, 16)]),
    "ruby": ('''require "x"

# A module.
module App
  class Job < Base
    # Runs it.
    def run!(n)
      n.times do |i|
        puts "end #{i}"
      end
    end

    def self.build = new
    private def hidden?; end
  end
end
''', [("App", 3, 16), ("App.Job", 5, 15), ("App.Job.run!", 6, 11), ("App.Job.self.build", 13, 13), ("App.Job.hidden?", 14, 14)]),
    "crystal": ('''@[Link("z")]
lib LibZ
  fun zlib = crc32(x : Int32) : Int32
end

abstract struct Shape
  # Area.
  def area : Float64
    1.0
  end
end
''', [("LibZ", 1, 4), ("LibZ.zlib", 3, 3), ("Shape", 6, 11), ("Shape.area", 7, 10)]),
    "elixir": ('''defmodule App.Web do
  @doc """
  def not_this do
  """
  @spec call(map) :: map
  def call(%{a: 1} = conn, _opts) do
    conn
  end

  def call(conn, _), do: conn
  defp helper(x), do: x
end
''', [("App.Web", 1, 12), ("App.Web.call", 2, 10), ("App.Web.helper", 11, 11)]),
    "shell": ('''#!/bin/sh
# Prints usage.
usage() {
  echo "}"
}
function build-all {
  make   # all
}
usage
@test "it works" {
  run x
}
''', [("usage", 2, 5), ("build-all", 6, 8), ("it works", 10, 12)]),
    "sql": ('''-- Users of the thing
CREATE TABLE IF NOT EXISTS "user"(
  id INTEGER PRIMARY KEY,
  name TEXT -- create table no(
);
create unique index user_name
  on user(name);
CREATE TRIGGER tr AFTER INSERT ON user
BEGIN
  UPDATE x SET n=n+1;
END;
INSERT INTO user VALUES(1,'create view no');
''', [("user", 1, 5), ("user_name", 6, 7), ("tr", 8, 11)]),
    "lua": ('''local M = {}
--[[ function no() ]]
-- Opens.
function M.open(path)
  return [[
function no()
]]
end
M.close = function() return 1 end
local function helper() end
return M
''', [("M.open", 2, 8), ("M.close", 9, 9), ("helper", 10, 10)]),
    "haskell": ('''module A where
import B

-- | A tree.
data Tree a = Leaf
            | Node a
  deriving Show

instance Functor Tree where
  fmap f x = x

-- | Depth.
depth :: Tree a -> Int
depth Leaf = 0
depth (Node _) = 1
  where y = 1
''', [("Tree", 4, 7), ("instance Functor Tree", 9, 10), ("depth", 12, 16)]),
    "zig": ('''const std = @import("std");
/// Adds.
pub fn add(a: i32) i32 {
    return a;
}
const Point = struct {
    fn len(self: Point) u8 { return 1; }
};
test "adds" {
    try x();
}
''', [("add", 2, 5), ("Point", 6, 8), ("Point.len", 7, 7), ("adds", 9, 11)]),
    "perl": ('''package Foo::Bar;
=pod

sub not_this {

=cut

# Runs.
sub run {
    my ($x) = @_;
}
''', [("Foo::Bar", 1, 1), ("run", 8, 11)]),
    "css": ('''/* menu { */
.menu a,
.menu b {
  color: red;
}
@media (max-width: 9em) {
  .x { color: blue }
}
''', [(".menu b", 1, 5), ("@media (max-width: 9em)", 6, 8), ("@media (max-width: 9em)..x", 7, 7)]),
    "make": ('''CC = cc
# all of it
all: prog
	echo done
$(OBJ)/x.o: x.c
	$(CC) -c x.c
X := 1
''', [("all", 2, 4), ("$(OBJ)/x.o", 5, 6)]),
    "cmake": ("project(x)\nfunction(add_it name)\n  message(hi)\nendfunction()\nadd_it(y)\n", [("add_it", 2, 4)]),
    "vim": ("\" Opens\nfunction! s:open() abort\n  echo 1\nendfunction\nlet x = 1\n", [("s:open", 1, 4)]),
    "r": ("# Mean\nmean2 <- function(x) {\n  x\n}\ny <- 1\n", [("mean2", 1, 4)]),
    "julia": ("# Adds\nfunction add!(x)\n    x\nend\nsq(x) = x^2\nstruct P\n    x\nend\n", [("add!", 1, 4), ("sq", 5, 5), ("P", 6, 8)]),
    "ocaml": ("(* let no = 1 *)\nlet rec fact n =\n  n\n\ntype t = A | B\n", [("fact", 1, 3), ("t", 5, 5)]),
    "clojure": ("(ns a.b)\n; Adds\n(defn add [x]\n  x)\n(println 1)\n", [("a.b", 1, 1), ("add", 2, 4)]),
    "erlang": ("-module(a).\n-spec f(x) -> y.\nf(1) -> 1;\nf(_) ->\n    2.\n", [("f", 2, 5)]),
    "objc": ("@implementation A\n- (void)run:(int)x {\n  go();\n}\n@end\n", [("A", 1, 1), ("run", 2, 4)]),
    "lemon": ("%token A.\ncmd ::= BEGIN. {go();}\ncmd ::= END.\nexpr(A) ::= B.\n", [("cmd", 2, 3), ("expr", 4, 4)]),
    "toml": ("a = 1\n[tool.ruff]\nb = 2\n[[x]]\nc = 3\n", [("tool.ruff", 2, 3), ("x", 4, 5)]),
}


def outline(language, text):
    def walk(definitions):
        for item in definitions:
            yield item.name, item.start + 1, item.end
            yield from walk(item.inner)

    return list(walk(find(language, text.rstrip("\n").split("\n"))))


@pytest.mark.parametrize("language", SAMPLES)
def test_definitions(language):
    text, expected = SAMPLES[language]
    assert outline(language, text) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_survives_every_sample(language):
    for text, _ in SAMPLES.values():
        found = outline(language, text)
        assert all(1 <= first <= last <= text.count("\n") + 1 for _, first, last in found)


@pytest.mark.parametrize("language", ["json", "csv", "", "no such language"])
def test_other_languages_define_nothing(language):
    assert outline(language, "function x() {\n}\n") == []

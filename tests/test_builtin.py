"""The model that ships: what its vectors promise, and that the files are the ones that were released."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vecsearch.embed import builtin
from vecsearch.embed.builtin import NOTHING, Builtin
from vecsearch.embed.builtin.tokens import fold, parts, tokens, words

FOLDER = Path(builtin.__file__).parent


@pytest.fixture(scope="module")
def model():
    return Builtin()


def cosine(model, a, b):
    return float(model.embed_query(a) @ model.embed_query(b))


# -- related beats unrelated ---------------------------------------------------------------------


@pytest.mark.parametrize("query, right, wrong", [
    ("How do I undo my last commit?", "Reverting changes\nTo go back to the previous check-in, use revert.", "The wiki has a syntax of its own for links and tables."),
    ("connection pooling", "class Pool:\n    def acquire(self):\n        # reuse an idle socket\n        return self._idle.pop()", "def parse_date(text):\n    return datetime.strptime(text, FORMAT)"),
    ("user login fails", "src/login.c\nint check_password(const char *zUser, const char *zPasswd){", "src/diff.c\nstatic int longest_common_sequence(DContext *p){"),
    ("read a file line by line", "proc readlines {path} {set f [open $path]; while {[gets $f line] >= 0} {lappend out $line}}", "proc draw_circle {canvas x y r} {$canvas create oval $x $y $r $r}"),
    ("componentEmits", "function component_emits(options)", "function hoist_static(tree)"),
])
def test_what_answers_is_nearer_than_what_does_not(model, query, right, wrong):
    assert cosine(model, query, right) > cosine(model, query, wrong) + 0.05


@pytest.mark.parametrize("query, right, wrong", [
    ("ログインできません", "パスワードを忘れてログインできないとき", "新しいブランチを作成する方法"),
    ("如何创建分支", "创建新分支的步骤", "用户密码重置"),
    ("비밀번호 변경", "비밀번호를 변경하는 방법", "저장소 복제하기"),
    ("как создать ветку", "Создание новой ветки в репозитории", "Пароль пользователя забыт"),
    ("πώς κλωνοποιώ", "Κλωνοποιώ ένα αποθετήριο", "Ο κωδικός του χρήστη"),
    ("إنشاء فرع", "طريقة إنشاء فرع جديد", "كلمة المرور نسيت"),
    ("איך יוצרים ענף", "יוצרים ענף חדש", "סיסמה נשכחה"),
    ("🚀 🔥", "we ship it 🚀", "nothing to see"),
])
def test_other_scripts_find_their_own(model, query, right, wrong):
    assert cosine(model, query, right) > cosine(model, query, wrong) + 0.05


def test_accents_and_case_do_not_matter(model):
    assert cosine(model, "Café Zürich straße", "cafe zurich strasse") == pytest.approx(1)


def test_spellings_of_one_identifier_are_near(model):
    assert cosine(model, "addEventListener", "add_event_listener") > 0.95


# -- any text gives a unit vector ----------------------------------------------------------------


@pytest.mark.parametrize("text", [
    "", " \n\t", "!!! --- ===", "\x00", "x", "0", "日", "é", "\u0301", "\ud800", "⠀", "ﷺ", "a" * 5000, "_" * 300, "🤷🏽‍♀️", "C++", "1234567890123",
])
def test_any_text_gives_a_unit_vector(model, text):
    assert float(np.linalg.norm(model.embed_query(text))) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "!?", "---"])
def test_a_text_without_a_word_has_the_stated_vector(model, text):
    assert np.array_equal(model.embed_query(text), NOTHING)


def test_a_text_without_a_word_answers_no_question(model):
    assert cosine(model, "", "how to make a branch") < 0.25


def test_documents_are_a_float32_matrix(model):
    vectors = model.embed_documents(["one", "two words", ""])
    assert vectors.shape == (3, model.dim) and vectors.dtype == np.float32
    assert model.embed_documents([]).shape == (0, model.dim)


def test_identical_text_scores_one(model):
    assert cosine(model, "the same words", "the same words") == pytest.approx(1)


def test_a_word_of_the_path_counts_more_than_one_of_the_text(model):
    body = "\n".join(["static int walk(Blob *p){", "  for(i=0; i<n; i++) append(p, z[i]);", "  return n;", "}"] * 4)
    query = "annotate each line"
    in_path = f"src/annotate.c\nwalk\n{body}\nutility"
    assert cosine(model, query, in_path) > cosine(model, query, f"src/utility.c\nwalk\n{body}\nannotate") + 0.03


@pytest.mark.parametrize("text", ["one line of words", "two lines\nof words", "\n\nwords further down", "a\nb\nc\nd e f\n" * 9])
def test_a_copy_scores_one_however_it_is_laid_out(model, text):
    assert cosine(model, text, text) == pytest.approx(1)


# -- long texts ----------------------------------------------------------------------------------


def test_the_tail_of_a_long_text_counts(model):
    filler = "The wiki explains markup, links and tables. " * 60
    tail = "Garbage collection of unreachable blobs shrinks the repository database."
    query = "garbage collection of blobs"
    assert cosine(model, query, filler + tail) > cosine(model, query, filler) + 0.05


def test_five_megabytes_in_one_line(model):
    line = "var a" + "=function(x){return x+1};a" * 200_000
    assert len(line) > 5_000_000
    assert cosine(model, "function return", line) > cosine(model, "user manual", line)


def test_more_words_than_the_cache_holds(model):
    many = " ".join(f"word{n}" for n in range(builtin.MOST_WORDS + 5000))
    assert float(np.linalg.norm(model.embed_query(many))) == pytest.approx(1, abs=1e-5)
    assert len(model._place_of) <= builtin.MOST_WORDS


# -- the same bits -------------------------------------------------------------------------------


def test_a_vector_does_not_depend_on_company_or_on_what_came_before(model):
    texts = ["int main(void)", "How do I merge a branch?", "日本語の文書", ""]
    together = model.embed_documents(texts)
    fresh = [Builtin().embed_query(text) for text in reversed(texts)][::-1]
    assert np.array_equal(together, np.stack(fresh))


def test_another_process_makes_the_same_bits(model):
    code = "import sys; from vecsearch.embed.builtin import Builtin; sys.stdout.buffer.write(Builtin().embed_query('merge a branch, größer').tobytes())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert out == model.embed_query("merge a branch, größer").tobytes()


# -- what ships ----------------------------------------------------------------------------------


def test_the_weights_are_the_released_ones():
    for line in (FOLDER / "SHA256").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest, name


def test_the_package_stays_under_ten_megabytes():
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 10_000_000
    assert (FOLDER / "LICENSE").exists()


def test_the_import_brings_numpy_and_nothing_else():
    code = ("import sys, numpy; before = set(sys.modules); from vecsearch.embed.builtin import Builtin; Builtin().embed_query('x');"
            "print(*{m.partition('.')[0] for m in set(sys.modules) - before} - set(sys.stdlib_module_names))")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(out.split()) <= {"vecsearch", "numpy"}


def test_the_model_id_names_the_version(model):
    assert model.model == f"builtin:{builtin.NAME}@{builtin.VERSION}" and model.dim == builtin.DIM


# -- tokens --------------------------------------------------------------------------------------


@pytest.mark.parametrize("word, expected", [
    ("HTTPServer_v2", ["http", "server", "v", "2"]),
    ("addEventListener", ["add", "event", "listener"]),
    ("__init__", ["init"]),
    ("sha256sum", ["sha", "256", "sum"]),
    ("MAX_LEN", ["max", "len"]),
    ("x", ["x"]),
])
def test_parts_of_identifiers(word, expected):
    assert parts(word) == expected


def test_a_known_identifier_counts_whole_and_by_its_parts():
    known = {"fileexists", "file", "exists"}.__contains__
    assert tokens("fileExists", known) == ["fileexists", "file", "exists"]
    assert tokens("FILE_EXISTS", known) == ["fileexists", "file", "exists"]


def test_an_unknown_word_is_cut_into_known_pieces():
    assert tokens("fossilize", {"fossil", "##ize", "f"}.__contains__) == ["fossil", "##ize"]


def test_folding_leaves_ascii_and_other_scripts_alone():
    assert fold("naïve Ångström ﬁle") == "naive Angstrom file"
    assert words("がぎ 한국어 don't") == ["がぎ", "한국어", "don", "t"]

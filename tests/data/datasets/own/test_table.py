"""Tables of captions, as people and programs write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.errors import UserError
from vsdemo.data.datasets.own import table
from vsdemo.data.datasets.own.caption_list import Kind, PhotoNames, tidy

PHOTOS = ("a.jpg", "b.jpg", "sub/c d.jpg")


@pytest.fixture
def read(tmp_path):
    def read(content: str | bytes, photos=PHOTOS):
        file = tmp_path / "captions.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return table.read(file, PhotoNames(photos))

    return read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_is_a_caption_whatever_separates_cells(read, delimiter, end):
    rows = [
        ("Caption", "number", "FILE"),
        (f'"One, a; b|c{delimiter} d"', "1", "a.jpg"),
        ("Two", "2", "a.jpg"),
        ('"He says ""hi"""', "3", "sub/c d.jpg"),
    ]
    result = read(end.join(delimiter.join(row) for row in rows) + end)
    first = tidy(f"One, a; b|c{delimiter} d")
    assert result.of == {"a.jpg": (first, "Two"), "sub/c d.jpg": ('He says "hi"',)}
    assert result.problems == []
    assert result.splits is None


@pytest.mark.parametrize("photo", ["file", "Filename", "IMAGE", "photo"])
@pytest.mark.parametrize("caption", ["caption", "Text", "SENTENCE"])
def test_columns_have_several_names(read, photo, caption):
    assert read(f"{photo},{caption}\na.jpg,A dog.\n").of == {"a.jpg": ("A dog.",)}


@pytest.mark.parametrize(
    ("before", "encoding"),
    [
        ("", "utf-8-sig"),
        ("", "utf-16"),
        ("sep=;\n", "utf-8"),
        ("\n\n", "utf-8-sig"),
    ],
)
def test_marks_of_other_programs_are_understood(read, before, encoding):
    result = read(f"{before}file;caption\na.jpg;Ein Bär.\n".encode(encoding))
    assert (result.of, result.problems) == ({"a.jpg": ("Ein Bär.",)}, [])


def test_an_old_encoding_is_read_and_reported(read):
    result = read("file,caption\na.jpg,„Ein Bär.“ 5 €\n".encode("cp1252"))
    assert result.of == {"a.jpg": ("„Ein Bär.“ 5 €",)}
    assert result.problems[0].kind is Kind.ENCODING
    assert result.problems[0].text.endswith("save it as UTF-8.")


def test_an_unquoted_comma_in_the_last_column_belongs_to_the_caption(read):
    assert read("image,caption\na.jpg,A dog, wet, runs.\n").of["a.jpg"] == ("A dog, wet, runs.",)


def test_names_are_found_as_other_systems_write_them(read):
    photos = ("sub/Café.JPG", "b.jpg", "B.JPG")
    content = "file,caption\nsub\\cafe\u0301.jpg,One\n./b.jpg,Two\nb.JPG,Three\n"
    result = read(content, photos)
    assert result.of == {"sub/Café.JPG": ("One",), "b.jpg": ("Two",)}
    assert [p.kind for p in result.problems] == [Kind.MISSING_PHOTO]  # two differ in case only


def test_what_cannot_be_used_is_a_problem_with_its_line(read):
    long = "word " * 300
    result = read(f'file,caption\ngone.jpg,One\na.jpg,\nb.jpg\na.jpg,"{long}"\n,Two\n\nb.jpg,B\n')
    assert result.of == {"b.jpg": ("B",)}
    kinds = [problem.kind for problem in result.problems]
    assert kinds == [
        Kind.MISSING_PHOTO, Kind.EMPTY, Kind.INCOMPLETE, Kind.TOO_LONG, Kind.INCOMPLETE,
    ]  # fmt: skip
    lines = [problem.text.split(", line ")[1][0] for problem in result.problems]
    assert lines == ["2", "3", "4", "5", "6"]
    assert all(problem.text.endswith(".") for problem in result.problems)


def test_the_line_of_a_problem_counts_captions_of_several_lines(read):
    result = read('file,caption\na.jpg,"One\nTwo"\ngone.jpg,Three\n')
    assert result.of == {"a.jpg": ("One Two",)}
    assert ", line 4:" in result.problems[0].text


@pytest.mark.parametrize(
    "name", ["../x.jpg", "sub/../../x.jpg", "/etc/x.jpg", "C:\\x.jpg", "C:x.jpg", "..\\x.jpg"]
)
def test_a_path_out_of_the_folder_is_refused(read, name, is_one_sentence):
    with pytest.raises(UserError, match=r"captions\.csv, line 3: .* leads out of") as caught:
        read(f"file,caption\na.jpg,A\n{name},B\n")
    assert is_one_sentence(caught)


@pytest.mark.parametrize(
    "content", ["", "\n", "a.jpg,A dog.\n", "file\na.jpg\n", "\0", b"\xff\xfe"]
)
def test_a_table_needs_a_header(read, content, is_one_sentence):
    with pytest.raises(UserError, match="has no header with the columns file and caption") as error:
        read(content)
    assert is_one_sentence(error)


@pytest.mark.parametrize("row", ['a.jpg,"A dog', 'a.jpg,"A" dog'])
def test_quotes_that_cannot_be_read_are_an_error_with_their_line(read, row, is_one_sentence):
    with pytest.raises(UserError, match="line 3: the quotes cannot be read") as caught:
        read(f"file,caption\nb.jpg,B\n{row}\nb.jpg,C\n")
    assert is_one_sentence(caught)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.csv"
    for start in (b"", b"file,caption\n"):
        file.write_bytes(start + content)
        try:
            result = table.read(file, PhotoNames(PHOTOS))
        except UserError:
            continue
        assert set(result.of) <= set(PHOTOS)


@given(st.lists(st.tuples(st.sampled_from(PHOTOS), st.text(min_size=1, max_size=80)), max_size=8))
def test_what_a_program_writes_is_read_again(tmp_path_factory, rows):
    import csv

    file = tmp_path_factory.getbasetemp() / "written.csv"
    valid = [(name, text) for name, text in rows if text.isprintable() and tidy(text)]
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows([("file", "caption"), *valid])
    expected: dict[str, tuple[str, ...]] = {}
    for name, text in valid:
        known = expected.get(name, ())
        expected[name] = known if tidy(text) in known else (*known, tidy(text))
    assert table.read(file, PhotoNames(PHOTOS)).of == expected

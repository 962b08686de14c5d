"""Ways of misreading a table: each is read right, or refused with a message. The docs have a table of the same list."""

import io
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

FACTS = [("anna", "knows", "bob"), ("bob", "likes", "carl"), ("carl", "knows", "anna")]
ROWS = "anna,knows,bob\nbob,likes,carl\ncarl,knows,anna\n"
TURNED = "anna,bob,knows\nbob,carl,likes\ncarl,anna,knows\n"
MANY = "".join(f"e{i % 7},{'knows' if i % 2 else 'likes'},f{i % 5}\n" for i in range(40))


class Case(NamedTuple):
    """A table, what it is, and what must come of it: the facts (None for those of FACTS), or a message."""

    what: str
    name: str
    content: str | bytes
    message: str | None = None
    note: str | None = None
    options: Mapping = MappingProxyType({})
    facts: Sequence = tuple(FACTS)


def parquet(names, facts=FACTS, **more):
    buffer = io.BytesIO()
    columns = dict(zip(names, zip(*facts, strict=True), strict=True))
    pq.write_table(pa.table({name: list(column) for name, column in columns.items()} | more), buffer)
    return buffer.getvalue()


def arrow(names):
    buffer = io.BytesIO()
    table = pa.table({name: list(column) for name, column in zip(names, zip(*FACTS, strict=True), strict=True)})
    feather.write_feather(table, buffer, compression="uncompressed")
    return buffer.getvalue()


def json_lines(*keys):
    return "".join(json.dumps(dict(zip(keys, fact, strict=True))) + "\n" for fact in FACTS)


CASES = [
    Case("a header of usual names", "f.csv", "from,type,to\n" + ROWS),
    Case("columns in another order, by their names", "f.csv", "source,target,type\n" + TURNED),
    Case("the relation called label between start and end", "f.csv", "start,label,end\n" + ROWS),
    Case("numbered columns", "f.csv", "node_1,relation,node_2\n" + ROWS),
    Case("names with words about them", "f.csv", "SourceId,relation_type,target name\n" + ROWS),
    Case("a header of unknown names", "f.csv", "person,relationship,friend\n" + ROWS, "is this a header"),
    Case("a header of unknown names above names with digits", "f.csv", "who,does,what\n" + MANY, "every name below it"),
    Case("names of columns that the user gives", "f.csv", "who,to,verb\n" + TURNED, options={"columns": "who,verb,to"}),
    Case(
        "a name that no column has", "f.csv", "who,does,whom\n" + ROWS, "no column", options={"columns": "who,do,whom"}
    ),
    Case("a first fact that looks like a header", "f.csv", "head,on,neck\n", "is this a header"),
    Case(
        "the same, with --header no",
        "f.csv",
        "head,on,neck\n",
        options={"header": "no"},
        facts=[("head", "on", "neck")],
    ),
    Case(
        "numbers of columns that are names too, with --header no",
        "f.csv",
        "1,2,3\n4,5,6\n",
        options={"columns": "1,2,3", "header": "no"},
        facts=[("1", "2", "3"), ("4", "5", "6")],
    ),
    Case("a number that no column has", "f.csv", ROWS, "there are 3, from 1", options={"columns": "1,2,9"}),
    Case(
        "the same under a header",
        "f.csv",
        "subject,relation,object\n" + ROWS,
        "there are 3, from 1",
        options={"columns": "0,1,2"},
    ),
    Case(
        "the same in JSON lines of lists",
        "f.jsonl",
        '["a", "b", "c"]\n',
        "there are 3, from 1",
        options={"columns": "0,1,2"},
    ),
    Case("UTF-16 that is cut", "f.csv", ROWS.encode("utf-16")[:-1], "not valid UTF-16"),
    Case(
        "further columns under a header",
        "f.csv",
        "subject,year,relation,object\nanna,1,knows,bob\nbob,2,likes,carl\ncarl,3,knows,anna\n",
        note="not used: column year",
    ),
    Case("further columns without a header", "f.csv", "anna,knows,bob,1999\n", "4 columns, expected 3"),
    Case(
        "the same, chosen by number",
        "f.csv",
        "1,anna,knows,bob\n2,bob,likes,carl\n3,carl,knows,anna\n",
        options={"columns": "2,3,4"},
    ),
    Case(
        "row numbers in front, as pandas writes them",
        "f.csv",
        ",subject,relation,object\n0,anna,knows,bob\n1,bob,likes,carl\n2,carl,knows,anna\n",
        note="not used",
    ),
    Case(
        "row names without a name in the header, as R writes them",
        "f.csv",
        "subject,relation,object\n1,anna,knows,bob\n2,bob,likes,carl\n",
        "the header names 3 columns, and the lines below have 4",
    ),
    Case("false facts, by a column of labels", "f.csv", "s,r,o,label\na,r,b,1\na,r,c,-1\n", "calls facts '-1'"),
    Case("Neo4j's relationships", "f.csv", ":START_ID(Person),:END_ID(Person),:TYPE\n" + TURNED),
    Case("Neo4j's nodes", "f.csv", "personId:ID,name,:LABEL\n1,Anna,Person\n2,Bob,Person\n", "is this a header"),
    Case("semicolons, as Excel writes them in Europe", "f.csv", "subject;relation;object\n" + ROWS.replace(",", ";")),
    Case("sep=; above the table", "f.csv", "sep=;\n" + ROWS.replace(",", ";")),
    Case("a byte order mark", "f.csv", b"\xef\xbb\xbf" + f"subject,relation,object\r\n{ROWS}".encode()),
    Case("UTF-16, Excel's 'Unicode text'", "f.txt", ROWS.replace(",", "\t").encode("utf-16")),
    Case("UTF-16 without a byte order mark", "f.txt", ROWS.encode("utf-16-le"), "looks like UTF-16"),
    Case("Latin-1 or Windows-1252", "f.csv", "Köln,liegt in,NRW\n".encode("latin-1"), "is not UTF-8.*'Köln,liegt'"),
    Case("tabs in a file called .csv", "f.csv", ROWS.replace(",", "\t")),
    Case("commas in a file called .tsv", "f.tsv", ROWS),
    Case("two separators that both fit", "f.csv", "Doe, Jo;knows;Roe, Al\n", "both make 3 columns"),
    Case(
        "spaces around names", "f.csv", "anna, knows, bob\nbob , likes, carl\ncarl, knows, anna\n", note="spaces around"
    ),
    Case("a separator at the end of each line", "f.csv", ROWS.replace("\n", ",\n")),
    Case("blank lines and Windows line ends", "f.csv", "\r\n" + ROWS.replace("\n", "\r\n\r\n")),
    Case("comments", "f.tsv", "# who\n" + ROWS.replace(",", "\t") + "# the end\n"),
    Case("a header that is a comment", "f.tsv", ("#subject,relation,object\n" + ROWS).replace(",", "\t")),
    Case("a fact that is commented out", "f.csv", ROWS + "#anna,likes,carl\n", "a comment or a name"),
    Case("a quote that is left open", "f.csv", 'anna,knows,"bob\n' + ROWS, "is a quote left open"),
    Case(
        "text behind a closing quote", "f.csv", '"Weird Al" Yankovic,plays,accordion\n', "text follows a closing quote"
    ),
    Case(
        "every cell in quotes, between tabs",
        "f.tsv",
        ROWS.replace(",", '"\t"').replace("\n", '"\n"').join(['"', ""])[:-1],
    ),
    Case("several files in one, each with a header", "f.csv", ("s,p,o\n" + ROWS) * 2, "the header stands here again"),
    Case("numbers as names", "f.csv", "1,2,3\n007,2,1\n", facts=[("1", "2", "3"), ("007", "2", "1")]),
    Case("a missing value of a program", "f.csv", ROWS + "anna,knows,#N/A\n", "stands for a missing value"),
    Case("an empty cell", "f.csv", ROWS + "anna,,bob\n", "f.csv:4: the relation is empty"),
    Case("JSON lines", "f.jsonl", json_lines("from", "type", "to")),
    Case("JSON lines of lists", "f.ndjson", "".join(json.dumps(fact) + "\n" for fact in FACTS)),
    Case("JSON lines with another ending", "f.txt", json_lines("subject", "relation", "object")),
    Case(
        "one list of JSON objects",
        "f.json",
        json.dumps([dict(zip("spo", fact, strict=True)) for fact in FACTS], indent=1),
    ),
    Case(
        "a key that a line of JSON lacks", "f.jsonl", json_lines(*"spo") + '{"s": "a", "p": "r"}\n', "f.jsonl:4: no 'o'"
    ),
    Case("nested JSON", "f.jsonl", '{"s": {"id": 1}, "p": "r", "o": "b"}\n', "f.jsonl:1: 's' is an object"),
    Case(
        "Parquet with columns in another order",
        "f.parquet",
        parquet(["target", "type", "source"], [f[::-1] for f in FACTS]),
    ),
    Case("Parquet with unknown names", "f.parquet", parquet(["a", "b", "c"]), "which are subject, relation, object"),
    Case("Feather and Arrow", "f.feather", arrow(["head", "relation", "tail"])),
    Case("numbers with decimals as names", "f.parquet", parquet("spo", [(1.5, "r", 2.0)]), "numbers with decimals"),
    Case("an Excel workbook", "f.csv", b"PK\x03\x04" + bytes(100), "this is a workbook"),
    Case("a database", "f.csv", b"SQLite format 3\x00" + bytes(100), "give it as sqlite:"),
    Case("RDF with another ending", "f.txt", "<http://a> <http://r> <http://b> .\n", "give it the ending .nt"),
    Case("a web page", "f.csv", "<!DOCTYPE html>\n<html><body>404</body></html>\n", "this is a web page"),
]


def row(case):
    """Return the row of the docs' table for a case."""
    given = ", ".join(f"`{name}={value!r}`" for name, value in case.options.items())
    outcome = "refused" if case.message else "read right, with a note" if case.note else "read right"
    return f"| {case.what} | `{case.name[1:]}`{f', {given}' if given else ''} | {outcome} |"

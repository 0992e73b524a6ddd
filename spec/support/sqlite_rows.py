# sqlite_rows.py FILE - prints all tables of a database of SQLite, as Python's
# module reads them: a line "table NAME" and one with the declarations of its
# columns, then a line for each row, with a cell for each column: "-" for NULL,
# i and the digits, f and the hexadecimal form, t or b and the bytes in hex.
import sqlite3
import sys


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "f" + value.hex()
    if isinstance(value, str):
        return "t" + value.encode().hex()
    return "b" + value.hex()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


with sqlite3.connect(sys.argv[1]) as database:
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_master ORDER BY rowid")]
    for name in names:
        print("table", name.encode().hex())
        columns = database.execute("PRAGMA table_info(%s)" % quoted(name)).fetchall()
        print(" ".join(column[1].encode().hex() + ":" + column[2] for column in columns))
        for row in database.execute("SELECT * FROM %s ORDER BY rowid" % quoted(name)):
            print(" ".join(map(cell, row)))

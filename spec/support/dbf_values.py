"""The values of a table as dbfread says, for the specs of dbf.

usage: dbf_values.py TABLE ENCODING: a line for each value, record by record: a
letter for its type and the value, text in hex; or ! and why dbfread gives up.
"""
import datetime
import decimal
import sys

import dbfread
from dbfread.field_parser import FieldParser


class Careful(FieldParser):
    """One value that dbfread cannot read must not hide the others."""

    def parse(self, field, data):
        try:
            return FieldParser.parse(self, field, data)
        except Exception as why:  # whatever it trips over is its answer
            return why


def text_of_time(value):
    text = value.replace(microsecond=0).isoformat()
    milliseconds = round(value.microsecond / 1000)
    return text + (".%03d" % milliseconds if milliseconds else "")


def shown(value, encoding):
    if isinstance(value, Exception):
        return "! %s" % type(value).__name__
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "b %s" % str(value).lower()
    if isinstance(value, int):
        return "i %d" % value
    if isinstance(value, float):
        return "n %.17g" % value
    if isinstance(value, decimal.Decimal):
        return "y %.4f" % value
    if isinstance(value, datetime.datetime):
        return "t " + text_of_time(value).encode().hex()
    if isinstance(value, datetime.date):
        return "t " + value.isoformat().encode().hex()
    if isinstance(value, str):
        return "t " + value.encode(encoding).hex()
    return "t " + bytes(value).hex()


def main(path, encoding):
    table = dbfread.DBF(path, encoding=encoding, recfactory=list,
                        ignore_missing_memofile=True, parserclass=Careful,
                        char_decode_errors="replace")
    out = "latin-1" if encoding == "latin-1" else "utf-8"
    for record in table:
        for _, value in record:
            print(shown(value, out))


main(*sys.argv[1:])

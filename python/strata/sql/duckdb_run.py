"""Runs SQL on DuckDB's Python package for `strata sql`, and prints the result of the last statement.

    python duckdb_run.py csv|json VIEWS QUERY

Ends with status 77 where the package is not installed, with 1 where DuckDB refuses the query."""
import csv
import json
import sys

NOT_INSTALLED = 77


def print_result(form, names, rows):
    if form == "json":
        json.dump([dict(zip(names, row)) for row in rows], sys.stdout, indent=2, default=str)
        sys.stdout.write("\n")
        return
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(names)
    out.writerows(rows)


def main(form, views, query):
    try:
        import duckdb
    except ImportError:
        return NOT_INSTALLED
    try:
        base = duckdb.connect()
        base.execute(views)
        done = base.execute(query)
        print_result(form, [column[0] for column in done.description], done.fetchall())
    except duckdb.Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

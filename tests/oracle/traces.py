"""The traces below some folders. Expectations and the files of runs lie beside them."""
import re


def find_traces(folders):
    return sorted(p for f in folders for p in f.rglob('*.json*')
                  if re.search(r'\.json(\.gz)?$', p.name) and '.expected.' not in p.name
                  and not p.name.startswith('timing'))

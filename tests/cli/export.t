# Formats are told by the name of the file, and the screen says what to do with it.
# Sizes depend on the compressor and are left out here.
$ strata export $DATA/tiny.json -o tiny.strata | sed 's/ *[0-9.]* [kM]*B$//'
| tiny.strata   strata   27 events
|
| next: strata report tiny.strata
$ strata export tiny.strata -o tiny.json
| tiny.json   chrome   27 events   7.13 kB
|
| next: strata export --open tiny.json    opens it in ui.perfetto.dev
$ strata export tiny.json -o tiny.json.gz --for perfetto --json | grep -v size_bytes
| {
|   "path": "tiny.json.gz",
|   "format": "chrome",
|   "events": 27,
|   "flows": 4,
| }
$ strata export tiny.json.gz -o tiny.csv
| tiny.csv   csv   27 events   3.47 kB
|
| next: python3 -c "import pandas; print(pandas.read_csv('tiny.csv').describe())"
$ strata export tiny.strata -o tiny.sqlite | sed 's/ *[0-9.]* [kM]*B$//'
| tiny.sqlite   sqlite   27 events
|
| next: sqlite3 tiny.sqlite 'SELECT name, sum(dur_ns) FROM kernels GROUP BY 1 ORDER BY 2 DESC'

# The same table comes out of every format.
$ strata table $DATA/tiny.json --json > a; strata table tiny.strata --json > b
> strata table tiny.json --json > c; cmp a b && cmp a c && echo same
| same

# To standard output there is nothing but the file.
$ strata export tiny.strata -o - --to csv | head -2 | cut -d, -f1-7
| row,ts_ns,dur_ns,name,category,kind,phase
| 0,1000000,400000,"pipe.py(3): main","python_function","python_function","X"
$ strata export tiny.strata -o - --to sqlite
! strata: a SQLite database can only be written to a file
? 2

# Mistakes.
$ strata export tiny.strata
! strata: no output file: give -o FILE
? 2
$ strata export tiny.strata -o tiny.parquet
! strata: tiny.parquet: Parquet goes into a folder of tables: strata export --to tables TRACE -o FOLDER
? 2
$ strata export tiny.strata -o tiny.json --to xml
! strata: --to takes one of chrome|strata|perfetto|csv|sqlite|tables|flame|folded|speedscope|pprof|timing, not 'xml'; see strata export --help
? 2
$ strata export missing.json -o x.strata
! strata: missing.json: cannot open: No such file or directory
? 3
$ strata export tiny.strata -o no/such/folder/x.json
! strata: no/such/folder/x.json: cannot create: No such file or directory
? 3

# A cut or damaged .strata file is refused with what is wrong.
$ head -c 3000 tiny.strata > cut.strata; strata export cut.strata -o x.json
! strata: cut.strata: cut short: the end of the file is missing (3000 bytes)
? 3
$ printf '\377' | dd of=tiny.strata bs=1 seek=700 conv=notrunc status=none; strata export tiny.strata -o x.json
! strata: tiny.strata: damaged: args block 0
? 3

# Perfetto's own format, and back.
$ strata export $DATA/tiny.json -o tiny.pftrace
| tiny.pftrace   perfetto   27 events   4.19 kB
|
| next: strata export --open tiny.pftrace    opens it in ui.perfetto.dev
$ strata table tiny.pftrace --json > d; cmp a d && echo same
| same
$ strata info tiny.pftrace | head -9
| tiny.pftrace   perfetto, 4.19 kB, 35 events
|
|   recorded  CUDA 13.0, driver for CUDA 13.0; 2026-10-01 12:17:06 UTC
|   with      stacks yes, shapes yes, memory yes, modules no, FLOPs no
|   device 0  NVIDIA H200, 150 GB, 132 SMs, compute capability 9.0
|   time      400 us from first to last event, window 600 us
|   steps     2 marked by the program (ProfilerStep#)
|   threads   1 process, 1 thread, 1 GPU stream
|

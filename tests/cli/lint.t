$ cp $DATA/tiny.json . && strata lint tiny.json
|   no problems: the file is complete and the recording is consistent
|
| next: strata info tiny.json     what is in the file
|       strata report tiny.json   what is slow and why

# Damage is listed with byte offsets, and is no failure.
$ printf '{"traceEvents":[{"ph":"X","name":"a "b"","pid":1,"tid":1,"ts":1,"dur":2},\n{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":-1,"args":{"stream":7,"device":0,"correlation":3}},{"ph":"X","na' > cut.json
$ strata lint cut.json
|   warning  truncated   1
|            file cut short
|            at byte 190
|   note     bad_string   1
|            strings with unescaped quotes or backslashes, repaired
|            at byte 34
|   note     negative_duration   1
|            negative durations, set to 0
|            at byte 74
|   warning  no_time   1
|            kernels, copies and memsets with a duration of zero
|            The recorder had no time stamp for them (a known fault of some CUPTI releases). Their
|            time is missing from every figure.
|            first: k at 4.00 us, byte 74
|   note     work_without_launch   1
|            kernels, copies and memsets without a launch call
|            Normal at the start of a window: they were launched before it opened. They have no
|            operator and no source line.
|            first: k at 4.00 us, byte 74
|
| next: strata info cut.json     what is in the file
|       strata report cut.json   what is slow and why
! strata: cut.json: ends inside an event at byte 203 (file cut short): 2 events read, the last one lost
! strata: cut.json: strings with unescaped quotes or backslashes, repaired: 1 (first at byte 34), and 1 other kind of damage; strata lint lists all

$ strata lint cut.json --json 2>&1 | head -40
| strata: cut.json: ends inside an event at byte 203 (file cut short): 2 events read, the last one lost
| strata: cut.json: strings with unescaped quotes or backslashes, repaired: 1 (first at byte 34), and 1 other kind of damage; strata lint lists all
| {
|   "damage": [
|     {
|       "reason": "truncated",
|       "text": "file cut short",
|       "count": 1,
|       "loses_events": true,
|       "bytes": [
|         190
|       ]
|     },
|     {
|       "reason": "bad_string",
|       "text": "strings with unescaped quotes or backslashes, repaired",
|       "count": 1,
|       "loses_events": false,
|       "bytes": [
|         34
|       ]
|     },
|     {
|       "reason": "negative_duration",
|       "text": "negative durations, set to 0",
|       "count": 1,
|       "loses_events": false,
|       "bytes": [
|         74
|       ]
|     }
|   ],
|   "checks": [
|     {
|       "id": "kernel_before_launch",
|       "severity": "warning",
|       "title": "device work that starts before the call that launched it",
|       "explain": "The clocks of CPU and GPU disagree by at least this much: shorter launch latencies and gaps mean nothing.",
|       "count": 0,
|       "of": 0,

$ echo '<!DOCTYPE html>' > page.json; strata lint page.json
! strata: page.json: not a trace: expected '{' or '[' at byte 0, found "<!DOCTYPE html>" (a saved web page?)
? 3

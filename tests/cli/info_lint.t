$ cp $DATA/tiny.json . && strata info --lint tiny.json
|   no problems: the file is complete and the recording is consistent
|
| next: strata info tiny.json     what is in the file
|       strata report tiny.json   what is slow and why

# Damage is listed with byte offsets, and is no failure.
$ printf '{"traceEvents":[{"ph":"X","name":"a "b"","pid":1,"tid":1,"ts":1,"dur":2},\n{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":-1,"args":{"stream":7,"device":0,"correlation":3}},{"ph":"X","na' > cut.json
$ strata info --lint cut.json
|   warning  truncated   1
|            file cut short
|            at byte 190
|   note     bad_string   1
|            strings with unescaped quotes or backslashes, repaired
|            at byte 34
|   note     negative_duration   1
|            negative durations, set to 0
|            at byte 74
|   unusable: 1 of 1 device records have no time stamp or no duration
|     their time is missing: device time is too low and idle time too high
|     update the driver and the program that recorded it
|     first: k at 4.00 us, byte 74 (zero_times)
|   doubtful: the file is cut short at byte 190
|     device records come last in these files, so they are lost first
|     wait for the export to finish; a file name ending in .tmp means it has not
|   usable: only the device's work was recorded, not what launched it
|     its times are right, but what the GPU waits for is not known
|     record CPU and device activities together, in one process
|
| next: strata info cut.json     what is in the file
|       strata report cut.json   what is slow and why
! strata: cut.json: ends inside an event at byte 203 (file cut short): 2 events read, the last one lost
! strata: cut.json: strings with unescaped quotes or backslashes, repaired: 1 (first at byte 34), and 1 other kind of damage; strata info --lint lists all

$ strata info --lint cut.json --json 2>&1 | head -40
| strata: cut.json: ends inside an event at byte 203 (file cut short): 2 events read, the last one lost
| strata: cut.json: strings with unescaped quotes or backslashes, repaired: 1 (first at byte 34), and 1 other kind of damage; strata info --lint lists all
| {
|   "damage": [
|     {
|       "reason": "truncated",
|       "count": 1,
|       "loses_events": true,
|       "text": "file cut short",
|       "bytes": [
|         190
|       ]
|     },
|     {
|       "reason": "bad_string",
|       "count": 1,
|       "loses_events": false,
|       "text": "strings with unescaped quotes or backslashes, repaired",
|       "bytes": [
|         34
|       ]
|     },
|     {
|       "reason": "negative_duration",
|       "count": 1,
|       "loses_events": false,
|       "text": "negative durations, set to 0",
|       "bytes": [
|         74
|       ]
|     }
|   ],
|   "trace_quality": {
|     "verdict": "unusable",
|     "idle_trusted": false,
|     "times_trusted": false,
|     "links_trusted": false,
|     "recording_cost_pct": 0.0,
|     "python_sample_us": null,
|     "recording": {

$ echo '<!DOCTYPE html>' > page.json; strata info --lint page.json
! strata: page.json: not a trace: expected '{' or '[' at byte 0, found "<!DOCTYPE html>" (a saved web page?)
? 3

# A spelling mistake gets a suggestion, anything else the way to the list.
$ strata hepl
! strata: unknown command 'hepl'. Did you mean 'help'?
? 2
$ strata xyzzy
! strata: unknown command 'xyzzy'. strata help lists all commands.
? 2
$ strata --verison
! strata: unknown command '--verison'. Did you mean '--version'?
? 2
$ strata $DATA/tiny.json
! strata: $DATA/tiny.json is a file, not a command: strata report $DATA/tiny.json
? 2
$ strata $DATA
! strata: $DATA is a folder, not a command: strata report $DATA
? 2
$ strata report https://host/trace.json
! strata: https://host/trace.json: an address, not a file: fetch it first and name the file
? 3
$ strata report $DATA/tiny.json --json --md
! strata: --json and --md are two formats of one output; give one
? 2
$ strata kernels $DATA/whatif/pingpong_v0.json.gz --filter surely_none 2>&1 >/dev/null
| strata: no kernel here has 'surely_none' in its name or family
$ strata diff $DATA/tiny.json $DATA/tiny.json 2>&1 >/dev/null
| strata: both sides are the same file, $DATA/tiny.json
$ strata sql $DATA/tiny.json "select 1"
! strata: '$DATA/tiny.json' is a file, not a folder of tables; strata export --to tables $DATA/tiny.json -o tables writes them
? 2
$ strata help xyzzy
! strata: no command, rule, term or problem is called 'xyzzy'. strata help lists commands, strata help rules rules, strata help glossary terms, strata help problems problems of a trace.
? 2

# A name that would repaint the terminal does not.
$ strata $'\e[2Jhelp'
! strata: unknown command '?[2Jhelp'. strata help lists all commands.
? 2

$ strata --version | sed 's/[0-9][0-9.]*$/VERSION/'
| strata VERSION
$ test "$(strata -V)" = "$(strata --version)"

# Mistakes in options and operands say where the options are explained.
$ strata help --mna
! strata: unknown option '--mna'. Did you mean '--man'?
? 2
$ strata help --nonsense
! strata: unknown option '--nonsense'; see strata help --help
? 2
$ strata help -x
! strata: unknown option '-x'; see strata help --help
? 2
$ strata help --man=yes
! strata: --man takes no value; see strata help --help
? 2
$ strata help --completion
! strata: --completion needs a value (SHELL); see strata help --help
? 2
$ strata help --completion csh
! strata: --completion takes one of bash|zsh|fish, not 'csh'; see strata help --help
? 2
$ strata help --color sometimes
! strata: --color takes one of auto|always|never, not 'sometimes'; see strata help --help
? 2
$ strata help table kernels
! strata: no command, rule, term or problem is called 'table kernels'. strata help lists commands, strata help rules rules, strata help glossary terms, strata help problems problems of a trace.
? 2

# Help is a result, not talk: it goes to standard output.
$ strata help help
| usage: strata help [OPTIONS] [COMMAND|RULE|TERM|PROBLEM|rules|glossary|problems|schema VIEW]
|
| Explains a command, a rule that findings come from, a term of the reports, or a problem of a trace;
| lists all of a kind. Prints the JSON Schema of what a view writes with --json. Also prints manual
| pages and shell completions.
|
| options
|   --man                     print the manual page instead
|   --completion SHELL        print a completion script: bash, zsh or fish
|   --json                    machine-readable output with stable keys
|   --color WHEN              colour: auto, always or never
|   -h, --help                this text
|
| examples
|   strata help report
|       what report does, and its options
|   strata explain launch_bound
|       what a rule looks for, how it knows, and how to fix it
|   strata explain exposed
|       a term; strata help glossary lists all, strata help rules all rules
|   strata help schema report
|       the JSON Schema of strata report --json; strata help schema lists the views
|   strata help --completion bash > /etc/bash_completion.d/strata
|       completion for bash
$ strata help --help | diff - <(strata help help)
$ strata --help | diff - <(strata help)
$ strata | diff - <(strata help)

# Colour only when asked for, or on a terminal.
$ strata help help --color always | grep -c $'\e'
| 2
$ strata help help | grep -c $'\e'
| 0
? 1

# A result that cannot be written is an error.
$ strata help > /dev/full
! strata: cannot write the result: No space left on device
? 3

# For machines.
$ strata help help --json
| {
|   "commands": [
|     {
|       "name": "help",
|       "group": "files",
|       "summary": "explain a command, a rule, a term or a problem (also: strata explain WORD)",
|       "operands": "[COMMAND|RULE|TERM|PROBLEM|rules|glossary|problems|schema VIEW]",
|       "about": "Explains a command, a rule that findings come from, a term of the reports, or a problem of a trace; lists all of a kind. Prints the JSON Schema of what a view writes with --json. Also prints manual pages and shell completions.",
|       "options": [
|         {
|           "name": "man",
|           "value": null,
|           "choices": null,
|           "help": "print the manual page instead"
|         },
|         {
|           "name": "completion",
|           "value": "SHELL",
|           "choices": "bash|zsh|fish",
|           "help": "print a completion script"
|         },
|         {
|           "name": "json",
|           "value": null,
|           "choices": null,
|           "help": "machine-readable output with stable keys"
|         },
|         {
|           "name": "color",
|           "value": "WHEN",
|           "choices": "auto|always|never",
|           "help": "colour: auto, always or never"
|         },
|         {
|           "name": "help",
|           "value": null,
|           "choices": null,
|           "help": "this text"
|         }
|       ],
|       "examples": [
|         "strata help report",
|         "strata explain launch_bound",
|         "strata explain exposed",
|         "strata help schema report",
|         "strata help --completion bash > /etc/bash_completion.d/strata"
|       ]
|     }
|   ]
| }
$ strata help --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
| ['commands']

# Every command explains itself within 100 columns, with an example of its own.
$ for c in $(strata help --json | python3 -c 'import json, sys
> for c in json.load(sys.stdin)["commands"]: print(c["name"])'); do
>   strata help $c | awk -v c=$c 'length > 100 { print c ": " $0 }'
>   strata help $c | grep -q "^  strata $c" || echo "$c: no example"
> done

# The terms of the reports: the same table as on the page and in docs/glossary.md.
$ strata help glossary | head -4
|   blocked           CPU time inside calls that wait for the GPU, a copy or a lock. It costs nothing
|                     while the GPU has queued work.
|   break-even        The number of steps after which a change pays off.
|   busy              Time in which the GPU runs at least one kernel, copy or memset.
$ strata help glossary --json | python3 -c 'import json, sys
> terms = json.load(sys.stdin)["terms"]
> print([t for t in terms if t["term"] == "drain"][0]["also"])'
| ['drains', 'drained']

# Two letters swapped are one mistake; options list the values they take.
$ strata report x.json --htlm report.html
! strata: unknown option '--htlm'. Did you mean '--html'?
? 2
$ strata run --help | grep -E -A1 -- '--(level|ops|graphs) '
| With --level timeline every kernel, copy and sync of the GPU is recorded too, with the Python line
| that waited. docs/capture.md has the measured cost: under 1% for compiled pipelines, more for
| --
| With --level standby nothing is recorded until strata record asks for it.
| With --keep 20s the timeline of the last 20 seconds is kept. strata record --snapshot, SIGUSR2,
| --
|   --level LEVEL             what to record (default stages): stages, timeline or standby
|   --always                  with --level timeline: record a long run throughout, not in parts
|   --keep TIME               keep a timeline of the last seconds only (20s); see --slow and strata
| --
|   --ops WHICH               which torch operators to record in a timeline (default user): off, user,
|                             all or shapes
| --
|   --graphs HOW              record CUDA graphs by node or whole (default node)
|   --only STAGES             record a timeline only inside these stages: a,b or *
| --
|   strata run --level timeline -- python pipe.py
|       kernels, copies and syncs with their Python lines, then the report
|   strata run --level standby -- python server.py
|       runs normally; strata record can record it later
$ strata run --level kernels -- true
! strata: --level takes one of stages|timeline|standby, not 'kernels'; see strata run --help
? 2

# A name that became part of another command says how the same is written now.
$ strata ranks traces/ --json
! strata: ranks is now part of report: strata report --ranks traces/ --json
? 2
$ strata flame trace.json -o gpu.folded
! strata: flame is now part of export: strata export trace.json -o gpu.folded
? 2
$ strata flame trace.json --of idle
! strata: flame is now part of export: strata export --to flame trace.json --of idle
? 2
$ for c in checklist compare launches lint perfetto ps recover summarize; do strata $c x; done
! strata: checklist is now part of report: strata report -v x
! strata: compare is now part of diff: strata diff --stages x
! strata: launches is now part of gaps: strata gaps --launches x
! strata: lint is now part of info: strata info --lint x
! strata: perfetto is now part of export: strata export --open x
! strata: ps is now part of record: strata record x
! strata: recover is now part of info: strata info x
! strata: summarize is now part of export: strata export --to tables x
? 2

# Rules and terms, by any spelling of their names.
$ strata explain gc_pause | head -3
| Python's garbage collector stalls the GPU
|
| Rule gc_pause.
$ for r in $(strata explain rules | awk '{print $1}'); do strata explain $r; done | grep -cE '^#|`|\]\(|\*\*|^\||<!--|.{101}'
| 0
? 1
$ strata explain launch_bound | sed -n '/what is replayed: one/,/kernels/p;/^  program/,/ViT/p'
|     what is replayed: one launch for everything between two calls that cannot be captured: waits,
|     allocations, copies of pageable memory. Work that autograd's threads launch for the stage is
|     included. Kernels follow each other at intervals of 0.4 us
|   torch.compile
|     what is replayed: up to 16 elementwise kernels, norms, reductions and copies in a row become
|   program                               predicted  measured
|   a stack of small MLPs                 17 %       17 %
|   ViT of transformers, one image        15 %       14 %
$ strata explain GC-pause | diff - <(strata help gc_pause)
$ strata explain launch latency
| launch latency
|   The launch delay on an idle stream: what a launch costs when nothing is queued.
$ strata explain drains
| drain
|   To wait until the GPU has finished everything queued. Afterwards the GPU is idle until the CPU
|   launches new work.
$ strata explain "GPU idle"
| idle
|   Time in which the GPU runs nothing.
$ strata explain lint
| lint
|   To check a trace for missing and damaged records. strata info --lint does, strata help problems
|   lists what it can find.
$ strata explain "of wall"
| of wall
|   in strata report:
|     what it would save at the roofline; the same as a share of the wall clock
|     of it, time in which nothing else runs; the same as a share of its wall clock
$ strata explain "GPU median" --json
| {
|   "heading": "GPU median",
|   "meaning": "  in strata stages:\n    GPU time of a call, median\n"
| }
$ strata explain copy
! strata: nothing is called 'copy'. Did you mean one of 'copy_before_gemm', 'exposed_copy', 'pageable_copy'?
? 2
$ strata explain eqposed
! strata: nothing is called 'eqposed'. Did you mean 'exposed'?
? 2
$ strata explain rules | head -2
|   allocation_in_loop   Device memory is allocated or freed in every step
|   cheaper_way          There is a cheaper way to the same result
$ strata explain exposed --json
| {
|   "term": "exposed",
|   "meaning": "GPU idle time that a wait or CPU work causes in the trace. Time in which a transfer runs without other work is called alone or not overlapped; JSON keys say exposed for both."
| }
$ strata explain late_launch --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
| ['page', 'rule', 'title']

# the JSON Schema of what a view writes
$ strata help schema | head -3
|   report      what is slow, and what to do about it
|   stages      what each stage costs
|   steps       the rounds of the main loop
$ strata help schema check | grep -A9 '"limits"'
|         "limits": {
|           "type": "array",
|           "description": "one per limit",
|           "items": {
|             "type": "object",
|             "properties": {
|               "line": {
|                 "type": "integer",
|                 "description": "its line in the budget"
|               },
| --
|         "limits",
|         "trace_quality"
|       ],
|       "additionalProperties": false
|     }
|   ]
| }
$ strata help schema nothing
! strata: no view is called nothing; strata help schema lists them
? 2

# Problems of a trace are explained from the list that all views render.
$ strata help problems | head -2; strata explain clock_skew
|   only_stages                  stages without operators and device work
|   empty                        a trace without events of the program
| clock_skew
|   device work that starts before its launch
|   As a note: the clocks of CPU and device differ slightly, which is normal
|   It means: launch latencies are wrong, and so are gaps of about that length
|   Instead: record again; if that does not help, update the driver
|   Not to be trusted where the quality is doubtful or worse: times

$ strata help clock_skew --json
| {
|   "problem": "clock_skew",
|   "title": "device work that starts before its launch",
|   "note": "the clocks of CPU and device differ slightly, which is normal",
|   "means": "launch latencies are wrong, and so are gaps of about that length",
|   "instead": "record again; if that does not help, update the driver",
|   "takes": [
|     "times"
|   ],
|   "takes_from": "doubtful",
|   "handled": false
| }

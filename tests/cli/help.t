# A spelling mistake gets a suggestion, anything else the way to the list.
$ strata hepl
! strata: unknown command 'hepl'. Did you mean 'help'?
? 2
$ strata xyzzy
! strata: unknown command 'xyzzy'. strata help lists all commands.
? 2
$ strata help xyzzy
! strata: unknown command 'xyzzy'. strata help lists all commands.
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
! strata: unexpected argument 'kernels'; strata help --help has an example
? 2

# Help is a result, not talk: it goes to standard output.
$ strata help help
| usage: strata help [OPTIONS] [COMMAND|glossary]
|
| Explains a command, lists all commands, or explains the terms used in reports. Also prints
| manual pages and shell completions.
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
|   strata help glossary
|       the terms used in reports
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
|       "summary": "explain a command, or the terms used (glossary)",
|       "operands": "[COMMAND|glossary]",
|       "about": "Explains a command, lists all commands, or explains the terms used in reports. Also prints\nmanual pages and shell completions.",
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
|         "strata help glossary",
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
|   blocked           CPU time spent waiting or working in a call. It costs nothing while the GPU has
|                     queued work.
|   break-even        The number of steps from which a change gains what was asked for.
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
| With --level timeline every kernel, copy and sync of the GPU is recorded too, with the Python
| line that waited, at a cost of a few percent; where that is not possible, torch.profiler takes
| --
| With --level standby nothing is recorded until strata record asks for it. With --keep 20s the
| timeline of the last 20 seconds is kept and written to DIR/.../snapshots by strata record
| --
|   --level LEVEL             what to record (default stages): stages, timeline or standby
|   --keep TIME               keep a timeline of the last seconds only (20s), and write it out if
| --
|   --ops WHICH               which torch operators to record in a timeline (default user): off, user
|                             or all
|   --graphs HOW              record CUDA graphs by node or whole (default node)
|   --only STAGES             record a timeline only inside these stages: a,b or *
| --
|   strata run --level timeline -- python pipe.py
|       kernels, copies and syncs with their Python lines, then the report
|   strata run --level standby -- python server.py
|       as it is, to be recorded later with strata record
$ strata run --level kernels -- true
! strata: --level takes one of stages|timeline|standby, not 'kernels'; see strata run --help
? 2

# What it finds depends on the machine; what it says of each thing does not.
$ strata doctor --json | jq -c 'keys, (.checks | map(keys) | unique), ([.checks[].state] - ["ok", "absent", "missing", "note"])'
| ["checks","timeline"]
| [["found","id","remedy","state"]]
| []
$ strata doctor --json | jq -c '[.checks[].id] - ["cuda"] | .[:2], ([.[] | select(. == "cupti" or . == "torch" or . == "python" or . == "clock")] | sort)'
| ["CUDA_INJECTION64_PATH","NVTX_INJECTION64_PATH"]
| ["clock","cupti","python","torch"]
$ strata doctor --json | jq -c '[.checks[] | select(.state == "missing" and .remedy == null)]'
| []

# Who may enter a running process, and whether this is a container.
$ strata doctor --json | jq -c '[.checks[] | select(.id == "entering" or .id == "container") | .found != ""]'
| [true,true]
$ KUBERNETES_SERVICE_HOST=10.0.0.1 strata doctor | grep -A1 ' container:'
|   ok  container: strata runs in one: it can record the processes in it, and may not see who else
|       uses the GPU

# Somebody else's library in the place of ours.
$ CUDA_INJECTION64_PATH=/opt/other.so strata doctor | grep -A1 'CUDA injection'
|   !!  CUDA injection: CUDA_INJECTION64_PATH is set to /opt/other.so. To fix: unset
|       CUDA_INJECTION64_PATH; only one tool can use it at a time
$ CUDA_INJECTION64_PATH=/opt/other.so strata doctor --json | jq -c '.checks[] | select(.id == "CUDA_INJECTION64_PATH")'
| {"id":"CUDA_INJECTION64_PATH","state":"missing","found":"CUDA_INJECTION64_PATH is set to /opt/other.so","remedy":"unset CUDA_INJECTION64_PATH; only one tool can use it at a time"}

# Mistakes.
$ strata doctor now
! strata: unexpected argument 'now'; strata doctor --help has an example
? 2
$ strata doctor --fix
! strata: unknown option '--fix'; see strata doctor --help
? 2

# A server on standard input and output; every message is a line. tests/python/test_mcp.py speaks to it
# with the official client.
$ mkdir -p t; cp $DATA/tiny.json t; echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}' | strata mcp t | jq -c '.result | .protocolVersion, .capabilities, .serverInfo.name'
| "2025-06-18"
| {"tools":{"listChanged":false}}
| "strata"
$ echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | strata mcp t | jq -r '.result.tools[] | .name + ": " + (.inputSchema.properties | keys_unsorted | join(" "))'
| traces: limit offset full_names
| report: trace format limit offset full_names wall whole part at
| table: trace limit offset full_names sort by depth python whole part at
| kernels: trace limit offset full_names sort by filter roof whole part at
| gaps: trace list limit offset full_names min_us whole part at
| syncs: trace limit offset full_names whole part at
| steps: trace limit offset full_names whole part at
| stages: trace limit offset full_names all whole part at
| whatif: trace limit offset full_names drop_sync drop_cpu scale_cpu scale_kernel drop_kernel cuda_graph pin_copies overlap_copies undistort wall whole part at
| diff: before after limit offset full_names allow_untrusted whole part at
| ranks: folder limit offset full_names
| sql: trace query limit offset full_names whole part at
| evidence: trace finding sync gap row whole part at
$ echo '{"jsonrpc":"2.0","id":"a","method":"ping"}' | strata mcp t
| {"jsonrpc":"2.0","id":"a","result":{}}

# What is wrong with a message is its reply.
$ printf '{\n[]\n{"jsonrpc":"2.0","id":1}\n{"jsonrpc":"2.0","id":2,"method":"prompts/list"}\n{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}\n' | strata mcp t
| {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: expected a key in quotes at byte 1"}}
| {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"send one message per line, not a batch"}}
| {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the message names no method"}}
| {"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"this server has tools only"}}
| {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"unknown tool; tools/list lists them"}}
$ printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","arguments":{"trace":"../x"}}}\n{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"table","arguments":{"trace":"tiny.json","by":"size"}}}\n' | strata mcp t | jq -r '.result.content[0].text' | sed 's|in /.*/t;|in .../t;|'
| '../x' is not there, or leads out of the folders of this server. This server reads only what lies in .../t; the tool `traces` lists what there is
| table: 'by' is one of shape|stack|module

# Mistakes.
$ strata mcp
! strata: mcp needs FOLDER ...; strata mcp --help has an example
? 2
$ strata mcp nowhere
! strata: nowhere: not a folder; name the folders whose traces may be read
? 2
$ strata mcp /
! strata: /: the root of the file system is not a folder of traces
? 2
$ strata mcp t --open 99
! strata: --open takes a whole number from 1 to 16, not '99'
? 2

# shellcheck shell=bash disable=SC2016,SC2154
# A server that runs already: look into it without a restart, then find the slow request.
# score 9: a server that was started without strata run is entered on x86-64 only
begin() {
    printf '\n$ %s &\n' "$1"
    eval "exec $1" >server.log 2>&1 &
    server=$!
    python client.py 20
}
end() {
    printf '\n$ kill %s\n' "$server"
    kill "$server"
    wait "$server"
    cp server.log "$said"
    cat "$said"
}
begin 'strata run --level standby -- python server.py'
show 'strata record'
expect 'server'
run=$(newest server)
python client.py 400 &
client=$!
show "strata record $run --for 2s"
expect 'request'
answer
wait "$client"
show "strata stages $run"
expect 'request +42[01]'
end
expect 'request +42[01]'
say 'The last seconds before a request was slow.'
begin 'strata run --keep 5s --slow 3x -- python server.py'
python client.py 60
python client.py 2 slow
python client.py 20
end
expect 'request took ([5-9][0-9]{2} ms|[0-9.]+ s)'
reject 'Sequential took'
say 'A program that was started without Strata.'
printf '\n$ python loop.py &\n'
python loop.py >loop.log &
loop=$!
until [ -s loop.log ]; do sleep 0.2; done
show "strata record $loop --for 2s"
ends_with 0
expect 'entered process'
expect 'aten::mm'
kill "$loop"
finish

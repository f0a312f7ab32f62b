#!/bin/sh
# Prints one line for each GPU node: subscriber.sh BOOTSTRAP [PREFIX]. Needs kcat and jq.
set -eu
bootstrap=${1:?'usage: sh subscriber.sh BOOTSTRAP [PREFIX]'} prefix=${2:-gpu.}
for topic in inventory verdicts; do # -e ends at the end of each partition, behind the commit markers
    kcat -C -q -e -J -b "$bootstrap" -t "$prefix$topic" -o beginning -X isolation.level=read_committed
done | jq -rn --arg prefix "$prefix" '
    # One record: key, tombstone or not, headers as an object, event.
    def record: .headers as $h | {topic, key, tombstone: (.payload == null), event: (.payload // "null" | fromjson),
        header: (reduce range(0; ($h // []) | length; 2) as $i ({}; .[$h[$i]] = $h[$i + 1]))};
    # New is: a later sequence; or a lower incarnation of a boot never seen, which is another machine with the same name.
    def fold($r): "\($r.header.ce_source) \($r.topic) \($r.key)" as $writer
        | ($r.header.ce_id | split("/") | [.[1], .[3]] | map(tonumber)) as $position
        | (.last[$writer] // [0, 0]) as $last
        | ($r.event.bootId // "") as $boot
        | ($boot != "" and $position[0] < $last[0] and (.boots[$writer][$boot] | not)) as $replaced
        | .boots[$writer][$boot] = true
        | if $position <= $last and ($replaced | not) then . else .last[$writer] = $position
            | if $r.header.ce_type == "io.gpufleet.node.announced.v1" then .gpus[$r.key] = ($r.event.gpus // [] | length)
              elif $r.header.ce_type == "io.gpufleet.verdict.reached.v1" then .distrusted[$r.key] = ($r.event.trusted == false)
              else . end
          end;
    # Keys that begin with @ are of the service that writes the topic.
    reduce (inputs | select(.key | startswith("@") | not) | record) as $r ({gpus: {}, distrusted: {}};
        if $r.tombstone then del(.distrusted[$r.key]) else fold($r) end)
    | .distrusted as $distrusted
    | .gpus | to_entries | sort_by(.key)[] | "\(.key) gpus=\(.value) trusted=\($distrusted[.key] | not)"'

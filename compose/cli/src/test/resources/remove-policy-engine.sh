#!/bin/sh
# Takes away the rules and sets that kube-router leaves when it ends, and nothing else: its own clean-up expects the proxy of
# Services that it was not started with, and fails.
for tables in iptables ip6tables; do
  $tables-save -t filter 2>/dev/null | awk '
    BEGIN { ours = "^:?KUBE-(ROUTER|NWPLCY|POD-FW)" }
    /^:KUBE-(ROUTER|NWPLCY|POD-FW)/ { name = substr($1, 2); chains = chains " " name }
    /^-A / && $2 !~ ours && /KUBE-(ROUTER|NWPLCY|POD-FW)/ { sub("^-A", "-D"); jumps = jumps $0 "\n" }
    END {
      print "*filter"; printf "%s", jumps
      count = split(chains, chain, " ")
      for (i = 1; i <= count; i++) print "-F " chain[i]
      for (i = 1; i <= count; i++) print "-X " chain[i]
      print "COMMIT"
    }' | $tables-restore --noflush -w
done
ipset list -n | grep -E '^(inet6:)?(KUBE-(SRC|DST)-|kube-router)' | while read -r set; do
  ipset destroy "$set"
done

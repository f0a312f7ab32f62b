# The daemon as './gpufleet package node-daemon' made it: runtime, jars, class data. Run that first; the context is the tree.
#   docker build -f compose/docker/node-daemon.Dockerfile -t gpufleet/node-daemon .
FROM debian:13-slim
COPY node-daemon/target/package /opt/gpufleet
# The manifest gives the rights; a GPU node's devices and the kubelet's directory ask for root.
ENTRYPOINT ["/opt/gpufleet/bin/node-daemon"]

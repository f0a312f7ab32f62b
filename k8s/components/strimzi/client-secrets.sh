#!/bin/sh
# Makes the Secrets of the component kafka-client from those of Strimzi's users. Environment: KUBECTL [kubectl].
set -eu
kubectl=${KUBECTL:-kubectl}
from=kafka
cluster=gpufleet
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

value() { # Secret, key
    $kubectl -n "$from" get secret "$1" -o "go-template={{index .data \"$2\" | base64decode}}"
}

secret() { # user, namespace
    value "$cluster-cluster-ca-cert" ca.crt > "$directory/ca.crt"
    {
        echo security.protocol=SASL_SSL
        echo sasl.mechanism=SCRAM-SHA-512
        echo "sasl.jaas.config=$(value "$1" sasl.jaas.config)"
        echo ssl.truststore.type=PEM
        echo ssl.truststore.location=/etc/gpufleet/kafka/ca.crt
    } > "$directory/client.properties"
    $kubectl -n "$2" create secret generic "kafka-client-$1" --dry-run=client -o yaml \
        --from-file="$directory/client.properties" --from-file="$directory/ca.crt" | $kubectl apply -f -
}

for service in inventory-service health-service allocation-service; do
    secret "$service" gpufleet-system
done
secret node-daemon gpufleet-node

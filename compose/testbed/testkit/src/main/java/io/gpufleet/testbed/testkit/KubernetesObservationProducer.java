package io.gpufleet.testbed.testkit;

import com.google.protobuf.Timestamp;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;

/** Produces what a service reports about Kubernetes. */
public final class KubernetesObservationProducer implements AutoCloseable {
    private final EventProducer producer;

    /** As the service instance {@code test}. */
    public KubernetesObservationProducer(String bootstrapServers, Codec codec) {
        this.producer = new EventProducer(
                bootstrapServers, codec, new EventSource.Service(codec.cluster(), "test"), System.currentTimeMillis());
    }

    /** Reports a pod that is bound to a node, with its controlling owner, {@code Job/train}; its UID is {@code uid-<pod>}. */
    public void podBound(String node, String namespace, String pod, String owner) {
        send(node, pod(namespace, pod).setPhase("Running").setOwner(owner), Instant.now());
    }

    /** Reports a finished pod; its UID is {@code uid-<pod>}. */
    public void podFinished(String node, String namespace, String pod, Instant at) {
        var finished = Timestamp.newBuilder().setSeconds(at.getEpochSecond());
        send(node, pod(namespace, pod).setPhase("Succeeded").setFinishedAt(finished), at);
    }

    private static PodFact.Builder pod(String namespace, String pod) {
        return PodFact.newBuilder().setNamespace(namespace).setName(pod).setUid("uid-" + pod);
    }

    private void send(String node, PodFact.Builder fact, Instant at) {
        producer.send(producer.record(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                node,
                KubernetesFact.newBuilder().setPod(fact).build(),
                at));
    }

    @Override
    public void close() {
        producer.close();
    }
}

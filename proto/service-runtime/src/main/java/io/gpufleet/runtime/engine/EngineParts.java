package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.receiver.FailedKeys;
import io.gpufleet.runtime.receiver.GuardedActor;
import io.gpufleet.runtime.receiver.GuardedListener;
import io.gpufleet.runtime.rights.RequiredRights;
import io.gpufleet.runtime.transaction.UnfinishedTransactions;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Configuration and parts with which an engine was started. */
record EngineParts<S>(
        EngineConfig config,
        Projection<S> projection,
        Actor<S> actor,
        StateListener<S> listener,
        EngineClients clients,
        FailedKeys failedKeys) {
    /** An actor and a listener that are kept from harming the engine. */
    EngineParts(
            EngineConfig config,
            Projection<S> projection,
            Actor<S> actor,
            StateListener<S> listener,
            EngineClients clients) {
        var failedKeys = new FailedKeys(clients::nanos);
        this(
                config,
                projection,
                new GuardedActor<>(actor, failedKeys),
                new GuardedListener<>(listener, failedKeys),
                clients,
                failedKeys);
    }

    /** With clients of the configured broker. */
    EngineParts(EngineConfig config, Projection<S> projection, Actor<S> actor, StateListener<S> listener) {
        this(config, projection, actor, listener, new BrokerClients(config));
    }

    ProjectionSettings settings() {
        return config.settings();
    }

    Codec codec() {
        return config.codec();
    }

    KafkaClients kafka() {
        return config.kafka();
    }

    Clock clock() {
        return config.clock();
    }

    ProjectionSpec spec() {
        return projection.spec();
    }

    /** Group and transactional id. */
    String group() {
        return config.group();
    }

    /** On a broker with ACLs. */
    RequiredRights rights() {
        return RequiredRights.of(settings().service(), group(), codec().topics(), spec(), config.further());
    }

    /** Why something failed, one line: the right that is missing, or what a client of Kafka met first. */
    String reason(RuntimeException failed) {
        return rights().refused(failed).orElseGet(() -> {
            boolean wrapped = failed.getClass() == KafkaException.class;
            return InputReceiver.reason(
                    wrapped && failed.getCause() instanceof RuntimeException first ? first : failed);
        });
    }

    List<TopicPartition> partitions(Topic topic) {
        String name = codec().topics().name(topic);
        return IntStream.range(0, topic.partitions())
                .mapToObj(partition -> new TopicPartition(name, partition))
                .toList();
    }

    /** The partition that a record with a key goes to. */
    TopicPartition partitionOf(ProducerRecord<byte[], byte[]> rec) {
        Topic topic = codec().topics().byName(rec.topic()).orElseThrow();
        return new TopicPartition(rec.topic(), topic.partitionOf(new String(rec.key(), UTF_8)));
    }

    /** Every partition that this service writes to. */
    UnfinishedTransactions.Written written() {
        return new UnfinishedTransactions.Written(
                Set.copyOf(partitions(spec().changelog())),
                spec().outputs().stream()
                        .flatMap(topic -> partitions(topic).stream())
                        .collect(Collectors.toSet()),
                Set.copyOf(partitions(Topic.DEADLETTER)));
    }
}

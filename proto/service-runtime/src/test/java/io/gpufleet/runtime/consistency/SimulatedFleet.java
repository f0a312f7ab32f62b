package io.gpufleet.runtime.consistency;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.engine.SimulatedReplica;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * The events of a {@link TestedProjection}, written by simulated daemons and services, and an API server that keeps the
 * state of each node as the replicas write it.
 */
final class SimulatedFleet<S> implements SimulatedService<S> {
    private static final Set<Topic> OF_SERVICES = Set.of(Topic.SIGNALS, Topic.VERDICTS);
    private static final int WRITES_AT_ONCE = 8;

    private final TestedProjection<S> tested;
    private final SimulatedReplica.Shared<S> shared;
    private final Random random;
    private final List<String> nodes;
    private final Map<String, Long> epochs = new HashMap<>();
    private final Map<String, Long> sequences = new HashMap<>();
    private final Map<String, List<ProducerRecord<byte[], byte[]>>> sent = new HashMap<>();
    private final Map<String, S> written = new TreeMap<>();

    SimulatedFleet(TestedProjection<S> tested, SimulatedReplica.Shared<S> shared, int nodes) {
        this.tested = tested;
        this.shared = shared;
        this.random = shared.random();
        this.nodes = IntStream.range(0, nodes).mapToObj(i -> "node-" + i).toList();
        if (tested.ticksNeedMemory()) {
            shared.fold().takeTicksOfReplicas();
        }
        this.nodes.forEach(node -> send(node, tested.first(node)));
    }

    @Override
    public void write() {
        String node = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(10)) {
            case 0 -> {
                epochs.merge(node, 2L, (_, epoch) -> epoch + 1);
                send(node, tested.next(node, random));
            }
            case 1 -> repeat(node);
            case 2, 3 -> unreadable(node);
            default -> send(node, tested.next(node, random));
        }
    }

    private void send(String node, TestEvent event) {
        EventSource source = OF_SERVICES.contains(event.topic())
                ? new EventSource.Service(ConsistencyBus.CLUSTER, "health-service-0")
                : new EventSource.Node(ConsistencyBus.CLUSTER, node);
        long epoch = epochs.getOrDefault(source.name(), 1L);
        long sequence = sequences.merge(source.name() + " " + event.topic() + " " + epoch, 1L, Long::sum);
        var id = new EventId(source.name(), epoch, event.topic(), sequence);
        Instant now = shared.broker().time().now();
        ProducerRecord<byte[], byte[]> rec = RecordKeyConverter.withByteKey(shared.codec()
                .encode(
                        new Envelope(id, source, event.type(), "", node, new EventTime(now, now, 0), ""),
                        event.payload()));
        sent.computeIfAbsent(node, _ -> new ArrayList<>()).add(rec);
        append(rec);
        shared.fold().produced(node, id);
    }

    /** A writer that got no answer sends again what it has sent, from some event on. */
    private void repeat(String node) {
        List<ProducerRecord<byte[], byte[]>> all = sent.getOrDefault(node, List.of());
        all.subList(random.nextInt(all.size()), all.size()).forEach(this::append);
    }

    private void unreadable(String node) {
        String topic = shared.codec().topics().name(tested.first(node).topic());
        shared.broker().append(new ProducerRecord<>(topic, node.getBytes(UTF_8), "no event".getBytes(UTF_8)));
        shared.fold().unreadable();
    }

    private void append(ProducerRecord<byte[], byte[]> rec) {
        shared.broker()
                .append(new ProducerRecord<>(
                        rec.topic(),
                        null,
                        rec.key(),
                        rec.value(),
                        new RecordHeaders(rec.headers().toArray())));
    }

    @Override
    public SimulatedActor<S> actor(String instance, Link toApiServer, BrokerClock clock, BooleanSupplier mayAct) {
        return new StateWriter(toApiServer, mayAct);
    }

    /** The actor hears of a commit later than the log. */
    @Override
    public boolean settled() {
        return written.equals(committed());
    }

    @Override
    public void check() {
        assertThat(written).as("states that were written to the API server").isEqualTo(committed());
    }

    private Map<String, S> committed() {
        var states = new TreeMap<String, S>();
        shared.fold().forEach(states::put);
        return states;
    }

    /** Writes the state of each node that changed. */
    private final class StateWriter implements SimulatedActor<S> {
        private final Link link;
        private final BooleanSupplier mayAct;
        private final SequencedSet<String> dirty = new LinkedHashSet<>();
        private Optional<Lease> lease = Optional.empty();
        private Map<String, S> states = new HashMap<>();

        StateWriter(Link link, BooleanSupplier mayAct) {
            this.link = link;
            this.mayAct = mayAct;
        }

        @Override
        public void begin(Lease held, States<S> begunWith) {
            states = new HashMap<>();
            begunWith.forEach(states::put);
            lease = Optional.of(held);
            dirty.addAll(nodes);
        }

        @Override
        public void changed(Map<String, S> changed, Set<String> forgotten) {
            states.putAll(changed);
            states.keySet().removeAll(forgotten);
            dirty.addAll(changed.keySet());
            dirty.addAll(forgotten);
        }

        @Override
        public void end() {
            lease = Optional.empty();
            dirty.clear();
        }

        @Override
        public void run() {
            while (true) {
                Lockstep.pause();
                for (int i = 0; i < WRITES_AT_ONCE && !dirty.isEmpty(); i++) {
                    if (lease.filter(Lease::held).isPresent()) {
                        write(dirty.removeFirst());
                    }
                }
            }
        }

        private void write(String node) {
            try {
                link.call(() -> put(node), () -> new IllegalStateException("no answer"));
            } catch (IllegalStateException lost) {
                dirty.add(node);
            }
        }

        private boolean put(String node) {
            assertThat(mayAct.getAsBoolean())
                    .as("%s is written by a replica that may not act", node)
                    .isTrue();
            Optional.ofNullable(states.get(node))
                    .ifPresentOrElse(state -> written.put(node, state), () -> written.remove(node));
            return true;
        }

        @Override
        public boolean idle() {
            return dirty.isEmpty();
        }

        @Override
        public void disconnect() {}
    }
}

package io.gpufleet.runtime.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Two replicas of a projection under a load with repeated, late and unreadable records, one clock an hour ahead and the
 * other an hour behind. Whatever becomes of them, the state is the fold of the accepted events, each once and in order;
 * outputs and dead letters are written once; what has to hold of all keys together holds at every moment; a restarted
 * replica has the states that the leader has in memory.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ProjectionConsistencyContract<S> {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration AHEAD = Duration.ofHours(1);
    private static final Duration BEHIND = Duration.ofHours(-1);
    private static final int NODES = 24;
    private static final int RECORDS = 150;

    private final TestedProjection<S> tested;
    private BrokerProcess broker;
    private ConsistencyBus bus;
    private ConsistencyBus proxied;

    /** The contract of one projection. */
    protected ProjectionConsistencyContract(TestedProjection<S> tested) {
        this.tested = tested;
    }

    @BeforeAll
    void start() throws Exception {
        Path brokers = Files.createDirectories(Path.of("target", "brokers"));
        broker = BrokerProcess.startWithProxy(Files.createTempDirectory(brokers, "it"));
        bus = new ConsistencyBus(broker.bootstrap());
        proxied = new ConsistencyBus(broker.proxiedBootstrap());
        bus.createTopics(tested.create().spec());
    }

    @AfterAll
    void stop() {
        // Killed first: its log has poison on purpose, which no listener should compare with the contract.
        broker.kill();
        broker.close();
    }

    @Test
    void standbyGoesOnAfterAKillInsideATransaction() throws Exception {
        try (var load = load("kill");
                var victim = startProcess(replica(0), AHEAD)) {
            await().until(() -> victim.output().contains(ReplicaMain.ACTIVE));
            try (var standby = start(bus, replica(1), BEHIND, Actor.none())) {
                begin(load, standby);
                applied(load, standby);

                // Given a transaction that is open: written, not committed
                victim.writeLine("hang");
                load.send(RECORDS);
                await().until(() -> victim.output().contains(ReplicaMain.IN_TRANSACTION));

                // When
                victim.signal("KILL");
                load.send(RECORDS);

                // Then
                await().until(standby::active);
                assertConsistent(load, standby);
            }
        }
    }

    @Test
    void zombieThatWakesInsideItsTransactionChangesNothing() throws Exception {
        try (var load = load("zombie");
                var zombie = startProcess(replica(0), AHEAD)) {
            await().until(() -> zombie.output().contains(ReplicaMain.ACTIVE));
            try (var standby = start(bus, replica(1), BEHIND, Actor.none())) {
                begin(load, standby);
                applied(load, standby);

                // Given that it stops inside a transaction until another leads
                zombie.writeLine("hang");
                load.send(RECORDS);
                await().until(() -> zombie.output().contains(ReplicaMain.IN_TRANSACTION));
                zombie.signal("STOP");
                await().until(standby::active);
                load.send(RECORDS);

                // When
                zombie.signal("CONT");
                zombie.writeLine("go on");

                // Then
                await().until(() -> zombie.output().contains(ReplicaMain.DEACTIVATED));
                load.send(RECORDS);
                assertConsistent(load, standby);
                assertThat(standby.active()).isTrue();
            }
        }
    }

    @Test
    void leaderThatIsCutFromTheBrokerActsNoMoreAndChangesNothingAfterTheCut() {
        var actor = new LeaseKeeper<S>();
        var atTakeover = new AtomicReference<Boolean>();
        Actor<S> successor = new LeaseKeeper<>() {
            @Override
            public void begin(Lease lease, States<S> states) {
                atTakeover.set(actor.held());
            }
        };
        try (var load = load("cut");
                var leader = start(proxied, replica(0), AHEAD, actor)) {
            await().until(leader::active);
            try (var standby = start(bus, replica(1), BEHIND, successor)) {
                begin(load, standby);
                load.send(RECORDS);

                // When
                broker.proxy().cut();
                load.send(RECORDS);
                await().until(standby::active);
                load.send(RECORDS);
                broker.proxy().heal();

                // Then
                assertThat(atTakeover.get()).as("two leaders at once").isFalse();
                await().until(() -> leader.role() == ReplicaRole.STANDBY);
                load.send(RECORDS);
                assertConsistent(load, standby);
            } finally {
                broker.proxy().heal();
            }
        }
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(50));
    }

    /** Named as the writer of the changelog, which alone may write there. */
    private String replica(int index) {
        return tested.create().spec().stateType().writer().service() + "-" + index;
    }

    private EventLoad load(String test) {
        return new EventLoad(bus, tested, test, NODES, test.hashCode());
    }

    private ReplicaProcess startProcess(String instance, Duration clockOffset) throws IOException {
        return ReplicaProcess.start(
                ReplicaMain.class, bus.bootstrap(), instance, tested.getClass().getName(), clockOffset.toString());
    }

    private ProjectionEngine<S> start(ConsistencyBus over, String instance, Duration clockOffset, Actor<S> actor) {
        return ProjectionEngine.start(
                over.engine(instance, clockOffset), tested.create(), actor, StateListener.none(), _ -> {});
    }

    private void begin(EventLoad load, ProjectionEngine<S> replica) {
        load.sendFirst();
        await().until(() -> load.nodes().stream()
                .allMatch(node -> replica.states().get(node).isPresent()));
        load.sendSecond();
        await().until(() -> load.nodes().stream()
                .allMatch(
                        node -> replica.states().get(node).filter(tested::begun).isPresent()));
    }

    /** Writes records and waits until a replica has their states. */
    private void applied(EventLoad load, ProjectionEngine<S> replica) {
        load.send(RECORDS);
        isFolded(ReferenceFold.of(tested, bus, load), load, replica);
    }

    private void isFolded(ReferenceFold<S> reference, EventLoad load, ProjectionEngine<S> replica) {
        await().untilAsserted(() -> assertThat(messages(load, replica)).isEqualTo(reference.messages()));
    }

    private void assertConsistent(EventLoad load, ProjectionEngine<S> leader) {
        ReferenceFold<S> reference = ReferenceFold.of(tested, bus, load);
        isFolded(reference, load, leader);
        await().until(() -> deadLetters().size() >= load.poison().size());
        assertThat(deadLetters()).filteredOn(load.poison()::contains).isEqualTo(load.poison());
        for (Topic topic : tested.independentOutputs()) {
            assertThat(outputs(load, topic)).as("outputs on %s", topic).isEqualTo(reference.outputs(topic));
        }
        var all = new ArrayList<S>();
        leader.states().forEach((_, state) -> all.add(state));
        tested.checkTogether(all, bus::events);
        try (var restarted = start(bus, replica(2), BEHIND, Actor.none())) {
            await().until(() -> restarted.role() == ReplicaRole.STANDBY);
            await().untilAsserted(() -> assertThat(states(load, restarted)).isEqualTo(states(load, leader)));
        }
    }

    private Map<String, Message> messages(EventLoad load, ProjectionEngine<S> replica) {
        Projection<S> projection = tested.create();
        var messages = new TreeMap<String, Message>();
        states(load, replica)
                .forEach((node, state) -> messages.put(node, tested.withoutTimes(projection.write(node, state))));
        return messages;
    }

    private Map<String, S> states(EventLoad load, ProjectionEngine<S> replica) {
        var states = new HashMap<String, S>();
        load.nodes().forEach(node -> replica.states().get(node).ifPresent(state -> states.put(node, state)));
        return states;
    }

    private Map<String, List<Message>> outputs(EventLoad load, Topic topic) {
        Set<String> nodes = new HashSet<>(load.nodes());
        return bus.events(topic).stream()
                .filter(event -> nodes.contains(event.envelope().key()))
                .collect(Collectors.groupingBy(
                        event -> event.envelope().key(),
                        TreeMap::new,
                        Collectors.mapping(
                                (DecodedRecord.Event event) -> tested.withoutTimes(event.payload()),
                                Collectors.toList())));
    }

    private List<String> deadLetters() {
        return bus.read(Topic.DEADLETTER).stream()
                .map(letter -> header(letter, "dlq.topic") + "/" + header(letter, "dlq.partition") + "/"
                        + header(letter, "dlq.offset"))
                .sorted()
                .toList();
    }

    private static String header(ConsumerRecord<byte[], byte[]> letter, String name) {
        return new String(letter.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    /** Keeps the lease it was given. */
    private static class LeaseKeeper<S> implements Actor<S> {
        private final AtomicReference<Lease> lease = new AtomicReference<>(() -> false);

        boolean held() {
            return lease.get().held();
        }

        @Override
        public void begin(Lease given, States<S> states) {
            lease.set(given);
        }

        @Override
        public void changed(Map<String, S> states, Set<String> forgotten) {}

        @Override
        public void end() {}
    }
}

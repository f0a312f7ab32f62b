package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.leadership.LeadershipLease;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.PlantedDefect;
import io.gpufleet.runtime.simulation.RecordedProjection;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedConsumer;
import io.gpufleet.runtime.simulation.SimulatedProducer;
import io.gpufleet.runtime.transaction.OpenTransactions;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import java.time.Clock;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A replica in a simulation: the engine's changelog, terms, states and lease over a simulated broker. The election is
 * left out: whoever is told that it leads believes it, also when another one does.
 */
@NullMarked
public final class SimulatedReplica<S> {
    private final EngineParts<S> parts;
    private final EngineContext context;
    private final SimulatedBroker broker;
    private final StateStore.Committed<S> committed = new StateStore.Committed<>(StateListener.none());
    private boolean believesToLead;

    /** What the replicas of one simulation share. */
    public record Shared<S>(
            SimulatedBroker broker, Codec codec, CommittedFold<S> fold, Random random, PlantedDefect defect) {
        /** With the engine as it is. */
        public Shared(SimulatedBroker broker, Codec codec, CommittedFold<S> fold, Random random) {
            this(broker, codec, fold, random, PlantedDefect.NONE);
        }
    }

    private SimulatedReplica(EngineParts<S> parts, SimulatedBroker broker, LongSupplier leaseNanos) {
        this.parts = parts;
        this.broker = broker;
        this.context = new EngineContext(
                parts,
                new BrokerProbe(parts),
                new LeadershipLease(parts.settings().leaseDuration(), leaseNanos));
    }

    /** A process that has not begun to run. */
    public static <S> SimulatedReplica<S> of(
            Shared<S> shared, String instance, Clock clock, Link link, Projection<S> projection, Actor<S> actor) {
        var brokerClock = new BrokerClock(clock, shared.broker().time()::nanos);
        return of(shared, instance, brokerClock, link, projection, actor);
    }

    /** A process that has not begun to run, with a clock that its actor knows as well. */
    public static <S> SimulatedReplica<S> of(
            Shared<S> shared, String instance, BrokerClock clock, Link link, Projection<S> projection, Actor<S> actor) {
        var config = new EngineConfig(
                new ProjectionSettings("simulated", instance, "", ProjectionSettings.SESSION),
                shared.codec(),
                KafkaClients.plain("127.0.0.1:1"),
                clock,
                FurtherTopics.NONE);
        var writer = new AtomicReference<@Nullable SimulatedProducer>();
        var commitDuration = new AtomicLong();
        var recorded = new RecordedProjection<>(projection, states -> {
            SimulatedProducer producer = writer.get();
            if (producer != null && producer.newest()) {
                shared.fold().assertSameAs(states);
            }
        });
        var clients = new EngineClients() {
            @Override
            public Consumer<byte[], byte[]> reader(String purpose) {
                return new SimulatedConsumer(shared.broker(), link, shared.random());
            }

            @Override
            public Producer<byte[], byte[]> writer() {
                // What an earlier term has not committed is lost.
                recorded.takeCalls();
                var producer = new SimulatedProducer(
                        shared.broker(),
                        link,
                        records -> shared.fold().committed(recorded.takeCalls(), records),
                        shared.defect(),
                        commitDuration::set);
                writer.set(producer);
                return producer;
            }

            @Override
            public OpenTransactions transactions() {
                return OpenTransactions.none();
            }

            @Override
            public <T> Supplier<T> beside(Supplier<T> work) {
                T result = work.get();
                return () -> result;
            }

            @Override
            public long nanos() {
                return shared.broker().time().nanos();
            }
        };
        // As old as its newest commit's end is younger than the beginning: counted from there.
        LongSupplier leaseNanos = shared.defect() == PlantedDefect.LEASE_FROM_COMMIT_END
                ? () -> clients.nanos() - commitDuration.get()
                : clients::nanos;
        return new SimulatedReplica<>(
                new EngineParts<>(config, recorded, actor, StateListener.none(), clients), shared.broker(), leaseNanos);
    }

    /** Tells the replica that it leads, or that it does so no more. */
    public void elect(boolean leads) {
        believesToLead = leads;
    }

    /** Its probe is told the ends of its inputs, as they are now. */
    void probed() {
        Map<TopicPartition, Long> ends = parts.spec().read().stream()
                .flatMap(topic -> parts.partitions(topic).stream())
                .collect(Collectors.toMap(partition -> partition, broker::end));
        context.probe().found(new BrokerProbe.Ends(ends, parts.clients().nanos()));
    }

    /** Events of daemons that it counts as lost. */
    long missed() {
        return context.counting().missed.get();
    }

    /** True while it believes to lead. */
    public boolean believesToLead() {
        return believesToLead;
    }

    /** The committed states, as its readers see them. */
    States<S> states() {
        return committed;
    }

    /** True while its actor may act. */
    public boolean acting() {
        return context.acting() && context.lease().held();
    }

    /** Runs until its thread is killed. */
    public void run() {
        while (true) {
            try {
                serve();
            } catch (ProducerFencedException fenced) {
                believesToLead = false;
            } catch (ProjectionStoppedException stopped) {
                throw new AssertionError(stopped);
            } catch (RuntimeException trouble) {
                if (!(trouble instanceof org.apache.kafka.common.KafkaException)) {
                    throw trouble;
                }
            }
            Lockstep.pause();
        }
    }

    private void serve() {
        try (Changelog<S> changelog = Changelog.open(parts, committed)) {
            changelog.catchUp(() -> false);
            while (!believesToLead) {
                changelog.follow();
            }
            lead(changelog);
        }
    }

    private void lead(Changelog<S> changelog) {
        probed();
        try (LeaderTerm<S> term = LeaderTerm.begin(parts, context, changelog, () -> !believesToLead)) {
            try {
                term.run(() -> !believesToLead);
            } finally {
                context.actsNoMore();
                term.stopActing();
            }
        }
    }
}

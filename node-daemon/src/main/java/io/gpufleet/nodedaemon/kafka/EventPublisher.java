package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.app.FactSink;
import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.kafka.outbox.Outbox;
import io.gpufleet.nodedaemon.kafka.outbox.OutboxDisk;
import io.gpufleet.nodedaemon.kafka.outbox.OutboxEntry;
import io.gpufleet.nodedaemon.kafka.outbox.PeriodicOutboxSync;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes facts to Kafka on one thread: each is appended to the outbox, then sent, and removed once the broker has
 * acknowledged it. Publishing never blocks.
 */
public final class EventPublisher implements FactSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventPublisher.class);
    /** After so long without a response the producer is closed and every unacknowledged event is sent again. */
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(5);

    private static final Duration RETRY_INTERVAL = Duration.ofMillis(500);
    /** While nothing is in flight and no connection is due: what happens then wakes the thread. */
    private static final Duration IDLE_INTERVAL = Duration.ofSeconds(2);
    /** Facts of one turn of the node's loop are sent together; more would keep what was appended waiting. */
    private static final int MAX_FACTS_PER_ITERATION = 32;

    private final KafkaSettings settings;
    private final long epoch;
    private final Supplier<Moment> now;
    private final Consumer<Boolean> backlogSent;
    private final Function<CountDownLatch, ProducerConnection> connections;
    private final Topics topics;
    private final OutboxEntryEncoder encoder;
    private final FactMessageMapper messages;
    private final Outbox outbox;
    /** Bounded by the events in flight and the callers of {@link #drain}; facts have a queue of their own. */
    private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();

    private final PublisherQueue ingress = new PublisherQueue(() -> inbox.add(this::drainIngress));
    private final InFlight inFlight = new InFlight();
    private final BrokerOutage outage;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;
    private final PeriodicOutboxSync flusher;
    private @Nullable ProducerConnection connection;
    private int generation;
    private boolean connecting;
    private long connectingSinceNanos;
    private volatile @Nullable ProducerConnection opening;
    private boolean backlog;
    private long retryNanos;
    private long attempts;
    private long sent;
    private long rejected;
    private volatile PublisherStatus status = new PublisherStatus(false, 0, 0, 0, 0, 0, false, false);

    /**
     * Opens the outbox; what is published waits for {@link #start}.
     *
     * @param backlogSent called when the backlog of an outage is sent, with whether some of it was lost
     */
    public EventPublisher(KafkaSettings settings, long epoch, Supplier<Moment> now, Consumer<Boolean> backlogSent) {
        this(settings, epoch, now, backlogSent, OutboxDisk.REAL, ProducerConnection.factory(settings));
    }

    EventPublisher(
            KafkaSettings settings,
            long epoch,
            Supplier<Moment> now,
            Consumer<Boolean> backlogSent,
            OutboxDisk disk,
            Function<CountDownLatch, ProducerConnection> connections) {
        this.settings = settings;
        this.outage = new BrokerOutage(settings.clients().bootstrap(), "WRITE", "events wait in the outbox");
        this.now = now;
        this.backlogSent = backlogSent;
        this.epoch = epoch;
        this.connections = connections;
        this.topics = new Topics(settings.topicPrefix());
        this.encoder = new OutboxEntryEncoder(new Codec(settings.cluster(), topics), settings.node(), epoch);
        this.messages = new FactMessageMapper(settings.bootId());
        this.outbox = new Outbox(
                disk, settings.stateDirectory().resolve("outbox"), settings.bootId(), settings.outboxBytes(), epoch);
        this.backlog = outbox.hasUnread();
        this.retryNanos = now.get().nanos();
        this.thread = Thread.ofPlatform().name("event-publisher").daemon(true).unstarted(this::run);
        this.flusher = new PeriodicOutboxSync(outbox);
        // What an earlier process appended last may be unflushed.
        flusher.request();
    }

    @Override
    public void publish(NodeFact fact, Moment observed) {
        ingress.add(fact, observed);
    }

    @Override
    public void warmUp(List<NodeFact> facts, Moment observed) {
        for (NodeFact fact : facts) {
            FactMessageMapper.MappedEvent mapped = messages.map(fact);
            var entry = new OutboxEntry(
                    mapped.topic(),
                    mapped.type(),
                    mapped.subject(),
                    epoch,
                    1,
                    observed.wall(),
                    observed.nanos(),
                    Codec.toJson(mapped.payload()));
            var _ = encoder.encode(entry, observed);
        }
    }

    /**
     * Appends the next fact and those of its topic behind it, so that they are sent together and readers commit their
     * effects at once; an announcement, which takes longer to print, does not delay a fault.
     */
    private void drainIngress() {
        try {
            ingress.takeDropped().forEach(this::recordLost);
            Optional<PublisherQueue.PendingFact> next = ingress.take();
            for (int taken = 1; next.isPresent(); taken++) {
                append(next.get());
                next = taken < MAX_FACTS_PER_ITERATION
                        ? ingress.takeOf(FactMessageMapper.topic(next.get().fact()))
                        : Optional.empty();
            }
        } finally {
            flusher.request();
            if (ingress.hasMore()) {
                inbox.add(this::drainIngress);
            }
        }
    }

    /** Sets the backlog flag, so that a snapshot follows once everything is sent. */
    private void recordLost(EventType type, long count) {
        outbox.recordLost(type, type.topics().iterator().next(), count, now.get());
        backlog = true;
    }

    private void append(PublisherQueue.PendingFact pending) {
        FactMessageMapper.MappedEvent mapped = messages.map(pending.fact());
        outbox.add(mapped.type(), mapped.topic(), mapped.subject(), Codec.toJson(mapped.payload()), pending.observed());
    }

    /**
     * Starts sending.
     *
     * @param firstConnection how long the first connection waits
     * @param beforeAll what its thread runs before it connects; the threads of the Kafka clients take over the priority of it
     */
    public EventPublisher start(Duration firstConnection, Runnable beforeAll) {
        retryNanos = now.get().nanos() + firstConnection.toNanos();
        inbox.add(beforeAll);
        thread.start();
        return this;
    }

    /** The newest status; events dropped while the disk hangs are counted up to now. */
    public PublisherStatus status() {
        return status.withLost(ingress.dropped());
    }

    /** Why the daemon is not ready: its brokers have names that were never resolved, or refuse it. */
    public Optional<String> readinessFailure() {
        return outage.readinessFailure();
    }

    /** Waits until every event is sent, not at all while the broker is unreachable; returns whether all are sent. */
    public boolean drain(Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (System.nanoTime() < end) {
            var answered = new CountDownLatch(1);
            boolean[] empty = new boolean[1];
            boolean[] unreachable = new boolean[1];
            inbox.add(() -> {
                empty[0] = isDrained();
                unreachable[0] = connection == null && ingress.isEmpty();
                answered.countDown();
            });
            boolean done = answered.await(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (done && (empty[0] || unreachable[0])) {
                return empty[0];
            }
            if (stopped.await(1, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return false;
    }

    private void run() {
        while (stopped.getCount() > 0) {
            try {
                runOnce();
            } catch (InterruptedException stop) {
                return;
            } catch (RuntimeException | Error broken) {
                LOG.atError().setCause(broken).log("event could not be handled, publisher continues");
            }
        }
    }

    private void runOnce() throws InterruptedException {
        boolean idle = inFlight.count() == 0 && (connection != null || connecting);
        Runnable next = inbox.poll((idle ? IDLE_INTERVAL : RETRY_INTERVAL).toMillis(), TimeUnit.MILLISECONDS);
        for (int waiting = inbox.size(); next != null; waiting--) {
            next.run();
            next = waiting > 0 ? inbox.poll() : null;
        }
        recordAcknowledged();
        Moment moment = now.get();
        connectIfDue(moment);
        send();
        endIfStalled(moment);
        status = new PublisherStatus(
                connection != null,
                attempts,
                outbox.bytes(),
                sent,
                outbox.lost(),
                rejected,
                outbox.diskBroken(),
                outage.unresolvable());
        if (backlog && connection != null && isDrained()) {
            backlog = false;
            outage.ended();
            LOG.atInfo().addKeyValue("sent", sent).log("backlog sent to the broker");
            backlogSent.accept(outbox.takeLost());
        }
    }

    private boolean isDrained() {
        return ingress.isEmpty() && !outbox.hasUnread() && inFlight.count() == 0;
    }

    private void connectIfDue(Moment moment) {
        if (connecting && moment.since(connectingSinceNanos).compareTo(STALL_TIMEOUT) > 0) {
            logUnavailable(new IOException("no response for " + STALL_TIMEOUT.toSeconds() + " s"));
        }
        if (connection != null || connecting || retryNanos - moment.nanos() > 0) {
            return;
        }
        attempts++;
        connectingSinceNanos = moment.nanos();
        Thread.ofPlatform().name("kafka-connect").daemon(true).start(this::connect);
        connecting = true;
    }

    /** Runs on a thread of its own, since it blocks while the broker is unreachable. */
    private void connect() {
        try {
            var opened = connections.apply(stopped);
            opening = opened;
            opened.awaitTopics(topics);
            outage.reached();
            inbox.add(() -> {
                connecting = false;
                connection = opened;
            });
        } catch (RuntimeException | Error failed) {
            outage.failed(failed);
            inbox.add(() -> {
                connecting = false;
                retryNanos = now.get().nanos() + RETRY_INTERVAL.toNanos();
                logUnavailable(failed);
            });
        }
    }

    private void logUnavailable(Throwable why) {
        outage.log(why);
        backlog = true;
    }

    private void send() {
        ProducerConnection open = connection;
        while (open != null && open == connection && !inFlight.isFull()) {
            Optional<Outbox.OutgoingEvent> next = outbox.next();
            if (next.isEmpty()) {
                return;
            }
            send(open, next.get());
        }
    }

    private void send(ProducerConnection open, Outbox.OutgoingEvent outgoing) {
        Moment moment = now.get();
        InFlight.InFlightEvent flight = inFlight.add(outgoing, moment.nanos());
        if (outgoing.entry().isEmpty()) {
            skipRejected(flight, "written by another version of the daemon");
            return;
        }
        int sentIn = generation;
        Consumer<Optional<Exception>> completed = failure -> {
            if (sentIn == generation) {
                completed(flight, failure);
            }
        };
        try {
            open.send(encoder.encode(outgoing.entry().get(), moment), (_, failure) -> {
                // What fails before it is sent says so on this thread: nothing may be sent after it.
                if (Thread.currentThread() == thread) {
                    completed.accept(Optional.ofNullable(failure));
                } else {
                    inbox.add(() -> completed.accept(Optional.ofNullable(failure)));
                }
            });
        } catch (KafkaException | IllegalStateException unusable) {
            completed.accept(Optional.of(unusable));
        }
    }

    private void completed(InFlight.InFlightEvent flight, Optional<Exception> failure) {
        if (failure.isEmpty()) {
            sent++;
            outage.accepted();
            flight.completed();
        } else if (ProducerConnection.isRejected(failure.get())) {
            skipRejected(flight, failure.get().toString());
        } else {
            disconnect(failure.get());
        }
    }

    private void skipRejected(InFlight.InFlightEvent flight, String why) {
        rejected++;
        LOG.atWarn().addKeyValue("error", why).log("event rejected permanently, skipped");
        flight.completed();
    }

    /** Once a turn, since the outbox writes the position to the disk. */
    private void recordAcknowledged() {
        for (Outbox.QueueName queue : Outbox.QueueName.values()) {
            inFlight.takeAcknowledged(queue).ifPresent(position -> outbox.acknowledge(queue, position));
        }
    }

    private void endIfStalled(Moment moment) {
        boolean ended = connection != null && connection.isEnded();
        if (ended || inFlight.stalled(moment.nanos(), STALL_TIMEOUT)) {
            disconnect(new IOException("no response for " + STALL_TIMEOUT.toSeconds() + " s"));
        }
    }

    /** Closes the producer; the next one restarts at the first unacknowledged event. */
    private void disconnect(Throwable why) {
        ProducerConnection open = connection;
        if (open == null) {
            return;
        }
        recordAcknowledged();
        if (!open.isEnded()) {
            logUnavailable(why);
        }
        connection = null;
        generation++;
        connectingSinceNanos = now.get().nanos();
        inFlight.clear();
        outbox.rewind();
        open.abort(() -> inbox.add(() -> connecting = false));
        connecting = true;
    }

    @Override
    public void close() {
        stopped.countDown();
        ProducerConnection open = opening;
        if (open != null) {
            open.abort(() -> {});
        }
        thread.interrupt();
        flusher.close();
    }
}

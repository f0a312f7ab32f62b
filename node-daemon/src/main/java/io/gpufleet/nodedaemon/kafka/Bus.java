package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.app.FactSink;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Facts to the bus, by one thread: each is written into the outbox, then sent, and forgotten once the broker has it.
 * Whoever publishes never waits.
 */
public final class Bus implements FactSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Bus.class);
    /** After so long without an answer the producer is ended and everything is sent again. */
    private static final Duration STALLED = Duration.ofSeconds(5);

    private static final Duration RETRY = Duration.ofMillis(500);
    private static final int MOST_UNDER_WAY = 500;

    private final Vertx vertx;
    private final BusSettings settings;
    private final long epoch;
    private final Supplier<Moment> now;
    private final Consumer<Boolean> backlogSent;
    private final Codec codec;
    private final Source source;
    private final FactMessages messages;
    private final Outbox outbox;
    /** Bounded by what is under way, and by who waits for an answer; facts wait in a queue of their own. */
    private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();

    private final Arrivals arrivals = new Arrivals(() -> inbox.add(this::arrived));
    private final UnderWay underWay = new UnderWay();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;
    private final OutboxSync sync;
    private @Nullable Connection connection;
    private int generation;
    private boolean connecting;
    private long connectingSinceNanos;
    private volatile @Nullable Connection opening;
    private boolean backlog;
    private boolean saidAway;
    private long retryNanos;
    private long attempts;
    private long sent;
    private long refused;
    private volatile BusView view = new BusView(false, 0, 0, 0, 0, 0, false);

    /**
     * What others may know of the bus.
     *
     * @param attempts producers that were begun; the next is begun only once the one before is dead
     */
    public record BusView(
            boolean connected,
            long attempts,
            long outboxBytes,
            long sent,
            long lost,
            long refused,
            boolean diskBroken) {
        private BusView losing(long more) {
            return new BusView(connected, attempts, outboxBytes, sent, lost + more, refused, diskBroken);
        }
    }

    /**
     * Opens the outbox and begins to send.
     *
     * @param backlogSent told when all that piled up while the broker was away is sent, and whether some of it was lost
     */
    public Bus(Vertx vertx, BusSettings settings, long epoch, Supplier<Moment> now, Consumer<Boolean> backlogSent) {
        this(vertx, settings, epoch, now, backlogSent, Disk.REAL);
    }

    Bus(Vertx vertx, BusSettings settings, long epoch, Supplier<Moment> now, Consumer<Boolean> backlogSent, Disk disk) {
        this.vertx = vertx;
        this.settings = settings;
        this.epoch = epoch;
        this.now = now;
        this.backlogSent = backlogSent;
        this.codec = new Codec(settings.cluster(), new Topics(settings.topicPrefix()));
        this.source = new Source.Node(settings.cluster(), settings.node());
        this.messages = new FactMessages(settings.bootId());
        this.outbox = new Outbox(disk, settings.stateDirectory().resolve("outbox"), settings, epoch);
        this.backlog = outbox.hasUnread();
        this.retryNanos = now.get().nanos();
        this.thread = Thread.ofPlatform().name("bus").daemon(true).start(this::run);
        this.sync = new OutboxSync(outbox);
    }

    @Override
    public void publish(Fact fact, Moment observed) {
        arrivals.add(fact, observed);
    }

    /** One at a time, so that it is sent before the next is kept. */
    private void arrived() {
        try {
            arrivals.takeDropped().forEach(this::lost);
            arrivals.take().ifPresent(this::keep);
        } finally {
            if (arrivals.more()) {
                inbox.add(this::arrived);
            }
        }
    }

    /** A snapshot follows once everything is sent, whether or not the broker was away. */
    private void lost(EventType type, long count) {
        outbox.lose(type, type.topics().iterator().next(), count, now.get());
        backlog = true;
    }

    private void keep(Arrivals.Arrival arrival) {
        FactMessages.Mapped mapped = messages.map(arrival.fact());
        outbox.add(mapped.type(), mapped.topic(), mapped.subject(), Codec.toJson(mapped.payload()), arrival.observed());
    }

    /** Begins to connect only then; to be called right after the making. */
    public void connectAfter(Duration pause) {
        long then = now.get().nanos() + pause.toNanos();
        inbox.add(() -> retryNanos = then);
    }

    /** The newest view; of what is dropped while the disk hangs, the number of now. */
    public BusView view() {
        return view.losing(arrivals.dropped());
    }

    /** Waits until everything is sent, at most so long, and not at all for a broker that is away; whether it was. */
    public boolean drain(Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (System.nanoTime() < end) {
            var asked = new CountDownLatch(1);
            boolean[] empty = new boolean[1];
            boolean[] away = new boolean[1];
            inbox.add(() -> {
                empty[0] = isDrained();
                away[0] = connection == null && arrivals.isEmpty();
                asked.countDown();
            });
            boolean answered = asked.await(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (answered && (empty[0] || away[0])) {
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
                turn();
            } catch (InterruptedException stop) {
                return;
            } catch (RuntimeException broken) {
                LOG.atError().setCause(broken).log("an event could not be handled, the bus goes on");
            }
        }
    }

    private void turn() throws InterruptedException {
        Runnable first = inbox.poll(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        if (first != null) {
            first.run();
        }
        Moment moment = now.get();
        connectIfDue(moment);
        send();
        endIfStalled(moment);
        view = new BusView(
                connection != null, attempts, outbox.bytes(), sent, outbox.lost(), refused, outbox.diskBroken());
        if (backlog && connection != null && isDrained()) {
            backlog = false;
            saidAway = false;
            LOG.atInfo().addKeyValue("sent", sent).log("the broker has everything that waited");
            backlogSent.accept(outbox.takeLost());
        }
    }

    private boolean isDrained() {
        return arrivals.isEmpty() && !outbox.hasUnread() && underWay.count() == 0;
    }

    private void connectIfDue(Moment moment) {
        if (connecting && moment.since(connectingSinceNanos).compareTo(STALLED) > 0) {
            sayAway(new IOException("no answer for " + STALLED.toSeconds() + " s"));
        }
        if (connection != null || connecting || retryNanos - moment.nanos() > 0) {
            return;
        }
        connecting = true;
        attempts++;
        connectingSinceNanos = moment.nanos();
        Thread.ofPlatform().name("bus-connect").daemon(true).start(this::connect);
    }

    /** On a thread of its own, since it waits as long as the broker is away. */
    private void connect() {
        try {
            var opened = Connection.create(vertx, settings);
            opening = opened;
            awaitTopics(opened);
            inbox.add(() -> {
                connecting = false;
                connection = opened;
            });
        } catch (RuntimeException failed) {
            inbox.add(() -> {
                connecting = false;
                retryNanos = now.get().nanos() + RETRY.toNanos();
                sayAway(failed);
            });
        }
    }

    private void awaitTopics(Connection opened) {
        try {
            opened.awaitTopics(codec.topics());
        } catch (RuntimeException refused) {
            opened.end();
            throw refused;
        }
    }

    private void sayAway(Throwable why) {
        if (!saidAway) {
            LOG.atWarn()
                    .addKeyValue("kafka", settings.bootstrap())
                    .addKeyValue("error", String.valueOf(why.getMessage()))
                    .log("the broker does not answer, events wait in the outbox; check GPUFLEET_KAFKA and the topics");
        }
        backlog = true;
        saidAway = true;
    }

    private void send() {
        Connection open = connection;
        while (open != null && open == connection && underWay.count() < MOST_UNDER_WAY) {
            Optional<Outbox.Outgoing> next = outbox.next();
            if (next.isEmpty()) {
                return;
            }
            send(open, next.get());
        }
    }

    private void send(Connection open, Outbox.Outgoing outgoing) {
        Moment moment = now.get();
        UnderWay.Flight flight = underWay.begin(outgoing.lane(), outgoing.after(), moment.nanos());
        if (outgoing.entry().isEmpty()) {
            setAside(outgoing.lane(), flight, "written by another version of this program");
            return;
        }
        int sentIn = generation;
        open.send(event(outgoing.entry().get(), moment))
                .onComplete(result -> inbox.add(() -> {
                    if (sentIn != generation) {
                        return;
                    }
                    if (result.succeeded()) {
                        sent++;
                        settled(outgoing.lane(), flight);
                    } else if (isRefused(result.cause())) {
                        setAside(outgoing.lane(), flight, String.valueOf(result.cause()));
                    } else {
                        end(result.cause());
                    }
                }));
    }

    private ProducerRecord<String, byte[]> event(OutboxEntry entry, Moment moment) {
        // The monotonic clock of another start is not comparable, so its events age by the wall clock.
        Duration age = entry.epoch() == epoch
                ? moment.since(entry.observedNanos())
                : Duration.between(entry.observed(), moment.wall());
        return codec.encode(
                new Envelope(
                        new EventId(settings.node(), entry.epoch(), entry.topic(), entry.sequence()),
                        source,
                        entry.type(),
                        entry.subject(),
                        settings.node(),
                        entry.observed(),
                        moment.wall(),
                        Math.max(0, age.toMillis()),
                        ""),
                entry.json());
    }

    private static boolean isRefused(Throwable cause) {
        return cause instanceof RecordTooLargeException || cause instanceof InvalidTimestampException;
    }

    private void setAside(Outbox.LaneName lane, UnderWay.Flight flight, String why) {
        refused++;
        LOG.atWarn().addKeyValue("error", why).log("an event was refused for good and is left out");
        settled(lane, flight);
    }

    private void settled(Outbox.LaneName lane, UnderWay.Flight flight) {
        underWay.answered(lane, flight).ifPresent(place -> outbox.acknowledge(lane, place));
    }

    private void endIfStalled(Moment moment) {
        if (underWay.stalled(moment.nanos(), STALLED)) {
            end(new IOException("no answer for " + STALLED.toSeconds() + " s"));
        }
    }

    /** Gives up the producer and starts over from what is not acknowledged. */
    private void end(Throwable why) {
        Connection open = connection;
        if (open == null) {
            return;
        }
        sayAway(why);
        connection = null;
        generation++;
        connecting = true;
        connectingSinceNanos = now.get().nanos();
        underWay.clear();
        outbox.rewind();
        open.end().onComplete(_ -> inbox.add(() -> connecting = false));
    }

    @Override
    public void close() {
        stopped.countDown();
        Connection open = opening;
        if (open != null) {
            open.end();
        }
        thread.interrupt();
        sync.close();
    }
}

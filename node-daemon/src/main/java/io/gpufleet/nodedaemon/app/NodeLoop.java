package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.FaultPolicy;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.Sign;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one thread that writes the node's state; everybody else hands in what happened. */
public final class NodeLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeLoop.class);

    /** Grants are told together, or telling of one would delay the answer to the next; a fault never waits for them. */
    private static final Duration TOGETHER = Duration.ofMillis(10);

    private final BlockingQueue<Input> inbox;
    private final List<Input.Granted> granted = new ArrayList<>();
    private final Supplier<Moment> now;
    private final HolderSource holders;
    private final KubeletDesk desk;
    private final NodeBook book;
    private final Consumer<String> startAnew;
    private final Thread thread;
    private long tellGrantedNanos;
    private volatile long turnedNanos;
    private volatile Snapshot snapshot;
    private volatile boolean running = true;

    /** What others may know of the state. */
    public record Snapshot(Readout readout, int devices, int healthy, boolean looked) {
        /** What is wrong. */
        public List<OpenFault> openFaults() {
            return readout.openFaults();
        }
    }

    /**
     * The wiring of a loop.
     *
     * @param startAnew told why no more can be done in this process, after everything that came before was taken
     */
    public record Parts(
            HostFacts host,
            FaultPolicy policy,
            Overlay overlay,
            boolean obeyVerdicts,
            FactSink facts,
            StateStore store,
            KubeletDesk desk,
            KubeletFace kubelet,
            HolderSource holders,
            Counters counters,
            Consumer<String> startAnew) {}

    /** The queue in which inputs wait; made apart, since the parts of the loop hand in too. */
    public static BlockingQueue<Input> inbox() {
        return new LinkedBlockingQueue<>();
    }

    /** Starts the loop. */
    public NodeLoop(Parts parts, BlockingQueue<Input> inbox, Supplier<Moment> now) {
        this.inbox = inbox;
        this.now = now;
        this.holders = parts.holders();
        this.desk = parts.desk();
        this.startAnew = parts.startAnew();
        var doors = new NodeDoors(parts.facts(), parts.store(), parts.desk(), parts.kubelet(), parts.counters());
        Moment start = now.get();
        this.book = new NodeBook(parts.host(), parts.policy(), parts.overlay(), parts.obeyVerdicts(), doors, start);
        this.turnedNanos = start.nanos();
        this.snapshot = view();
        this.thread = Thread.ofPlatform().name("node-loop").daemon(true).start(this::run);
    }

    /** The newest state. */
    public Snapshot snapshot() {
        return snapshot;
    }

    /** How long ago the loop last turned; it does so at least once a second. */
    public Duration sinceLastTurn() {
        return now.get().since(turnedNanos);
    }

    private void run() {
        while (running) {
            try {
                turn();
            } catch (InterruptedException stop) {
                return;
            } catch (RuntimeException broken) {
                LOG.atError().setCause(broken).log("an input could not be handled, the loop goes on");
            }
        }
    }

    private void turn() throws InterruptedException {
        long nanos = now.get().nanos();
        long wait = book.timers().waitNanos(book.health(), nanos);
        long ask = book.timers().holders().nextNanos(desk.lastAskedNanos(), nanos + wait);
        long next = granted.isEmpty() ? ask : Math.min(ask, tellGrantedNanos);
        Input input = inbox.poll(Math.max(0, next - nanos), TimeUnit.NANOSECONDS);
        Moment moment = now.get();
        if (input instanceof Input.Granted grant) {
            tellGrantedNanos = granted.isEmpty() ? moment.nanos() + TOGETHER.toNanos() : tellGrantedNanos;
            granted.add(grant);
        } else {
            book.handle(input == null ? new Input.Tick() : input, moment);
        }
        tellGranted(moment);
        turnedNanos = moment.nanos();
        snapshot = view();
        if (input instanceof Input.Noticed(Sign.StartAnew(String reason))) {
            startAnew.accept(reason);
        }
        long due = book.timers().holders().nextNanos(desk.lastAskedNanos(), Long.MAX_VALUE);
        if (due <= moment.nanos()) {
            ask(moment);
        }
    }

    private void tellGranted(Moment moment) {
        if (!granted.isEmpty() && tellGrantedNanos - moment.nanos() <= 0) {
            granted.forEach(grant -> book.handle(grant, moment));
            granted.clear();
        }
    }

    private void ask(Moment moment) {
        book.timers().holders().asked(moment.nanos());
        holders.list()
                .whenComplete((holdings, failure) -> inbox.add(
                        failure == null
                                ? new Input.HoldingsSeen(holdings)
                                : new Input.HoldingsUnknown(
                                        String.valueOf(failure.getMessage()),
                                        failure instanceof HolderSource.AskedTooOften)));
    }

    private Snapshot view() {
        var offers = book.offers().listed().values();
        return new Snapshot(
                book.readout(),
                offers.size(),
                (int) offers.stream().filter(offer -> offer.healthy()).count(),
                book.looked());
    }

    @Override
    public void close() {
        running = false;
        thread.interrupt();
    }
}

package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Monitors the devices: one thread scans and polls, and events come from another, so that a slow call never delays a fault.
 */
public final class DeviceWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceWatch.class);
    /** A GPU that appeared, or was lost without an event, is found by a scan: within 10 s with the scan's own time. */
    static final Duration SCAN_PERIOD = Duration.ofSeconds(8);

    private static final Duration MAX_RETRY = Duration.ofSeconds(30);
    private static final Duration FIRST_RETRY = Duration.ofSeconds(2);
    private static final Duration MAX_POLL_INTERVAL = Duration.ofSeconds(10);
    private static final Duration EVENT_WAIT = Duration.ofSeconds(5);
    /** After an event; a poll reads for longer than the event takes to the kubelet, and must not compete with it. */
    private static final Duration POLL_DELAY = Duration.ofMillis(10);

    private enum Request {
        SCAN,
        POLL,
        HOLD
    }

    private final DeviceSource source;
    private final DriverHold hold;
    private final Consumer<NodeLoopInput> inbox;
    private final Supplier<Moment> now;
    private final Duration telemetry;
    private final Duration firstPause;
    private final BlockingQueue<Request> requests = new ArrayBlockingQueue<>(16);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    /** Starts the threads; the first input is a scan. */
    public DeviceWatch(
            DeviceSource source,
            GpuReleaseRequestSource holdRequests,
            Duration telemetry,
            Consumer<NodeLoopInput> inbox,
            Supplier<Moment> now) {
        this(source, holdRequests, telemetry, inbox, now, Backoff.FIRST);
    }

    DeviceWatch(
            DeviceSource source,
            GpuReleaseRequestSource holdRequests,
            Duration telemetry,
            Consumer<NodeLoopInput> inbox,
            Supplier<Moment> now,
            Duration firstPause) {
        this.firstPause = firstPause;
        this.source = source;
        this.hold = new DriverHold(holdRequests, source, inbox, () -> requests.offer(Request.HOLD));
        this.telemetry = telemetry;
        this.inbox = inbox;
        this.now = now;
        if (!source.deliverTo(this::received)) {
            start("device-events", this::eventLoop, pause -> closing.await(pause.toNanos(), TimeUnit.NANOSECONDS));
        }
        start("device-scan", this::scanLoop, this::pauseUntilHold);
    }

    private interface BlockingTask {
        void run() throws InterruptedException;
    }

    private interface Pause {
        boolean await(Duration atMost) throws InterruptedException;
    }

    private void start(String name, BlockingTask work, Pause pause) {
        threads.add(Thread.ofPlatform().name(name).daemon(true).start(() -> runGuarded(work, pause)));
    }

    /** Releasing the GPUs is not delayed by a failure of the source; other requests are, and are met by the next attempt. */
    private boolean pauseUntilHold(Duration atMost) throws InterruptedException {
        long end = now.get().nanos() + atMost.toNanos();
        Request request;
        do {
            request = requests.poll(Math.max(0, end - now.get().nanos()), TimeUnit.NANOSECONDS);
        } while (request != null && request != Request.HOLD);
        return request == Request.HOLD;
    }

    private void runGuarded(BlockingTask work, Pause pause) {
        var backoff = new Backoff(firstPause);
        try {
            do {
                try {
                    work.run();
                } catch (RuntimeException | Error broken) {
                    if (backoff.isNewFailure(broken.toString(), now.get().nanos())) {
                        LOG.atError().setCause(broken).log("device source failed, retrying");
                    }
                    boolean _ = pause.await(backoff.delay());
                }
            } while (closing.getCount() > 0);
        } catch (InterruptedException stop) {
            // Closed.
        }
    }

    private void scanLoop() throws InterruptedException {
        var retry = FIRST_RETRY;
        long nextScan = now.get().nanos();
        long nextPoll = nextScan;
        long nextSample = nextScan;
        boolean held = false;
        while (closing.getCount() > 0) {
            Moment moment = now.get();
            long nanos = moment.nanos();
            boolean heldBefore = held;
            held = hold.step(moment);
            if (heldBefore && !held) {
                nextScan = nanos;
            }
            if (!held && nextScan - nanos <= 0) {
                DeviceScan scan = source.scan();
                inbox.accept(new NodeLoopInput.DevicesScanned(scan));
                boolean failed = scan instanceof DeviceScan.ScanFailed;
                nextScan = now.get().nanos() + (failed ? retry : SCAN_PERIOD).toNanos();
                retry = failed ? shorter(retry.multipliedBy(2), MAX_RETRY) : FIRST_RETRY;
            }
            if (nextPoll - nanos <= 0) {
                boolean sample = nextSample - nanos <= 0;
                inbox.accept(new NodeLoopInput.DevicesPolled(held ? List.of() : source.sample(), sample));
                nextPoll = nanos + shorter(telemetry, MAX_POLL_INTERVAL).toNanos();
                nextSample = sample ? nanos + telemetry.toNanos() : nextSample;
            }
            long next = hold.dueNanos(held ? nextPoll : Math.min(nextScan, nextPoll));
            long wait = next - now.get().nanos();
            Request request = requests.poll(Math.max(0, wait), TimeUnit.NANOSECONDS);
            if (request != null) {
                switch (request) {
                    case SCAN -> nextScan = now.get().nanos();
                    case POLL -> nextPoll = Math.min(nextPoll, now.get().nanos() + POLL_DELAY.toNanos());
                    case HOLD -> {}
                }
            }
        }
    }

    private void eventLoop() throws InterruptedException {
        List<DeviceEvent> events = source.await(EVENT_WAIT);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        events.forEach(this::received);
    }

    private void received(DeviceEvent event) {
        inbox.accept(new NodeLoopInput.DeviceEventReceived(event));
        // Reads the driver's recovery action right after a fault; a full queue holds such a request already.
        boolean _ = requests.offer(event instanceof DeviceEvent.RescanRequested ? Request.SCAN : Request.POLL);
    }

    /** Polls the devices soon, because another source detected a fault. */
    public void pollSoon() {
        boolean _ = requests.offer(Request.POLL);
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    @Override
    public void close() {
        closing.countDown();
        threads.forEach(Thread::interrupt);
        source.close();
    }
}

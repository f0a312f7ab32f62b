package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Sign;
import java.time.Duration;
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
 * Asks the devices: one thread looks and polls, another waits for signs, so that a call that takes its time never
 * delays a fault.
 */
public final class DeviceWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceWatch.class);
    private static final Duration LOOK_PERIOD = Duration.ofSeconds(30);
    private static final Duration FIRST_RETRY = Duration.ofSeconds(2);
    private static final Duration LONGEST_POLL = Duration.ofSeconds(10);
    private static final Duration SIGN_WAIT = Duration.ofSeconds(5);

    private enum Wish {
        LOOK,
        POLL,
        HOLD
    }

    private final DeviceSource source;
    private final HoldKeeper holds;
    private final Consumer<Input> inbox;
    private final Supplier<Moment> now;
    private final Duration telemetry;
    private final BlockingQueue<Wish> wishes = new ArrayBlockingQueue<>(16);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread looker;
    private final Thread listener;

    /** Starts watching; the first thing that is handed in is a look. */
    public DeviceWatch(
            DeviceSource source, HoldDoor door, Duration telemetry, Consumer<Input> inbox, Supplier<Moment> now) {
        this.source = source;
        this.holds = new HoldKeeper(door, source, inbox, () -> wishes.offer(Wish.HOLD));
        this.telemetry = telemetry;
        this.inbox = inbox;
        this.now = now;
        this.looker = Thread.ofPlatform().name("device-look").daemon(true).start(() -> guarded(this::lookOn));
        this.listener = Thread.ofPlatform().name("device-signs").daemon(true).start(() -> guarded(this::listenOn));
    }

    private interface Work {
        void go() throws InterruptedException;
    }

    private void guarded(Work work) {
        var setback = new Setback();
        try {
            do {
                try {
                    work.go();
                } catch (RuntimeException broken) {
                    if (setback.isNews(broken.toString(), now.get().nanos())) {
                        LOG.atError().setCause(broken).log("the device source failed, it is asked again");
                    }
                    boolean _ = closing.await(setback.pause().toNanos(), TimeUnit.NANOSECONDS);
                }
            } while (closing.getCount() > 0);
        } catch (InterruptedException stop) {
            // Closed.
        }
    }

    private void lookOn() throws InterruptedException {
        var retry = FIRST_RETRY;
        long nextLook = now.get().nanos();
        long nextPoll = nextLook;
        long nextSample = nextLook;
        boolean held = false;
        while (closing.getCount() > 0) {
            Moment moment = now.get();
            long nanos = moment.nanos();
            boolean heldBefore = held;
            held = holds.turn(moment);
            if (heldBefore && !held) {
                nextLook = nanos;
            }
            if (!held && nextLook - nanos <= 0) {
                Look look = source.look();
                inbox.accept(new Input.Looked(look));
                boolean blind = look instanceof Look.Blind;
                nextLook = now.get().nanos() + (blind ? retry : LOOK_PERIOD).toNanos();
                retry = blind ? shorter(retry.multipliedBy(2), LOOK_PERIOD) : FIRST_RETRY;
            }
            if (nextPoll - nanos <= 0) {
                boolean sample = nextSample - nanos <= 0;
                inbox.accept(new Input.Polled(held ? List.of() : source.vitals(), sample));
                nextPoll = nanos + shorter(telemetry, LONGEST_POLL).toNanos();
                nextSample = sample ? nanos + telemetry.toNanos() : nextSample;
            }
            long next = holds.dueNanos(held ? nextPoll : Math.min(nextLook, nextPoll));
            long wait = next - now.get().nanos();
            Wish wish = wishes.poll(Math.max(0, wait), TimeUnit.NANOSECONDS);
            if (wish != null) {
                switch (wish) {
                    case LOOK -> nextLook = now.get().nanos();
                    case POLL -> nextPoll = now.get().nanos();
                    case HOLD -> {}
                }
            }
        }
    }

    private void listenOn() throws InterruptedException {
        List<Sign> signs = source.await(SIGN_WAIT);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        for (Sign sign : signs) {
            inbox.accept(new Input.Noticed(sign));
        }
        for (Sign sign : signs) {
            // What the driver asks for is read right after a fault.
            boolean asked = wishes.offer(
                    switch (sign) {
                        case Sign.FaultSeen _, Sign.CauseGone _, Sign.StartAnew _ -> Wish.POLL;
                        case Sign.LookAgain _ -> Wish.LOOK;
                    });
            if (!asked) {
                return;
            }
        }
    }

    /** Asks the devices soon how they are: somebody else noticed something. */
    public void pollSoon() {
        boolean _ = wishes.offer(Wish.POLL);
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    @Override
    public void close() {
        closing.countDown();
        looker.interrupt();
        listener.interrupt();
        source.close();
    }
}

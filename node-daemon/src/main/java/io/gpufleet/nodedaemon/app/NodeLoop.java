package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The only thread that writes the node's state; all other threads put inputs into its queue. */
public final class NodeLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeLoop.class);

    private final BlockingQueue<NodeLoopInput> inbox;
    private final Supplier<Moment> now;
    private final HolderSource holders;
    private final AllocationHandler allocations;
    private final NodeState state;
    private final FaultWarmUp warmUp;
    private volatile @Nullable Executor warmUpThread;
    private final Consumer<String> requestRestart;
    private final Thread thread;
    private volatile long lastIterationNanos;
    private volatile LoopStatus status;
    private volatile boolean running = true;

    /** The state as other threads see it. */
    public record LoopStatus(NodeSnapshot snapshot, int devices, int healthy, boolean scanned) {
        /** Returns the open faults. */
        public List<OpenFault> openFaults() {
            return snapshot.openFaults();
        }
    }

    /**
     * Parts of the loop.
     *
     * @param requestRestart called with the reason when only a new process can continue, after all earlier inputs were
     *     handled
     */
    public record Dependencies(
            HostInfo host,
            FaultPolicy policy,
            CentralVerdictSettings verdicts,
            NodeOutputs outputs,
            HolderSource holders,
            Consumer<String> requestRestart) {}

    /** Makes the queue of inputs, which the dependencies of the loop need before the loop exists. */
    public static BlockingQueue<NodeLoopInput> inbox() {
        return new LinkedBlockingQueue<>();
    }

    /** Starts the loop. */
    public NodeLoop(Dependencies dependencies, BlockingQueue<NodeLoopInput> inbox, Supplier<Moment> now) {
        this.inbox = inbox;
        this.now = now;
        this.holders = dependencies.holders();
        this.allocations = dependencies.outputs().allocations();
        this.requestRestart = dependencies.requestRestart();
        Moment start = now.get();
        this.state = new NodeState(
                dependencies.host(), dependencies.policy(), dependencies.verdicts(), dependencies.outputs(), start);
        this.warmUp = new FaultWarmUp(
                dependencies.host(),
                dependencies.policy(),
                allocations.allocator(),
                dependencies.outputs().facts());
        this.lastIterationNanos = start.nanos();
        this.status = currentStatus();
        this.thread = Thread.ofPlatform().name("node-loop").daemon(true).start(this::run);
    }

    /** Returns the newest state. */
    public LoopStatus status() {
        return status;
    }

    /** Returns the time since the last iteration; the loop iterates at least every five seconds. */
    public Duration sinceLastIteration() {
        return now.get().since(lastIterationNanos);
    }

    private void run() {
        while (running) {
            try {
                iterate();
            } catch (InterruptedException stop) {
                return;
            } catch (RuntimeException | Error broken) {
                LOG.atError().setCause(broken).log("input could not be handled, loop continues");
            }
        }
    }

    private void iterate() throws InterruptedException {
        long nanos = now.get().nanos();
        long wait = state.timers().waitNanos(state.health(), nanos);
        long ask = state.timers().holders().nextNanos(allocations.lastRequestNanos(), nanos + wait);
        NodeLoopInput input = inbox.poll(Math.max(0, ask - nanos), TimeUnit.NANOSECONDS);
        Moment moment = now.get();
        state.handle(input == null ? new NodeLoopInput.Tick() : input, moment);
        warmUpIfRequested();
        lastIterationNanos = moment.nanos();
        status = currentStatus();
        if (input instanceof NodeLoopInput.DeviceEventReceived(DeviceEvent.RestartRequested(String reason))) {
            requestRestart.accept(reason);
        }
        long due = state.timers().holders().nextNanos(allocations.lastRequestNanos(), Long.MAX_VALUE);
        if (due <= moment.nanos()) {
            listHolders(moment);
        }
    }

    /**
     * Takes a fault through a state of its own once GPUs were scanned, on another thread. Not before the kubelet has its first
     * list, which would be later for it.
     */
    public void warmUp(Executor thread) {
        warmUpThread = thread;
        inbox.add(new NodeLoopInput.Tick());
    }

    private void warmUpIfRequested() {
        Executor thread = warmUpThread;
        if (thread != null && state.lastScan() instanceof DeviceScan.ScanSucceeded scan) {
            warmUpThread = null;
            thread.execute(() -> warmUp.run(scan, now));
        }
    }

    private void listHolders(Moment moment) {
        state.timers().holders().requested(moment.nanos());
        holders.list()
                .whenComplete((holdings, failure) -> inbox.add(
                        failure == null
                                ? new NodeLoopInput.HoldingsListed(holdings)
                                : new NodeLoopInput.HoldingsUnknown(
                                        String.valueOf(failure.getMessage()),
                                        failure instanceof HolderSource.RateLimitedException)));
    }

    private LoopStatus currentStatus() {
        var offers = state.offers().listed().values();
        return new LoopStatus(
                state.snapshot(),
                offers.size(),
                (int) offers.stream().filter(offer -> offer.healthy()).count(),
                state.scanned());
    }

    @Override
    public void close() {
        running = false;
        thread.interrupt();
    }
}

package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Publishes the specs of MPS control daemons, and reads the status of these daemons and of installers every 5 s. */
public final class CompanionWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CompanionWatch.class);
    private static final long POLL_SECONDS = 5;
    private static final long RETRY_SECONDS = 1;

    private final MpsControl mps;
    private final Supplier<String> installer;
    private final Supplier<MpsDaemonSpecs> specs;
    private final Consumer<CompanionStatus> changed;
    private final BlockingQueue<Boolean> wakes = new ArrayBlockingQueue<>(1);
    private final Thread thread;
    private Set<Path> roots = Set.of();
    private CompanionStatus last = CompanionStatus.NONE;

    /**
     * Desired MPS control daemons.
     *
     * @param root directory of all resources; set also without specs, so that stale specs can be removed
     */
    public record MpsDaemonSpecs(Path root, List<MpsDaemonSpec> specs) {
        /** Copies the list. */
        public MpsDaemonSpecs {
            specs = List.copyOf(specs);
        }
    }

    /**
     * Starts a watch that waits for the first {@link #wake}.
     *
     * @param installer status of a driver installer; empty where there is none
     */
    public CompanionWatch(
            MpsControl mps,
            Supplier<String> installer,
            Supplier<MpsDaemonSpecs> specs,
            Consumer<CompanionStatus> changed) {
        this.mps = mps;
        this.installer = installer;
        this.specs = specs;
        this.changed = changed;
        this.thread = Thread.ofPlatform().name("companions").daemon(true).start(this::run);
    }

    /** Reconciles at once, because devices were listed. */
    public void wake() {
        boolean _ = wakes.offer(true);
    }

    private void run() {
        try {
            // Before devices were listed once the specs are unknown; those of an earlier process stay until then.
            wakes.take();
            while (true) {
                boolean problem = reconcile();
                wakes.poll(problem ? RETRY_SECONDS : POLL_SECONDS, TimeUnit.SECONDS);
                wakes.clear();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reconciles once; returns whether any control daemon has a problem. */
    boolean reconcile() {
        MpsDaemonSpecs desired = specs.get();
        var states = new TreeMap<String, String>();
        for (MpsDaemonSpec spec : desired.specs()) {
            states.put(spec.resource(), mps.reconcile(spec));
        }
        removeStale(desired);
        var now = new CompanionStatus(installer.get(), states);
        if (!now.equals(last)) {
            now.mpsProblems(states.keySet())
                    .forEach((resource, why) -> LOG.atWarn()
                            .addKeyValue("resource", resource)
                            .addKeyValue("why", why)
                            .log("MPS does not work, its devices are withdrawn"));
            last = now;
            changed.accept(now);
        }
        return !now.mpsProblems(states.keySet()).isEmpty();
    }

    /** Removes stale specs, also those of an earlier process and below an earlier root. */
    private void removeStale(MpsDaemonSpecs desired) {
        var all = new HashSet<>(roots);
        all.add(desired.root());
        roots = Set.copyOf(all);
        Set<String> current = new HashSet<>(
                desired.specs().stream().map(MpsDaemonSpec::directory).toList());
        roots.forEach(root -> mps.removeStale(root, current));
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}

package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the specs of MPS control daemons, and reads the status of these daemons and of installers every 5 s. It is polled
 * once a second by one thread, which also reads the files of operators.
 */
public final class CompanionWatch {
    private static final Logger LOG = LoggerFactory.getLogger(CompanionWatch.class);
    private static final int POLL_SECONDS = 5;
    private static final int RETRY_SECONDS = 1;

    private final MpsControl mps;
    private final Supplier<String> installer;
    private final Supplier<MpsDaemonSpecs> specs;
    private final Consumer<CompanionStatus> changed;
    private final AtomicBoolean woken = new AtomicBoolean();
    private boolean listed;
    private int secondsLeft;
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
     * Creates a watch that waits for the first {@link #wake}.
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
    }

    /** Reconciles with the next poll, because devices were listed; thread-safe. */
    public void wake() {
        woken.set(true);
    }

    /** Reconciles where it is due; called once a second. */
    public void poll() {
        secondsLeft--;
        if (woken.getAndSet(false)) {
            listed = true;
            secondsLeft = 0;
        }
        // Before devices were listed once the specs are unknown; those of an earlier process stay until then.
        if (listed && secondsLeft <= 0) {
            secondsLeft = reconcile() ? RETRY_SECONDS : POLL_SECONDS;
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
}

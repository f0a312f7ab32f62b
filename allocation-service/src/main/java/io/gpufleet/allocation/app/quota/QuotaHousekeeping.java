package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvaluator;
import io.gpufleet.allocation.model.quota.QuotaFencingToken;
import io.gpufleet.allocation.model.quota.QuotaState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes of the leader for other readers: the counts of the quotas, at most five a second in all, escrow that was not
 * needed for 30 s, and the labels of namespaces. For the decider's thread.
 */
final class QuotaHousekeeping {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaHousekeeping.class);
    private static final long ESCROW_IDLE = Duration.ofSeconds(30).toNanos();
    private static final long WRITE_INTERVAL = Duration.ofMillis(200).toNanos();
    private static final long BURST = Duration.ofMillis(800).toNanos();
    /** Quotas that are compared in one turn: reviews wait meanwhile. */
    private static final int COMPARED_AT_ONCE = 64;

    private final QuotaClient client;
    private final ActiveLease active;
    private final QuotaState state;
    private final QuotaExecutors executors;
    private final QuotaStatusWriter writer;
    private final LongSupplier nanos;
    private final SequencedSet<String> uncounted = new LinkedHashSet<>();
    private final Map<String, Long> admittedAt = new LinkedHashMap<>();
    private final Set<String> labelling = new HashSet<>();
    private long nextWrite;
    private String comparedLast = "";

    QuotaHousekeeping(
            QuotaClient client,
            ActiveLease active,
            QuotaState state,
            QuotaExecutors executors,
            QuotaStatusWriter writer,
            LongSupplier nanos) {
        this.client = client;
        this.active = active;
        this.state = state;
        this.executors = executors;
        this.writer = writer;
        this.nanos = nanos;
        this.nextWrite = nanos.getAsLong();
    }

    /** A pod of a quota was admitted: its escrow stays where it is for a while. */
    void admitted(String quota) {
        admittedAt.remove(quota);
        admittedAt.put(quota, nanos.getAsLong());
    }

    /** A quota was deleted. */
    void deleted(String quota) {
        admittedAt.remove(quota);
        uncounted.remove(quota);
    }

    /** The object of a quota changed: its status may not be what is counted. */
    void changed(String quota) {
        uncounted.add(quota);
    }

    /** Finds quotas whose status is not what is counted, although nothing is known to have changed: a few at a time. */
    void compareNext() {
        Iterator<GpuQuota> quotas =
                state.quotas().tailMap(comparedLast, false).values().iterator();
        for (int i = 0; i < COMPARED_AT_ONCE && quotas.hasNext(); i++) {
            GpuQuota quota = quotas.next();
            comparedLast = quota.name();
            if (!QuotaEvaluator.countedStatus(state, quota, isIdle(quota.name()))
                    .equals(quota.status())) {
                uncounted.add(quota.name());
            }
        }
        if (!quotas.hasNext()) {
            comparedLast = "";
        }
    }

    /** Writes counts that changed, as many as are due now. */
    void writeCounts(QuotaFencingToken lease) {
        uncounted.addAll(state.drainChangedQuotas());
        lowerIdle();
        long now = nanos.getAsLong();
        nextWrite = Math.max(nextWrite, now - BURST);
        for (String name : List.copyOf(uncounted)) {
            if (now - nextWrite < 0) {
                return;
            }
            if (!writer.isWriting(name)) {
                uncounted.remove(name);
                if (writer.writeCounts(lease, name, isIdle(name))) {
                    nextWrite += WRITE_INTERVAL;
                }
            }
        }
    }

    /** Writes what is used into every quota that has more escrow than that; their names. */
    List<String> lowerAll(QuotaFencingToken lease) {
        List<String> written = new ArrayList<>();
        for (GpuQuota quota : List.copyOf(state.quotas().values())) {
            if (QuotaEvaluator.hasUnusedEscrow(state, quota) && writer.writeCounts(lease, quota.name(), true)) {
                written.add(quota.name());
            }
        }
        return written;
    }

    private void lowerIdle() {
        while (!admittedAt.isEmpty() && isIdle(admittedAt.keySet().iterator().next())) {
            String name = admittedAt.keySet().iterator().next();
            admittedAt.remove(name);
            uncounted.add(name);
        }
    }

    private boolean isIdle(String quota) {
        Long at = admittedAt.get(quota);
        return at == null || nanos.getAsLong() - at >= ESCROW_IDLE;
    }

    /** Sets or removes the label of every namespace that lacks it or has it for no quota. Visits every namespace. */
    void labelNamespaces() {
        for (String namespace : state.namespaces()) {
            boolean enforced = QuotaEvaluator.isEnforced(state, namespace);
            if (enforced
                            != state.namespaceLabel(namespace, QuotaLeader.NAMESPACE_LABEL)
                                    .equals("enforce")
                    && labelling.add(namespace)) {
                executors.background().execute(() -> label(namespace, enforced));
            }
        }
    }

    private void label(String namespace, boolean enforced) {
        try {
            active.require("label of namespace " + namespace);
            client.labelNamespace(namespace, enforced);
        } catch (ApiServerException | RuntimeException failed) {
            LOG.atWarn()
                    .addKeyValue("namespace", namespace)
                    .addKeyValue("error", failed.getMessage())
                    .log("namespace cannot be labelled, retrying");
        }
        executors.decider().execute(() -> labelling.remove(namespace));
    }
}

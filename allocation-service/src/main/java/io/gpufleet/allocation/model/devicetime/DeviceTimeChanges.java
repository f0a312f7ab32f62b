package io.gpufleet.allocation.model.devicetime;

import io.gpufleet.allocation.model.holding.GpuFraction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/** Intervals that one fact adds to the published time of the GPUs of a node. */
public final class DeviceTimeChanges {
    static final int MAX_KEPT = 128;

    private final NodeDevices before;
    private final NodeDevices after;
    private final LongFunction<String> ids;
    private final List<DeviceInterval> intervals = new ArrayList<>();
    private final boolean moved;
    private long number;

    /** Changes by a fact; {@code ids} makes the id of an interval of its number on the node. */
    public DeviceTimeChanges(NodeDevices before, NodeDevices after, LongFunction<String> ids) {
        this.before = before;
        this.after = after;
        this.ids = ids;
        this.number = after.published();
        this.moved = !before.presences().equals(after.presences())
                || !before.outages().equals(after.outages())
                || !before.migParents().equals(after.migParents());
        if (moved) {
            stretches();
        }
    }

    /** True when the condition of a GPU may have changed at a time that is past. */
    public boolean moved() {
        return moved;
    }

    /** The devices after the fact, with the number of intervals that were published. */
    public NodeDevices devices() {
        return after.withPublished(number);
    }

    /** The intervals so far. */
    public List<DeviceInterval> intervals() {
        return List.copyOf(intervals);
    }

    /** Publishes what ended, and takes back what is otherwise now; as one interval for equal GPUs of the node. */
    private void stretches() {
        /** Time that is published or taken back, as it is summed. */
        record Change(String shortModel, String product, Stretch stretch, int sign) {}
        var gpus = new TreeSet<String>();
        before.presences().forEach(one -> gpus.add(one.gpu().uuid()));
        after.presences().forEach(one -> gpus.add(one.gpu().uuid()));
        Map<Change, List<GpuIdentity>> changes = new LinkedHashMap<>();
        for (String uuid : gpus) {
            List<Stretch> was = published(before, uuid);
            List<Stretch> is = published(after, uuid);
            GpuIdentity gpu =
                    after.identityOf(uuid).or(() -> before.identityOf(uuid)).orElseThrow();
            without(was, is)
                    .forEach(stretch -> changes.computeIfAbsent(
                                    new Change(gpu.shortModel(), gpu.product(), stretch, -1), _ -> new ArrayList<>())
                            .add(gpu));
            without(is, was)
                    .forEach(stretch -> changes.computeIfAbsent(
                                    new Change(gpu.shortModel(), gpu.product(), stretch, 1), _ -> new ArrayList<>())
                            .add(gpu));
        }
        changes.forEach((change, equal) -> add(
                equal.size() == 1 ? equal.getFirst() : equal.getFirst().ofAnyGpu(),
                change.stretch(),
                new GpuFraction(change.sign() * equal.size(), 1)));
    }

    private static List<Stretch> published(NodeDevices devices, String gpu) {
        return devices.timeline(gpu).stream().filter(Stretch::isPublishable).toList();
    }

    private static List<Stretch> without(List<Stretch> some, List<Stretch> others) {
        return some.stream().filter(stretch -> !others.contains(stretch)).toList();
    }

    /** Moves what time of holders that was published earlier takes from, where the condition of its GPU changed. */
    public void published(HeldTime held) {
        if (!moved) {
            return;
        }
        List<Stretch> was = before.displacedBy(held);
        List<Stretch> is = after.displacedBy(held);
        without(was, is).forEach(stretch -> take(held, stretch, held.weight()));
        without(is, was).forEach(stretch -> take(held, stretch, held.weight().negated()));
    }

    /**
     * Takes published time of a holder from the conditions of its GPU at that time instead of from its idle time. Where the
     * node does not have the GPU, nothing was taken from any.
     */
    public void publish(HeldTime held) {
        if (!after.isKnownWithin(held)) {
            return;
        }
        after.displacedBy(held)
                .forEach(stretch -> take(held, stretch, held.weight().negated()));
    }

    private void take(HeldTime held, Stretch stretch, GpuFraction weight) {
        GpuIdentity gpu = after.identityOf(held.device().uuid()).orElse(held.device());
        add(gpu, stretch, weight);
    }

    private void add(GpuIdentity gpu, Stretch stretch, GpuFraction weight) {
        number++;
        intervals.add(DeviceInterval.of(ids.apply(number), gpu, stretch, weight));
    }

    /**
     * The devices after the fact without what no later fact can change; publishes the time of GPUs that are gone.
     *
     * @param settled time before which nothing changes any more
     */
    public NodeDevices settled(Instant settled) {
        Instant end = unpublishedSince(settled);
        List<Outage> outages = bounded(after.outages().stream()
                .filter(outage -> outage.to().isAfter(end))
                .toList());
        List<GpuPresence> presences = new ArrayList<>();
        long surplus = after.presences().stream().filter(one -> !one.lasts()).count() - MAX_KEPT;
        for (GpuPresence one : after.presences()) {
            boolean old = !one.until().isAfter(end) || surplus > 0 && !one.lasts();
            if (old) {
                surplus--;
                add(one.gpu(), new Stretch(DeviceCondition.IDLE, one.from(), one.until()), GpuFraction.WHOLE);
            } else {
                presences.add(one);
            }
        }
        return new NodeDevices(after.untrusted(), presences, outages, after.migParents(), number);
    }

    /**
     * Start of what is not published although it began before a time: of the outages that end after it, and of those that
     * they overlap or continue, since these are one stretch with them.
     */
    private Instant unpublishedSince(Instant settled) {
        Optional<Instant> unfinished = earliest(outage -> outage.to().isAfter(settled));
        Instant since = unfinished.filter(settled::isAfter).orElse(settled);
        if (unfinished.isPresent()) {
            Instant limit;
            do {
                limit = since;
                Instant reached = limit;
                since = earliest(outage -> !outage.to().isBefore(reached))
                        .filter(reached::isAfter)
                        .orElse(reached);
            } while (since.isBefore(limit));
        }
        return since;
    }

    private Optional<Instant> earliest(Predicate<Outage> which) {
        return after.outages().stream().filter(which).map(Outage::from).min(Comparator.naturalOrder());
    }

    /** Without the oldest of those that ended, where there are too many: a late fact then moves less than it should. */
    private static List<Outage> bounded(List<Outage> outages) {
        long surplus = outages.size() - MAX_KEPT;
        List<Outage> kept = new ArrayList<>();
        for (Outage outage : outages) {
            if (surplus > 0 && !outage.lasts()) {
                surplus--;
            } else {
                kept.add(outage);
            }
        }
        return kept;
    }
}

package io.gpufleet.allocation.model.devicetime;

import io.gpufleet.allocation.model.holding.GpuFraction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * GPUs of a node over time, as far back as a late fact may still change what was published.
 *
 * @param untrusted append time by UUID of the GPU since which it is not trusted; that of all by {@link Outage#EVERY_GPU}
 * @param presences when the node had each GPU; one that ended is published, and left out, once no late fact can change it
 * @param outages when GPUs were not simply idle
 * @param migParents UUID of the GPU by UUID of the MIG device, also of one that is gone and was held lately
 * @param published number of intervals published so far, of which their ids are made
 */
public record NodeDevices(
        Map<String, Instant> untrusted,
        List<GpuPresence> presences,
        List<Outage> outages,
        Map<String, String> migParents,
        long published) {
    private static final Comparator<GpuPresence> BY_TIME = Comparator.comparing(GpuPresence::from)
            .thenComparing(one -> one.gpu().uuid());
    private static final Comparator<Outage> IN_ORDER = Comparator.comparing(Outage::from)
            .thenComparing(Outage::deviceUuid)
            .thenComparing(Outage::cause)
            .thenComparing(Outage::to);

    /** A node of which nothing is known. */
    public static final NodeDevices NONE = new NodeDevices(Map.of(), List.of(), List.of(), Map.of(), 0);

    /** Copies, sorted. */
    public NodeDevices {
        untrusted = Collections.unmodifiableMap(new TreeMap<>(untrusted));
        presences = presences.stream().sorted(BY_TIME).toList();
        outages = outages.stream().sorted(IN_ORDER).toList();
        migParents = Collections.unmodifiableMap(new TreeMap<>(migParents));
    }

    /** UUID of the physical GPU of a GPU or MIG device. */
    public String gpuOf(String deviceUuid) {
        return migParents.getOrDefault(deviceUuid, deviceUuid);
    }

    /** The GPU of a device as the node announced it; the newest where it had it more than once. */
    public Optional<GpuIdentity> identityOf(String deviceUuid) {
        String gpu = gpuOf(deviceUuid);
        for (int i = presences.size() - 1; i >= 0; i--) {
            GpuIdentity identity = presences.get(i).gpu();
            if (identity.uuid().equals(gpu)) {
                return Optional.of(identity);
            }
        }
        return Optional.empty();
    }

    /** True while the node has a GPU. */
    public boolean hasGpus() {
        return presences.stream().anyMatch(GpuPresence::lasts);
    }

    /** True while its daemon is silent. */
    public boolean silent() {
        return outages.stream().anyMatch(outage -> outage.cause() == OutageCause.SILENT && outage.lasts());
    }

    /** Condition of a GPU over all time, without gaps, in order of time. */
    public List<Stretch> timeline(String gpu) {
        List<GpuPresence> there =
                presences.stream().filter(one -> one.gpu().uuid().equals(gpu)).toList();
        List<Outage> out = outages.stream()
                .filter(outage -> outage.deviceUuid().equals(Outage.EVERY_GPU)
                        || gpuOf(outage.deviceUuid()).equals(gpu))
                .toList();
        var cuts = new TreeSet<Instant>(List.of(Instant.MIN, Instant.MAX));
        there.forEach(one -> cuts.addAll(List.of(one.from(), one.until())));
        out.forEach(outage -> cuts.addAll(List.of(outage.from(), outage.to())));
        List<Stretch> timeline = new ArrayList<>();
        Instant from = cuts.pollFirst();
        for (Instant to : cuts) {
            append(timeline, new Stretch(condition(there, out, from), from, to));
            from = to;
        }
        return timeline;
    }

    private static void append(List<Stretch> timeline, Stretch next) {
        Stretch last = timeline.isEmpty() ? next : timeline.getLast();
        if (last != next && last.condition() == next.condition()) {
            timeline.set(timeline.size() - 1, new Stretch(last.condition(), last.from(), next.to()));
        } else {
            timeline.add(next);
        }
    }

    private static DeviceCondition condition(List<GpuPresence> there, List<Outage> out, Instant at) {
        return there.stream().noneMatch(one -> one.covers(at))
                ? DeviceCondition.ABSENT
                : out.stream()
                        .filter(outage -> outage.covers(at))
                        .map(outage -> outage.cause().condition())
                        .max(Comparator.naturalOrder())
                        .orElse(DeviceCondition.IDLE);
    }

    /** True when more is kept than a state should have. */
    public boolean overflows() {
        return outages.size() + presences.size() > 3 * DeviceTimeChanges.MAX_KEPT;
    }

    /** True when nothing but idle time is known of the time of a device. */
    public boolean isIdleWithin(String deviceUuid, Instant from, Instant to) {
        return outages.isEmpty() && isThere(gpuOf(deviceUuid), from, to);
    }

    /** True while there may be something to settle. */
    public boolean isUnsettled() {
        return !outages.isEmpty() || presences.stream().anyMatch(one -> !one.lasts());
    }

    /** The same devices after so many published intervals. */
    NodeDevices withPublished(long number) {
        return new NodeDevices(untrusted, presences, outages, migParents, number);
    }

    /** The same devices with the parents of some MIG devices only. */
    public NodeDevices withMigParents(Map<String, String> parents) {
        return new NodeDevices(untrusted, presences, outages, parents, published);
    }

    /** Stretches within held time in which the GPU was not idle: that time is taken from them and not from idle time. */
    List<Stretch> displacedBy(HeldTime held) {
        if (isIdleWithin(held.device().uuid(), held.from(), held.to())) {
            return List.of();
        }
        List<Stretch> displaced = new ArrayList<>();
        for (Stretch stretch : timeline(gpuOf(held.device().uuid()))) {
            Instant from = stretch.from().isAfter(held.from()) ? stretch.from() : held.from();
            Instant to = stretch.to().isBefore(held.to()) ? stretch.to() : held.to();
            if (stretch.condition() != DeviceCondition.IDLE && from.isBefore(to)) {
                displaced.add(new Stretch(stretch.condition(), from, to));
            }
        }
        return displaced;
    }

    /** True when the node had the GPU for a part of held time. */
    public boolean isKnownWithin(HeldTime held) {
        String gpu = gpuOf(held.device().uuid());
        return presences.stream()
                .anyMatch(one -> one.gpu().uuid().equals(gpu)
                        && held.from().isBefore(one.until())
                        && held.to().isAfter(one.from()));
    }

    private boolean isThere(String gpu, Instant from, Instant to) {
        return presences.stream()
                .anyMatch(
                        one -> one.gpu().uuid().equals(gpu) && !from.isBefore(one.from()) && !to.isAfter(one.until()));
    }

    /**
     * Time until {@code now} that is not published yet: of GPUs that are there, and of conditions that last.
     *
     * @param held time of the open intervals of holders, until {@code now}
     */
    public List<DeviceInterval> unpublished(List<HeldTime> held, Instant now) {
        List<DeviceInterval> intervals = new ArrayList<>();
        counted(now)
                .forEach((one, count) -> intervals.add(new DeviceInterval(
                        "", one.gpu(), DeviceCondition.IDLE, one.from(), one.until(), new GpuFraction(count, 1))));
        if (!outages.isEmpty()) {
            presences.stream().filter(GpuPresence::lasts).map(GpuPresence::gpu).forEach(gpu -> {
                Stretch last = timeline(gpu.uuid()).getLast();
                if (last.condition() != DeviceCondition.IDLE) {
                    intervals.add(new DeviceInterval("", gpu, last.condition(), last.from(), now, GpuFraction.WHOLE));
                }
            });
        }
        for (HeldTime one : held) {
            GpuIdentity gpu = identityOf(one.device().uuid()).orElse(one.device());
            displacedBy(one)
                    .forEach(stretch -> intervals.add(
                            DeviceInterval.of("", gpu, stretch, one.weight().negated())));
        }
        return intervals;
    }

    /** GPUs of one model that are there for the same time, as one of them and their number. */
    private Map<GpuPresence, Integer> counted(Instant now) {
        Map<GpuPresence, Integer> byLikes = new LinkedHashMap<>();
        for (GpuPresence one : presences) {
            byLikes.merge(one.lasts() ? one.likes().endedAt(now, false) : one.likes(), 1, Integer::sum);
        }
        return byLikes;
    }
}

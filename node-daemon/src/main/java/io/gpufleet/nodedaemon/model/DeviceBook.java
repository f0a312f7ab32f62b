package io.gpufleet.nodedaemon.model;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every GPU that this node has, as far as the driver ever answered for it, and what the last look said. */
public final class DeviceBook {
    private final Map<String, KnownGpu> gpus;
    private final Look lastLook;

    private DeviceBook(Map<String, KnownGpu> gpus, Look lastLook) {
        this.gpus = gpus;
        this.lastLook = lastLook;
    }

    /** A book that remembers identities from before; nobody has looked yet. */
    public static DeviceBook remembering(Collection<Gpu> before, Moment now) {
        var gpus = new LinkedHashMap<String, KnownGpu>();
        for (Gpu gpu : before) {
            gpus.put(gpu.uuid(), missing(gpu, now, "not looked yet", true));
        }
        return new DeviceBook(gpus, new Look.Blind(Look.DriverTrouble.FAILED, "not looked yet"));
    }

    /** What the last look said. */
    public Look lastLook() {
        return lastLook;
    }

    /** Every known GPU by index. */
    public List<KnownGpu> gpus() {
        return gpus.values().stream()
                .sorted(Comparator.comparingInt((KnownGpu known) -> known.gpu().index())
                        .thenComparing(known -> known.gpu().uuid()))
                .toList();
    }

    /** The GPU with the UUID. */
    public Optional<KnownGpu> find(String uuid) {
        return Optional.ofNullable(gpus.get(uuid));
    }

    /** UUID of the GPU that sits there, however the place is written; empty where none is known. */
    public Optional<String> at(String pciBusId) {
        Optional<PciPlace> place = PciPlace.parse(pciBusId);
        return place.isEmpty()
                ? Optional.empty()
                : gpus.values().stream()
                        .map(KnownGpu::gpu)
                        .filter(gpu -> PciPlace.parse(gpu.pciBusId()).equals(place))
                        .map(Gpu::uuid)
                        .findFirst();
    }

    /** UUIDs of a GPU and of its MIG instances; of all GPUs for the empty UUID, which means the node. */
    public Set<String> partsOf(String gpuUuid) {
        return gpus.values().stream()
                .map(KnownGpu::gpu)
                .filter(gpu -> gpuUuid.isEmpty() || gpu.uuid().equals(gpuUuid))
                .flatMap(gpu -> Stream.concat(
                        Stream.of(gpu.uuid()), gpu.instances().stream().map(MigInstance::uuid)))
                .collect(Collectors.toSet());
    }

    /** The book after a look. A blind look changes no identity; what is missing stays known. */
    public DeviceBook after(Look look, Moment now) {
        return switch (look) {
            case Look.Blind blind -> new DeviceBook(gpus, blind);
            case Look.Seen seen -> afterSeeing(seen, now);
        };
    }

    private DeviceBook afterSeeing(Look.Seen seen, Moment now) {
        var next = new LinkedHashMap<String, KnownGpu>();
        var answering = seen.gpus().stream().map(Gpu::uuid).collect(Collectors.toCollection(HashSet::new));
        var taken = seen.gpus().stream().map(Gpu::pciBusId).collect(Collectors.toCollection(HashSet::new));
        for (KnownGpu known : gpus.values()) {
            // Another GPU in its place, or nothing at all: it was taken out, not lost.
            if (!answering.contains(known.gpu().uuid())
                    && !taken.contains(known.gpu().pciBusId())
                    && !seen.isOffTheBus(known.gpu())) {
                var reason = whyLost(known.gpu(), seen);
                next.put(
                        known.gpu().uuid(),
                        stillMissing(
                                known, now, reason.orElse("not found by the driver any more"), reason.isPresent()));
            }
        }
        for (Gpu gpu : seen.gpus()) {
            next.put(gpu.uuid(), new KnownGpu(gpu, new KnownGpu.Presence.Answering()));
        }
        return new DeviceBook(next, seen);
    }

    /** By its place; a GPU that was lost before the process began has only its index left, and kept that. */
    private static Optional<String> whyLost(Gpu gpu, Look.Seen seen) {
        return seen.lost().stream()
                .filter(lost -> lost.pciBusId().isEmpty()
                        ? lost.index() == gpu.index()
                        : lost.pciBusId().equals(gpu.pciBusId()))
                .map(Look.LostGpu::reason)
                .findFirst();
    }

    private static KnownGpu stillMissing(KnownGpu known, Moment now, String reason, boolean placeIsThere) {
        long since = known.presence() instanceof KnownGpu.Presence.Missing missing ? missing.sinceNanos() : now.nanos();
        return new KnownGpu(known.gpu(), new KnownGpu.Presence.Missing(since, reason, placeIsThere));
    }

    private static KnownGpu missing(Gpu gpu, Moment now, String reason, boolean placeIsThere) {
        return new KnownGpu(gpu, new KnownGpu.Presence.Missing(now.nanos(), reason, placeIsThere));
    }
}

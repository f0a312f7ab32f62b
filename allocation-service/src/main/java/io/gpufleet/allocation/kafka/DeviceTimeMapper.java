package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.model.devicetime.DeviceCondition;
import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.devicetime.GpuPresence;
import io.gpufleet.allocation.model.devicetime.NodeDevices;
import io.gpufleet.allocation.model.devicetime.Outage;
import io.gpufleet.allocation.model.devicetime.OutageCause;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.GpuTime;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.proto.allocation.v1.DeviceOutage;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UnallocatedUse;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Maps the time of GPUs: facts of the daemon, its part of the state of a node, and intervals on {@code gpu.usage}. */
final class DeviceTimeMapper {
    private DeviceTimeMapper() {}

    static LedgerFact listed(NodeAnnounced announced, Instant at) {
        List<GpuIdentity> gpus = new ArrayList<>();
        Set<String> withdrawn = new TreeSet<>();
        for (Gpu gpu : announced.getGpusList()) {
            gpus.add(new GpuIdentity(
                    gpu.getUuid(), gpu.getShortModel(), gpu.getModel().replace(' ', '-')));
            if (!offered(gpu)) {
                withdrawn.add(gpu.getUuid());
            }
        }
        boolean complete = announced.getDriverState() == DriverState.DRIVER_STATE_READY;
        return new LedgerFact.GpusListed(gpus, withdrawn, complete, at);
    }

    private static boolean offered(Gpu gpu) {
        boolean broken = gpu.getLocalHealth() == LocalHealth.LOCAL_HEALTH_UNHEALTHY
                || gpu.getLocalHealth() == LocalHealth.LOCAL_HEALTH_LOST;
        boolean advertised = !gpu.getResource().isEmpty()
                || gpu.getMigInstancesList().stream()
                        .anyMatch(mig -> !mig.getResource().isEmpty());
        return advertised && !broken;
    }

    /** Use without an allocation; just after a kubelet started, holders may be missing, and what they use proves nothing. */
    static Optional<LedgerFact> unallocated(DevicesHeld held, Instant at) {
        return held.getComplete()
                ? Optional.of(new LedgerFact.UnallocatedUse(
                        held.getUnallocatedList().stream()
                                .map(UnallocatedUse::getDeviceUuid)
                                .collect(Collectors.toUnmodifiableSet()),
                        at))
                : Optional.empty();
    }

    static void write(NodeDevices devices, Map<String, String> announcedParents, NodeHoldings.Builder state) {
        /** Attributes that the GPUs of one message have in common. */
        record Group(String shortModel, String product, Instant from, Instant until, boolean lostWithNode) {}
        Map<Group, List<String>> groups = new LinkedHashMap<>();
        devices.presences()
                .forEach(one -> groups.computeIfAbsent(
                                new Group(
                                        one.gpu().shortModel(),
                                        one.gpu().product(),
                                        one.from(),
                                        one.until(),
                                        one.lostWithNode()),
                                _ -> new ArrayList<>())
                        .add(one.gpu().uuid()));
        groups.forEach((group, uuids) -> {
            var message = io.gpufleet.proto.allocation.v1.GpuPresence.newBuilder()
                    .addAllDeviceUuids(uuids)
                    .setShortModel(group.shortModel())
                    .setProduct(group.product())
                    .setLostWithNode(group.lostWithNode())
                    .setFrom(LedgerMapper.time(group.from()));
            if (!group.until().equals(Instant.MAX)) {
                message.setUntil(LedgerMapper.time(group.until()));
            }
            state.addPresences(message);
        });
        devices.outages().forEach(outage -> {
            var message = DeviceOutage.newBuilder()
                    .setDeviceUuid(outage.deviceUuid())
                    .setCause(cause(outage.cause()))
                    .setFrom(LedgerMapper.time(outage.from()));
            if (!outage.lasts()) {
                message.setTo(LedgerMapper.time(outage.to()));
            }
            state.addOutages(message);
        });
        devices.migParents().entrySet().stream()
                .filter(parent -> !announcedParents.containsKey(parent.getKey()))
                .forEach(parent -> state.putFormerMigParents(parent.getKey(), parent.getValue()));
        state.setDeviceIntervals(devices.published());
    }

    static NodeDevices read(NodeHoldings state, Map<String, Instant> untrusted) {
        List<GpuPresence> presences = new ArrayList<>();
        state.getPresencesList().forEach(message -> presences.addAll(presences(message)));
        List<Outage> outages = new ArrayList<>();
        state.getOutagesList()
                .forEach(message -> cause(message.getCause())
                        .ifPresent(cause -> outages.add(new Outage(
                                message.getDeviceUuid(),
                                cause,
                                LedgerMapper.time(message.getFrom()),
                                message.hasTo() ? LedgerMapper.time(message.getTo()) : Instant.MAX))));
        Map<String, String> migParents = new HashMap<>(state.getMigParentsMap());
        migParents.putAll(state.getFormerMigParentsMap());
        return new NodeDevices(untrusted, presences, outages, migParents, state.getDeviceIntervals());
    }

    private static List<GpuPresence> presences(io.gpufleet.proto.allocation.v1.GpuPresence message) {
        Instant from = LedgerMapper.time(message.getFrom());
        Instant until = message.hasUntil() ? LedgerMapper.time(message.getUntil()) : Instant.MAX;
        return message.getDeviceUuidsList().stream()
                .map(uuid -> new GpuPresence(
                        new GpuIdentity(uuid, message.getShortModel(), message.getProduct()),
                        from,
                        until,
                        message.getLostWithNode()))
                .toList();
    }

    private static io.gpufleet.proto.allocation.v1.OutageCause cause(OutageCause cause) {
        return io.gpufleet.proto.allocation.v1.OutageCause.valueOf("OUTAGE_CAUSE_" + cause.name());
    }

    /** Cause of a message; empty for one that only a newer release knows. */
    private static Optional<OutageCause> cause(io.gpufleet.proto.allocation.v1.OutageCause cause) {
        return switch (cause) {
            case OUTAGE_CAUSE_UNALLOCATED_USE -> Optional.of(OutageCause.UNALLOCATED_USE);
            case OUTAGE_CAUSE_WITHDRAWN -> Optional.of(OutageCause.WITHDRAWN);
            case OUTAGE_CAUSE_UNTRUSTED -> Optional.of(OutageCause.UNTRUSTED);
            case OUTAGE_CAUSE_SILENT -> Optional.of(OutageCause.SILENT);
            case OUTAGE_CAUSE_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
        };
    }

    /** The interval as a message. */
    static io.gpufleet.proto.allocation.v1.DeviceInterval message(String node, DeviceInterval interval) {
        return io.gpufleet.proto.allocation.v1.DeviceInterval.newBuilder()
                .setIntervalId(interval.id())
                .setNode(node)
                .setDeviceUuid(interval.gpu().uuid())
                .setShortModel(interval.gpu().shortModel())
                .setProduct(interval.gpu().product())
                .setFrom(LedgerMapper.time(interval.from()))
                .setTo(LedgerMapper.time(interval.to()))
                .setQuality(quality(interval.condition()))
                .setGpuMilliseconds(GpuTime.millis(interval.from(), interval.to(), interval.weight()))
                .setWeight(interval.weight().numerator())
                .setWeightOf(interval.weight().denominator())
                .build();
    }

    private static UsageQuality quality(DeviceCondition condition) {
        return switch (condition) {
            case IDLE -> UsageQuality.USAGE_QUALITY_IDLE;
            case UNACCOUNTED -> UsageQuality.USAGE_QUALITY_UNACCOUNTED;
            case QUARANTINED -> UsageQuality.USAGE_QUALITY_QUARANTINED;
            case UNREACHABLE -> UsageQuality.USAGE_QUALITY_UNREACHABLE;
            case ABSENT -> throw new IllegalArgumentException("no interval is of a GPU that is absent");
        };
    }

    /** The interval of a message; empty for a quality that only a newer release knows. */
    static Optional<DeviceInterval> interval(io.gpufleet.proto.allocation.v1.DeviceInterval message) {
        return condition(message.getQuality())
                .map(condition -> new DeviceInterval(
                        message.getIntervalId(),
                        new GpuIdentity(message.getDeviceUuid(), message.getShortModel(), message.getProduct()),
                        condition,
                        LedgerMapper.time(message.getFrom()),
                        LedgerMapper.time(message.getTo()),
                        new GpuFraction(message.getWeight(), Math.max(1, message.getWeightOf()))));
    }

    private static Optional<DeviceCondition> condition(UsageQuality quality) {
        return switch (quality) {
            case USAGE_QUALITY_IDLE -> Optional.of(DeviceCondition.IDLE);
            case USAGE_QUALITY_UNACCOUNTED -> Optional.of(DeviceCondition.UNACCOUNTED);
            case USAGE_QUALITY_QUARANTINED -> Optional.of(DeviceCondition.QUARANTINED);
            case USAGE_QUALITY_UNREACHABLE -> Optional.of(DeviceCondition.UNREACHABLE);
            case USAGE_QUALITY_UNSPECIFIED,
                    USAGE_QUALITY_ALLOCATED,
                    USAGE_QUALITY_ALLOCATED_WHILE_FAULTY,
                    UNRECOGNIZED -> Optional.empty();
        };
    }
}

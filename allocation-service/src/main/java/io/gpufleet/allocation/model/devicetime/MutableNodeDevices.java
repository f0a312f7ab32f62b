package io.gpufleet.allocation.model.devicetime;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Working copy of {@link NodeDevices} while one fact is folded. Times are of the node's clock. */
public final class MutableNodeDevices {
    private final Map<String, Instant> untrusted;
    private final List<GpuPresence> presences;
    private final List<Outage> outages;
    private final Map<String, String> migParents;
    private final long published;

    /** A copy. */
    public MutableNodeDevices(NodeDevices before) {
        this.untrusted = new TreeMap<>(before.untrusted());
        this.presences = new ArrayList<>(before.presences());
        this.outages = new ArrayList<>(before.outages());
        this.migParents = new TreeMap<>(before.migParents());
        this.published = before.published();
    }

    /** The devices after the fact. */
    public NodeDevices toNodeDevices() {
        return new NodeDevices(untrusted, presences, outages, migParents, published);
    }

    /** Append times since which GPUs are not trusted, by their UUIDs. */
    public Map<String, Instant> untrusted() {
        return untrusted;
    }

    /** True while the node has a GPU. */
    public boolean hasGpus() {
        return presences.stream().anyMatch(GpuPresence::lasts);
    }

    /** UUID of the physical GPU of a GPU or MIG device. */
    public String gpuOf(String deviceUuid) {
        return migParents.getOrDefault(deviceUuid, deviceUuid);
    }

    /**
     * The daemon listed the GPUs of the node.
     *
     * @param withdrawn UUIDs of those that it does not offer
     * @param complete false while a driver does not respond: a GPU that is not listed may be there
     */
    public void listed(Collection<GpuIdentity> gpus, Set<String> withdrawn, boolean complete, Instant at) {
        Set<String> uuids = new HashSet<>();
        gpus.forEach(gpu -> uuids.add(gpu.uuid()));
        if (complete) {
            endPresences(gone -> !uuids.contains(gone.gpu().uuid()), at, false);
        }
        for (GpuIdentity gpu : gpus) {
            begin(gpu, at);
        }
        Map<String, Instant> now = new TreeMap<>();
        withdrawn.forEach(uuid -> now.put(uuid, at));
        if (!complete) {
            presences.stream()
                    .filter(GpuPresence::lasts)
                    .forEach(one -> now.put(one.gpu().uuid(), at));
        }
        outages(OutageCause.WITHDRAWN, now, at);
    }

    /** GPUs of MIG devices became known, by the UUIDs of both. */
    public void announced(Map<String, String> parents) {
        migParents.putAll(parents);
    }

    private void begin(GpuIdentity gpu, Instant at) {
        Optional<GpuPresence> last = presences.stream()
                .filter(one -> one.gpu().uuid().equals(gpu.uuid()))
                .reduce((_, newest) -> newest);
        if (last.isEmpty() || !last.get().lasts()) {
            Instant before = last.map(GpuPresence::until).orElse(Instant.MIN);
            presences.add(GpuPresence.since(gpu, before.isAfter(at) ? before : at));
        }
    }

    /** Processes use devices without an allocation: these, and no others. */
    public void unallocated(Set<String> deviceUuids, Instant at) {
        Map<String, Instant> now = new TreeMap<>();
        deviceUuids.forEach(uuid -> now.put(uuid, at));
        outages(OutageCause.UNALLOCATED_USE, now, at);
    }

    /** GPUs that are not trusted, by when they lost trust; all others are trusted from {@code at} on. */
    public void untrusted(Map<String, Instant> since, Instant at) {
        outages(OutageCause.UNTRUSTED, since, at);
    }

    private void outages(OutageCause cause, Map<String, Instant> now, Instant at) {
        end(outage -> outage.cause() == cause && outage.lasts() && !now.containsKey(outage.deviceUuid()), at);
        now.forEach((uuid, from) -> {
            if (outages.stream()
                    .noneMatch(outage -> outage.cause() == cause
                            && outage.lasts()
                            && outage.deviceUuid().equals(uuid))) {
                outages.add(new Outage(uuid, cause, from, Instant.MAX));
            }
        });
    }

    /** The daemon is silent since its last word; the GPUs of a node whose Node object is deleted are gone with it. */
    public void silent(Instant lastWord, boolean gone) {
        outages(OutageCause.SILENT, Map.of(Outage.EVERY_GPU, lastWord), lastWord);
        if (gone) {
            endPresences(_ -> true, lastWord, true);
        }
    }

    /** The daemon was heard again: what went with it is back. An earlier time than the one known so far is taken. */
    public void heard(Instant at) {
        Optional<Outage> silence = outages.stream()
                .filter(outage -> outage.cause() == OutageCause.SILENT)
                .filter(outage -> at.isAfter(outage.from()) && at.isBefore(outage.to()))
                .findFirst();
        silence.ifPresent(outage -> {
            end(outage::equals, at);
            if (outage.lasts()) {
                List<GpuIdentity> back = presences.stream()
                        .filter(GpuPresence::lostWithNode)
                        .map(GpuPresence::gpu)
                        .toList();
                presences.replaceAll(one -> one.lasts() ? one : one.endedAt(one.until(), false));
                back.forEach(gpu -> begin(gpu, at));
            }
        });
    }

    /** The machine is gone, and its GPUs with it; {@code lost} when both are back as soon as its daemon is heard. */
    public void gone(Instant at, boolean lost) {
        endPresences(_ -> true, at, lost);
    }

    private void endPresences(Predicate<GpuPresence> which, Instant at, boolean withNode) {
        presences.replaceAll(one -> one.lasts() && which.test(one) ? one.endedAt(at, withNode) : one);
        presences.removeIf(one -> one.from().equals(one.until()));
    }

    private void end(Predicate<Outage> which, Instant at) {
        outages.replaceAll(outage -> which.test(outage) ? outage.endedAt(at) : outage);
        outages.removeIf(outage -> outage.from().equals(outage.to()));
    }
}

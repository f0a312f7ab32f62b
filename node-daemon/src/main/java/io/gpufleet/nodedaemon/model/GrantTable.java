package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.AllocationAnswer.Grant;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refusal;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refused;
import io.gpufleet.nodedaemon.model.Injection.Handle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The answers to Allocate for one list of devices, made when the list is put in force; a call only joins them. */
public final class GrantTable {
    private final boolean failGreaterThanOne;
    private final List<Injection> injections;
    private final Map<String, Entry> byId = new HashMap<>();

    /** A device with what it adds to a container, and why it can not be given although it is healthy. */
    private record Entry(int place, Offer offer, Handle handle, String trouble) {}

    GrantTable(Injections chosen, String resource, DeviceList list) {
        this.failGreaterThanOne = chosen.sharing().failGreaterThanOne();
        this.injections = chosen.of(resource);
        // Shares of one device add the same, and a fault waits until the table stands.
        var handles = new HashMap<String, Handle>();
        for (Offer offer : list.devices()) {
            Handle handle = handles.computeIfAbsent(offer.deviceUuid(), _ -> chosen.handle(offer));
            byId.put(offer.id(), new Entry(byId.size(), offer, handle, chosen.trouble(offer)));
        }
    }

    /** What each container needs, or why the whole call fails: one bad container request fails all. */
    public AllocationAnswer answer(List<List<String>> containers) {
        if (containers.isEmpty()) {
            return new Refused(Refusal.INVALID_ARGUMENT, "no container request; ask for at least one device");
        }
        var grants = new ArrayList<Grant>();
        var taken = new HashSet<String>();
        for (List<String> ids : containers) {
            Optional<Refused> refused = refusal(ids, taken).or(() -> troubled(ids));
            if (refused.isPresent()) {
                return refused.get();
            }
            grants.add(grant(ids));
        }
        return new AllocationAnswer.Granted(grants);
    }

    /** Why these ids can not be given to one container; empty when they can. */
    public Optional<Refused> refusal(List<String> ids, Set<String> taken) {
        if (ids.isEmpty()) {
            return Optional.of(
                    new Refused(Refusal.INVALID_ARGUMENT, "no device id in the request; ask for at least one device"));
        }
        for (String id : ids) {
            Entry entry = byId.get(id);
            if (entry == null) {
                return Optional.of(new Refused(
                        Refusal.INVALID_ARGUMENT,
                        "unknown device '" + shown(id) + "': this node does not offer it; the kubelet's list is older"
                                + " than ours, delete the pod so that it is scheduled again"));
            }
            if (!taken.add(id)) {
                return Optional.of(new Refused(
                        Refusal.INVALID_ARGUMENT, "device '" + id + "' is asked for twice; name each device once"));
            }
            if (!entry.offer().healthy()) {
                return Optional.of(new Refused(
                        Refusal.FAILED_PRECONDITION,
                        "device '" + id + "' is unhealthy (" + entry.offer().reason()
                                + "); delete the pod so that it gets another device, see this node's /metrics"));
            }
            if (failGreaterThanOne && entry.offer().replicas() > 1 && ids.size() > 1) {
                return Optional.of(new Refused(
                        Refusal.INVALID_ARGUMENT,
                        "invalid allocation request for '" + entry.offer().resource()
                                + "': maximum request size for shared resources is 1; found " + ids.size()
                                + "; two shares are no more than one, ask for 1"));
            }
        }
        return Optional.empty();
    }

    private Optional<Refused> troubled(List<String> ids) {
        return ids.stream()
                .map(byId::get)
                .filter(entry -> !entry.trouble().isEmpty())
                .findFirst()
                .map(entry -> new Refused(
                        Refusal.FAILED_PRECONDITION,
                        "device '" + entry.offer().id() + "' can not be handed out: " + entry.trouble()));
    }

    private Grant grant(List<String> ids) {
        var handles = new LinkedHashMap<String, Handle>();
        ids.stream()
                .map(byId::get)
                .sorted(Comparator.comparingInt(Entry::place))
                .forEach(entry -> handles.putIfAbsent(entry.handle().name(), entry.handle()));
        var draft = new GrantDraft();
        var devices = List.copyOf(handles.values());
        injections.forEach(injection -> injection.into(draft, devices));
        return draft.done();
    }

    private static String shown(String untrusted) {
        return untrusted.length() <= 80 ? untrusted : untrusted.substring(0, 80) + "…";
    }
}

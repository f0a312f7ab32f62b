package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Pick;
import io.gpufleet.nodedaemon.model.settings.SharePlan.SharedResource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Makes shares of the devices that are to be shared; says what of the plan for it can not be done. */
final class Sharing {
    private final SharePlan plan;
    private final List<PlannedDevice> unshared;
    private final List<String> complaints;

    Sharing(SharePlan plan, List<PlannedDevice> unshared, List<String> complaints) {
        this.plan = plan;
        this.unshared = unshared;
        this.complaints = complaints;
    }

    List<PlannedDevice> devices() {
        if (plan.means() == Means.NONE) {
            return unshared;
        }
        plan.resources().forEach(this::complain);
        return unshared.stream()
                .flatMap(device ->
                        shareOf(device).map(share -> shares(device, share)).orElseGet(() -> Stream.of(device)))
                .toList();
    }

    /** The last entry that picks the device, so that a list of exceptions may follow a rule for all. */
    private Optional<SharedResource> shareOf(PlannedDevice device) {
        boolean canNot = plan.means() == Means.MPS && device.part() instanceof Part.Slice;
        return plan.resources().stream()
                .filter(_ -> !canNot)
                .filter(share -> share.resource().equals(device.resource()))
                .filter(share -> picks(share.devices(), device))
                .reduce((_, last) -> last);
    }

    private boolean picks(Pick pick, PlannedDevice device) {
        return switch (pick) {
            case Pick.All _ -> true;
            case Pick.First(int count) -> of(device.resource()).indexOf(device) < count;
            case Pick.Listed(Set<String> names) -> names.contains(device.id()) || names.contains(indexName(device));
        };
    }

    private List<PlannedDevice> of(String resource) {
        return unshared.stream()
                .filter(device -> device.resource().equals(resource))
                .toList();
    }

    private static String indexName(PlannedDevice device) {
        int gpu = device.known().gpu().index();
        return switch (device.part()) {
            case Part.Whole _ -> Integer.toString(gpu);
            case Part.Slice(MigInstance instance) -> gpu + ":" + instance.index();
        };
    }

    /** A list may name what other nodes have, but not on a node that has none of it; that is a mistake. */
    private void complain(SharedResource share) {
        List<PlannedDevice> all = of(share.resource());
        switch (share.devices()) {
            case Pick.All _ -> {}
            case Pick.First(int count) when all.isEmpty() || count <= all.size() -> {}
            case Pick.First(int count) ->
                complaints.add("sharing of the first " + count + " devices of " + share.resource() + ": the node has "
                        + all.size() + "; all of them are shared");
            case Pick.Listed(Set<String> names) ->
                names.stream()
                        .sorted()
                        .filter(name -> !all.isEmpty()
                                && all.stream()
                                        .noneMatch(device -> device.id().equals(name)
                                                || indexName(device).equals(name)))
                        .forEach(name -> complaints.add("sharing of " + share.resource() + ": the node has no device '"
                                + name + "'; name devices by index or UUID"));
        }
        if (plan.means() == Means.MPS && all.stream().anyMatch(device -> device.part() instanceof Part.Slice)) {
            complaints.add("sharing of " + share.resource()
                    + " by MPS: MPS works on whole GPUs only, MIG instances are not shared; use timeSlicing");
        }
    }

    private Stream<PlannedDevice> shares(PlannedDevice device, SharedResource share) {
        String resource = !share.rename().isEmpty()
                ? share.rename()
                : device.resource() + (plan.renameByDefault() ? ".shared" : "");
        return IntStream.range(0, share.replicas())
                .mapToObj(n -> new PlannedDevice(
                        device.id() + "::" + n, device.known(), device.part(), resource, share.replicas()));
    }
}

package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Makes replicas of the devices to share; warns about entries of the sharing plan that cannot be applied. */
final class DeviceReplicator {
    private final SharingSettings plan;
    private final List<PlannedDevice> unshared;
    private final List<String> warnings;

    DeviceReplicator(SharingSettings plan, List<PlannedDevice> unshared, List<String> warnings) {
        this.plan = plan;
        this.unshared = unshared;
        this.warnings = warnings;
    }

    List<PlannedDevice> replicate() {
        if (plan.mode() == SharingMode.NONE) {
            return unshared;
        }
        plan.resources().forEach(this::warn);
        return unshared.stream()
                .flatMap(device -> sharedResource(device)
                        .map(share -> replicas(device, share))
                        .orElseGet(() -> Stream.of(device)))
                .toList();
    }

    /** Returns the last entry that selects the device, so that exceptions may follow a rule for all. */
    private Optional<SharedResource> sharedResource(PlannedDevice device) {
        boolean unsupported = plan.mode() == SharingMode.MPS && device.partition() instanceof GpuPartition.Mig;
        return plan.resources().stream()
                .filter(_ -> !unsupported)
                .filter(share -> share.resource().equals(device.resource()))
                .filter(share -> matches(share.devices(), device))
                .reduce((_, last) -> last);
    }

    private boolean matches(DeviceSelector pick, PlannedDevice device) {
        return switch (pick) {
            case DeviceSelector.All _ -> true;
            case DeviceSelector.First(int count) -> of(device.resource()).indexOf(device) < count;
            case DeviceSelector.Listed(Set<String> names) ->
                names.contains(device.id()) || names.contains(indexName(device));
        };
    }

    private List<PlannedDevice> of(String resource) {
        return unshared.stream()
                .filter(device -> device.resource().equals(resource))
                .toList();
    }

    private static String indexName(PlannedDevice device) {
        int gpu = device.known().gpu().index();
        return switch (device.partition()) {
            case GpuPartition.FullGpu _ -> Integer.toString(gpu);
            case GpuPartition.Mig(MigInstance instance) -> gpu + ":" + instance.index();
        };
    }

    /** Warns about entries that name devices which a node with this resource does not have. */
    private void warn(SharedResource share) {
        List<PlannedDevice> all = of(share.resource());
        switch (share.devices()) {
            case DeviceSelector.All _ -> {}
            case DeviceSelector.First(int count) when all.isEmpty() || count <= all.size() -> {}
            case DeviceSelector.First(int count) ->
                warnings.add("sharing of the first " + count + " devices of " + share.resource() + ": the node has "
                        + all.size() + "; all of them are shared");
            case DeviceSelector.Listed(Set<String> names) ->
                names.stream()
                        .sorted()
                        .filter(name -> !all.isEmpty()
                                && all.stream()
                                        .noneMatch(device -> device.id().equals(name)
                                                || indexName(device).equals(name)))
                        .forEach(name -> warnings.add("sharing of " + share.resource() + ": the node has no device '"
                                + name + "'; name devices by index or UUID"));
        }
        if (plan.mode() == SharingMode.MPS
                && all.stream().anyMatch(device -> device.partition() instanceof GpuPartition.Mig)) {
            warnings.add("sharing of " + share.resource()
                    + " by MPS: MPS works on whole GPUs only, MIG instances are not shared; use timeSlicing");
        }
    }

    private Stream<PlannedDevice> replicas(PlannedDevice device, SharedResource share) {
        String resource = !share.rename().isEmpty()
                ? share.rename()
                : device.resource() + (plan.renameByDefault() ? ".shared" : "");
        return IntStream.range(0, share.replicas())
                .mapToObj(n -> new PlannedDevice(
                        device.id() + "::" + n, device.known(), device.partition(), resource, share.replicas()));
    }
}

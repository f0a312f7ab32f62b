package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Completes the announcement of a node whose driver does not respond: what only the driver knows stays as last announced.
 * An upgrade or a hold of the driver says nothing about the hardware, and must not remove a label that pods select.
 */
final class RetainedDriverValues {
    private RetainedDriverValues() {}

    /** The announcement, completed from the one before; as it is where the driver responds. */
    static Announcement completed(Announcement announced, Announcement before) {
        if (announced.driver().state() == Announcement.DriverState.READY) {
            return announced;
        }
        Map<String, Gpu> known =
                before.gpus().stream().collect(Collectors.toMap(Gpu::uuid, Function.identity(), (first, _) -> first));
        List<Gpu> gpus = announced.gpus().stream()
                .map(gpu -> completed(gpu, known.getOrDefault(gpu.uuid(), gpu)))
                .toList();
        return new Announcement(
                announced.system(),
                announced.daemon(),
                completed(announced.driver(), before.driver()),
                gpus,
                announced.resources(),
                announced.companions(),
                announced.migStrategy(),
                announced.metadata());
    }

    private static Announcement.Driver completed(Announcement.Driver driver, Announcement.Driver before) {
        return new Announcement.Driver(
                driver.state(),
                text(driver.version(), before.version()),
                text(driver.cudaVersion(), before.cudaVersion()));
    }

    private static Gpu completed(Gpu gpu, Gpu before) {
        // A GPU without a resource is not advertised now, and says nothing of how it is shared.
        boolean advertised = !gpu.resource().isEmpty()
                || gpu.migInstances().stream()
                        .anyMatch(instance -> !instance.resource().isEmpty());
        return new Gpu(
                completed(gpu.id(), before.id()),
                completed(gpu.product(), before.product()),
                completed(gpu.topology(), before.topology()),
                gpu.mig().mode() == Gpu.MigMode.NONE ? before.mig() : gpu.mig(),
                advertised ? gpu.resource() : before.resource(),
                advertised ? gpu.sharing() : before.sharing(),
                gpu.localHealth(),
                gpu.vgpuHost().equals(Gpu.VgpuHost.NONE) ? before.vgpuHost() : gpu.vgpuHost());
    }

    private static Gpu.Identifiers completed(Gpu.Identifiers id, Gpu.Identifiers before) {
        return new Gpu.Identifiers(
                id.uuid(),
                text(id.serial(), before.serial()),
                id.index(),
                id.minor(),
                text(id.pciBusId(), before.pciBusId()),
                text(id.vbiosVersion(), before.vbiosVersion()));
    }

    private static Gpu.Product completed(Gpu.Product product, Gpu.Product before) {
        return new Gpu.Product(
                text(product.model(), before.model()),
                text(product.shortModel(), before.shortModel()),
                text(product.family(), before.family()),
                text(product.computeCapability(), before.computeCapability()),
                text(product.mode(), before.mode()),
                product.memoryBytes() == 0 ? before.memoryBytes() : product.memoryBytes());
    }

    private static Gpu.Topology completed(Gpu.Topology topology, Gpu.Topology before) {
        return new Gpu.Topology(
                topology.numaNode() == null ? before.numaNode() : topology.numaNode(),
                topology.nvlinkPeers().isEmpty() ? before.nvlinkPeers() : topology.nvlinkPeers(),
                text(topology.fabricClique(), before.fabricClique()));
    }

    private static String text(String answered, String before) {
        return answered.isEmpty() ? before : answered;
    }
}

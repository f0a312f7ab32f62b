package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.app.device.PciDevices;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import java.nio.ByteBuffer;
import java.util.List;

/** Reads identity and properties of a GPU. */
public record GpuReader(Nvml nvml, PciDevices pci) {
    /** Reads everything; fails only where the identity cannot be read. */
    public Gpu read(int index, Nvml.Handle device) throws NvmlFailure {
        String uuid = nvml.uuid(device);
        String name = nvml.name(device);
        String busId = busId(device);
        int[] major = new int[1];
        int[] minor = new int[1];
        int capability =
                Nvml.code(() -> nvml.library().nvmlDeviceGetCudaComputeCapability(device.address(), major, minor));
        boolean capable = capability == NvmlConstants.SUCCESS;
        return new Gpu(
                new Gpu.Identifiers(
                        uuid,
                        Nvml.text(text -> nvml.library().nvmlDeviceGetSerial(device.address(), text, text.length)),
                        index,
                        // Boards without a node below /dev have no minor number; other tools use the index then.
                        Nvml.number(out -> nvml.library().nvmlDeviceGetMinorNumber(device.address(), out))
                                .orElse(index),
                        busId,
                        Nvml.text(
                                text -> nvml.library().nvmlDeviceGetVbiosVersion(device.address(), text, text.length))),
                new Gpu.Product(
                        name,
                        GpuModelNames.shortName(name),
                        capable ? GpuModelNames.family(major[0], minor[0]) : "undefined",
                        capable ? GpuModelNames.capability(major[0], minor[0]) : "",
                        pci.mode(busId)),
                new GpuMemoryReader(nvml).read(device).total(),
                new Gpu.Topology(
                        pci.numaNode(busId),
                        new NvLinkReader(nvml).peers(device),
                        new FabricReader(nvml).clique(device),
                        pci.route(busId)),
                new Gpu.Mig(migEnabled(device), List.of()),
                pci.vgpuHost(busId));
    }

    /** Reads again what may change while the driver stays loaded. */
    public Gpu refresh(Gpu gpu, Nvml.Handle device) {
        Reading<Boolean> mig = migEnabled(device);
        return withFabric(gpu, device)
                .withMig(mig instanceof Known ? mig : gpu.mig().enabled(), gpu.instances());
    }

    /** A fabric comes up after the driver: links and clique are added then, and not removed when a link fails. */
    private Gpu withFabric(Gpu gpu, Nvml.Handle device) {
        List<Gpu.NvLinkPeer> links = new NvLinkReader(nvml).peers(device);
        Reading<String> clique = gpu.topology().fabricClique() instanceof Known
                ? gpu.topology().fabricClique()
                : new FabricReader(nvml).clique(device);
        Reading<Long> memory = gpu.memoryBytes() instanceof Known
                ? gpu.memoryBytes()
                : new GpuMemoryReader(nvml).read(device).total();
        return gpu.withLateReadings(
                count(links) > count(gpu.topology().links())
                        ? links
                        : gpu.topology().links(),
                clique,
                memory);
    }

    private static int count(List<Gpu.NvLinkPeer> links) {
        return links.stream().mapToInt(Gpu.NvLinkPeer::count).sum();
    }

    private String busId(Nvml.Handle device) throws NvmlFailure {
        ByteBuffer info = Nvml.struct(NvmlLayout.PCI_SIZE);
        Nvml.check(
                "nvmlDeviceGetPciInfo",
                Nvml.code(
                        () -> nvml.library().nvmlDeviceGetPciInfo_v3(device.address(), info),
                        () -> nvml.library().nvmlDeviceGetPciInfo(device.address(), info)));
        return Nvml.busId(info);
    }

    private Reading<Boolean> migEnabled(Nvml.Handle device) {
        int[] pending = new int[1];
        return Nvml.number(mode -> nvml.library().nvmlDeviceGetMigMode(device.address(), mode, pending))
                .map(mode -> mode == 1);
    }
}

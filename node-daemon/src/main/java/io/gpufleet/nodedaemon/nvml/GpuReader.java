package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.util.List;

/** Reads what a GPU is. */
record GpuReader(Nvml nvml, PciFiles pci) {
    /** Everything; fails only where identity can not be read. */
    Gpu read(int index, Nvml.Handle device) throws NvmlFailure {
        NvmlLibrary library = nvml.library();
        String uuid = nvml.uuid(device);
        String name = nvml.name(device);
        String busId = busId(device);
        int[] major = new int[1];
        int[] minor = new int[1];
        int capability = Nvml.code(() -> library.nvmlDeviceGetCudaComputeCapability(device.address(), major, minor));
        boolean capable = capability == NvmlConstants.SUCCESS;
        return new Gpu(
                uuid,
                Nvml.text(text -> library.nvmlDeviceGetSerial(device.address(), text, text.length)),
                index,
                // Boards without a node below /dev have no minor number; the index is what others use then.
                Nvml.number(out -> library.nvmlDeviceGetMinorNumber(device.address(), out))
                        .orElse(index),
                busId,
                name,
                ModelNames.shortName(name),
                capable ? ModelNames.family(major[0], minor[0]) : "undefined",
                capable ? ModelNames.capability(major[0], minor[0]) : "",
                new MemoryReader(nvml).read(device).total(),
                Nvml.text(text -> library.nvmlDeviceGetVbiosVersion(device.address(), text, text.length)),
                pci.numaNode(busId),
                migEnabled(device),
                new NvLinks(nvml).ends(device),
                new FabricReader(nvml).clique(device),
                pci.mode(busId),
                List.of(),
                pci.route(busId),
                pci.vgpuHost(busId));
    }

    /** The same GPU with what may change while the driver stays loaded. */
    Gpu refresh(Gpu gpu, Nvml.Handle device) {
        Reading<Boolean> mig = migEnabled(device);
        return learnt(gpu, device).partitioned(mig instanceof Known ? mig : gpu.migEnabled(), gpu.instances());
    }

    /** A fabric comes up after the driver: links and clique are learnt then, and not unlearnt when a link fails. */
    private Gpu learnt(Gpu gpu, Nvml.Handle device) {
        List<Gpu.Link> links = new NvLinks(nvml).ends(device);
        Reading<String> clique =
                gpu.fabricClique() instanceof Known ? gpu.fabricClique() : new FabricReader(nvml).clique(device);
        Reading<Long> memory = gpu.memoryBytes() instanceof Known
                ? gpu.memoryBytes()
                : new MemoryReader(nvml).read(device).total();
        return gpu.learnt(count(links) > count(gpu.links()) ? links : gpu.links(), clique, memory);
    }

    private static int count(List<Gpu.Link> links) {
        return links.stream().mapToInt(Gpu.Link::count).sum();
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

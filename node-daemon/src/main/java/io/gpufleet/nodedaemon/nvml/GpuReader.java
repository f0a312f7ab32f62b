package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Reads what a GPU is. */
record GpuReader(Nvml nvml, PciFiles pci) {
    private static final String TO_SWITCH = "";

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
                memory(device, NvmlLayout.MEMORY_TOTAL, NvmlLayout.MEMORY_V2_TOTAL),
                Nvml.text(text -> library.nvmlDeviceGetVbiosVersion(device.address(), text, text.length)),
                pci.numaNode(busId),
                migEnabled(device),
                links(device),
                fabricClique(device),
                pci.mode(busId),
                List.of(),
                new Reading.Unavailable<>("not read"));
    }

    /** The same GPU with what may change while the driver stays loaded. */
    Gpu refresh(Gpu gpu, Nvml.Handle device) {
        Reading<Boolean> mig = migEnabled(device);
        if (mig.equals(gpu.migEnabled())) {
            return gpu;
        }
        return new Gpu(
                gpu.uuid(),
                gpu.serial(),
                gpu.index(),
                gpu.minor(),
                gpu.pciBusId(),
                gpu.model(),
                gpu.shortModel(),
                gpu.family(),
                gpu.computeCapability(),
                gpu.memoryBytes(),
                gpu.vbiosVersion(),
                gpu.numaNode(),
                mig,
                gpu.links(),
                gpu.fabricClique(),
                gpu.mode(),
                List.of(),
                new Reading.Unavailable<>("not read"));
    }

    /** Version 2 keeps what the driver reserves apart from what is used; older drivers know only version 1. */
    Reading<Long> memory(Nvml.Handle device, int offset, int offsetInVersion2) {
        ByteBuffer second = Nvml.struct(NvmlLayout.MEMORY_V2_SIZE)
                .putInt(NvmlLayout.MEMORY_V2_VERSION, NvmlLayout.version(NvmlLayout.MEMORY_V2_SIZE, 2));
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetMemoryInfo_v2(device.address(), second));
        if (code == NvmlConstants.SUCCESS) {
            return new Known<>(second.getLong(offsetInVersion2));
        }
        ByteBuffer first = Nvml.struct(NvmlLayout.MEMORY_SIZE);
        return Nvml.reading(
                Nvml.code(() -> nvml.library().nvmlDeviceGetMemoryInfo(device.address(), first)),
                () -> first.getLong(offset));
    }

    private String busId(Nvml.Handle device) throws NvmlFailure {
        ByteBuffer info = Nvml.struct(NvmlLayout.PCI_SIZE);
        Nvml.check(
                "nvmlDeviceGetPciInfo",
                Nvml.code(
                        () -> nvml.library().nvmlDeviceGetPciInfo_v3(device.address(), info),
                        () -> nvml.library().nvmlDeviceGetPciInfo(device.address(), info)));
        return busId(info);
    }

    private static String busId(ByteBuffer info) {
        byte[] text = new byte[NvmlLayout.PCI_BUS_ID_LENGTH];
        info.get(NvmlLayout.PCI_BUS_ID, text);
        String busId = Nvml.string(text);
        return busId.isEmpty()
                ? String.format(
                        Locale.ROOT,
                        "%08X:%02X:%02X.0",
                        info.getInt(NvmlLayout.PCI_DOMAIN),
                        info.getInt(NvmlLayout.PCI_BUS),
                        info.getInt(NvmlLayout.PCI_DEVICE))
                : busId.toUpperCase(Locale.ROOT);
    }

    private Reading<Boolean> migEnabled(Nvml.Handle device) {
        int[] pending = new int[1];
        return Nvml.number(mode -> nvml.library().nvmlDeviceGetMigMode(device.address(), mode, pending))
                .map(mode -> mode == 1);
    }

    private List<Gpu.Link> links(Nvml.Handle device) {
        Map<String, Integer> byPeer = new TreeMap<>();
        for (int i = 0; i < NvmlConstants.NVLINK_MAX_LINKS; i++) {
            int link = i;
            Reading<Integer> active =
                    Nvml.number(out -> nvml.library().nvmlDeviceGetNvLinkState(device.address(), link, out));
            if (active instanceof Unavailable) {
                // Links are numbered without gaps; a GPU without NVLink refuses the first one.
                break;
            }
            if (active.orElse(0) == 1) {
                peer(device, link).asOptional().ifPresent(peer -> byPeer.merge(peer, 1, Integer::sum));
            }
        }
        List<Gpu.Link> links = new ArrayList<>();
        byPeer.forEach((peer, count) -> links.add(new Gpu.Link(peer, count, peer.equals(TO_SWITCH))));
        return links;
    }

    private Reading<String> peer(Nvml.Handle device, int link) {
        Reading<Integer> type =
                Nvml.number(out -> nvml.library().nvmlDeviceGetNvLinkRemoteDeviceType(device.address(), link, out));
        if (type.orElse(0) == NvmlConstants.NVLINK_REMOTE_SWITCH) {
            return new Known<>(TO_SWITCH);
        }
        ByteBuffer info = Nvml.struct(NvmlLayout.PCI_SIZE);
        return Nvml.reading(
                Nvml.code(
                        () -> nvml.library().nvmlDeviceGetNvLinkRemotePciInfo_v2(device.address(), link, info),
                        () -> nvml.library().nvmlDeviceGetNvLinkRemotePciInfo(device.address(), link, info)),
                () -> busId(info));
    }

    private Reading<String> fabricClique(Nvml.Handle device) {
        ByteBuffer info = Nvml.struct(NvmlLayout.FABRIC_SIZE)
                .putInt(NvmlLayout.FABRIC_VERSION, NvmlLayout.version(NvmlLayout.FABRIC_SIZE, 2));
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetGpuFabricInfoV(device.address(), info));
        if (code != NvmlConstants.SUCCESS) {
            return new Unavailable<>(ReturnCode.name(code));
        }
        int status = info.getInt(NvmlLayout.FABRIC_STATUS);
        if (info.get(NvmlLayout.FABRIC_STATE) != NvmlConstants.FABRIC_STATE_COMPLETED || status != 0) {
            return new Unavailable<>("the fabric is not up, state " + info.get(NvmlLayout.FABRIC_STATE) + ", status "
                    + ReturnCode.name(status));
        }
        // The sixteen bytes are in the order in which a UUID is written, whatever the machine's own order.
        ByteBuffer written = info.duplicate().order(ByteOrder.BIG_ENDIAN);
        UUID cluster =
                new UUID(written.getLong(NvmlLayout.FABRIC_CLUSTER), written.getLong(NvmlLayout.FABRIC_CLUSTER + 8));
        return cluster.equals(new UUID(0, 0))
                ? new Unavailable<>("not attached to a fabric of several nodes")
                : new Known<>(cluster + "." + Integer.toUnsignedString(info.getInt(NvmlLayout.FABRIC_CLIQUE)));
    }
}

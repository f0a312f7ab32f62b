package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import java.util.List;

/** PCI devices as the kernel shows them; a bus id is written as NVML writes it. */
public interface PciDevices {
    /** NUMA node of the device. */
    Reading<Integer> numaNode(String busId);

    /** {@code compute} for a 3D controller, {@code graphics} for a VGA controller. */
    Reading<String> mode(String busId);

    /** Addresses of all NVIDIA graphics devices, bound to a driver or not. */
    Reading<List<String>> gpuAddresses();

    /** Those of {@link #gpuAddresses()} that are bound to NVIDIA's driver, without the virtual functions of another one. */
    Reading<List<String>> boundGpuAddresses();

    /** PCI bridges above the device, from its root down; the root is its domain and bus. */
    Reading<List<String>> route(String busId);

    /** Driver of the host, for a virtual GPU. */
    Reading<VgpuHost> vgpuHost(String busId);
}

package io.gpufleet.nodedaemon.model.device;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The result of one enumeration of the node's devices. */
public sealed interface DeviceScan {
    /**
     * The driver responded.
     *
     * @param driverVersion for example {@code 550.54.15}
     * @param cudaVersion {@code major.minor}; empty when unknown
     * @param gpus GPUs that respond, by index
     * @param lost GPUs that the driver lists but that do not respond
     * @param pciDevices PCI addresses of all NVIDIA graphics devices that the kernel lists, bound to a driver or not
     */
    record ScanSucceeded(
            String driverVersion,
            String cudaVersion,
            List<Gpu> gpus,
            List<LostGpu> lost,
            Reading<List<String>> pciDevices)
            implements DeviceScan {
        /** Copies the lists. */
        public ScanSucceeded {
            gpus = List.copyOf(gpus);
            lost = List.copyOf(lost);
            pciDevices = pciDevices.map(List::copyOf);
        }

        /** Makes the result of a scan that did not read the PCI devices. */
        public ScanSucceeded(String driverVersion, String cudaVersion, List<Gpu> gpus, List<LostGpu> lost) {
            this(driverVersion, cudaVersion, gpus, lost, new Reading.Unavailable<>("not read"));
        }

        /**
         * Whether the kernel no longer lists the GPU. False unless the kernel lists every GPU that responds (or, without any, listed
         * this one before): otherwise its list is incomplete.
         */
        boolean isMissingFromPciBus(Gpu gpu) {
            return isMissingFromPciBus(gpu.pciBusId(), gpu.topology().pciRoute() instanceof Reading.Known);
        }

        /** The same of a GPU that is known by its address only, and whether the kernel listed it before. */
        boolean isMissingFromPciBus(String busId, boolean listedBefore) {
            Set<PciAddress> present = pciDevices.orElse(List.of()).stream()
                    .flatMap(address -> PciAddress.parse(address).stream())
                    .map(PciAddress::withoutFunction)
                    .collect(Collectors.toSet());
            boolean complete = gpus.isEmpty()
                    ? listedBefore
                    : gpus.stream().allMatch(answering -> isAmong(answering.pciBusId(), present));
            return pciDevices instanceof Reading.Known && complete && !isAmong(busId, present);
        }

        private static boolean isAmong(String busId, Set<PciAddress> addresses) {
            Optional<PciAddress> address = PciAddress.parse(busId).map(PciAddress::withoutFunction);
            return address.isPresent() && addresses.contains(address.get());
        }
    }

    /** The devices could not be read; this changes neither their presence nor their health. */
    record ScanFailed(DriverProblem problem, String reason) implements DeviceScan {}

    /** Why the driver cannot be queried. */
    enum DriverProblem {
        /** No libnvidia-ml.so.1 below the driver root. */
        LIBRARY_ABSENT,
        /** The library reports that no driver is loaded. */
        NOT_LOADED,
        /** Library and kernel driver have different versions. */
        VERSION_MISMATCH,
        /** NVML was released on request. */
        HELD,
        /** Another error. */
        FAILED
    }

    /**
     * A GPU that does not respond.
     *
     * @param index NVML index
     * @param pciBusId empty when unknown
     * @param reason NVML's return code, for example {@code GPU_IS_LOST}
     */
    record LostGpu(int index, String pciBusId, String reason) {}
}

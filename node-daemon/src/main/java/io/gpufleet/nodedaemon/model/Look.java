package io.gpufleet.nodedaemon.model;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** One look at the node's devices. */
public sealed interface Look {
    /**
     * The driver answered.
     *
     * @param driverVersion for example {@code 550.54.15}
     * @param cudaVersion {@code major.minor}; empty when unknown
     * @param gpus GPUs that answer, by index
     * @param lost places where a GPU is but does not answer
     * @param onTheBus PCI addresses of all NVIDIA graphics devices that the kernel has, whether the driver has them or not
     */
    record Seen(
            String driverVersion,
            String cudaVersion,
            List<Gpu> gpus,
            List<LostGpu> lost,
            Reading<List<String>> onTheBus)
            implements Look {
        /** Copies the lists. */
        public Seen {
            gpus = List.copyOf(gpus);
            lost = List.copyOf(lost);
            onTheBus = onTheBus.map(List::copyOf);
        }

        /** A look of which only the driver was asked. */
        public Seen(String driverVersion, String cudaVersion, List<Gpu> gpus, List<LostGpu> lost) {
            this(driverVersion, cudaVersion, gpus, lost, new Reading.Unavailable<>("not asked"));
        }

        /** Whether the kernel has no such device any more; a kernel that never showed it, or not what answers, proves nothing. */
        boolean isOffTheBus(Gpu gpu) {
            Set<PciPlace> there = onTheBus.orElse(List.of()).stream()
                    .flatMap(address -> PciPlace.parse(address).stream())
                    .collect(Collectors.toSet());
            boolean shows = gpus.isEmpty()
                    ? gpu.pciRoute() instanceof Reading.Known
                    : gpus.stream().allMatch(answers -> isAt(answers, there));
            return onTheBus instanceof Reading.Known && shows && !isAt(gpu, there);
        }

        private static boolean isAt(Gpu gpu, Set<PciPlace> places) {
            Optional<PciPlace> place = PciPlace.parse(gpu.pciBusId());
            return place.isPresent() && places.contains(place.get());
        }
    }

    /** Nothing could be seen; what was there before is neither gone nor well. */
    record Blind(DriverTrouble trouble, String reason) implements Look {}

    /** Why the driver can not be asked. */
    enum DriverTrouble {
        /** No libnvidia-ml.so.1 below the driver root. */
        LIBRARY_ABSENT,
        /** The library says that no driver is loaded. */
        NOT_LOADED,
        /** Library and kernel driver have different versions. */
        VERSION_MISMATCH,
        /** NVML was let go on request. */
        HELD,
        /** Another error. */
        FAILED
    }

    /**
     * A GPU that does not answer.
     *
     * @param index NVML index
     * @param pciBusId where known; else empty
     * @param reason what NVML said, for example {@code GPU_IS_LOST}
     */
    record LostGpu(int index, String pciBusId, String reason) {}
}

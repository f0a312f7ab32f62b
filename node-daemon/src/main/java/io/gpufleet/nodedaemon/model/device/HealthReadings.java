package io.gpufleet.nodedaemon.model.device;

/**
 * Readings of one GPU that the fault rules judge; each may be unavailable by itself.
 *
 * @param uncorrectableErrors uncorrectable memory errors since the driver was loaded
 * @param retirementPending pages wait for retirement, done at the next reset
 * @param infoRomValid the InfoROM checksum is valid
 * @param fabric state of the NVLink fabric
 * @param powerReadable whether the power draw can be read; unavailable for a board without a sensor
 */
public record HealthReadings(
        Reading<Long> uncorrectableErrors,
        RowRemapping rowRemapping,
        Reading<Boolean> retirementPending,
        PcieLink pcie,
        Nvlink nvlink,
        Reading<Boolean> infoRomValid,
        Reading<FabricState> fabric,
        Reading<Boolean> powerReadable) {
    /**
     * Row remapping (nvmlDeviceGetRemappedRows).
     *
     * @param pending rows wait for a remap, done at the next reset
     * @param failed a row could not be remapped
     */
    public record RowRemapping(Reading<Boolean> pending, Reading<Boolean> failed) {
        static RowRemapping unavailable(String reason) {
            return new RowRemapping(new Reading.Unavailable<>(reason), new Reading.Unavailable<>(reason));
        }
    }

    /**
     * PCIe link (nvmlDeviceGetCurrPcieLinkGeneration, nvmlDeviceGetMaxPcieLinkGeneration and the same of its width).
     *
     * @param generation now
     * @param maxGeneration that GPU and slot support
     * @param width lanes now
     * @param maxWidth that GPU and slot support
     */
    public record PcieLink(
            Reading<Integer> generation,
            Reading<Integer> maxGeneration,
            Reading<Integer> width,
            Reading<Integer> maxWidth) {
        static PcieLink unavailable(String reason) {
            return new PcieLink(
                    new Reading.Unavailable<>(reason),
                    new Reading.Unavailable<>(reason),
                    new Reading.Unavailable<>(reason),
                    new Reading.Unavailable<>(reason));
        }
    }

    /**
     * All NVLinks of the GPU.
     *
     * @param linksDown links that should be up and are not
     * @param errors replays and recoveries since the driver was loaded
     * @param crcErrors packets with errors since the driver was loaded
     */
    public record Nvlink(Reading<Integer> linksDown, Reading<Long> errors, Reading<Long> crcErrors) {
        static Nvlink unavailable(String reason) {
            return new Nvlink(
                    new Reading.Unavailable<>(reason),
                    new Reading.Unavailable<>(reason),
                    new Reading.Unavailable<>(reason));
        }
    }

    /** State of the NVLink fabric: NVML's states 1 to 3, and of a registered GPU the worst that its health mask says. */
    public enum FabricState {
        /** Registration with the fabric has not started. */
        NOT_STARTED,
        /** Registration is in progress. */
        IN_PROGRESS,
        /** Registration succeeded. */
        UP,
        /** Registration failed. */
        FAILED,
        /** Registered, and the fabric works on a route or an access that timed out. */
        RECOVERING,
        /** Registered, with less bandwidth than the links have. */
        BANDWIDTH_DEGRADED,
        /** Registered, and a route does not work until the GPU is reset. */
        ROUTE_UNHEALTHY,
        /** Registered, and not in the chassis, partition or number of links that the fabric manager expects. */
        MISCONFIGURED;

        /** Whether the registration succeeded, so that links should be up. */
        public boolean isRegistered() {
            return switch (this) {
                case UP, RECOVERING, BANDWIDTH_DEGRADED, ROUTE_UNHEALTHY, MISCONFIGURED -> true;
                case NOT_STARTED, IN_PROGRESS, FAILED -> false;
            };
        }
    }

    /** Returns readings that are all unavailable for one reason. */
    public static HealthReadings unavailable(String reason) {
        return new HealthReadings(
                new Reading.Unavailable<>(reason),
                RowRemapping.unavailable(reason),
                new Reading.Unavailable<>(reason),
                PcieLink.unavailable(reason),
                Nvlink.unavailable(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason),
                new Reading.Unavailable<>(reason));
    }
}

package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.function.Function;

/** How many errors of all NVLinks of a GPU are normal in a minute: the limits of DCGM's health check. */
enum NvlinkErrorLimit {
    /** A packet was sent again, or a link was trained again: none is normal. */
    REPLAY_OR_RECOVERY("NVLink replays and recoveries", 0, HealthReadings.Nvlink::errors),
    /**
     * A packet arrived with an error, which the link corrects. DCGM's health check fails from 100 a second on
     * ({@code DCGM_LIMIT_MAX_NVLINK_CRC_ERROR} in its dcgm_gpu_hardware_limits.h, where the driver's authors are named for it);
     * ours counts them over a minute.
     */
    CRC("NVLink CRC errors", 6000, HealthReadings.Nvlink::crcErrors);

    private final String what;
    private final long perMinute;
    private final Function<HealthReadings.Nvlink, Reading<Long>> counter;

    NvlinkErrorLimit(String what, long perMinute, Function<HealthReadings.Nvlink, Reading<Long>> counter) {
        this.what = what;
        this.perMinute = perMinute;
        this.counter = counter;
    }

    /** Name of the errors, in the plural. */
    String what() {
        return what;
    }

    long perMinute() {
        return perMinute;
    }

    Reading<Long> count(GpuSample sample) {
        return counter.apply(sample.health().nvlink());
    }
}

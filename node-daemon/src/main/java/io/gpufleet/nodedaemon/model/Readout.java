package io.gpufleet.nodedaemon.model;

import java.util.List;

/**
 * What is known of the devices at one instant, for whoever shows it: nothing in it changes any more, and no driver is
 * asked again.
 *
 * @param devices every known GPU, and what the last look said
 * @param vitals what the GPUs last said of themselves; empty while the driver does not answer
 * @param vitalsNanos when they said it, by the monotonic clock
 * @param holdings who holds what
 * @param unheld use of devices by processes whose pods do not hold them
 * @param offers what the kubelet is told
 * @param openFaults what is wrong
 */
public record Readout(
        DeviceBook devices,
        List<Vitals> vitals,
        long vitalsNanos,
        Holdings holdings,
        List<UnheldUse> unheld,
        Offers offers,
        List<OpenFault> openFaults) {
    /** Copies the lists. */
    public Readout {
        vitals = List.copyOf(vitals);
        unheld = List.copyOf(unheld);
        openFaults = List.copyOf(openFaults);
    }
}

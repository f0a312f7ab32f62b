package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.MigInstance.Attributes;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;

/** The profile of a MIG instance, as NVIDIA's tools write it: {@code 1g.5gb}, {@code 1g.10gb+me}, {@code 1c.3g.20gb}. */
final class MigProfileName {
    private static final String PROFILE_SEPARATOR = " MIG ";
    private static final double GIB = 1L << 30;
    private static final int EIGHTHS = 8;

    private MigProfileName() {}

    /** Profile from the product name, behind "MIG"; without it, computed from the instance's share of the GPU. */
    static String profile(String product, Attributes share, Reading<Long> gpuMemoryBytes) {
        int at = product.lastIndexOf(PROFILE_SEPARATOR);
        return at >= 0 ? product.substring(at + PROFILE_SEPARATOR.length()).strip() : computed(share, gpuMemoryBytes);
    }

    /** Memory is divided into eighths; what the driver reserves must not change the number. */
    private static String computed(Attributes share, Reading<Long> gpuMemoryBytes) {
        double gib = share.memoryBytes() / GIB;
        if (gpuMemoryBytes instanceof Known<Long>(Long whole) && whole > 0) {
            long eighths = Math.round((double) EIGHTHS * share.memoryBytes() / whole);
            gib = eighths * Math.ceil(whole / GIB) / EIGHTHS;
        }
        String compute = share.slices().compute() == share.slices().gpu()
                ? ""
                : share.slices().compute() + "c.";
        return compute + share.slices().gpu() + "g." + (long) Math.ceil(gib) + "gb";
    }
}

package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.MigInstance.Attributes;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;

/** The profile of a MIG instance, as NVIDIA's tools write it: {@code 1g.5gb}, {@code 1g.10gb+me}, {@code 1c.3g.20gb}. */
final class MigProfiles {
    private static final String WORD = " MIG ";
    private static final double GIB = 1L << 30;
    private static final int EIGHTHS = 8;

    private MigProfiles() {}

    /** What follows "MIG" in the product name; a name without it is made up for by the instance's share of the GPU. */
    static String profile(String product, Attributes share, Reading<Long> gpuMemoryBytes) {
        int at = product.lastIndexOf(WORD);
        return at >= 0 ? product.substring(at + WORD.length()).strip() : computed(share, gpuMemoryBytes);
    }

    /** Memory is cut in eighths, and what the driver keeps for itself must not show in the number. */
    private static String computed(Attributes share, Reading<Long> gpuMemoryBytes) {
        double gib = share.memoryBytes() / GIB;
        if (gpuMemoryBytes instanceof Known<Long>(Long whole) && whole > 0) {
            long eighths = Math.round((double) EIGHTHS * share.memoryBytes() / whole);
            gib = eighths * Math.ceil(whole / GIB) / EIGHTHS;
        }
        String compute = share.computeSlices() == share.gpuSlices() ? "" : share.computeSlices() + "c.";
        return compute + share.gpuSlices() + "g." + (long) Math.ceil(gib) + "gb";
    }
}

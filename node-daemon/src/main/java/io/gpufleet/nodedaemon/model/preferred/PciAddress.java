package io.gpufleet.nodedaemon.model.preferred;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a GPU sits on PCI, whatever number of digits and whatever case it was written in. */
record PciAddress(long domain, int bus, int device, int function) {
    private static final Pattern WRITTEN =
            Pattern.compile("([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})\\.([0-7])");
    private static final int BUSES = 256;

    /** The address, where the text is one. */
    static Optional<PciAddress> parse(String text) {
        Matcher matcher = WRITTEN.matcher(text);
        return matcher.matches()
                ? Optional.of(new PciAddress(
                        Long.parseLong(matcher.group(1), 16),
                        Integer.parseInt(matcher.group(2), 16),
                        Integer.parseInt(matcher.group(3), 16),
                        Integer.parseInt(matcher.group(4), 16)))
                : Optional.empty();
    }

    /**
     * From 0, not comparable, to 256, one bus. Firmware numbers buses depth first, so that what is below one PCIe switch
     * has numbers in a row: near numbers hint at a shared switch, no more.
     */
    int closeness(PciAddress other) {
        return domain == other.domain ? BUSES - Math.abs(bus - other.bus) : 0;
    }
}

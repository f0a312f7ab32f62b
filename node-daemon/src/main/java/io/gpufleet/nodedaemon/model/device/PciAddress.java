package io.gpufleet.nodedaemon.model.device;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * PCI address of a device. Drivers and the kernel write it with a domain of four or eight digits or none, and some without
 * the function:
 *
 * <pre>
 * address  = [domain ":"] bus ":" device ["." function]
 * domain   = 1*8HEX      ; absent: 0
 * bus      = 1*2HEX
 * device   = 1*2HEX
 * function = "0" to "7"  ; absent: 0
 * </pre>
 */
public record PciAddress(long domain, int bus, int device, int function) {
    private static final Pattern FORMAT =
            Pattern.compile("(?:([0-9A-Fa-f]{1,8}):)?([0-9A-Fa-f]{1,2}):([0-9A-Fa-f]{1,2})(?:\\.([0-7]))?");

    /** Parses an address in either case; empty when the text is none. */
    public static Optional<PciAddress> parse(String text) {
        Matcher matcher = FORMAT.matcher(text);
        return matcher.matches()
                ? Optional.of(new PciAddress(
                        matcher.group(1) == null ? 0 : Long.parseLong(matcher.group(1), 16),
                        Integer.parseInt(matcher.group(2), 16),
                        Integer.parseInt(matcher.group(3), 16),
                        matcher.group(4) == null ? 0 : Integer.parseInt(matcher.group(4))))
                : Optional.empty();
    }

    /** Returns the address of function 0 of the same device, for comparison with texts that omit the function. */
    public PciAddress withoutFunction() {
        return new PciAddress(domain, bus, device, 0);
    }

    /** Returns the form of NVML, which all published data uses: {@code 00000000:3B:00.0}. */
    public String nvml() {
        return String.format(Locale.ROOT, "%08X:%02X:%02X.%d", domain, bus, device, function);
    }

    /** Returns the form of the kernel and the name of the device in sysfs: {@code 0000:3b:00.0}. */
    public String sysfs() {
        return String.format(Locale.ROOT, "%04x:%02x:%02x.%d", domain, bus, device, function);
    }
}

package io.gpufleet.nodedaemon.model;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a board sits on PCI, however it is written: drivers print domains of four or eight digits or none, and leave the
 * function out, which is 0 for every GPU.
 */
public record PciPlace(long domain, int bus, int device) {
    private static final Pattern WRITTEN =
            Pattern.compile("(?:([0-9A-Fa-f]{1,8}):)?([0-9A-Fa-f]{1,2}):([0-9A-Fa-f]{1,2})(?:\\.[0-7])?");

    /** The place, where the text is one. */
    public static Optional<PciPlace> parse(String text) {
        Matcher matcher = WRITTEN.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String domain = matcher.group(1) == null ? "0" : matcher.group(1);
        return Optional.of(new PciPlace(
                Long.parseLong(domain, 16),
                Integer.parseInt(matcher.group(2), 16),
                Integer.parseInt(matcher.group(3), 16)));
    }
}

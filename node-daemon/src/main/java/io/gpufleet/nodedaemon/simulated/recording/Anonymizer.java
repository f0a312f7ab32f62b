package io.gpufleet.nodedaemon.simulated.recording;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Replaces UUIDs and serial numbers; equal ones get equal replacements, which cannot be reversed. */
final class Anonymizer {
    private static final Pattern UUIDS = Pattern.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}");
    private static final Pattern SERIAL = Pattern.compile("\"serial\":\"([^\"]+)\"");

    private final UUID salt = UUID.randomUUID();
    private final Map<String, String> serials = new TreeMap<>();

    String anonymize(String line) {
        SERIAL.matcher(line)
                .results()
                .forEach(found -> serials.computeIfAbsent(
                        found.group(1), _ -> String.format(Locale.ROOT, "%013d", serials.size() + 1)));
        String hidden = SERIAL.matcher(line)
                .replaceAll(found -> "\"serial\":\"" + serials.getOrDefault(found.group(1), "") + "\"");
        return UUIDS.matcher(hidden).replaceAll(found -> Matcher.quoteReplacement(replacement(found.group())));
    }

    private String replacement(String uuid) {
        String salted = salt + uuid.toLowerCase(Locale.ROOT);
        return UUID.nameUUIDFromBytes(salted.getBytes(StandardCharsets.UTF_8)).toString();
    }
}

package io.gpufleet.allocation.model.scheduling;

import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Quantities as Kubernetes writes them: {@code 2}, {@code 1500m}, {@code 1e3}, {@code 4Ki}. */
final class Quantity {
    private static final Pattern FORM =
            Pattern.compile("([+-]?(?:\\d{1,18}\\.?\\d{0,18}|\\.\\d{1,18}))(m|k|M|G|T|Ki|Mi|Gi|Ti|[eE][+-]?\\d{1,2})?");
    private static final Map<String, BigDecimal> SUFFIXES = Map.of(
            "m", new BigDecimal("0.001"),
            "k", new BigDecimal("1e3"),
            "M", new BigDecimal("1e6"),
            "G", new BigDecimal("1e9"),
            "T", new BigDecimal("1e12"),
            "Ki", new BigDecimal(1L << 10),
            "Mi", new BigDecimal(1L << 20),
            "Gi", new BigDecimal(1L << 30),
            "Ti", new BigDecimal(1L << 40));

    private Quantity() {}

    /** Parses a quantity; empty for text that is not one. */
    static Optional<BigDecimal> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String suffix = matcher.group(2) == null ? "" : matcher.group(2);
        if (suffix.startsWith("e") || suffix.startsWith("E")) {
            return Optional.of(new BigDecimal(matcher.group(1) + suffix));
        }
        BigDecimal number = new BigDecimal(matcher.group(1));
        return Optional.of(suffix.isEmpty() ? number : number.multiply(SUFFIXES.getOrDefault(suffix, BigDecimal.ONE)));
    }
}

package io.gpufleet.testbed.fakeapiserver.object;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Pattern;

/** Kubernetes quantities: {@code 2}, {@code 500m}, {@code 4Gi}, {@code 1e3}. */
public final class Quantity {
    private static final Pattern FORM = Pattern.compile("([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)");
    private static final Map<String, BigDecimal> SUFFIXES = Map.ofEntries(
            Map.entry("n", new BigDecimal("1e-9")),
            Map.entry("u", new BigDecimal("1e-6")),
            Map.entry("m", new BigDecimal("1e-3")),
            Map.entry("", BigDecimal.ONE),
            Map.entry("k", new BigDecimal("1e3")),
            Map.entry("M", new BigDecimal("1e6")),
            Map.entry("G", new BigDecimal("1e9")),
            Map.entry("T", new BigDecimal("1e12")),
            Map.entry("P", new BigDecimal("1e15")),
            Map.entry("E", new BigDecimal("1e18")),
            Map.entry("Ki", new BigDecimal(1L << 10)),
            Map.entry("Mi", new BigDecimal(1L << 20)),
            Map.entry("Gi", new BigDecimal(1L << 30)),
            Map.entry("Ti", new BigDecimal(1L << 40)),
            Map.entry("Pi", new BigDecimal(1L << 50)),
            Map.entry("Ei", new BigDecimal(1L << 60)));

    private Quantity() {}

    /** Parses a quantity; NumberFormatException with the message of the real server. */
    public static BigDecimal parse(String text) {
        var form = FORM.matcher(text);
        if (form.matches()) {
            String suffix = form.group(2);
            BigDecimal factor = SUFFIXES.get(suffix);
            try {
                if (factor != null) {
                    return new BigDecimal(form.group(1)).multiply(factor);
                }
                if (suffix.matches("[eE][+-]?[0-9]{1,3}")) {
                    return new BigDecimal(form.group(1) + suffix);
                }
            } catch (NumberFormatException notANumber) {
                // handled below
            }
        }
        throw new NumberFormatException("quantities must match the regular expression '^" + FORM.pattern() + "$'");
    }

    /** Formats whole numbers as digits, other amounts in thousandths, rounded up: {@code 1500m}. */
    public static String canonical(BigDecimal amount) {
        BigDecimal plain = amount.stripTrailingZeros();
        if (plain.scale() <= 0) {
            return plain.toPlainString();
        }
        return amount.movePointRight(3).setScale(0, RoundingMode.CEILING).toPlainString() + "m";
    }

    /** True when the amount is an integer. */
    public static boolean isWhole(BigDecimal amount) {
        return amount.stripTrailingZeros().scale() <= 0;
    }
}

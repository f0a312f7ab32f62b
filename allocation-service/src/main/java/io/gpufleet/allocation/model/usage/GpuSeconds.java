package io.gpufleet.allocation.model.usage;

import io.gpufleet.allocation.model.holding.GpuFraction;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.TreeMap;

/** A sum of seconds of parts of GPUs, exact: rounded to milliseconds once, when it is read. */
public final class GpuSeconds {
    private static final int DIGITS = 30;
    private static final int SHOWN = 3;

    private final Map<Integer, Long> byDenominator = new TreeMap<>();

    /** Adds seconds of a part of a GPU. */
    public void add(long seconds, GpuFraction part) {
        byDenominator.merge(part.denominator(), seconds * part.numerator(), Math::addExact);
    }

    /** Adds another sum. */
    public void add(GpuSeconds other) {
        other.byDenominator.forEach(
                (denominator, numerator) -> byDenominator.merge(denominator, numerator, Math::addExact));
    }

    /** The sum in GPU-seconds. */
    public BigDecimal value() {
        BigDecimal sum = BigDecimal.ZERO;
        for (var part : byDenominator.entrySet()) {
            sum = sum.add(BigDecimal.valueOf(part.getValue())
                    .divide(BigDecimal.valueOf(part.getKey()), DIGITS, RoundingMode.HALF_EVEN));
        }
        return sum.setScale(SHOWN, RoundingMode.HALF_EVEN);
    }
}

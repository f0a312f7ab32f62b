package io.gpufleet.allocation.model.scheduling;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Exact number of GPUs as a reduced fraction: seven times 1/7 is 1. The denominator is positive. */
public record GpuAmount(BigInteger numerator, BigInteger denominator) implements Comparable<GpuAmount> {
    /** No GPU. */
    public static final GpuAmount ZERO = of(0);

    /** A whole GPU. */
    public static final GpuAmount ONE = of(1);

    private static final int DECIMALS = 2;

    /** Reduces. */
    public GpuAmount {
        if (denominator.signum() <= 0) {
            throw new IllegalArgumentException("denominator " + denominator + " is not positive");
        }
        if (!denominator.equals(BigInteger.ONE)) {
            BigInteger common = numerator.gcd(denominator);
            numerator = numerator.divide(common);
            denominator = denominator.divide(common);
        }
    }

    /** Whole GPUs. */
    public static GpuAmount of(long gpus) {
        return new GpuAmount(BigInteger.valueOf(gpus), BigInteger.ONE);
    }

    /** A fraction. */
    public static GpuAmount of(long numerator, long denominator) {
        return new GpuAmount(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator));
    }

    /** Reads {@link #fraction}; fails with {@link IllegalArgumentException} for other text. */
    public static GpuAmount parse(String fraction) {
        int slash = fraction.indexOf('/');
        return slash < 0
                ? new GpuAmount(new BigInteger(fraction), BigInteger.ONE)
                : new GpuAmount(
                        new BigInteger(fraction.substring(0, slash)), new BigInteger(fraction.substring(slash + 1)));
    }

    /** The sum. */
    public GpuAmount plus(GpuAmount other) {
        return other.denominator.equals(denominator)
                ? new GpuAmount(numerator.add(other.numerator), denominator)
                : new GpuAmount(
                        numerator.multiply(other.denominator).add(other.numerator.multiply(denominator)),
                        denominator.multiply(other.denominator));
    }

    /** The difference. */
    public GpuAmount minus(GpuAmount other) {
        return plus(new GpuAmount(other.numerator.negate(), other.denominator));
    }

    /** The product. */
    public GpuAmount times(long factor) {
        return new GpuAmount(numerator.multiply(BigInteger.valueOf(factor)), denominator);
    }

    /** The larger of the two. */
    public GpuAmount max(GpuAmount other) {
        return compareTo(other) >= 0 ? this : other;
    }

    /** True for 0. */
    public boolean isZero() {
        return numerator.signum() == 0;
    }

    /** True without a fraction. */
    public boolean isWhole() {
        return denominator.equals(BigInteger.ONE);
    }

    /** How often another amount is contained; that one is not 0. */
    public int contains(GpuAmount part) {
        return numerator
                .multiply(part.denominator)
                .divide(part.numerator.multiply(denominator))
                .intValueExact();
    }

    /** The smallest whole number that is not less. */
    public int roundedUp() {
        return numerator.negate().divideAndRemainder(denominator)[0].negate().intValueExact()
                + (isWhole() || numerator.signum() < 0 ? 0 : 1);
    }

    /** Decimal number with at most two decimals, rounded up, for people. */
    public String decimal() {
        return number().setScale(DECIMALS, RoundingMode.CEILING)
                .stripTrailingZeros()
                .toPlainString();
    }

    /** Decimal number of 34 digits. */
    public BigDecimal number() {
        return new BigDecimal(numerator).divide(new BigDecimal(denominator), MathContext.DECIMAL128);
    }

    /** The reduced fraction: {@code 17/7}, or {@code 2} for a whole number. */
    public String fraction() {
        return isWhole() ? numerator.toString() : numerator + "/" + denominator;
    }

    @Override
    public int compareTo(GpuAmount other) {
        return other.denominator.equals(denominator)
                ? numerator.compareTo(other.numerator)
                : numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
    }

    /** A mixed number, for messages: {@code 2}, {@code 3/7}, {@code 2 3/7}. */
    @Override
    public String toString() {
        BigInteger[] parts = numerator.divideAndRemainder(denominator);
        if (isWhole() || parts[0].signum() == 0) {
            return fraction();
        }
        return parts[0] + " " + parts[1].abs() + "/" + denominator;
    }
}

package io.gpufleet.bench.harness;

/**
 * One measured number.
 *
 * @param name dotted, lower case, stable over releases: {@code fleet.fault-to-taint.p50}
 * @param value the number
 * @param unit {@code us}, {@code ms}, {@code s}, {@code MiB}, {@code 1/s}, {@code % of a core} or {@code 1} for a count
 */
public record Measurement(String name, double value, String unit) {}

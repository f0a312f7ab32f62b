package io.gpufleet.bench.harness;

/** A benchmark with a name. */
public interface Benchmark {
    /** Argument of {@code bench}. */
    String name();

    /** One sentence for the list of benchmarks. */
    String description();

    /** Measures; logs the steps. */
    Measurements run(java.util.function.Consumer<String> log) throws Exception;

    /** The table for the terminal. */
    default String table(Measurements measurements) {
        return measurements.table();
    }
}

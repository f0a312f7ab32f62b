package io.gpufleet.bench.harness;

import java.util.function.Consumer;

/** A benchmark with a name. */
public interface Benchmark {
    /** Argument of {@code bench}. */
    String name();

    /** One sentence for the list of benchmarks. */
    String description();

    /** Fails where an option does not fit; nothing is started yet. */
    default void check() {
        // Most take any that the command takes.
    }

    /** Measures, adding each measurement once it is known; logs the steps. */
    void run(Measurements measurements, Consumer<String> log) throws Exception;

    /** The table for the terminal. */
    default String table(Measurements measurements) {
        return measurements.table();
    }
}

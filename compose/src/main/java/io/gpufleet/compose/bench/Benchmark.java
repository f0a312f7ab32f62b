package io.gpufleet.compose.bench;

/** Something that can be measured by name. */
public interface Benchmark {
    /** What {@code bench} calls it. */
    String name();

    /** One sentence for the list of benchmarks. */
    String about();

    /** Measures, and says meanwhile what it does. */
    Figures run(java.util.function.Consumer<String> says) throws Exception;

    /** The figures for people. */
    default String table(Figures figures) {
        return figures.table();
    }
}

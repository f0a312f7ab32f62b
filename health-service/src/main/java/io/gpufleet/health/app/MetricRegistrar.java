package io.gpufleet.health.app;

import java.util.function.ToDoubleFunction;

/** Port: registers metrics that are read from their source at every scrape. */
public interface MetricRegistrar {
    /** Registers a counter; the name is without the suffix {@code _total}. */
    <T> void counter(String name, String description, T source, ToDoubleFunction<T> value);

    /** Registers a gauge. */
    <T> void gauge(String name, String description, T source, ToDoubleFunction<T> value);
}

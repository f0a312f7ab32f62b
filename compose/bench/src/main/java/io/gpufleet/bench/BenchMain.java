package io.gpufleet.bench;

import io.gpufleet.cli.GpufleetCommand;
import org.slf4j.LoggerFactory;

/** The benchmarks as a program; the {@code gpufleet} script starts it for {@code bench}. */
public final class BenchMain {
    private BenchMain() {}

    /** Exits with 0: success; 1: failure; 2: the request is not possible. */
    public static void main(String[] arguments) {
        // Before threads of clients log: SLF4J reports what is logged while it looks for its binding.
        LoggerFactory.getILoggerFactory();
        System.exit(GpufleetCommand.commandLine(new BenchCommand()).execute(arguments));
    }
}

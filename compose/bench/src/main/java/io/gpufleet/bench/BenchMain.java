package io.gpufleet.bench;

import io.gpufleet.cli.GpufleetCommand;

/** The benchmarks as a program; the {@code gpufleet} script starts it for {@code bench}. */
public final class BenchMain {
    private BenchMain() {}

    /** Exits with 0: success; 1: failure; 2: the request is not possible. */
    public static void main(String[] arguments) {
        System.exit(GpufleetCommand.commandLine(new BenchCommand()).execute(arguments));
    }
}

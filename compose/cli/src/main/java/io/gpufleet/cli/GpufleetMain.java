package io.gpufleet.cli;

import org.slf4j.LoggerFactory;

/** The command line of the local fleet; the {@code gpufleet} script starts it. */
public final class GpufleetMain {
    private GpufleetMain() {}

    /** Exits with 0: success; 1: failure; 2: the request is not possible. */
    public static void main(String[] arguments) {
        // Before threads of clients log: SLF4J reports what is logged while it looks for its binding.
        LoggerFactory.getILoggerFactory();
        System.exit(GpufleetCommand.commandLine().execute(arguments));
    }
}

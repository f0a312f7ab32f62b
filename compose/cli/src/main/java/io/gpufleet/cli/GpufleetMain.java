package io.gpufleet.cli;

/** The command line of the local fleet; the {@code gpufleet} script starts it. */
public final class GpufleetMain {
    private GpufleetMain() {}

    /** Exits with 0: success; 1: failure; 2: the request is not possible. */
    public static void main(String[] arguments) {
        System.exit(GpufleetCommand.commandLine().execute(arguments));
    }
}

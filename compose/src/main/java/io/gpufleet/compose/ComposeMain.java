package io.gpufleet.compose;

import io.gpufleet.compose.cli.Gpufleet;

/** The command line of the local fleet; the {@code gpufleet} script starts it. */
public final class ComposeMain {
    private ComposeMain() {}

    /** Exit 0: done; 1: it failed; 2: what was asked for can not be. */
    public static void main(String[] arguments) {
        System.exit(Gpufleet.commandLine().execute(arguments));
    }
}

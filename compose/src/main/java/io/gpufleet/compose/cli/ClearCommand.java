package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FaultFile;
import io.gpufleet.compose.fleet.FleetState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Mends a simulated GPU. */
@Command(name = "clear", description = "Take the cause of a fault away.", mixinStandardHelpOptions = true)
final class ClearCommand implements Runnable {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Parameters(index = "0", paramLabel = "NODE", description = "name of a node, see 'status'")
    private String node = "";

    @Parameters(index = "1", paramLabel = "GPU-INDEX", description = "which GPU, from 0")
    private int gpu;

    @Override
    public void run() {
        FleetState state = parent.running();
        boolean there = FaultFile.remove(Gpufleet.node(state, node), gpu);
        System.out.println(
                there
                        ? "GPU " + gpu + " of " + node
                                + " has no fault any more; it is offered again when that is proven"
                        : "GPU " + gpu + " of " + node + " had no fault");
    }
}

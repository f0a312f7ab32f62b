package io.gpufleet.cli;

import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Clears the fault of a simulated GPU. */
@Command(name = "clear", description = "Clear the cause of a fault.", mixinStandardHelpOptions = true)
final class ClearCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(index = "0", paramLabel = "NODE", description = "name of a node, see 'status'")
    private String node = "";

    @Parameters(index = "1", paramLabel = "GPU-INDEX", description = "which GPU, from 0")
    private int gpu;

    @Override
    public void run() {
        FleetState state = parent.runningFleet();
        boolean there = FaultFile.remove(GpufleetCommand.node(state, node), gpu);
        System.out.println(
                there
                        ? "GPU " + gpu + " of " + node
                                + " has no fault any more; it is offered again once the recovery is confirmed"
                        : "GPU " + gpu + " of " + node + " had no fault");
    }
}

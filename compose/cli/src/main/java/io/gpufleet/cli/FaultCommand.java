package io.gpufleet.cli;

import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Injects an XID into a simulated GPU. */
@Command(name = "fault", description = "Inject an XID into a simulated GPU.", mixinStandardHelpOptions = true)
final class FaultCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(index = "0", paramLabel = "NODE", description = "name of a node, see 'status'")
    private String node = "";

    @Parameters(index = "1", paramLabel = "GPU-INDEX", description = "which GPU, from 0")
    private int gpu;

    @Parameters(index = "2", paramLabel = "XID", description = "for example 79, a GPU that fell off the bus")
    private int xid;

    @Override
    public void run() {
        FleetState state = parent.runningFleet();
        FaultFile.write(GpufleetCommand.node(state, node), gpu, xid);
        System.out.println("GPU " + gpu + " of " + node + " reports XID " + xid + "; './gpufleet clear " + node + " "
                + gpu + "' clears it");
    }
}

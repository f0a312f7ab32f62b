package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FaultFile;
import io.gpufleet.compose.fleet.FleetState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Breaks a simulated GPU. */
@Command(name = "fault", description = "Let a simulated GPU report an XID.", mixinStandardHelpOptions = true)
final class FaultCommand implements Runnable {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Parameters(index = "0", paramLabel = "NODE", description = "name of a node, see 'status'")
    private String node = "";

    @Parameters(index = "1", paramLabel = "GPU-INDEX", description = "which GPU, from 0")
    private int gpu;

    @Parameters(index = "2", paramLabel = "XID", description = "for example 79, a GPU that fell off the bus")
    private int xid;

    @Override
    public void run() {
        FleetState state = parent.running();
        FaultFile.write(Gpufleet.node(state, node), gpu, xid);
        System.out.println("GPU " + gpu + " of " + node + " reports XID " + xid + "; './gpufleet clear " + node + " "
                + gpu + "' takes the cause away");
    }
}

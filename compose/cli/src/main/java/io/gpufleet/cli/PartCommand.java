package io.gpufleet.cli;

import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.local.LocalFleet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Commands for one part of the running fleet. */
abstract sealed class PartCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(paramLabel = "PART", description = "name in 'status': kafka, health-service-0, node-1 ...")
    private String name = "";

    @Override
    public void run() {
        var progress = new ConsoleProgress(System.out);
        parent.runningFleet();
        FleetPartControl parts = new LocalFleet(GpufleetCommand.tree(), parent.stateDirectory(), progress).parts();
        progress.print(name + " " + act(parts, name));
    }

    /** Acts, and says what happened. */
    abstract String act(FleetPartControl parts, String part);

    /** {@code start PART}. */
    @Command(name = "start", description = "Start a part that was stopped or died.", mixinStandardHelpOptions = true)
    static final class StartPart extends PartCommand {
        @Override
        String act(FleetPartControl parts, String part) {
            return parts.start(part) ? "started" : "runs already";
        }
    }

    /** {@code stop PART}. */
    @Command(name = "stop", description = "Stop a part by SIGTERM.", mixinStandardHelpOptions = true)
    static final class StopPart extends PartCommand {
        @Override
        String act(FleetPartControl parts, String part) {
            return parts.stop(part) ? "stopped" : "does not run";
        }
    }

    /** {@code restart PART}. */
    @Command(name = "restart", description = "Stop a part and start it again.", mixinStandardHelpOptions = true)
    static final class RestartPart extends PartCommand {
        @Override
        String act(FleetPartControl parts, String part) {
            parts.stop(part);
            parts.start(part);
            return "restarted";
        }
    }
}

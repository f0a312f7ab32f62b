package io.gpufleet.cli;

import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.drill.Drill;
import io.gpufleet.cli.drill.DrillReport;
import io.gpufleet.cli.drill.DrillRun;
import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Disturbs the running fleet and prints what held. */
@Command(
        name = "drill",
        description = "Kill, restart or freeze parts of the running fleet, and print what held.",
        mixinStandardHelpOptions = true)
final class DrillCommand implements Callable<Integer> {
    private static final int MAX_SECONDS = 3600;

    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(paramLabel = "NAME", arity = "0..*", description = "drills, see --list [all]")
    private List<String> names = new ArrayList<>();

    @Option(
            names = "--for",
            paramLabel = "SECONDS",
            description = "how long a part is away or frozen [${DEFAULT-VALUE}]")
    private int seconds = 20;

    @Option(names = "--list", description = "print the names of the drills")
    private boolean list;

    @Override
    public Integer call() throws InterruptedException {
        if (seconds < 1 || seconds > MAX_SECONDS) {
            throw new ConfigurationException("--for " + seconds + " is not usable: it takes 1 to " + MAX_SECONDS);
        }
        parent.runningFleet();
        var progress = new ConsoleProgress(System.out);
        FleetPartControl parts = new LocalFleet(GpufleetCommand.tree(), parent.stateDirectory(), progress).parts();
        FleetState state = parts.state();
        List<Drill> drills = Drill.named(state, names);
        if (list) {
            drills.forEach(drill -> System.out.println(drill.name()));
            return 0;
        }
        var report = new DrillReport();
        try (KubernetesCluster cluster =
                KubernetesCluster.of(Path.of(state.kubernetes().kubeconfig()))) {
            var run = DrillRun.of(parts, cluster, progress, Duration.ofSeconds(seconds));
            var restore = new Thread(run::restore, "restore");
            Runtime.getRuntime().addShutdownHook(restore);
            for (Drill drill : drills) {
                progress.print(drill.name());
                report.add(drill, run.run(drill));
            }
            Runtime.getRuntime().removeShutdownHook(restore);
        }
        System.out.println();
        System.out.print(report.render());
        return report.exitStatus();
    }
}

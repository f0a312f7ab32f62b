package io.gpufleet.bench;

import io.gpufleet.bench.allocation.AllocationBenchmark;
import io.gpufleet.bench.allocation.ClosingsBenchmark;
import io.gpufleet.bench.daemon.DaemonBenchmark;
import io.gpufleet.bench.fleet.FleetBenchmark;
import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.health.HealthBenchmark;
import io.gpufleet.bench.health.HealthOptions;
import io.gpufleet.bench.projection.ProjectionBenchmark;
import io.gpufleet.bench.projection.ReadsBenchmark;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.cli.pack.AotCaches;
import io.gpufleet.cli.pack.DaemonPackage;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code gpufleet bench}. */
@Command(name = "gpufleet bench", description = "Run a benchmark by name.", mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {
    private static final int ALL_NODES = 100_000;
    private static final int HEALTH_NODES = 10_000;

    @Parameters(paramLabel = "NAME", description = "fleet, health, allocation, closings, fold, reads or daemon")
    private String name = "";

    @Option(names = "--json", paramLabel = "FILE", description = "write every measurement as name, value, unit")
    private String json = "";

    @Option(names = "--faults", paramLabel = "N", description = "number of faults to measure [${DEFAULT-VALUE}]")
    private int faults = 100;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "fold, reads, health: number of nodes, each with 8 GPUs [100000, health 10000]")
    private int nodes;

    @Option(
            names = "--backlog",
            paramLabel = "EVENTS",
            description =
                    "health: work off so many events that wait at the start, and compare every Node with what is true"
                            + " then, instead of the other measurements")
    private int backlog;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "health: search the highest rate of events at which the lag of a service on one core stays"
                    + " flat, beginning with N a second, instead of the other measurements")
    private int rate;

    @Option(
            names = "--replay",
            description = "health: only write what so many nodes tell in 7 d, and replay it with policy diff")
    private boolean replay;

    @Option(
            names = "--pods",
            paramLabel = "N",
            description = "allocation: number of pods that use GPUs [${DEFAULT-VALUE}]")
    private int pods = 20_000;

    @Option(names = "--closings", paramLabel = "N", description = "closings: number of intervals [${DEFAULT-VALUE}]")
    private int closings = 1_000_000;

    @Option(names = "--events", paramLabel = "N", description = "fold: number of events of the mix [${DEFAULT-VALUE}]")
    private int events = 300_000;

    @Option(
            names = "--memory",
            paramLabel = "MIB",
            description = "fold, allocation: memory limit of a service [3500, allocation 1024]")
    private int memory;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "fleet, health: measure on this cluster [a fake API server]")
    private String kubeconfig = "";

    @Option(
            names = "--beside-gpu-nodes",
            description =
                    "health: also on a cluster in which other Nodes have GPUs; the measured service could patch them")
    private boolean besideGpuNodes;

    @Option(
            names = "--plugin",
            paramLabel = "CMD",
            description = "daemon: measure this device plugin too; its paths are in DEVICE_PLUGIN_DIR, KUBELET_SOCKET,"
                    + " NVML_LIBRARY, NVIDIA_DRIVER_ROOT and LD_LIBRARY_PATH")
    private String plugin = "";

    @Option(names = "--jvm", paramLabel = "FLAGS", description = "daemon: further flags for the daemon's JVM")
    private String jvm = "";

    @Option(
            names = "--starts",
            paramLabel = "N",
            description = "daemon: number of starts of each plugin, with faults [${DEFAULT-VALUE}]")
    private int starts = 12;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "daemon: number of load runs of each plugin [${DEFAULT-VALUE}]")
    private int rounds = 2;

    @Override
    public Integer call() throws Exception {
        checkOptions();
        Path tree = GpufleetCommand.tree();
        var daemon = new DaemonPackage(tree);
        int all = nodes == 0 ? ALL_NODES : nodes;
        List<Benchmark> benchmarks = List.of(
                new FleetBenchmark(tree, faults, kubeconfig),
                new HealthBenchmark(
                        tree,
                        new HealthOptions(
                                nodes == 0 ? HEALTH_NODES : nodes, backlog, rate, replay, kubeconfig, besideGpuNodes)),
                new AllocationBenchmark(tree, pods, memory == 0 ? AllocationBenchmark.MEBIBYTES : memory),
                new ClosingsBenchmark(tree, closings),
                new ProjectionBenchmark(tree, all, events, memory == 0 ? ServiceUnderLoad.LARGE_MEBIBYTES : memory),
                new ReadsBenchmark(tree, all),
                new DaemonBenchmark(tree, daemon.executable(), plugin, jvm, starts, rounds));
        Benchmark benchmark = benchmarks.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no benchmark; there is "
                        + benchmarks.stream()
                                .map(each -> each.name() + " (" + each.description() + ")")
                                .collect(Collectors.joining(", "))));
        benchmark.check();
        if (benchmark instanceof DaemonBenchmark) {
            // The package is what is installed, as the caches are what a fleet is started with.
            daemon.makeIfStale(System.out::println);
        } else {
            new AotCaches(tree).makeIfStale(System.out::println);
        }
        var measurements = new Measurements();
        try {
            benchmark.run(measurements, System.out::println);
        } finally {
            // What was measured before a failure is still true.
            System.out.println();
            System.out.print(benchmark.table(measurements));
            if (!json.isEmpty()) {
                Files.writeString(Path.of(json), measurements.json());
            }
        }
        return 0;
    }

    /** Refuses at once what would end a benchmark after minutes. */
    private void checkOptions() {
        new TreeMap<>(Map.of(
                        "--faults", faults,
                        "--pods", pods,
                        "--closings", closings,
                        "--events", events,
                        "--memory", memory == 0 ? ServiceUnderLoad.LARGE_MEBIBYTES : memory,
                        "--starts", starts,
                        "--rounds", rounds,
                        "--nodes", nodes == 0 ? ALL_NODES : nodes))
                .forEach((option, value) -> {
                    if (value < 1) {
                        throw new ConfigurationException(option + " " + value + " is not usable: it takes 1 or more");
                    }
                });
        Path directory = Path.of(json).toAbsolutePath().getParent();
        if (!json.isEmpty() && (directory == null || !Files.isWritable(directory))) {
            throw new ConfigurationException(
                    "--json '" + json + "' is not usable: it takes a file in a directory that can be written");
        }
    }
}

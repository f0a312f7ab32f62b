package io.gpufleet.compose.cli;

import io.gpufleet.compose.bench.Benchmark;
import io.gpufleet.compose.bench.Figures;
import io.gpufleet.compose.bench.FoldBenchmark;
import io.gpufleet.compose.bench.SliceBenchmark;
import io.gpufleet.compose.bench.daemon.DaemonBenchmark;
import io.gpufleet.compose.pack.DaemonPackage;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Measures. */
@Command(name = "bench", description = "Run a benchmark by name.", mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Parameters(paramLabel = "NAME", description = "slice, fold or daemon")
    private String name = "";

    @Option(names = "--json", paramLabel = "FILE", description = "write every figure as name, value, unit")
    private String json = "";

    @Option(names = "--faults", description = "how many faults to measure [${DEFAULT-VALUE}]")
    private int faults = 100;

    @Option(names = "--kubeconfig", paramLabel = "FILE", description = "measure on this cluster [the stand-in]")
    private String kubeconfig = "";

    @Option(
            names = "--plugin",
            paramLabel = "CMD",
            description = "daemon: measure this device plugin too; its paths are in DEVICE_PLUGIN_DIR, KUBELET_SOCKET,"
                    + " NVML_LIBRARY, NVIDIA_DRIVER_ROOT and LD_LIBRARY_PATH")
    private String plugin = "";

    @Option(names = "--jvm", paramLabel = "FLAGS", description = "daemon: further flags for the daemon's JVM")
    private String jvm = "";

    @Option(names = "--starts", description = "daemon: how often each is started and broken [${DEFAULT-VALUE}]")
    private int starts = 12;

    @Option(names = "--rounds", description = "daemon: how often each is put under load [${DEFAULT-VALUE}]")
    private int rounds = 2;

    @Override
    public Integer call() throws Exception {
        var packed = new DaemonPackage(parent.tree());
        List<Benchmark> all = List.of(
                new SliceBenchmark(parent.tree(), faults, kubeconfig),
                new FoldBenchmark(parent.tree()),
                new DaemonBenchmark(parent.tree(), packed.start(), plugin, jvm, starts, rounds));
        Benchmark benchmark = all.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no benchmark; there is "
                        + all.stream()
                                .map(each -> each.name() + " (" + each.about() + ")")
                                .collect(Collectors.joining(", "))));
        if (benchmark instanceof DaemonBenchmark) {
            // Measured is what is installed.
            packed.makeIfStale(System.out::println);
        }
        Figures figures = benchmark.run(System.out::println);
        System.out.println();
        System.out.print(benchmark.table(figures));
        if (!json.isEmpty()) {
            Files.writeString(Path.of(json), figures.json());
        }
        return 0;
    }
}

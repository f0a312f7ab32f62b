package io.gpufleet.compose.cli;

import io.gpufleet.compose.bench.Benchmark;
import io.gpufleet.compose.bench.Figures;
import io.gpufleet.compose.bench.FoldBenchmark;
import io.gpufleet.compose.bench.SliceBenchmark;
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

    @Parameters(paramLabel = "NAME", description = "slice: the thread through every room")
    private String name = "";

    @Option(names = "--json", paramLabel = "FILE", description = "write every figure as name, value, unit")
    private String json = "";

    @Option(names = "--faults", description = "how many faults to measure [${DEFAULT-VALUE}]")
    private int faults = 100;

    @Option(names = "--kubeconfig", paramLabel = "FILE", description = "measure on this cluster [the stand-in]")
    private String kubeconfig = "";

    @Override
    public Integer call() throws Exception {
        List<Benchmark> all =
                List.of(new SliceBenchmark(parent.tree(), faults, kubeconfig), new FoldBenchmark(parent.tree()));
        Benchmark benchmark = all.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no benchmark; there is "
                        + all.stream()
                                .map(each -> each.name() + " (" + each.about() + ")")
                                .collect(Collectors.joining(", "))));
        Figures figures = benchmark.run(System.out::println);
        System.out.println();
        System.out.print(figures.table());
        if (!json.isEmpty()) {
            Files.writeString(Path.of(json), figures.json());
        }
        return 0;
    }
}

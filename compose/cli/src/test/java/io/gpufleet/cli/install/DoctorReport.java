package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.CommandProcess;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What {@code ./gpufleet doctor --cluster} prints of the installation, in which nothing fails. */
public final class DoctorReport {
    private static final String STRATEGY = "device list strategy";

    private DoctorReport() {}

    /** The strategy of the base fits containerd, which reads CDI. */
    public static void assertStrategyFits(String... arguments) throws IOException, InterruptedException {
        assertThat(lines(arguments))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("OK")
                        .contains(STRATEGY, "1 nodes with containerd://", "strategy cdi-cri"));
    }

    /** The strategy {@code envvar} gives no GPUs by containerd alone, and what does is named. */
    public static void assertStrategyDoesNotFit() throws IOException, InterruptedException {
        assertThat(lines())
                .anySatisfy(line -> assertThat(line)
                        .startsWith("WARN")
                        .contains(STRATEGY, "1 nodes with containerd://", "strategy envvar: gives GPUs only where"))
                .anySatisfy(line ->
                        assertThat(line).contains("-> set GPUFLEET_DEVICE_LIST_STRATEGY=cdi-cri where it is not"));
    }

    /** It may warn. */
    public static void assertNothingFails() throws IOException, InterruptedException {
        assertThat(lines()).isNotEmpty();
    }

    /** A warning about a subject has these words. */
    public static void assertPointsOut(String subject, String words) throws IOException, InterruptedException {
        assertThat(lines())
                .anySatisfy(line -> assertThat(line).startsWith("WARN").contains(subject, words));
    }

    private static List<String> lines(String... more) throws IOException, InterruptedException {
        var arguments = new ArrayList<>(List.of(
                "doctor", "--cluster", "--kubeconfig", RealCluster.kubeconfig().toString()));
        arguments.addAll(List.of(more));
        CommandOutput report = CommandProcess.run(Map.of(), arguments);
        assertThat(report.status()).as(report.text()).isZero();
        return report.text().lines().toList();
    }
}

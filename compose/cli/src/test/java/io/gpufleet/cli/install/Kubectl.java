package io.gpufleet.cli.install;

import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** {@code kubectl} as the administrator of the test's cluster; the commands of k8s/README.md. */
public final class Kubectl {
    private Kubectl() {}

    /** Runs it and fails the test where it fails. */
    public static String run(String... arguments) {
        CommandOutput output = tryRun(arguments);
        if (output.status() != 0) {
            throw new AssertionError("kubectl " + String.join(" ", arguments) + ": " + output.text());
        }
        return output.text();
    }

    /** Runs it. */
    public static CommandOutput tryRun(String... arguments) {
        var command = new ArrayList<>(List.of(RealCluster.executable(), "kubectl"));
        command.addAll(List.of(arguments));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new CommandOutput(process.waitFor(), output);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }
}

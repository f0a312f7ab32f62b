package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A shell in which {@code kubectl} is that of the test's cluster, as its administrator. */
public final class KubectlShell {
    private KubectlShell() {}

    /** Output of lines of a page in a directory, which must succeed. */
    public static String run(Path directory, String lines) throws IOException, InterruptedException {
        String kubectl = "kubectl() { '" + RealCluster.executable() + "' kubectl \"$@\"; }\n";
        Process bash = new ProcessBuilder("bash", "-ec", kubectl + lines)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(lines + ": " + output).isZero();
        return output;
    }
}

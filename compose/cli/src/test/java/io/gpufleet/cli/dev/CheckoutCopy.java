package io.gpufleet.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.KubectlShell;
import io.gpufleet.cli.install.PageCommands;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A copy of the manifests of a checkout, in which a shell runs commands of the pages as they are written there, as the administrator of
 * the test's cluster.
 *
 * @param directory has {@code k8s/}
 */
record CheckoutCopy(Path directory) {
    /** Makes it below a directory. */
    static CheckoutCopy make(Path parent) throws IOException, InterruptedException {
        var copy = new CheckoutCopy(Files.createDirectory(parent.resolve("checkout")));
        copy.run("cp -r '" + Repository.module("k8s") + "' k8s");
        return copy;
    }

    /** Runs those lines of the one block of a page with a line that begins so which begin with {@code kubectl} or {@code cp}. */
    String runBlock(String page, String line) throws IOException, InterruptedException {
        var output = new StringBuilder();
        for (String each : PageCommands.block(page, line).lines().toList()) {
            if (each.startsWith("kubectl ") || each.startsWith("cp ")) {
                output.append(run(each));
            }
        }
        return output.toString();
    }

    /** Output of a line, which must succeed. */
    String run(String line) throws IOException, InterruptedException {
        return KubectlShell.run(directory, line);
    }

    /** Changes a file as a page says, which must have what is replaced. */
    void edit(String file, String part, String other) throws IOException {
        Path path = directory.resolve(file);
        String text = Files.readString(path);
        assertThat(text).as(file).contains(part);
        Files.writeString(path, text.replace(part, other));
    }
}

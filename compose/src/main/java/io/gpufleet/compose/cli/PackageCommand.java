package io.gpufleet.compose.cli;

import io.gpufleet.compose.pack.DaemonPackage;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Makes what is installed where there is no Java. */
@Command(
        name = "package",
        description = "The node-daemon with a runtime of its own, for machines without Java.",
        mixinStandardHelpOptions = true)
final class PackageCommand implements Callable<Integer> {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Parameters(paramLabel = "PART", description = "node-daemon")
    private String part = "";

    @Override
    public Integer call() throws Exception {
        if (!part.equals("node-daemon")) {
            throw new ConfigurationException("'" + part + "' can not be packed; node-daemon can");
        }
        var made = new DaemonPackage(parent.tree());
        made.make(System.out::println);
        System.out.println("folder:  " + made.home() + " (start bin/node-daemon; it may be moved as a whole)");
        System.out.printf(
                Locale.ROOT, "archive: %s (%.1f MiB)%n", made.archive(), Files.size(made.archive()) / 1048576.0);
        return 0;
    }
}

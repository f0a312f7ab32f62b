package io.gpufleet.cli;

import io.gpufleet.cli.pack.AotCaches;
import io.gpufleet.cli.pack.DaemonPackage;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Packages the daemon for machines without Java, and the AOT caches of a fleet. */
@Command(
        name = "package",
        description =
                "Package the node-daemon with a Java runtime, for machines without Java, or write the AOT caches of"
                        + " the programs of a fleet.",
        mixinStandardHelpOptions = true)
final class PackageCommand implements Callable<Integer> {
    @Parameters(paramLabel = "PROGRAM", description = "node-daemon or fleet")
    private String process = "";

    @Override
    public Integer call() throws Exception {
        if (process.equals("fleet")) {
            new AotCaches(GpufleetCommand.tree()).make(System.out::println);
            return 0;
        }
        if (!process.equals("node-daemon")) {
            throw new ConfigurationException("'" + process + "' cannot be packaged; node-daemon and fleet can");
        }
        var made = new DaemonPackage(GpufleetCommand.tree());
        made.make(System.out::println);
        System.out.println("directory: " + made.home() + " (start bin/node-daemon; relocatable)");
        System.out.printf(
                Locale.ROOT, "archive:   %s (%.1f MiB)%n", made.archive(), Files.size(made.archive()) / 1048576.0);
        return 0;
    }
}

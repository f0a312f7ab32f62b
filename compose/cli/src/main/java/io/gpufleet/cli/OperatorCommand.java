package io.gpufleet.cli;

import io.gpufleet.cli.health.HealthClient;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Commands of operators that a health-service carries out; they are on the log once it answers. */
abstract sealed class OperatorCommand implements Callable<Integer> {
    /** Of the fake API server of a fleet. */
    private static final String ADMINISTRATOR = "admin";

    private static final int MAX_REASON = 512;

    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Option(names = "--reason", paramLabel = "TEXT", required = true, description = "why; one line, for other people")
    private String reason = "";

    @Mixin
    private HealthServerOption server = new HealthServerOption();

    @Override
    public Integer call() throws InterruptedException {
        if (reason.isBlank() || reason.length() > MAX_REASON || reason.lines().count() > 1) {
            throw new ConfigurationException(
                    "--reason '" + reason + "' is not usable: it takes one line of 1 to " + MAX_REASON + " characters");
        }
        System.out.println(act(server.client(parent, ADMINISTRATOR), reason));
        return 0;
    }

    /** Issues the command, and says what follows. */
    abstract String act(HealthClient client, String because) throws InterruptedException;

    /** {@code maintenance begin|end NODE}. */
    @Command(
            name = "maintenance",
            description = "Declare that people work on a node, or that they are done.",
            mixinStandardHelpOptions = true)
    static final class Maintenance extends OperatorCommand {
        private enum Bound {
            BEGIN,
            END
        }

        @Parameters(index = "0", paramLabel = "begin|end", description = "which of the two")
        private Bound bound = Bound.BEGIN;

        @Parameters(index = "1", paramLabel = "NODE", description = "name of a node")
        private String node = "";

        @Override
        String act(HealthClient client, String because) throws InterruptedException {
            client.command(node, bound.name().toLowerCase(Locale.ROOT) + "-maintenance", because);
            return switch (bound) {
                case BEGIN -> node + ": faults are recorded, and nothing new is done about them";
                case END -> node + ": what was held back and is still true is done now";
            };
        }
    }

    /** {@code forget NODE}. */
    @Command(
            name = "forget",
            description = "Forget a node without a Node object, with its faults and its verdict.",
            mixinStandardHelpOptions = true)
    static final class Forget extends OperatorCommand {
        @Parameters(paramLabel = "NODE", description = "name of a node")
        private String node = "";

        @Override
        String act(HealthClient client, String because) throws InterruptedException {
            client.command(node, "forget", because);
            return node + ": forgotten";
        }
    }

    /** {@code freeze}. */
    @Command(
            name = "freeze",
            description = "Take nothing new out of service in the whole fleet, and change no Node object.",
            mixinStandardHelpOptions = true)
    static final class Freeze extends OperatorCommand {
        @Override
        String act(HealthClient client, String because) throws InterruptedException {
            client.fleetCommand("freeze", because);
            return "frozen until 'unfreeze'";
        }
    }

    /** {@code unfreeze}. */
    @Command(name = "unfreeze", description = "End the freeze of the fleet.", mixinStandardHelpOptions = true)
    static final class Unfreeze extends OperatorCommand {
        @Override
        String act(HealthClient client, String because) throws InterruptedException {
            client.fleetCommand("unfreeze", because);
            return "not frozen any more; what was held back and is still true is done now";
        }
    }
}

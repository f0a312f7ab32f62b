package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FleetPlan;
import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.StateDirectory;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command {@code gpufleet}; each verb is a class beside it. */
@Command(
        name = "gpufleet",
        description = "The whole fleet on this machine: start it, break it, look at it.",
        mixinStandardHelpOptions = true,
        version = "gpufleet 0.1.0",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            UpCommand.class,
            DownCommand.class,
            StatusCommand.class,
            FaultCommand.class,
            ClearCommand.class,
            PodCommand.class,
            EventsCommand.class,
            KubeconfigCommand.class,
            LogsCommand.class,
            TopicsCommand.class,
            DeadLetterCommand.class,
            BenchCommand.class,
            PackageCommand.class
        })
public final class Gpufleet implements Runnable {
    private static final int REFUSED = 2;

    @Option(
            names = "--state",
            paramLabel = "DIR",
            scope = ScopeType.INHERIT,
            description = "where the fleet keeps its state [.gpufleet beside this script]")
    private String state = "";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    /** Parses and runs; what the operator caused is one line, never a stack trace. */
    public static CommandLine commandLine() {
        return new CommandLine(new Gpufleet())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, commandLine, parsed) -> {
                    return switch (failure) {
                        case ConfigurationException wrong -> say(commandLine, wrong, REFUSED);
                        case UncheckedIOException wrong -> say(commandLine, wrong, 1);
                        case IllegalStateException wrong -> say(commandLine, wrong, 1);
                        case IllegalArgumentException wrong -> say(commandLine, wrong, REFUSED);
                        case KafkaException wrong -> say(commandLine, wrong, 1);
                        default -> throw failure;
                    };
                });
    }

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    /** Root of the source tree whose programs are run. */
    Path tree() {
        return Path.of(System.getProperty("gpufleet.home", "")).toAbsolutePath().normalize();
    }

    /** Where the fleet's state is. */
    StateDirectory directory() {
        return new StateDirectory(state.isEmpty() ? tree().resolve(".gpufleet") : Path.of(state));
    }

    /** The fleet that runs; says how to start one when there is none. */
    FleetState running() {
        return FleetState.read(directory().stateFile())
                .filter(FleetState::alive)
                .orElseThrow(() -> new ConfigurationException("no fleet runs here; './gpufleet up' starts one"));
    }

    /** A node of the fleet; names those that there are. */
    static FleetState.NodePlace node(FleetState fleet, String name) {
        return fleet.node(name)
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is not a node of this fleet; it has "
                        + (fleet.nodes().isEmpty()
                                ? "none"
                                : fleet.nodes().stream()
                                        .map(FleetState.NodePlace::name)
                                        .collect(Collectors.joining(", ")))));
    }

    /** The codec of the local fleet. */
    static Codec codec() {
        return new Codec(FleetPlan.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    }

    private static int say(CommandLine commandLine, Exception failure, int code) {
        Throwable cause = failure.getCause();
        commandLine
                .getErr()
                .println("gpufleet: " + failure.getMessage()
                        + (cause == null
                                        || cause.getMessage() == null
                                        || String.valueOf(failure.getMessage()).contains(cause.getMessage())
                                ? ""
                                : ": " + cause.getMessage()));
        return code;
    }
}

package io.gpufleet.cli;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TopicsException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command {@code gpufleet}; each subcommand is a class of this package. */
@Command(
        name = "gpufleet",
        description = "A fleet on this machine: start it, inject faults, inspect it.",
        mixinStandardHelpOptions = true,
        versionProvider = GpufleetCommand.BuildVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            UpCommand.class,
            DownCommand.class,
            PartCommand.StartPart.class,
            PartCommand.StopPart.class,
            PartCommand.RestartPart.class,
            StatusCommand.class,
            DrillCommand.class,
            FaultCommand.class,
            ClearCommand.class,
            WhyCommand.class,
            OperatorCommand.Maintenance.class,
            OperatorCommand.Forget.class,
            OperatorCommand.Freeze.class,
            OperatorCommand.Unfreeze.class,
            PodCommand.class,
            EventsCommand.class,
            KubeconfigCommand.class,
            LogsCommand.class,
            TopicsCommand.class,
            DeadLetterCommand.class,
            PackageCommand.class,
            PurgeCommand.class,
            DoctorCommand.class
        })
public final class GpufleetCommand implements Runnable {
    private static final int INVALID_INPUT = 2;
    private static final int MAX_SUGGESTIONS = 3;

    @Option(
            names = "--state",
            paramLabel = "DIR",
            scope = ScopeType.INHERIT,
            description = "directory of the fleet's state [.gpufleet beside the script]")
    private String state = "";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    /** Version and revision of the build, as the programs print theirs. */
    static final class BuildVersion implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"gpufleet " + BuildInfo.current()};
        }
    }

    /** The command line of the local fleet. */
    public static CommandLine commandLine() {
        return commandLine(new GpufleetCommand());
    }

    /** Parses and runs a command; an error that the operator caused is one line, never a stack trace. */
    public static CommandLine commandLine(Object command) {
        return new CommandLine(command)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(int.class, text -> (int) wholeNumber(text, Integer.MAX_VALUE))
                .registerConverter(long.class, text -> wholeNumber(text, Long.MAX_VALUE))
                .setParameterExceptionHandler((wrong, arguments) -> printUsageError(wrong))
                .setExecutionExceptionHandler((failure, commandLine, parsed) -> {
                    return switch (failure) {
                        case ConfigurationException wrong -> printError(commandLine, wrong, INVALID_INPUT);
                        case UncheckedIOException wrong -> printError(commandLine, wrong, 1);
                        case IllegalStateException wrong -> printError(commandLine, wrong, 1);
                        case IllegalArgumentException wrong -> printError(commandLine, wrong, INVALID_INPUT);
                        case KafkaException wrong ->
                            printError(
                                    commandLine,
                                    new IllegalStateException("Kafka does not answer as expected (" + wrong.getMessage()
                                            + "): './gpufleet status' shows whether that of this fleet runs"),
                                    1);
                        case KubernetesClientException wrong ->
                            printError(
                                    commandLine,
                                    new IllegalStateException("the Kubernetes API does not answer as expected ("
                                            + ApiErrorMessage.of(wrong)
                                            + "): './gpufleet status' shows whether that of this fleet runs"),
                                    1);
                        case TopicsException wrong -> printError(commandLine, wrong, 1);
                        default -> throw failure;
                    };
                });
    }

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    /** Root of the source tree whose programs are run. */
    public static Path tree() {
        return Path.of(System.getProperty("gpufleet.home", "")).toAbsolutePath().normalize();
    }

    /** The state directory of the fleet. */
    StateDirectory stateDirectory() {
        return new StateDirectory(state.isEmpty() ? tree().resolve(".gpufleet") : Path.of(state));
    }

    /** The running fleet; the exception of a missing one names the command that starts it. */
    FleetState runningFleet() {
        return FleetState.read(stateDirectory().stateFile())
                .filter(FleetState::alive)
                .orElseThrow(() -> stateDirectory().noFleet());
    }

    /** A node of the fleet; the exception for an unknown one lists the nodes. */
    static FleetState.FleetNode node(FleetState fleet, String name) {
        return fleet.node(name)
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is not a node of this fleet; it has "
                        + (fleet.nodes().isEmpty()
                                ? "none"
                                : fleet.nodes().stream()
                                        .map(FleetState.FleetNode::name)
                                        .collect(Collectors.joining(", ")))));
    }

    /** A topic by its name, with or without the prefix; the exception for an unknown one lists the topics. */
    static Topic topic(Topics topics, String name) {
        return Topics.bySuffix(name)
                .or(() -> topics.byName(name))
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no topic; there are "
                        + Arrays.stream(Topic.values()).map(Topic::suffix).collect(Collectors.joining(", "))));
    }

    private static long wholeNumber(String text, long max) {
        try {
            long number = Long.parseLong(text);
            if (number >= -max && number <= max) {
                return number;
            }
        } catch (NumberFormatException malformed) {
            // Refused below.
        }
        throw new CommandLine.TypeConversionException("'" + text + "' is no whole number up to " + max);
    }

    private static int printUsageError(CommandLine.ParameterException wrong) {
        CommandLine refused = wrong.getCommandLine();
        List<String> similar =
                wrong instanceof CommandLine.UnmatchedArgumentException unknown ? unknown.getSuggestions() : List.of();
        refused.getErr()
                .println("gpufleet: " + wrong.getMessage()
                        + (similar.isEmpty()
                                ? ""
                                : "; did you mean "
                                        + similar.stream()
                                                .limit(MAX_SUGGESTIONS)
                                                .collect(Collectors.joining(" or ")) + "?")
                        + "; './" + refused.getCommandSpec().qualifiedName() + " --help' lists what it takes");
        return INVALID_INPUT;
    }

    private static int printError(CommandLine commandLine, Exception failure, int code) {
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

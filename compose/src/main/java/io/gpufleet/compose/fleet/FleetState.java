package io.gpufleet.compose.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an {@code up} started, as it stands in {@code state.json}.
 *
 * @param startedAt RFC 3339
 * @param secondsToReady from the first process to the last answer of {@code /readyz}; 0 while starting
 * @param supervisor the process that ends the fleet on Ctrl-C; absent when it runs detached
 * @param bootstrap address of Kafka
 * @param kubernetes how the API is reached
 * @param gpus GPUs of each node
 * @param model their model
 * @param processes every process, in the order of starting
 * @param nodes the simulated nodes
 */
public record FleetState(
        String startedAt,
        double secondsToReady,
        @Nullable Identity supervisor,
        String bootstrap,
        Kubernetes kubernetes,
        int gpus,
        String model,
        List<Started> processes,
        List<NodePlace> nodes) {
    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    /**
     * How the API is reached.
     *
     * @param url address of the API
     * @param kubeconfig file for clients
     * @param standIn whether it is our own stand-in
     */
    public record Kubernetes(String url, String kubeconfig, boolean standIn) {}

    /**
     * A process that runs, or ran.
     *
     * @param name what {@code logs} and {@code status} call it
     * @param program name of the {@link Program}, or {@code KAFKA}
     * @param identity which process it is
     * @param log its output
     * @param command how it was started
     * @param environment its settings
     * @param ports its ports by use
     */
    public record Started(
            String name,
            String program,
            Identity identity,
            String log,
            List<String> command,
            Map<String, String> environment,
            Map<String, Integer> ports) {}

    /**
     * Where a simulated node is.
     *
     * @param name name of the Node
     * @param gpus number of its GPUs
     * @param model their model
     * @param socketDirectory where its kubelet's sockets are
     * @param faultDirectory where a file {@code <gpu>.xid} is a fault
     * @param metrics address of the daemon's metrics
     */
    public record NodePlace(
            String name, int gpus, String model, String socketDirectory, String faultDirectory, String metrics) {}

    /** Keeps its own copies. */
    public FleetState {
        processes = List.copyOf(processes);
        nodes = List.copyOf(nodes);
    }

    /** The process of that name. */
    public Optional<Started> process(String name) {
        return processes.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    /** The node of that name. */
    public Optional<NodePlace> node(String name) {
        return nodes.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    /** True while any of its processes lives. */
    public boolean alive() {
        return processes.stream().anyMatch(each -> each.identity().find().isPresent());
    }

    /** What stands in the file; empty when there is none. */
    public static Optional<FleetState> read(Path file) {
        try {
            return Optional.of(JSON.readValue(Files.readString(file), FleetState.class));
        } catch (NoSuchFileException none) {
            return Optional.empty();
        } catch (JsonProcessingException broken) {
            throw new UncheckedIOException(file + " is not readable; './gpufleet down --clean' starts over", broken);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Replaces the file by an atomic rename. */
    public void write(Path file) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Path temporary = file.resolveSibling(file.getFileName() + ".new");
            Files.writeString(temporary, JSON.writeValueAsString(this));
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

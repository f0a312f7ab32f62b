package io.gpufleet.cli.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.gpufleet.kit.files.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code state.json}: what {@code up} started.
 *
 * @param startedAt RFC 3339
 * @param secondsToReady from the first process to the last answer of {@code /readyz}; 0 while starting
 * @param supervisor the process that stops the fleet on Ctrl-C; absent when it runs detached
 * @param bootstrap address of Kafka
 * @param kubernetes access to the API
 * @param processes every process, in start order
 * @param nodes the simulated nodes
 */
public record FleetState(
        String startedAt,
        double secondsToReady,
        @Nullable ProcessIdentity supervisor,
        String bootstrap,
        KubernetesEndpoint kubernetes,
        List<FleetProcess> processes,
        List<FleetNode> nodes) {
    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    /**
     * Access to the API.
     *
     * @param url address of the API
     * @param kubeconfig file for clients
     * @param fake true for the fake API server
     */
    public record KubernetesEndpoint(String url, String kubeconfig, boolean fake) {}

    /**
     * A process, running or ended.
     *
     * @param name name in {@code logs} and {@code status}
     * @param program name of the {@link Program}, or {@code KAFKA}
     * @param identity process id and start time
     * @param log file with its output
     * @param command command line
     * @param environment its settings
     * @param ports its ports by use
     */
    public record FleetProcess(
            String name,
            String program,
            ProcessIdentity identity,
            String log,
            List<String> command,
            Map<String, String> environment,
            Map<String, Integer> ports) {}

    /**
     * A simulated node.
     *
     * @param name name of the Node
     * @param gpus number of its GPUs
     * @param model model of the GPUs
     * @param socketDirectory directory of its kubelet's sockets
     * @param faultDirectory directory in which a file {@code <gpu>.xid} is a fault
     * @param metrics address of the daemon's metrics
     */
    public record FleetNode(
            String name, int gpus, String model, String socketDirectory, String faultDirectory, String metrics) {}

    /** Keeps its own copies. */
    public FleetState {
        processes = List.copyOf(processes);
        nodes = List.copyOf(nodes);
    }

    /** The process of that name. */
    public Optional<FleetProcess> process(String name) {
        return processes.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    /** The node of that name. */
    public Optional<FleetNode> node(String name) {
        return nodes.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    /** True once every part was ready: until then {@code up} adds processes to the file, and nobody else writes it. */
    public boolean started() {
        return secondsToReady > 0;
    }

    /** True while one of its processes runs. */
    public boolean alive() {
        return processes.stream().anyMatch(each -> each.identity().find().isPresent());
    }

    /** Reads the file; empty when there is none. */
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
            AtomicFile.write(file, JSON.writeValueAsBytes(this), AtomicFile.Durability.PROCESS);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.cli.CommandProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What {@code ./gpufleet events} prints of an installation. */
public final class PrintedEvents {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private PrintedEvents() {}

    /** A node with its eight GPUs is one line, cut unless it is wanted in full, or one JSON object. */
    public static void assertNodeIsAnnounced(String bootstrap, String node) throws IOException {
        assertThat(announcement(bootstrap)).contains(node, "gpus[0].").hasSizeLessThan(403);
        assertThat(announcement(bootstrap, "--full")).contains(node, "gpus[7].").doesNotContain("…");
        JsonNode event = new ObjectMapper().readTree(announcement(bootstrap, "--json"));
        assertThat(event.path("source").asText()).isEqualTo("/clusters/it/nodes/" + node);
        assertThat(event.at("/data/gpus").size()).isEqualTo(8);
    }

    private static String announcement(String bootstrap, String... format) throws IOException {
        var arguments = new ArrayList<>(List.of("events", "inventory", "--since", "3600", "--kafka", bootstrap));
        arguments.addAll(List.of(format));
        return CommandProcess.lineOf(arguments, "node.announced", TIMEOUT);
    }
}

package io.gpufleet.compose.bench.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** What the measuring costs by itself: the same client, against a server that does nothing. */
record Floor(Path directory) {
    private static final int CALLS = 10_000;

    void measure(Samples samples) throws InterruptedException {
        Path socket = directory.resolve("floor.sock");
        try (var server = new EmptyAnswers(socket, _ -> {})) {
            var load = new Load(socket, PluginLine.method("/bench/Nothing"), new byte[0]);
            load.run(1, CALLS);
            samples.spread("client", "null-rpc.1-caller", "us", load.run(1, CALLS));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

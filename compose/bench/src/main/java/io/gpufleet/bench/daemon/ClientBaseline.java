package io.gpufleet.bench.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** The cost of measuring: the same client against a server that does nothing. */
record ClientBaseline(Path directory) {
    private static final int CALLS = 10_000;
    private static final int CONCURRENT_CALLERS = 8;

    void measure(LatencySamples samples) throws InterruptedException {
        Path socket = directory.resolve("floor.sock");
        try (var server = new EmptyResponseServer(socket, _ -> {})) {
            var load = new LoadGenerator(socket, RawGrpcClient.requestHeaders("/bench/Nothing"), new byte[0]);
            load.run(1, CALLS);
            samples.addDistribution("client", "null-rpc.1-caller", "us", load.run(1, CALLS));
            load.run(CONCURRENT_CALLERS, CALLS);
            samples.addDistribution("client", "null-rpc.8-callers", "us", load.run(CONCURRENT_CALLERS, CALLS));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

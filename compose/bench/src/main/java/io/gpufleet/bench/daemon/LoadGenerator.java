package io.gpufleet.bench.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Repeats one call, by callers with a connection each; the next call follows the answer of the last. */
record LoadGenerator(Path socket, byte[] method, byte[] message) {
    /** Makes this many calls, divided among the callers; returns the duration of each in microseconds. */
    List<Double> run(int callers, int calls) throws InterruptedException {
        var together = new CountDownLatch(callers);
        var sample = new ArrayList<Double>(calls);
        try (var threads = Executors.newFixedThreadPool(callers)) {
            List<Future<long[]>> running = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                running.add(threads.submit(() -> call(calls / callers, together)));
            }
            for (Future<long[]> each : running) {
                Arrays.stream(each.get()).forEach(nanos -> sample.add(nanos / 1e3));
            }
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a call failed: " + failed.getCause(), failed);
        }
        return sample;
    }

    private long[] call(int calls, CountDownLatch together) throws InterruptedException {
        try (var line = RawGrpcClient.connect(socket)) {
            var nanos = new long[calls];
            together.countDown();
            together.await();
            for (int i = 0; i < calls; i++) {
                long before = System.nanoTime();
                line.call(method, message);
                nanos[i] = System.nanoTime() - before;
            }
            return nanos;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

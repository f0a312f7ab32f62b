package io.gpufleet.bench.projection;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Clients that ask one service the same questions in turn, and a probe beside them. */
final class ReadLoad {
    private static final long PROBE_INTERVAL_MILLIS = 50;

    private final int port;
    private final List<String> paths;
    private final Map<String, List<Double>> latencies = new TreeMap<>();
    private final Semaphore never = new Semaphore(0);
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

    ReadLoad(int port, List<String> paths) {
        this.port = port;
        this.paths = paths;
        paths.forEach(path -> latencies.put(path, new CopyOnWriteArrayList<>()));
    }

    /** Milliseconds of each query, by path. */
    Map<String, List<Double>> latencies() {
        return latencies;
    }

    /** Milliseconds of each probe for a while, beside so many clients; a question that is refused ends the measurement. */
    List<Double> probe(Duration time, int clients) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        List<Thread> threads = IntStream.range(0, clients)
                .mapToObj(client -> Thread.ofVirtual().start(() -> query(client, end)))
                .toList();
        List<Double> probes = new ArrayList<>();
        try (HttpClient http = HttpClient.newHttpClient()) {
            while (System.nanoTime() < end) {
                probes.add(get(http, "/livez"));
                var _ = never.tryAcquire(PROBE_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        RuntimeException refused = failure.get();
        if (refused != null) {
            throw refused;
        }
        return probes;
    }

    private void query(int client, long end) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (int i = client; System.nanoTime() < end && failure.get() == null; i++) {
                String path = paths.get(i % paths.size());
                latencies.getOrDefault(path, new ArrayList<>()).add(get(http, path));
            }
        } catch (IllegalStateException refused) {
            failure.compareAndSet(null, refused);
        }
    }

    private double get(HttpClient http, String path) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .version(HttpClient.Version.HTTP_1_1)
                .timeout(Duration.ofSeconds(30))
                .build();
        long begun = System.nanoTime();
        try {
            int status =
                    http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            if (status != 200) {
                throw new IllegalStateException(path + " answered " + status);
            }
        } catch (IOException failed) {
            throw new IllegalStateException(path + " was not answered", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
        return (System.nanoTime() - begun) / 1e6;
    }
}

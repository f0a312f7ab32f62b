package io.gpufleet.compose.bench.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One candidate, started on a fresh machine, measured, ended. */
record Trial(Candidate candidate, Path home, Path sockets, Samples samples, Consumer<String> says) {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String BLIND = "sees-no-fault";
    private static final Duration FAULT_PATIENCE = Duration.ofSeconds(5);
    /** A GPU that fell off the bus: withdrawn by everybody. */
    private static final int XID = 79;

    private static final int GPUS = 8;
    private static final int MANY_GPUS = 16;
    private static final Duration BREATH = Duration.ofMillis(50);
    private static final Duration SETTLE = Duration.ofSeconds(5);
    private static final Duration IDLE = Duration.ofSeconds(10);
    private static final int WARM_UP = 5_000;
    private static final int CALLS = 10_000;
    private static final int CROWD = 8;
    private static final int PREFERENCES = 1_000;
    private static final int RESTARTS = 10;
    private static final int SCRAPES = 200;

    /** What a trial has while it runs. */
    private record Stage(BenchKubelet kubelet, Hardware hardware, Running running, BenchKubelet.Shown shown)
            implements AutoCloseable {
        @Override
        public void close() {
            running.close();
            hardware.close();
            kubelet.close();
        }
    }

    private Stage stage(int gpus) throws InterruptedException {
        Path state = home.resolve(candidate.name());
        DaemonBenchmark.remove(state);
        var kubelet = new BenchKubelet(sockets);
        var hardware = Hardware.of(home.resolve("built"), state.resolve("driver"), gpus);
        var running = new Running(
                candidate, candidate.environment(hardware, kubelet, state), home.resolve(candidate.name() + ".log"));
        try {
            var shown = kubelet.await("the first list", list -> list.healthy() == gpus, PATIENCE);
            return new Stage(kubelet, hardware, running, shown);
        } catch (IllegalStateException silent) {
            new Stage(kubelet, hardware, running, new BenchKubelet.Shown(BenchKubelet.Shown.NOTHING, 0)).close();
            throw new IllegalStateException(
                    silent.getMessage() + "; its output is in " + home.resolve(candidate.name() + ".log"), silent);
        }
    }

    /** Start, every GPU breaking in turn, end. */
    void starts() throws InterruptedException {
        try (Stage stage = stage(GPUS)) {
            value(
                    "start-to-registered",
                    "ms",
                    stage.kubelet().registeredNanos() - stage.running().startedNanos());
            value("start-to-list", "ms", stage.shown().nanos() - stage.running().startedNanos());
            stage.running().rest(Duration.ofSeconds(1));
            if (!samples.has(candidate.name(), BLIND)) {
                breakAll(stage);
            }
            samples.spread(
                    candidate.name(),
                    "sigterm-to-exit",
                    "ms",
                    List.of(stage.running().end(PATIENCE)));
        }
    }

    private void breakAll(Stage stage) throws InterruptedException {
        var faults = new ArrayList<Double>();
        try {
            for (int gpu = 0; gpu < GPUS; gpu++) {
                int left = GPUS - gpu - 1;
                stage.hardware().xid(gpu, XID);
                var shown = stage.kubelet().await("a withdrawn GPU", list -> list.healthy() == left, FAULT_PATIENCE);
                faults.add((shown.nanos() - stage.hardware().deliveredNanos()) / 1e6);
                stage.running().rest(BREATH);
            }
            samples.spread(candidate.name(), "first-fault-to-list", "ms", faults.subList(0, 1));
            samples.spread(candidate.name(), "fault-to-list", "ms", faults);
        } catch (IllegalStateException blind) {
            samples.value(candidate.name(), BLIND, "1", 1);
            says.accept(candidate.name() + " did not see XID " + XID + ": " + blind.getMessage());
        }
    }

    /** At rest, under calls, under a kubelet that restarts. */
    void load() throws InterruptedException {
        try (Stage stage = stage(GPUS)) {
            idle(stage.running());
            scrape();
            calls(Questions.to(stage.kubelet(), stage.shown()));
            samples.value(
                    candidate.name(), "rss-after-load", "MiB", stage.running().residentMebibytes());
            for (int i = 0; i < RESTARTS; i++) {
                long listening = stage.kubelet().restart();
                var shown = stage.kubelet().await("the list after a restart", list -> list.healthy() == GPUS, PATIENCE);
                samples.spread(
                        candidate.name(), "kubelet-restart-to-list", "ms", List.of((shown.nanos() - listening) / 1e6));
                stage.running().rest(BREATH.multipliedBy(10));
            }
            stage.running().end(PATIENCE);
        }
        try (Stage stage = stage(MANY_GPUS)) {
            stage.running().rest(SETTLE);
            prefer("prefer-8-of-16", Questions.to(stage.kubelet(), stage.shown()));
            stage.running().end(PATIENCE);
        }
    }

    private void idle(Running running) throws InterruptedException {
        running.rest(SETTLE);
        double before = running.processorSeconds();
        running.rest(IDLE);
        double used = running.processorSeconds() - before;
        samples.value(candidate.name(), "idle-cpu", "% of a core", used / IDLE.toSeconds() * 100);
        samples.value(candidate.name(), "idle-rss", "MiB", running.residentMebibytes());
        samples.value(candidate.name(), "idle-threads", "1", running.threads());
    }

    private void calls(Questions questions) throws InterruptedException {
        measure("null-rpc.1-caller", questions.nothing(), 1);
        measure("allocate.1-caller", questions.allocate(), 1);
        measure("allocate.8-callers", questions.allocate(), CROWD);
        prefer("prefer-4-of-8", questions);
    }

    private void measure(String name, Load load, int callers) throws InterruptedException {
        load.run(callers, WARM_UP);
        samples.spread(candidate.name(), name, "us", load.run(callers, CALLS));
    }

    private void prefer(String name, Questions questions) throws InterruptedException {
        questions.preferHalf().run(1, PREFERENCES);
        samples.spread(candidate.name(), name, "us", questions.preferHalf().run(1, PREFERENCES));
    }

    private void scrape() {
        if (candidate instanceof Candidate.Ours ours) {
            URI page = URI.create("http://127.0.0.1:" + ours.httpPort() + "/metrics");
            var sample = new ArrayList<Double>();
            for (int i = 0; i < SCRAPES; i++) {
                long before = System.nanoTime();
                try (var body = page.toURL().openStream()) {
                    body.readAllBytes();
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
                sample.add((System.nanoTime() - before) / 1e6);
            }
            samples.spread(candidate.name(), "metrics-scrape", "ms", sample);
        }
    }

    private void value(String name, String unit, long nanos) {
        samples.spread(candidate.name(), name, unit, List.of(nanos / 1e6));
    }
}

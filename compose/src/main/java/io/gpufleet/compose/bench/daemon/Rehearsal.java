package io.gpufleet.compose.bench.daemon;

import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** One run of the daemon through all that it does in a day, for a virtual machine that takes notes. */
public final class Rehearsal {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int GPUS = 8;
    private static final int CALLS = 1_000;
    private static final int XID = 79;

    private Rehearsal() {}

    /** Runs a command that starts the daemon, below a directory; its output goes to a file there. */
    public static void of(Path tree, List<String> command, Path home, Path sockets) throws InterruptedException {
        DaemonBenchmark.remove(home);
        try (var broker = BrokerProcess.start(home.resolve("kafka"))) {
            TopicAdmin.apply(broker.bootstrap(), new Topics(DaemonBenchmark.PREFIX));
            Hardware.build(tree, home.resolve("built"));
            var candidate = new Candidate.Ours(command, "", broker.bootstrap(), 0);
            try (var kubelet = new BenchKubelet(sockets);
                    var hardware = Hardware.of(home.resolve("built"), home.resolve("driver"), GPUS);
                    var running = new Running(
                            candidate,
                            candidate.environment(hardware, kubelet, home.resolve("daemon")),
                            home.resolve("rehearsal.log"))) {
                perform(kubelet, hardware, running);
            }
        } finally {
            DaemonBenchmark.remove(sockets);
        }
    }

    private static void perform(BenchKubelet kubelet, Hardware hardware, Running running) throws InterruptedException {
        var shown = kubelet.await("the first list", list -> list.healthy() == GPUS, PATIENCE);
        var questions = Questions.to(kubelet, shown);
        questions.nothing().run(1, CALLS);
        questions.allocate().run(1, CALLS);
        questions.preferHalf().run(1, CALLS);
        hardware.xid(1, XID);
        kubelet.await("a withdrawn GPU", list -> list.healthy() == GPUS - 1, PATIENCE);
        kubelet.restart();
        kubelet.await("the list after a restart", list -> list.list().getDevicesCount() == GPUS, PATIENCE);
        running.rest(Duration.ofSeconds(3));
        running.end(PATIENCE);
    }
}

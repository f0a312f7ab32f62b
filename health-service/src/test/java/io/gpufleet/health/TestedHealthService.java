package io.gpufleet.health;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The program as the tests start it, and the nodes that they show it. */
final class TestedHealthService {
    private TestedHealthService() {}

    /** A replica that writes Nodes without budgets, and whose successor need not wait long. */
    static ProgramProcess.Builder program(Path directory) {
        return ProgramProcess.of("health-service", HealthMain.class.getName(), directory)
                .environment(Map.of(
                        "GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited", "GPUFLEET_SESSION_TIMEOUT", "2s"));
    }

    /** Creates Nodes node-0, node-1 ... of two GPUs each, and announces them; the caller closes their daemons. */
    static List<DaemonEventProducer> announceNodes(TestBed bed, int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> "node-" + number)
                .map(name -> {
                    bed.client()
                            .nodes()
                            .resource(new NodeBuilder()
                                    .withNewMetadata()
                                    .withName(name)
                                    .endMetadata()
                                    .build())
                            .create();
                    return new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), name)
                            .announce(TestGpus.h100(2));
                })
                .toList();
    }
}

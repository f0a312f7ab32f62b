package io.gpufleet.health;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.HttpAnswer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.vertx.core.json.JsonObject;
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

    /** Starts a replica with this name and policy. */
    static ProgramProcess start(TestBed bed, Path directory, String instance, Path policy) {
        return program(directory)
                .environment(bed.settings())
                .environment(Map.of("GPUFLEET_POLICY", policy.toString(), "GPUFLEET_INSTANCE", instance))
                .start();
    }

    /** Creates Nodes node-0, node-1 ... of two GPUs each, and announces them; the caller closes their daemons. */
    static List<DaemonEventProducer> announceNodes(TestBed bed, int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> "node-" + number)
                .map(name -> announceNode(bed, name, Map.of()))
                .toList();
    }

    /** Creates a Node of two GPUs with these labels, and announces it; the caller closes its daemon. */
    static DaemonEventProducer announceNode(TestBed bed, String name, Map<String, String> labels) {
        bed.client()
                .nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .create();
        return new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), name).announce(TestGpus.h100(2));
    }

    /** A pod that holds a GPU of a node, and ends at once. */
    static PodBuilder gpuPod(String name, String node) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withTerminationGracePeriodSeconds(0L)
                .addNewContainer()
                .withName("main")
                .withImage("example.invalid/train")
                .withNewResources()
                .withLimits(Map.of("nvidia.com/gpu", new Quantity("1")))
                .endResources()
                .endContainer()
                .endSpec();
    }

    /** What a replica says of a node; empty while it does not answer in time. */
    static JsonObject why(ProgramProcess replica, String node) {
        HttpAnswer why = replica.get("/v1/nodes/" + node + "/why");
        return why.status() == 200 ? new JsonObject(why.body()) : new JsonObject();
    }
}

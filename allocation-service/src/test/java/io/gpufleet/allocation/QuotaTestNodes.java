package io.gpufleet.allocation;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.proto.inventory.v1.MigInstance;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.NullMarked;

/** A node of 8 A100 and one of 8 H100, on which nothing is scheduled, with their daemons. */
@NullMarked
final class QuotaTestNodes implements AutoCloseable {
    static final String A100 = "NVIDIA A100-SXM4-40GB";

    private final KubernetesClient client;
    private final String bootstrap;
    private final String suffix;
    private final DaemonEventProducer a100;
    private final DaemonEventProducer h100;

    /** Creates and announces them; {@code suffix} tells their names from those of other tests. */
    QuotaTestNodes(KubernetesClient client, String bootstrap, String suffix) {
        this.client = client;
        this.bootstrap = bootstrap;
        this.suffix = suffix;
        this.a100 = node(A100, "A100");
        this.h100 = node("NVIDIA H100 80GB HBM3", "H100");
    }

    private DaemonEventProducer node(String model, String shortModel) {
        String name = "gpufleet-it-" + shortModel.toLowerCase(Locale.ROOT) + "-" + suffix;
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("gpufleet.io/simulated", "true")
                        .addToLabels("nvidia.com/gpu.product", model.replace(' ', '-'))
                        .addToLabels("gpu-type", shortModel.toLowerCase(Locale.ROOT))
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoSchedule", "gpufleet.io/it", null, "true")
                        .endSpec()
                        .build())
                .create();
        return new DaemonEventProducer(bootstrap, new Codec("it", new Topics(Topics.DEFAULT_PREFIX)), name)
                .announce(new TestGpus(8, model, shortModel));
    }

    /** The daemon of the A100 node announces its GPUs under the name of a resource. */
    void announceA100As(String resource) {
        var announced = a100.announcement(new TestGpus(8, A100, "A100"));
        announced.getGpusBuilderList().forEach(gpu -> gpu.setResource(resource));
        a100.announce(announced.build());
    }

    /** The daemon of the A100 node announces that one of its GPUs is divided into MIG devices. */
    void announceSlices(String profile, int slices) {
        var announced = a100.announcement(new TestGpus(8, A100, "A100"));
        for (int i = 0; i < slices; i++) {
            announced
                    .getGpusBuilder(7)
                    .addMigInstances(MigInstance.newBuilder()
                            .setUuid("MIG-" + suffix + "-" + i)
                            .setProfile(profile)
                            .setResource("nvidia.com/mig-" + profile));
        }
        announced.getGpusBuilder(7).setResource("");
        a100.announce(announced.build());
    }

    @Override
    public void close() {
        for (DaemonEventProducer daemon : List.of(a100, h100)) {
            client.nodes().withName(daemon.node()).delete();
            daemon.close();
        }
    }
}

package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** All programs on a broker that asks for TLS, SCRAM and ACLs, each with the rights that TOPICS.md lists. */
class SecuredFleetIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final String GPU = "nvidia.com/gpu";
    private static final String NODE = "node-1";

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path directory;

    private final Vertx vertx = Vertx.vertx();
    private final List<ProgramProcess> programs = new ArrayList<>();
    private BrokerProcess broker;
    private BrokerRights rights;
    private FakeApiServer apiServer;
    private KubernetesClient client;
    private FakeKubelet kubelet;
    private SimulatedFaults faults;
    private ProgramProcess allocation;

    @BeforeEach
    void start() throws Exception {
        broker = BrokerProcess.startSecured(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        rights = BrokerRights.ofTheDocument();
        rights.grant(broker);
        apiServer = FakeApiServer.start("127.0.0.1", 0);
        client = TestKubernetes.client(apiServer.kubeconfig(directory.resolve("kubeconfig")));
        createNode();
        kubelet = FakeKubelet.start(vertx, directory.resolve("kubelet"));
        faults = new SimulatedFaults(directory.resolve("faults"));
        start("inventory-service", "io.gpufleet.inventory.InventoryMain", Map.of());
        start(
                "health-service",
                "io.gpufleet.health.HealthMain",
                Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"));
        allocation = start(
                "allocation-service",
                "io.gpufleet.allocation.AllocationMain",
                Map.of("GPUFLEET_WEBHOOK_HOST", "127.0.0.1", "GPUFLEET_NAMESPACE", "gpufleet"));
        start("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", daemonSettings());
        await().atMost(TIMEOUT)
                .until(() -> kubelet.resource(GPU)
                                .map(AdvertisedResource::allocatable)
                                .orElse(0)
                        == 2);
    }

    @AfterEach
    void stop() throws Exception {
        for (ProgramProcess program : programs.reversed()) {
            program.close();
        }
        kubelet.close();
        client.close();
        apiServer.close();
        broker.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    @Test
    void everyProgramNeedsItsRightsAndNoOthers() throws Exception {
        // When a pod holds a GPU and ends, one held a GPU on a day that is past, a GPU fails, and a record cannot be
        // read
        holdOnAPastDay();
        kubelet.allocate("team-a", "train", "main", GPU, 1);
        sendUnreadable(Topic.SIGNALS);
        faults.inject(0, 79);

        // Then the thread runs from the fault to the taint
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(
                                client.nodes().withName(NODE).get().getSpec().getTaints())
                        .extracting(taint -> taint.getKey() + "=" + taint.getValue())
                        .contains("gpufleet.io/unhealthy=Xid79"));
        finishPod();
        kubelet.release("team-a", "train");

        // And every right of the table is used, and nothing else was asked for
        await().atMost(TIMEOUT).until(() -> allocation.get("/v1/usage").status() == 200);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(rights.unused(broker)).isEmpty());
        assertThat(rights.denied(broker)).isEmpty();
    }

    private void createNode() throws Exception {
        String bootId =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        var node = new NodeBuilder()
                .withNewMetadata()
                .withName(NODE)
                .addToLabels("nvidia.com/device-plugin.config", "default")
                .endMetadata()
                .withNewStatus()
                .withNewNodeInfo()
                .withBootID(bootId)
                .endNodeInfo()
                .endStatus()
                .build();
        client.resource(node).create();
        client.resource(node).patchStatus();
    }

    /** Another node, whose daemon writes by the listener without rights. */
    private void holdOnAPastDay() {
        Instant noon = Instant.now().truncatedTo(ChronoUnit.DAYS).minus(Duration.ofHours(36));
        var codec = new Codec("secured", new Topics(Topics.DEFAULT_PREFIX));
        try (var daemon = new DaemonEventProducer(broker.bootstrap(), codec, "node-past")) {
            daemon.announce(TestGpus.a100(1));
            daemon.hold(noon, Map.of(0, "past"));
            daemon.hold(noon.plusSeconds(60), Map.of());
        }
    }

    private void finishPod() {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace("team-a")
                .withName("train")
                .endMetadata()
                .withNewSpec()
                .withNodeName(NODE)
                .addNewContainer()
                .withName("main")
                .withImage("none")
                .withNewResources()
                .addToLimits(GPU, new Quantity("1"))
                .addToRequests(GPU, new Quantity("1"))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName("team-a")
                        .endMetadata()
                        .build())
                .create();
        client.resource(pod).create();
        String now = Instant.now().toString();
        client.pods()
                .inNamespace("team-a")
                .withName("train")
                .editStatus(found -> new PodBuilder(found)
                        .withNewStatus()
                        .withPhase("Succeeded")
                        .withContainerStatuses(new ContainerStatusBuilder()
                                .withName("main")
                                .withNewState()
                                .withNewTerminated()
                                .withExitCode(0)
                                .withFinishedAt(now)
                                .endTerminated()
                                .endState()
                                .build())
                        .endStatus()
                        .build());
    }

    private void sendUnreadable(Topic topic) throws Exception {
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        try (var producer = new KafkaProducer<>(plain, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(Topics.DEFAULT_PREFIX + topic.suffix(), NODE, "{"))
                    .get();
        }
    }

    private ProgramProcess start(String name, String mainClass, Map<String, String> own) throws Exception {
        Path config = directory.resolve(name + ".properties");
        Files.writeString(config, BrokerRights.clientProperties(broker, name));
        var settings = new TreeMap<>(own);
        settings.put("GPUFLEET_CLUSTER", "secured");
        settings.put("GPUFLEET_KAFKA", broker.securedBootstrap());
        settings.put("GPUFLEET_KAFKA_CONFIG", config.toString());
        var program = ProgramProcess.of(name, mainClass, directory).environment(settings);
        if (!name.equals("node-daemon")) {
            program.environment(
                            Map.of("KUBECONFIG", directory.resolve("kubeconfig").toString()))
                    .freePort("GPUFLEET_GRPC_PORT");
        }
        if (name.equals("allocation-service")) {
            program.freePort("GPUFLEET_WEBHOOK_PORT");
        }
        ProgramProcess started = program.start();
        programs.add(started);
        return started;
    }

    private Map<String, String> daemonSettings() throws Exception {
        Path configs = Files.createDirectories(directory.resolve("plugin-configs"));
        Files.writeString(configs.resolve("default"), "version: v1\n");
        return Map.of(
                "GPUFLEET_CONFIG_DIR", configs.toString(),
                "GPUFLEET_NODE", NODE,
                "GPUFLEET_DEVICES", "simulated:2xH100",
                "GPUFLEET_SIMULATION_DIR", faults.directory().toString(),
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString(),
                "GPUFLEET_STATE_DIR", directory.resolve("state").toString(),
                "GPUFLEET_RUN_DIR", directory.resolve("run").toString());
    }
}

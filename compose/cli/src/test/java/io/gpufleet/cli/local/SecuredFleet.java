package io.gpufleet.cli.local;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** All programs of one node on a broker that asks for TLS, SCRAM and ACLs, and what happens to that node. */
final class SecuredFleet implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final String CLUSTER = "secured";
    private static final String NODE = "node-1";
    private static final String BUSY = "node-2";
    static final String TOPICS_JOB = "topics";
    private static final String GPU = "nvidia.com/gpu";
    private static final String CONFIG_LABEL = "nvidia.com/device-plugin.config";
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);

    final BrokerProcess broker;
    final BrokerRights rights;
    final KubernetesClient client;
    private final Path directory;
    private final Vertx vertx = Vertx.vertx();
    private final LinkedHashMap<String, ProgramProcess> programs = new LinkedHashMap<>();
    private final FakeApiServer apiServer;
    private final FakeKubelet kubelet;
    private final SimulatedFaults faults;
    private final DaemonEventProducer busy;
    private int round;

    /** Starts all and returns when the kubelet has the GPUs. */
    SecuredFleet(Path directory) throws Exception {
        this.directory = directory;
        broker = BrokerProcess.startSecured(directory.resolve("kafka"));
        rights = BrokerRights.ofTheDocument();
        rights.grant(broker);
        writeClientProperties(TOPICS_JOB);
        // As the Job of the topics does.
        TopicAdmin.apply(clientsOf(TOPICS_JOB), TOPICS);
        apiServer = FakeApiServer.start("127.0.0.1", 0);
        client = TestKubernetes.client(apiServer.kubeconfig(directory.resolve("kubeconfig")));
        createNode(
                NODE,
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
        createNode(BUSY, "boot-" + BUSY);
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName("team-a")
                        .endMetadata()
                        .build())
                .create();
        busy = new DaemonEventProducer(broker.bootstrap(), new Codec(CLUSTER, TOPICS), BUSY);
        kubelet = FakeKubelet.start(vertx, directory.resolve("kubelet"));
        faults = new SimulatedFaults(directory.resolve("faults"));
        start("inventory-service", "io.gpufleet.inventory.InventoryMain", Map.of());
        start(
                "health-service",
                "io.gpufleet.health.HealthMain",
                Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"));
        start(
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

    ProgramProcess program(String name) {
        return Objects.requireNonNull(programs.get(name));
    }

    /** Clients of a principal. */
    KafkaClients clientsOf(String principal) {
        return KafkaClients.of(
                broker.securedBootstrap(),
                directory.resolve(principal + ".properties").toString());
    }

    /** A GPU fails, and is held by a pod meanwhile. */
    void fail() throws Exception {
        kubelet.allocate("team-a", "train", "main", GPU, 1);
        faults.inject(0, 79);
    }

    boolean tainted() {
        return client.nodes().withName(NODE).get().getSpec().getTaints().stream()
                .anyMatch(taint -> (taint.getKey() + "=" + taint.getValue()).equals("gpufleet.io/unhealthy=Xid79"));
    }

    /** The pod ends. */
    void finish() {
        createFinished("train");
        kubelet.release("team-a", "train");
    }

    /** Something that every program reads and writes about, of nodes whose daemons write by the listener without rights. */
    void live() throws Exception {
        round++;
        busy.announce(TestGpus.a100(1 + round % 2));
        if (round % 2 == 0) {
            busy.observeXid(0, 79);
        } else {
            busy.clearXid(0, 79);
        }
        holdOnAPastDay();
        sendUnreadable(Topic.SIGNALS);
        client.nodes()
                .withName(BUSY)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\": {\"labels\": {\"" + CONFIG_LABEL + "\": \"round-" + round + "\"}}}");
        createFinished("round-" + round);
    }

    private void holdOnAPastDay() {
        Instant from = Instant.now()
                .truncatedTo(ChronoUnit.DAYS)
                .minus(Duration.ofHours(36))
                .plusSeconds(round * 120L);
        busy.hold(from, Map.of(0, "past-" + round));
        busy.hold(from.plusSeconds(60), Map.of());
    }

    private void createNode(String name, String bootId) {
        TestKubernetes.createNode(client, name, bootId, Map.of(CONFIG_LABEL, "default"));
    }

    private void createFinished(String name) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace("team-a")
                .withName(name)
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
        client.resource(pod).create();
        String now = Instant.now().toString();
        client.pods()
                .inNamespace("team-a")
                .withName(name)
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
        var _ = PublishedRecords.of(broker.bootstrap()).expectUnfit(topic, NODE);
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        try (var producer = new KafkaProducer<>(plain, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(TOPICS.name(topic), NODE, "{")).get();
        }
    }

    private Path writeClientProperties(String principal) throws Exception {
        return Files.writeString(
                directory.resolve(principal + ".properties"), BrokerRights.clientProperties(broker, principal));
    }

    private void start(String name, String mainClass, Map<String, String> own) throws Exception {
        Path config = writeClientProperties(name);
        var settings = new TreeMap<>(own);
        settings.put("GPUFLEET_CLUSTER", CLUSTER);
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
        programs.put(name, program.start());
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

    @Override
    public void close() throws Exception {
        for (ProgramProcess program : programs.sequencedValues().reversed()) {
            program.close();
        }
        busy.close();
        kubelet.close();
        client.close();
        apiServer.close();
        broker.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }
}

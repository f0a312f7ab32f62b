package io.gpufleet.testbed.testkit;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.util.Map;

/** A broker with the topics, and a fake API server with a client. */
public final class TestBed implements AutoCloseable {
    /** Name of the cluster in events and settings. */
    public static final String CLUSTER = "it";

    private final BrokerProcess broker;
    private final Codec codec = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private final FakeApiServer apiServer;
    private final Path kubeconfig;
    private final KubernetesClient client;

    private TestBed(Path directory, BrokerProcess broker) {
        this.broker = broker;
        TopicAdmin.apply(broker.bootstrap(), codec.topics());
        this.apiServer = FakeApiServer.start("127.0.0.1", 0);
        this.kubeconfig = apiServer.kubeconfig(directory.resolve("kubeconfig"));
        this.client = TestKubernetes.client(kubeconfig);
    }

    /** Starts both; their files are below a directory. */
    public static TestBed start(Path directory) {
        return new TestBed(directory, BrokerProcess.start(directory.resolve("kafka")));
    }

    /** Starts both, the broker with a second address that is reached through a proxy. */
    public static TestBed startWithProxy(Path directory) {
        return new TestBed(directory, BrokerProcess.startWithProxy(directory.resolve("kafka")));
    }

    /** The broker. */
    public BrokerProcess broker() {
        return broker;
    }

    /** The codec of the cluster. */
    public Codec codec() {
        return codec;
    }

    /** The fake API server. */
    public FakeApiServer apiServer() {
        return apiServer;
    }

    /** Kubeconfig of the fake API server. */
    public Path kubeconfig() {
        return kubeconfig;
    }

    /** A client of the fake API server. */
    public KubernetesClient client() {
        return client;
    }

    /** Settings of a program that uses both. */
    public Map<String, String> settings() {
        return Map.of(
                "GPUFLEET_CLUSTER", CLUSTER,
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "KUBECONFIG", kubeconfig.toString());
    }

    @Override
    public void close() {
        client.close();
        apiServer.close();
        broker.close();
    }
}

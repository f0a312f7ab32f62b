package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.app.NodeListener;
import io.gpufleet.health.app.drain.PodClient.PodList;
import io.gpufleet.health.app.drain.PodClient.PodResponse;
import io.gpufleet.health.app.remediation.RemediationClient;
import io.gpufleet.health.app.remediation.RemediationClient.Found;
import io.gpufleet.health.app.remediation.RemediationClient.RemediationResponse;
import io.gpufleet.health.model.drain.PodOnNode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.Remediation.Target;
import io.gpufleet.runtime.kubernetes.SharedNeeds;
import io.gpufleet.testbed.testkit.AccountRights;
import io.gpufleet.testbed.testkit.LogLines;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every right of the manifests of the service, its drains and its remediations, with it and without it. */
class RightsClusterIT {
    private static final String NAME = "gpufleet-it-health-rights";
    private static final String REMEDIATION = "k8s/components/remediation/";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final AtomicInteger changes = new AtomicInteger();
    private AccountRights account;
    private KubernetesClient admin;
    private ObservedNode node;
    private String nodeUid = "";

    @BeforeEach
    void grant() throws IOException {
        account = AccountRights.grant(
                NAME,
                List.of(
                        "k8s/base/services/health-service/rbac.yaml",
                        "k8s/components/drain/rbac.yaml",
                        REMEDIATION + "rbac.yaml"),
                // That of executors is for those of others.
                role -> !role.equals("gpufleet-remediation-executor"));
        admin = account.admin();
        Node created = account.createNode();
        nodeUid = created.getMetadata().getUid();
        node = NodeMapper.toModel(created);
    }

    @AfterEach
    void remove() {
        account.removeDefinition("gpuremediations.gpufleet.io");
        account.close();
    }

    @Test
    void everyRightOfTheServiceIsNeededAndNamedWhereItIsMissing() throws IOException {
        Map<String, Supplier<String>> needs = new HashMap<>(SharedNeeds.of(account.client(), admin, NAME));
        needs.put("list nodes", this::watch);
        needs.put("watch nodes", this::watch);
        needs.put("get nodes", () -> problem(nodes().read(NAME)));
        needs.put("patch nodes", () -> {
            ObservedNode now = TestedNode.succeeded(nodes().read(NAME));
            return problem(nodes().patchNode(now, TestedNode.patchWithTaint(now)));
        });
        needs.put("patch nodes/status", () -> problem(nodes().patchCondition(node, TestedNode.PROBLEM)));
        needs.put("create events", () -> event(false));
        needs.put("get events", () -> event(true));
        needs.put("patch events", () -> event(true));
        needs.put("list pods", () -> pods().onNode(NAME) instanceof PodList.Unlisted(String reason) ? reason : "");
        needs.put("patch pods", () -> problem(pods().giveNotice(pod(), Instant.EPOCH, "drain")));
        needs.put("create pods/eviction", () -> problem(pods().evict(pod())));
        needs.put("delete pods", () -> problem(pods().delete(pod())));
        needs.putAll(remediations());

        assertThat(account.findings(needs)).isEmpty();
    }

    private KubernetesNodeClient nodes() {
        return new KubernetesNodeClient(
                account.client(),
                new NodeEventRecorder(account.client(), TestedNode.heldLease(), Clock.systemUTC()),
                Clock.systemUTC(),
                () -> Duration.ZERO);
    }

    private KubernetesPodClient pods() {
        return new KubernetesPodClient(account.client(), Clock.systemUTC());
    }

    private static String problem(NodeResponse response) {
        return response instanceof NodeResponse.Rejected(String reason) ? reason : "";
    }

    private static String problem(PodResponse response) {
        return response instanceof PodResponse.Failed(String reason) ? reason : "";
    }

    /** A new pod on the Node, which runs nothing. */
    private PodOnNode pod() {
        var pod = RealCluster.pod(NAME, "train-" + changes.incrementAndGet(), 0, "true");
        pod.getSpec().setNodeName(NAME);
        var created = await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> admin.resource(pod).create(), made -> made != null);
        return PodMapper.toModel(created);
    }

    /** The line of an Event that was not written; empty once it is there. */
    private String event(boolean repeated) {
        String reason = "Xid" + changes.incrementAndGet();
        String name = NodeEventRecorder.name(node, reason);
        if (repeated) {
            admin.resource(new EventBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .withNamespace("default")
                            .endMetadata()
                            .withNewInvolvedObject()
                            .withApiVersion("v1")
                            .withKind("Node")
                            .withName(NAME)
                            .endInvolvedObject()
                            .withReason(reason)
                            .withCount(1)
                            .build())
                    .create();
        }
        try (var log = LogLines.of(NodeEventRecorder.class.getName());
                var events = new NodeEventRecorder(account.client(), TestedNode.heldLease(), Clock.systemUTC())) {
            events.recordEvent(node, true, reason, "1 GPU out of service");
            await().atMost(TIMEOUT).until(() -> {
                Event found = admin.v1()
                        .events()
                        .inNamespace("default")
                        .withName(name)
                        .get();
                return !log.first().isEmpty() || (found != null && found.getCount() == (repeated ? 2 : 1));
            });
            return log.first();
        }
    }

    private Map<String, Supplier<String>> remediations() throws IOException {
        try (var definition = Files.newInputStream(Repository.module(REMEDIATION + "crd.yaml"))) {
            admin.load(definition)
                    .items()
                    .forEach(crd -> admin.resource(crd).unlock().createOr(edit -> edit.update()));
        }
        var service = new KubernetesRemediationClient(account.client());
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> admin.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuRemediation")
                                .list()
                        != null);
        Supplier<RemediationResponse> created = () -> service.create(NAME, remediation());
        return Map.of(
                "create gpuremediations.gpufleet.io",
                () -> problem(created.get()),
                "get gpuremediations.gpufleet.io",
                () -> problem(service.find(remediation())),
                "patch gpuremediations/status.gpufleet.io",
                () -> {
                    Remediation remediation = remediation();
                    return service.create(NAME, remediation) instanceof Found found
                            ? problem(service.end(
                                    remediation, found, RemediationClient.ObjectPhase.WITHDRAWN, "maintenance"))
                            : "not created";
                });
    }

    private static String problem(RemediationResponse response) {
        return response instanceof RemediationClient.Failed(String reason) ? reason : "";
    }

    private Remediation remediation() {
        return new Remediation(
                new Target(nodeUid, "boot-1", List.of(new RemediatedDevice("GPU-1", "123"))),
                RecommendedAction.REBOOT,
                "xid-" + changes.incrementAndGet(),
                1,
                Instant.parse("2030-01-01T00:00:00Z"),
                List.of("event-1"));
    }

    /** The line of a watch that does not start; empty once the service is ready. */
    private String watch() {
        try (var log = LogLines.of(WatchStatus.class.getName());
                KubernetesNodeClient nodes = nodes()) {
            nodes.watch(new NodeListener() {
                @Override
                public void nodeChanged(String name) {}

                @Override
                public void nodeDeleted(String name, String uid) {}
            });
            await().atMost(TIMEOUT)
                    .until(() ->
                            !log.first().isEmpty() || nodes.readinessFailures().isEmpty());
            return log.first();
        }
    }
}

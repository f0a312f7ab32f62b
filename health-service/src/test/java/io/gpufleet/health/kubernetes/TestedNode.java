package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A Node of its own on any API server, and the adapter for it; the Node is removed after each test. */
interface TestedNode {
    /** Name of the Node of these tests. */
    String NODE = "gpufleet-it-health";

    /** Time limit for an API server. */
    Duration TIMEOUT = Duration.ofSeconds(30);

    /** Fields applied to it. */
    AppliedAnnotation APPLIED =
            new AppliedAnnotation(3, "Xid79", "unhealthy", "reboot", "1 GPU out of service: \"GPU-1\" Xid79");

    /** After recovery. */
    AppliedAnnotation NOTHING_APPLIED = new AppliedAnnotation(4, "", "", "", "every GPU may be used");

    /** A problem. */
    Condition PROBLEM = new Condition("True", "Xid79", "1 GPU out of service");

    /** No problem. */
    Condition NO_PROBLEM = new Condition("False", "GpusHealthy", "every GPU may be used");

    /** Client of the API server who may do everything; stays open. */
    KubernetesClient client();

    /** Client with the rights of the service. */
    default KubernetesClient service() {
        return client();
    }

    @BeforeEach
    default void createNode() {
        removeNode();
        client().nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NODE)
                        .addToLabels("example.com/mine", "yes")
                        .addToAnnotations("example.com/mine", "yes")
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint()
                        .withKey("example.com/busy")
                        .withValue("yes")
                        .withEffect("NoSchedule")
                        .endTaint()
                        .endSpec()
                        .build())
                .create();
    }

    @AfterEach
    default void removeNode() {
        client().nodes().withName(NODE).withGracePeriod(0).delete();
        await().atMost(TIMEOUT).until(() -> client().nodes().withName(NODE).get() == null);
        client().v1()
                .events()
                .inNamespace("default")
                .withField("involvedObject.name", NODE)
                .list()
                .getItems()
                .forEach(event -> client().resource(event).delete());
    }

    /** A client like another one that records its requests; the caller closes it. */
    static KubernetesClient recording(KubernetesClient like, List<String> requests) {
        return new KubernetesClientBuilder()
                .withConfig(like.getConfiguration())
                .withHttpClientBuilderConsumer(builder ->
                        builder.addOrReplaceInterceptor("recorded", new Interceptor() {
                            @Override
                            public void before(BasicBuilder headers, HttpRequest request, RequestTags tags) {
                                requests.add(
                                        request.method() + " " + request.uri().getPath());
                            }
                        }))
                .build();
    }

    /** A lease that is held all the time. */
    static CurrentLease heldLease() {
        var lease = new CurrentLease();
        lease.begin(() -> true);
        return lease;
    }

    /** The adapter with a fixed clock. */
    default KubernetesNodeClient nodes() {
        Clock clock = Clock.fixed(Instant.parse("2026-03-01T10:00:00Z"), ZoneOffset.UTC);
        return new KubernetesNodeClient(
                service(), new NodeEventRecorder(service(), heldLease(), clock), clock, () -> Duration.ZERO);
    }

    /** The Node of a response that has one. */
    static ObservedNode succeeded(NodeResponse response) {
        assertThat(response).isInstanceOf(NodeResponse.Succeeded.class);
        return ((NodeResponse.Succeeded) response).node();
    }

    /** A patch that adds the taint of XID 79. */
    static NodePatchPlan.Patch patchWithTaint(ObservedNode observed) {
        List<Taint> taints = Stream.concat(observed.taints().stream(), Stream.of(Taint.unhealthy("Xid79")))
                .toList();
        return new NodePatchPlan.Patch(
                taints, observed.facts().unschedulable(), "unhealthy", "reboot", APPLIED, true, true, List.of());
    }

    /** Reads and patches; retries when a control plane changed the new Node in between. */
    static ObservedNode patch(KubernetesNodeClient nodes, Function<ObservedNode, NodePatchPlan.Patch> plan) {
        for (int attempt = 0; attempt < 20; attempt++) {
            ObservedNode observed = succeeded(nodes.read(NODE));
            NodeResponse response = nodes.patchNode(observed, plan.apply(observed));
            if (!(response instanceof NodeResponse.Conflict || response instanceof NodeResponse.Mismatch)) {
                return succeeded(response);
            }
        }
        throw new AssertionError("the node changed at each of 20 attempts");
    }

    private static List<Taint> foreignTaints(ObservedNode observed) {
        return observed.taints().stream()
                .filter(taint -> !taint.equals(Taint.unhealthy("Xid79")))
                .toList();
    }

    /** A patch that removes it. */
    static NodePatchPlan.Patch patchWithoutTaint(ObservedNode observed) {
        return new NodePatchPlan.Patch(
                foreignTaints(observed),
                observed.facts().unschedulable(),
                "",
                "",
                NOTHING_APPLIED,
                true,
                false,
                List.of());
    }

    /** Another client changes the Node. */
    default void merge(String patch) {
        client().nodes().withName(NODE).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
    }
}

package io.gpufleet.health.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.StatusDetails;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.health.app.drain.PodClient;
import io.gpufleet.health.model.drain.PodOnNode;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Pods of one API server: evictions by {@code policy/v1}, each for the pod with this UID only. */
public final class KubernetesPodClient implements PodClient {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesPodClient.class);
    private static final String COMPONENT = "gpufleet-health";
    private static final String REASON = "GpuOutOfService";
    private static final PatchContext MERGE = new PatchContext.Builder()
            .withPatchType(PatchType.JSON_MERGE)
            .withFieldManager(COMPONENT)
            .build();

    private final KubernetesClient client;
    private final Clock clock;

    /** Uses the client, which the caller closes. */
    public KubernetesPodClient(KubernetesClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    private interface Call {
        void run();
    }

    @Override
    public PodList onNode(String node) {
        try {
            return new PodList.Listed(
                    client.pods().inAnyNamespace().withField("spec.nodeName", node).list().getItems().stream()
                            .map(PodMapper::toModel)
                            .toList());
        } catch (KubernetesClientException failed) {
            return new PodList.Unlisted(ApiErrors.oneLine(failed));
        }
    }

    @Override
    public PodResponse giveNotice(PodOnNode pod, Instant evictionAt, String message) {
        PodResponse response =
                annotate(pod.name(), evictionAt.truncatedTo(ChronoUnit.MILLIS).toString());
        if (response instanceof PodResponse.Done) {
            recordEvent(pod.name(), message);
        }
        return response;
    }

    @Override
    public PodResponse withdrawNotice(PodOnNode pod) {
        return annotate(pod.name(), null);
    }

    @Override
    public PodResponse evict(PodOnNode pod) {
        Eviction eviction = new EvictionBuilder()
                .withNewMetadata()
                .withName(pod.name().name())
                .withNamespace(pod.name().namespace())
                .endMetadata()
                .withDeleteOptions(only(pod.name()))
                .build();
        // The client's own method hides why the server refuses, and how long it asks to wait.
        return call(() -> client.raw(path(pod.name()) + "/eviction", "POST", eviction));
    }

    @Override
    public PodResponse delete(PodOnNode pod) {
        return call(() -> client.raw(path(pod.name()), "DELETE", only(pod.name())));
    }

    private static String path(PodName pod) {
        return "/api/v1/namespaces/" + pod.namespace() + "/pods/" + pod.name();
    }

    /** Never another pod of the same name. */
    private static DeleteOptions only(PodName pod) {
        return new DeleteOptionsBuilder()
                .withApiVersion("v1")
                .withKind("DeleteOptions")
                .withNewPreconditions()
                .withUid(pod.uid())
                .endPreconditions()
                .build();
    }

    /** The UID in the patch makes the server refuse it for another pod of the same name. */
    private PodResponse annotate(PodName pod, @Nullable String value) {
        Map<String, Object> metadata =
                Map.of("uid", pod.uid(), "annotations", Collections.singletonMap(PodMapper.EVICTION_AT, value));
        try {
            String patch = NodeMapper.JSON.writeValueAsString(Map.of("metadata", metadata));
            return call(() -> client.resource(named(pod)).patch(MERGE, patch));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a map of texts is always JSON", impossible);
        }
    }

    private static Pod named(PodName pod) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(pod.name())
                .withNamespace(pod.namespace())
                .endMetadata()
                .build();
    }

    private static PodResponse call(Call call) {
        try {
            call.run();
            return new PodResponse.Done();
        } catch (KubernetesClientException failed) {
            String reason = ApiErrors.oneLine(failed);
            return switch (failed.getCode()) {
                case 404 -> new PodResponse.Gone();
                case 429 -> new PodResponse.Blocked(reason, retryAfter(failed));
                // More than one PodDisruptionBudget covers the pod: the server refuses that with 500.
                case 500 -> new PodResponse.Blocked(reason, Optional.empty());
                // Another pod has the name: ours is gone.
                case 409 -> new PodResponse.Gone();
                default -> new PodResponse.Failed(reason);
            };
        }
    }

    private static Optional<Duration> retryAfter(KubernetesClientException failed) {
        return Optional.ofNullable(failed.getStatus())
                .flatMap(status -> Optional.ofNullable(status.getDetails()))
                .flatMap(details -> Optional.ofNullable(seconds(details)))
                .filter(seconds -> seconds > 0)
                .map(Duration::ofSeconds);
    }

    private static @Nullable Integer seconds(StatusDetails details) {
        return details.getRetryAfterSeconds();
    }

    /** An Event that cannot be written is logged and dropped: the annotation is the notice. */
    private void recordEvent(PodName pod, String message) {
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        try {
            client.resource(new EventBuilder()
                            .withNewMetadata()
                            .withGenerateName(pod.name()
                                            .substring(
                                                    0, Math.min(200, pod.name().length())) + ".")
                            .withNamespace(pod.namespace())
                            .endMetadata()
                            .withType("Warning")
                            .withReason(REASON)
                            .withMessage(message)
                            .withCount(1)
                            .withFirstTimestamp(now)
                            .withLastTimestamp(now)
                            .withReportingComponent(COMPONENT)
                            .withReportingInstance(COMPONENT)
                            .withNewSource()
                            .withComponent(COMPONENT)
                            .endSource()
                            .withNewInvolvedObject()
                            .withApiVersion("v1")
                            .withKind("Pod")
                            .withNamespace(pod.namespace())
                            .withName(pod.name())
                            .withUid(pod.uid())
                            .endInvolvedObject()
                            .build())
                    .create();
        } catch (KubernetesClientException failed) {
            LOG.atWarn()
                    .addKeyValue("pod", pod.text())
                    .addKeyValue("reason", ApiErrors.oneLine(failed))
                    .log("Kubernetes Event not written");
        }
    }
}

package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the pods of one node, one after the other: admits them, reports them running, ends them, confirms their
 * deletion.
 */
final class PodRunner implements AutoCloseable, ResourceEventHandler<Pod> {
    private static final Logger LOG = LoggerFactory.getLogger(PodRunner.class);
    private static final int CONFLICT = 409;
    private static final int NOT_FOUND = 404;
    private static final int ATTEMPTS = 8;
    /** Exit code of a container that ends on SIGTERM. */
    private static final int TERMINATED = 143;

    private final KubernetesClient client;
    private final String node;
    private final FakeKubelet kubelet;
    private final Clock clock;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(
            Thread.ofVirtual().name("pods").factory());
    private final Set<String> known = new HashSet<>();
    private @Nullable SharedIndexInformer<Pod> informer;

    PodRunner(KubernetesClient client, String node, FakeKubelet kubelet, Clock clock) {
        this.client = client;
        this.node = node;
        this.kubelet = kubelet;
        this.clock = clock;
    }

    /** Watches the pods that are bound to the node. */
    void start() {
        informer =
                client.pods().inAnyNamespace().withField("spec.nodeName", node).inform(this);
    }

    @Override
    public void onAdd(Pod pod) {
        enqueue(pod, () -> sync(pod));
    }

    @Override
    public void onUpdate(Pod old, Pod pod) {
        enqueue(pod, () -> sync(pod));
    }

    @Override
    public void onDelete(Pod pod, boolean finalStateUnknown) {
        enqueue(pod, () -> removed(pod));
    }

    @Override
    public void close() {
        if (informer != null) {
            informer.close();
        }
        executor.shutdownNow();
    }

    private void enqueue(Pod pod, Runnable step) {
        try {
            executor.execute(() -> guarded(pod, step));
        } catch (RejectedExecutionException closed) {
            LOG.atDebug().log("pod event after close");
        }
    }

    private static void guarded(Pod pod, Runnable step) {
        try {
            step.run();
        } catch (KubernetesClientException failed) {
            LOG.atWarn()
                    .addKeyValue("pod", key(pod))
                    .addKeyValue("error", failed.getMessage())
                    .log("pod status not updated");
        }
    }

    private void sync(Pod pod) {
        String phase = pod.getStatus() == null ? "Pending" : pod.getStatus().getPhase();
        boolean first = known.add(pod.getMetadata().getUid());
        if (pod.getMetadata().getDeletionTimestamp() != null) {
            delete(pod);
        } else if ("Succeeded".equals(phase) || "Failed".equals(phase)) {
            kubelet.release(pod.getMetadata().getNamespace(), pod.getMetadata().getName());
        } else if (first && "Running".equals(phase)) {
            kubelet.adopt(key(pod));
            scheduleCompletion(pod, Instant.parse(pod.getStatus().getStartTime()));
        } else if (first) {
            admit(pod);
        }
    }

    private void admit(Pod pod) {
        try {
            for (SimulatedPod.DeviceRequest demand : SimulatedPod.deviceRequests(pod)) {
                kubelet.allocate(key(pod), demand.container(), demand.resource(), demand.count());
            }
            write(pod, fresh -> SimulatedPod.running(fresh, clock.instant()));
            LOG.atInfo().addKeyValue("node", node).addKeyValue("pod", key(pod)).log("pod running");
            scheduleCompletion(pod, clock.instant());
        } catch (AdmissionException refused) {
            kubelet.release(pod.getMetadata().getNamespace(), pod.getMetadata().getName());
            write(pod, fresh -> SimulatedPod.rejected(fresh, String.valueOf(refused.getMessage()), clock.instant()));
            LOG.atInfo()
                    .addKeyValue("node", node)
                    .addKeyValue("pod", key(pod))
                    .addKeyValue("reason", refused.getMessage())
                    .log("pod not admitted");
        }
    }

    private void scheduleCompletion(Pod pod, Instant started) {
        Optional<Duration> runFor = SimulatedPod.runFor(pod);
        runFor.ifPresent(duration -> executor.schedule(
                () -> guarded(pod, () -> complete(pod)),
                Math.max(
                        0,
                        Duration.between(clock.instant(), started.plus(duration))
                                .toMillis()),
                TimeUnit.MILLISECONDS));
    }

    private void complete(Pod pod) {
        if (known.contains(pod.getMetadata().getUid())) {
            kubelet.release(pod.getMetadata().getNamespace(), pod.getMetadata().getName());
            write(pod, fresh -> SimulatedPod.terminated(fresh, 0, clock.instant()));
        }
    }

    private void delete(Pod pod) {
        String namespace = pod.getMetadata().getNamespace();
        String name = pod.getMetadata().getName();
        kubelet.release(namespace, name);
        write(
                pod,
                fresh -> "Running".equals(fresh.getStatus().getPhase())
                        ? SimulatedPod.terminated(fresh, TERMINATED, clock.instant())
                        : fresh.getStatus());
        client.pods().inNamespace(namespace).withName(name).withGracePeriod(0).delete();
    }

    private void removed(Pod pod) {
        if (known.remove(pod.getMetadata().getUid())) {
            kubelet.release(pod.getMetadata().getNamespace(), pod.getMetadata().getName());
        }
    }

    /** Writes the status subresource; retries when another writer updated the pod in between. */
    private void write(Pod pod, Function<Pod, PodStatus> change) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Pod fresh = client.pods()
                    .inNamespace(pod.getMetadata().getNamespace())
                    .withName(pod.getMetadata().getName())
                    .get();
            if (fresh == null
                    || !fresh.getMetadata().getUid().equals(pod.getMetadata().getUid())) {
                return;
            }
            fresh.setStatus(change.apply(fresh));
            try {
                client.pods()
                        .inNamespace(pod.getMetadata().getNamespace())
                        .resource(fresh)
                        .updateStatus();
                return;
            } catch (KubernetesClientException refused) {
                if (refused.getCode() == NOT_FOUND) {
                    return;
                }
                if (refused.getCode() != CONFLICT) {
                    throw refused;
                }
            }
        }
    }

    private static PodKey key(Pod pod) {
        return new PodKey(
                pod.getMetadata().getNamespace(),
                pod.getMetadata().getName(),
                pod.getMetadata().getUid());
    }
}

package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.Outcome;
import io.gpufleet.proto.signal.v1.DrainPhase;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.EventReader.ReadEvent;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.wire.Topic;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas as processes that drain nodes, each killed in the middle of it. */
class HealthServiceDrainIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String ACTIVE = "gpufleet_active 1.0";
    private static final String NAMESPACE = "ml";
    private static final String POLICY = """
            policy: drains
            extends: nvidia
            xids: {79: {class: taint-reboot, recommendedAction: reboot, drain: gpu-pods}}
            drain: {notice: PT4S, deadline: PT1H, jobInterval: PT1H, nodes: 4}
            """;
    /** Pods, and the node of each; two of one job, on two nodes. */
    private static final Map<String, Integer> PODS =
            Map.of("pair-0", 0, "pair-1", 1, "kept", 2, "single-0", 2, "single-1", 3, "single-2", 3);

    private static final List<String> SINGLE = List.of("single-0", "single-1", "single-2");

    @TempDir
    private Path dir;

    private final List<DaemonEventProducer> daemons = new ArrayList<>();
    private final Watched watched = new Watched();
    private TestBed bed;
    private SharedIndexInformer<Pod> informer;
    private ProgramProcess first;
    private ProgramProcess second;

    /** Notices and ends of the pods. */
    private static final class Watched implements ResourceEventHandler<Pod> {
        private final Map<String, Set<Instant>> notices = new ConcurrentHashMap<>();
        private final Map<String, Instant> gone = new ConcurrentHashMap<>();

        @Override
        public void onAdd(Pod pod) {
            // Nobody has a notice yet.
        }

        @Override
        public void onUpdate(Pod before, Pod pod) {
            Map<String, String> annotations = pod.getMetadata().getAnnotations();
            if (annotations != null && annotations.containsKey("gpufleet.io/eviction-at")) {
                notices.computeIfAbsent(pod.getMetadata().getName(), _ -> new ConcurrentSkipListSet<>())
                        .add(Instant.parse(annotations.get("gpufleet.io/eviction-at")));
            }
        }

        @Override
        public void onDelete(Pod pod, boolean finalStateUnknown) {
            gone.put(pod.getMetadata().getName(), Instant.now());
        }
    }

    @BeforeEach
    void startTwoReplicas() throws IOException {
        bed = TestBed.start(dir);
        bed.client()
                .namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAMESPACE)
                        .endMetadata()
                        .build())
                .create();
        daemons.addAll(TestedHealthService.announceNodes(bed, 4));
        PODS.forEach(this::run);
        protect("kept");
        informer = bed.client().pods().inNamespace(NAMESPACE).inform(watched);
        Path policy = Files.writeString(dir.resolve("policy.yaml"), POLICY);
        first = TestedHealthService.start(bed, dir, "health-service-0", policy);
        await().atMost(TIMEOUT).until(() -> first.hasMetric(ACTIVE));
        second = TestedHealthService.start(bed, dir, "health-service-1", policy);
        await().atMost(TIMEOUT).until(() -> first.isReady() && second.isReady());
    }

    @AfterEach
    void stopAll() {
        informer.close();
        daemons.forEach(DaemonEventProducer::close);
        second.close();
        first.close();
        bed.close();
    }

    private void run(String name, int node) {
        String job = name.startsWith("pair-") ? "pair" : "";
        Pod pod = bed.client()
                .pods()
                .inNamespace(NAMESPACE)
                .resource(TestedHealthService.gpuPod(name, "node-" + node)
                        .editMetadata()
                        .addToLabels("app", name)
                        .addToLabels(job.isEmpty() ? Map.of() : Map.of("batch.kubernetes.io/job-name", job))
                        .endMetadata()
                        .build())
                .create();
        bed.client()
                .resource(pod)
                .editStatus(created -> new PodBuilder(created)
                        .editOrNewStatus()
                        .withPhase("Running")
                        .addNewCondition()
                        .withType("Ready")
                        .withStatus("True")
                        .endCondition()
                        .endStatus()
                        .build());
    }

    private void protect(String pod) {
        bed.client()
                .policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(NAMESPACE)
                .resource(new PodDisruptionBudgetBuilder()
                        .withNewMetadata()
                        .withName(pod)
                        .endMetadata()
                        .withNewSpec()
                        .withMinAvailable(new IntOrString(1))
                        .withNewSelector()
                        .withMatchLabels(Map.of("app", pod))
                        .endSelector()
                        .endSpec()
                        .build())
                .create();
    }

    @Test
    void killedLeadersEvictEachPodOnceAfterItsNoticeAndNeverTwoOfOneJob() {
        // Given
        daemons.forEach(daemon -> daemon.observeXid(0, 79));

        // When the leader ends between a notice and the eviction
        await().atMost(TIMEOUT).until(() -> !watched.notices.isEmpty());
        first.kill();
        first.restart();

        // When its successor ends in the middle of the evictions, and beside a budget that blocks
        await().atMost(TIMEOUT).until(() -> watched.gone.keySet().stream().anyMatch(SINGLE::contains));
        second.kill();

        // Then
        await().atMost(TIMEOUT).until(() -> watched.gone.keySet().containsAll(SINGLE));
        await().atMost(TIMEOUT).until(() -> message("node-2").contains("refused: 429"));
        assertThat(watched.gone).doesNotContainKey("kept");

        // When
        bed.client()
                .policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(NAMESPACE)
                .withName("kept")
                .delete();

        // Then
        await().atMost(TIMEOUT).until(() -> watched.gone.containsKey("kept"));
        await().atMost(TIMEOUT).until(() -> watched.gone.containsKey("pair-0") || watched.gone.containsKey("pair-1"));
        int waiting = watched.gone.containsKey("pair-0") ? 1 : 0;
        await().atMost(TIMEOUT)
                .until(() -> message("node-" + waiting)
                        .equals("waits: job ml/Job/pair lost pods on node node-" + (1 - waiting)));
        assertThat(watched.gone).doesNotContainKey("pair-" + waiting);
        assertThat(watched.notices).doesNotContainKey("pair-" + waiting);
        assertThat(watched.gone)
                .allSatisfy((pod, at) -> assertThat(watched.notices.get(pod))
                        .as("notices of %s, which left at %s", pod, at)
                        .singleElement()
                        .satisfies(notice -> assertThat(at).isAfterOrEqualTo(notice)));
        await().atMost(TIMEOUT).until(() -> why("node-3").contains("\"phase\":\"drained\""));
        assertNoticeOnTheTopics(daemons.get(1 - waiting), "pair-" + (1 - waiting), "ml/Job/pair");
    }

    /** The order, and the begin that names the job, are on the topics before the time of which the pod was told. */
    private void assertNoticeOnTheTopics(DaemonEventProducer daemon, String pod, String job) {
        try (var reader =
                new EventReader(bed.broker().bootstrap(), bed.codec(), daemon.node(), Topic.SIGNALS, Topic.DECISIONS)) {
            List<ReadEvent> events = reader.read();
            ReadEvent notice = events.stream()
                    .filter(read -> read.event().payload() instanceof KubernetesFact fact
                            && fact.getDrain().getPhase() == DrainPhase.DRAIN_PHASE_ACTIVE)
                    .findFirst()
                    .orElseThrow();
            assertThat(((KubernetesFact) notice.event().payload()).getDrain().getJobsList())
                    .contains(job);
            assertThat(watched.notices.get(pod))
                    .allSatisfy(time -> assertThat(notice.event().appendedAt()).isBefore(time));
            List<DecisionTaken> decisions = events.stream()
                    .filter(read -> read.event().payload() instanceof DecisionTaken)
                    .map(read -> (DecisionTaken) read.event().payload())
                    .filter(decision -> decision.getOutcome() == Outcome.OUTCOME_ACTED)
                    .toList();
            assertThat(decisions)
                    .extracting(DecisionTaken::getAction)
                    .containsSubsequence("drain pods that hold a GPU", "drain active");
            assertThat(decisions)
                    .filteredOn(decision -> decision.getEvidenceList().contains(notice.id()))
                    .extracting(DecisionTaken::getAction, DecisionTaken::getReason)
                    .contains(tuple("drain active", "begins: pods that hold a GPU"));
        }
    }

    /** Empty while the service does not answer in time. */
    private String message(String node) {
        return TestedHealthService.why(first, node)
                .getJsonObject("drain", new JsonObject())
                .getString("message", "");
    }

    private String why(String node) {
        return first.get("/v1/nodes/" + node + "/why").body();
    }
}

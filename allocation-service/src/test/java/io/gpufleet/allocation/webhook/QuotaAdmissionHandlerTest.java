package io.gpufleet.allocation.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler.UnavailableException;
import io.gpufleet.allocation.app.quota.DeciderHealth;
import io.gpufleet.allocation.app.quota.QuotaClient;
import io.gpufleet.allocation.app.quota.QuotaDecider;
import io.gpufleet.allocation.app.quota.QuotaExecutors;
import io.gpufleet.allocation.app.quota.QuotaLeader;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterContainer;

/** Reviews that no API server sends: each is answered, and none stops the decider. */
class QuotaAdmissionHandlerTest {
    /** A cluster that a replica which does not lead never asks. */
    private static final QuotaClient UNASKED = new QuotaClient() {
        @Override
        public QuotaList quotas() {
            throw new AssertionError();
        }

        @Override
        public Optional<GpuQuota> quota(String name) {
            throw new AssertionError();
        }

        @Override
        public void gpuPods(Consumer<List<GpuPod>> page) {
            throw new AssertionError();
        }

        @Override
        public UpdateResult updateStatus(GpuQuota quota) {
            throw new AssertionError();
        }

        @Override
        public void reportProblem(QuotaProblem problem) {
            throw new AssertionError();
        }

        @Override
        public void labelNamespace(String namespace, boolean enforced) {
            throw new AssertionError();
        }
    };

    private static final DeciderHealth HEALTH = new DeciderHealth(System::nanoTime);
    private static final QuotaDecider DECIDER = new QuotaDecider(
            decider -> new QuotaLeader(
                    UNASKED,
                    "replica",
                    new ActiveLease(),
                    new QuotaExecutors(decider, decider, decider),
                    Clock.systemUTC(),
                    System::nanoTime),
            HEALTH,
            System::nanoTime);

    private static final String POD = """
            {"request": {"uid": "review", "operation": "CREATE", "namespace": "ml", "dryRun": false,
              "kind": {"kind": "Pod"}, "object": {
                "metadata": {"name": "pod", "generateName": "p-", "uid": "uid", "namespace": "ml"},
                "spec": {"nodeName": "", "nodeSelector": {"gpu": "a100"},
                  "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
                    [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a100"]}], "matchFields": []}]}}},
                  "initContainers": [{"name": "init", "restartPolicy": "Always",
                    "resources": {"limits": {"nvidia.com/gpu": 1}}}],
                  "containers": [{"name": "main", "resources":
                    {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}]}}}}
            """;

    private static final String CLAIM = """
            {"request": {"uid": "review", "operation": "CREATE", "namespace": "ml", "kind": {"kind": "ResourceClaim"},
              "object": {"metadata": {"name": "claim", "uid": "uid"}, "spec": {"devices": {"requests": [{"name": "r",
                "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1, "selectors": [{"cel": {"expression":
                "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A100'"}}]}}]}}}}}
            """;

    private static final String QUOTA = """
            {"request": {"uid": "review", "operation": "UPDATE", "kind": {"kind": "GpuQuota"}, "object": {
              "metadata": {"name": "q"}, "spec": {"namespaces": ["ml"], "others": 0,
                "limits": [{"model": "A100", "gpus": 8}, {"migProfile": "1g.5gb", "devices": 4}]}}}}
            """;

    private final QuotaAdmissionHandler handler = new QuotaAdmissionHandler(DECIDER);

    @AfterContainer
    static void close() {
        DECIDER.close();
    }

    @Property(tries = 3_000)
    void reviewWithAnyFieldReplacedIsAnswered(@ForAll long seed) {
        assertReviewIsAnswered(seed);
    }

    @Example
    void reviewsOfTheKeptSeedsAreAnswered() {
        keptSeeds().forEach(this::assertReviewIsAnswered);
    }

    /** Seeds of every run, whereas the property draws others: one by which it finds a defect is appended here. */
    private static LongStream keptSeeds() {
        return LongStream.range(0, 500);
    }

    private void assertReviewIsAnswered(long seed) {
        var random = new Random(seed);
        var review = new JsonObject(List.of(POD, CLAIM, QUOTA).get(random.nextInt(3)));
        for (int i = random.nextInt(3); i >= 0; i--) {
            replaceSomething(review, random);
        }
        assertAnswered(review.encode());
    }

    @Example
    void whatIsNoReviewIsAnswered() {
        for (String body : List.of(
                "",
                "null",
                "[]",
                "7",
                "\"review\"",
                "{",
                "{}",
                "{\"request\": null}",
                "{\"request\": []}",
                "{\"request\": {\"operation\": \"CREATE\", \"object\": null}}",
                "{\"request\": {\"operation\": \"CREATE\", \"object\": {}}}",
                "{\"request\": {\"operation\": \"DELETE\"}}",
                "\uFEFF{}")) {
            assertAnswered(body);
        }
    }

    @Example
    void deepReviewIsAnswered() {
        for (int depth : List.of(100, 10_000, 1_000_000)) {
            assertAnswered("{\"request\":".repeat(depth) + "1" + "}".repeat(depth));
            assertAnswered("{\"request\":" + "[".repeat(depth) + "]".repeat(depth) + "}");
        }
    }

    /** Decided, or refused as unreadable or undecidable; never an exception to the caller, and never no answer. */
    private void assertAnswered(String body) {
        CompletionStage<byte[]> stage = handler.handle(body.getBytes(UTF_8), System.nanoTime());
        try {
            byte[] answer =
                    stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
            assertThat(new JsonObject(new String(answer, UTF_8)).containsKey("response"))
                    .isTrue();
        } catch (CompletionException refused) {
            assertThat(refused)
                    .as(body)
                    .cause()
                    .isInstanceOfAny(IllegalArgumentException.class, UnavailableException.class);
        }
        assertThat(HEALTH.failures()).as(body).isZero();
    }

    private static void replaceSomething(JsonObject object, Random random) {
        List<String> names = new ArrayList<>(object.fieldNames());
        if (names.isEmpty()) {
            return;
        }
        String name = names.get(random.nextInt(names.size()));
        Object value = object.getValue(name);
        if (value instanceof JsonObject inner && random.nextInt(5) > 0) {
            replaceSomething(inner, random);
        } else if (value instanceof JsonArray inner && !inner.isEmpty() && random.nextInt(5) > 0) {
            replaceSomething(inner, random);
        } else {
            object.put(name, random.nextInt(9) == 0 ? null : anything(random));
        }
    }

    private static void replaceSomething(JsonArray array, Random random) {
        int index = random.nextInt(array.size());
        if (array.getValue(index) instanceof JsonObject inner && random.nextInt(5) > 0) {
            replaceSomething(inner, random);
        } else {
            array.set(index, random.nextInt(9) == 0 ? null : anything(random));
        }
    }

    private static Object anything(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> new JsonObject();
            case 1 -> new JsonArray();
            case 2 -> new JsonArray().addNull().add(1);
            case 3 -> new JsonObject().putNull("x");
            case 4 -> random.nextInt(5) - 2;
            case 5 -> 1e300;
            case 6 -> "\u0000" + "x".repeat(random.nextInt(3) * 1_000);
            default -> random.nextBoolean();
        };
    }
}

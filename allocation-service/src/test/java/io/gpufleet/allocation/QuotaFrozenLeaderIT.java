package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas as processes: one that stood still while the other led goes on where it stopped, and is killed later. */
@NullMarked
class QuotaFrozenLeaderIT {
    private static final String LEADS = "gpufleet_quota_leader 1.0";
    private static final String FOLLOWS = "gpufleet_quota_leader 0.0";
    private static final int LIMIT = 160;

    @TempDir
    private Path dir;

    private FakeApiServer api;
    private QuotaTestEnvironment environment;
    private HttpClient http;
    private String namespace = "";
    private int reviews;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        environment = new QuotaTestEnvironment(api.kubeconfig(dir.resolve("kubeconfig")), dir).awaitReady();
        environment.startStandby();
        environment.awaitStandbys();
        http = ForgedReview.client();
        namespace = environment.namespace();
        environment.awaitServiceAccount(namespace);
        environment.quota(environment.uniqueName("frozen"), "Enforce", "Deny", Map.of("A100", LIMIT), namespace);
    }

    @AfterEach
    void close() {
        http.shutdownNow();
        environment.close();
        api.close();
    }

    private static void signal(String name, ProgramProcess process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Asks for so many pods of one GPU at once, as the API server does. */
    private List<CompletableFuture<Boolean>> ask(URI webhook, int pods) {
        return IntStream.range(0, pods).mapToObj(_ -> ask(webhook)).toList();
    }

    /** True where the pod is admitted; false where it is refused, or nobody decides. */
    private CompletableFuture<Boolean> ask(URI webhook) {
        String review = ForgedReview.json(namespace, "review-" + reviews++, 1);
        var request = HttpRequest.newBuilder(webhook)
                .POST(HttpRequest.BodyPublishers.ofString(review))
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(answer -> answer.statusCode() == 200
                        && new JsonObject(answer.body())
                                .getJsonObject("response")
                                .getBoolean("allowed"));
    }

    private static int admitted(List<CompletableFuture<Boolean>> answers) {
        return (int) answers.stream()
                .filter(answer -> answer.exceptionally(_ -> false).join())
                .count();
    }

    /** Creates pods of one GPU until one is refused for the limit; others are tried again. */
    private void createUntilRefused() {
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> create().contains("limit " + LIMIT + " A100"));
    }

    private String create() {
        return environment.create(environment.a100Pod(namespace, "pod-" + reviews++, 1));
    }

    @Test
    void leaderThatStoodStillAdmitsNothingBesideItsSuccessor() throws Exception {
        // Given a leader that stops with escrow left, and reviews on their way to it
        ProgramProcess first = environment.service();
        ProgramProcess second = environment.standby();
        URI frozen = environment.registeredWebhook();
        assertThat(create()).isEmpty();
        assertThat(admitted(ask(frozen, 10))).isEqualTo(10);
        signal("STOP", first);
        var late = ask(frozen, 20);
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> second.hasMetric(LEADS));
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> !environment.registeredWebhook().equals(frozen));
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> create().isEmpty());
        // When it goes on while its successor admits all that it can
        signal("CONT", first);
        var beside = ask(frozen, LIMIT);
        createUntilRefused();
        // Then
        assertThat(environment.gpusIn(namespace) + admitted(late) + admitted(beside) + 10)
                .isLessThanOrEqualTo(LIMIT);
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> first.hasMetric(FOLLOWS));
        // When the successor dies, and the first one leads again
        second.kill();
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> first.hasMetric(LEADS));
        createUntilRefused();
        // Then
        assertThat(environment.gpusIn(namespace)).isGreaterThan(1).isLessThanOrEqualTo(LIMIT);
    }
}

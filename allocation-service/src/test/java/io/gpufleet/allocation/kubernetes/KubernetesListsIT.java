package io.gpufleet.allocation.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.quota.LeaseStore.LeaseRecord;
import io.gpufleet.allocation.app.quota.QuotaClient;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.TestKubernetes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists of all pods, and the Lease, at an API server. */
@NullMarked
class KubernetesListsIT {
    @TempDir
    private Path dir;

    private FakeApiServer api;
    private KubernetesClient client;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        client = TestKubernetes.client(api.kubeconfig(dir.resolve("kubeconfig")));
    }

    @AfterEach
    void close() {
        client.close();
        api.close();
    }

    private void pod(int number) {
        client.resource(new PodBuilder()
                        .withNewMetadata()
                        .withName("pod-" + number)
                        .withNamespace("default")
                        .endMetadata()
                        .withNewSpec()
                        .addNewContainer()
                        .withName("main")
                        .withImage("pause")
                        .withNewResources()
                        .addToLimits(number % 2 == 0 ? "nvidia.com/gpu" : "cpu", new Quantity("1"))
                        .endResources()
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    @Test
    void podsAreListedInPagesAndThoseWithoutExtendedResourcesAreLeftOut() throws Exception {
        IntStream.range(0, 1_001).parallel().forEach(this::pod);
        List<Integer> pages = new ArrayList<>();
        List<String> names = new ArrayList<>();
        // When
        new KubernetesQuotaClient(client, client, new ActiveLease(), Clock.systemUTC()).gpuPods(page -> {
            pages.add(page.size());
            page.stream().map(GpuPod::name).forEach(names::add);
        });
        // Then
        assertThat(pages).hasSize(6).allSatisfy(size -> assertThat(size).isLessThanOrEqualTo(200));
        assertThat(names).hasSize(501).doesNotHaveDuplicates().contains("pod-0", "pod-1000");
    }

    @Test
    void listIsAnsweredAfterMoreThanTheTimeOfARequest() throws Exception {
        // Given
        var refused = new CountDownLatch(1);
        HttpServer slow = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        slow.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        slow.createContext("/", exchange -> {
            byte[] list = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[]}".getBytes(UTF_8);
            try {
                var _ = refused.await(1, TimeUnit.MINUTES);
                exchange.getResponseHeaders().add("content-type", "application/json");
                exchange.sendResponseHeaders(200, list.length);
                exchange.getResponseBody().write(list);
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        slow.start();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("http://127.0.0.1:" + slow.getAddress().getPort())
                .withRequestTimeout(200)
                .withRequestRetryBackoffLimit(0)
                .build();
        try (var requests = new KubernetesClientBuilder().withConfig(config).build();
                KubernetesClient lists = ListClient.like(requests)) {
            CompletableFuture<PodList> list = CompletableFuture.supplyAsync(
                    () -> lists.pods().inAnyNamespace().list());
            // When a request that began later has run into its time
            assertThatThrownBy(() -> requests.pods().inAnyNamespace().list())
                    .isInstanceOf(KubernetesClientException.class);
            refused.countDown();
            // Then
            assertThat(list.get().getItems()).isEmpty();
        } finally {
            slow.stop(0);
        }
    }

    @Test
    void quotaThatCannotBeReadIsToldSoAndTheOthersAreRead() throws Exception {
        define();
        quota("broken", Map.of("model", "A100"));
        quota("sound", Map.of("model", "A100", "gpus", 8));
        var active = new ActiveLease();
        active.begin(() -> true);
        var quotas = new KubernetesQuotaClient(client, client, active, Clock.systemUTC());
        // When
        QuotaClient.QuotaList found = quotas.quotas();
        quotas.reportProblem(found.unreadable().getFirst());
        // Then
        assertThat(found.quotas()).extracting(GpuQuota::name).containsExactly("sound");
        assertThat(found.unreadable())
                .extracting(QuotaClient.QuotaProblem::quota)
                .containsExactly("broken");
        assertThat(client.genericKubernetesResources(GpuQuotaMapper.CONTEXT)
                        .withName("broken")
                        .get()
                        .getAdditionalProperties()
                        .get("status"))
                .asString()
                .contains("type=Ready", "status=False", "limit A100 needs gpus, devices or both");
    }

    /** As by an API server whose schema is older than what is demanded now: the fake one validates none. */
    private void define() throws IOException {
        try (var definition = Files.newInputStream(Repository.module("k8s/base/crds/gpuquotas.yaml"))) {
            client.load(definition).serverSideApply();
        }
    }

    @Test
    void quotaThatWasInForceAndThatNobodyCouldEverReadAdmitsNothingMore() throws Exception {
        define();
        quota("broken", Map.of("model", "A100"));
        var quotas = client.genericKubernetesResources(GpuQuotaMapper.CONTEXT);
        GenericKubernetesResource broken = quotas.withName("broken").get();
        broken.setAdditionalProperty("status", Map.of("leader", "r0@7", "term", 7));
        quotas.resource(broken).updateStatus();
        // When
        QuotaClient.QuotaList found =
                new KubernetesQuotaClient(client, client, new ActiveLease(), Clock.systemUTC()).quotas();
        // Then
        assertThat(found.quotas()).singleElement().satisfies(quota -> {
            assertThat(quota.covers("ml", Map.of())).isTrue();
            assertThat(quota.mode()).isEqualTo(GpuQuota.Mode.ENFORCE);
            assertThat(quota.limits()).containsExactly(new QuotaLimit("*", 0));
            assertThat(quota.status().term()).isEqualTo(7);
        });
        assertThat(found.unreadable())
                .extracting(QuotaClient.QuotaProblem::reason)
                .singleElement()
                .asString()
                .contains("what it was before is not known");
    }

    private void quota(String name, Map<String, Object> limit) {
        var quota = new GenericKubernetesResource();
        quota.setApiVersion("gpufleet.io/v1alpha1");
        quota.setKind("GpuQuota");
        quota.setMetadata(new ObjectMetaBuilder().withName(name).build());
        quota.setAdditionalProperty("spec", Map.of("namespaces", List.of("ml"), "limits", List.of(limit)));
        client.resource(quota).create();
    }

    @Test
    void leaseThatWasDeletedIsNotRenewedAndCanBeTakenAgain() throws Exception {
        var lease = new KubernetesLease(client, "gpufleet-system", Clock.systemUTC());
        var mine = new LeaseRecord("a", "10.0.0.7:9090", "");
        // The first write makes the namespace
        var first = lease.write(mine);
        LeaseRecord taken = (first.isPresent() ? first : lease.write(mine)).orElseThrow();
        // When
        client.leases().inNamespace("gpufleet-system").delete();
        // Then
        assertThat(lease.write(taken)).isEmpty();
        assertThat(lease.read()).isEmpty();
        assertThat(lease.write(mine)).isPresent();
    }
}

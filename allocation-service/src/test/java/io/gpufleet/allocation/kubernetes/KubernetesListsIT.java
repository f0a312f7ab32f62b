package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.quota.LeaseStore.LeaseRecord;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.testkit.TestKubernetes;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
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
        assertThat(pages).hasSize(3).allSatisfy(size -> assertThat(size).isLessThanOrEqualTo(500));
        assertThat(names).hasSize(501).doesNotHaveDuplicates().contains("pod-0", "pod-1000");
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

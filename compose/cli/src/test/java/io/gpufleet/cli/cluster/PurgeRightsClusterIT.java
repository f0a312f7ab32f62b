package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import io.gpufleet.testbed.testkit.AccountRights;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every right of the Job of the purge on a real API server, with it and without it. */
class PurgeRightsClusterIT {
    private AccountRights account;

    @BeforeEach
    void grant() throws IOException {
        account = AccountRights.grant("gpufleet-it-purge-rights", List.of("k8s/purge/rbac.yaml"), role -> true);
    }

    @AfterEach
    void remove() {
        var namespace = account.admin().namespaces().withName(InstalledObjects.NAMESPACE);
        namespace.delete();
        // Another test makes it anew.
        await().atMost(Duration.ofSeconds(60)).until(() -> namespace.get() == null);
        account.close();
    }

    @Test
    void everyRightIsNeededAndNamedWhereItIsMissing() {
        Map<String, Supplier<String>> needs = Stream.of(
                        "get nodes",
                        "list nodes",
                        "patch nodes",
                        "patch nodes/status",
                        "list namespaces",
                        "patch namespaces",
                        "delete validatingwebhookconfigurations.admissionregistration.k8s.io gpufleet-quota",
                        "list statefulsets.apps",
                        "watch statefulsets.apps",
                        "patch statefulsets.apps")
                .collect(Collectors.toMap(Function.identity(), right -> this::purge));

        assertThat(account.findings(needs)).isEmpty();
    }

    /** What the command says where it fails. The pod of the service ends once the purge begins to watch for that. */
    private String purge() {
        KubernetesClient admin = account.admin();
        InstalledObjects.create(admin);
        InstalledObjects.holdPod(admin);
        Interceptor ending = new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                if (request.uri().toString().contains("watch=true")) {
                    InstalledObjects.endPod(admin);
                }
            }
        };
        try (var client = new KubernetesClientBuilder()
                .withConfig(account.client().getConfiguration())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("ending", ending))
                .build()) {
            new ClusterPurge(client, line -> {}).run(InstalledObjects.NAMESPACE);
            return "";
        } catch (KubernetesClientException failed) {
            return ApiErrorMessage.of(failed);
        } finally {
            InstalledObjects.delete(admin);
        }
    }
}

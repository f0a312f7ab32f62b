package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import io.gpufleet.runtime.kubernetes.ReviewAuthorizer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tokens as the API server of GPUFLEET_TEST_KUBECONFIG reviews them for the ServiceAccount of the service. */
class TokenReviewClusterIT {
    private static final String OPERATOR = "gpufleet-it-operator";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String NAMESPACE = "default";
    private static final AccessRequest QUARANTINE =
            new AccessRequest("gpufleet.io", "nodes", "quarantine", "", "node-1");

    private ManifestRights rights;
    private KubernetesClient admin;

    @BeforeEach
    void createOperator() throws IOException {
        rights = ManifestRights.grant("gpufleet-it-reviews", List.of("k8s/base/services/health-service/rbac.yaml"));
        admin = rights.admin();
        admin.serviceAccounts()
                .inNamespace(NAMESPACE)
                .resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withName(OPERATOR)
                        .endMetadata()
                        .build())
                .createOr(edit -> edit.update());
    }

    @AfterEach
    void remove() {
        admin.serviceAccounts().inNamespace(NAMESPACE).withName(OPERATOR).delete();
        rights.close();
    }

    private String token(String... audiences) {
        return admin.serviceAccounts()
                .inNamespace(NAMESPACE)
                .withName(OPERATOR)
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withAudiences(audiences)
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
    }

    private AccessResult review(String token) {
        return ReviewAuthorizer.uncached(rights.limited()).authorize(token, QUARANTINE);
    }

    private static String refusal(AccessResult result) {
        return result instanceof AccessResult.Unauthenticated(String reason) ? reason : result.toString();
    }

    @Test
    void bearerIsToldWhyTheTokenIsRefused() {
        // Given
        String token = token();
        assertThat(review(token)).isInstanceOf(AccessResult.Forbidden.class);

        // When
        admin.serviceAccounts().inNamespace(NAMESPACE).withName(OPERATOR).delete();

        // Then, once the API server has forgotten that it knew the token
        await().atMost(TIMEOUT)
                .untilAsserted(
                        () -> assertThat(refusal(review(token))).contains("was invalidated when its ServiceAccount"));
        assertThat(refusal(review("made-up"))).contains("does not know this token");
    }

    @Test
    void tokenOfAnotherAudienceIsToldSo() {
        assertThat(refusal(review(token("vault")))).contains("another audience");
    }
}
